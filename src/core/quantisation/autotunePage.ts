import { escaped, pageStyle, staticPage } from '../text/htmlPage.ts';
import { timeText } from '../text/numbers.ts';
import { type AutotuneState, autotuneNotes, autotuneSummary } from './autotuneState.ts';

/** What ModelOpt's autotune has measured and chosen, as one page of HTML without scripts. */
export function autotunePage(state: AutotuneState): string {
  const rows = state.patterns.map(
    ({ signature, schemes, best }) =>
      `<tr><td>${escaped(signature)}</td><td class="n">${schemes}</td><td class="n">${best?.index ?? 'none'}</td><td class="n">${best?.latencyMs == null ? '' : timeText(best.latencyMs)}</td></tr>`,
  );
  const paragraphs = (lines: readonly string[]) => lines.map((line) => `<p>${escaped(line)}</p>`).join('\n');
  return staticPage(
    'Q/DQ Placements of ModelOpt’s Autotune',
    `${pageStyle} td { overflow-wrap: anywhere; }`,
    `${paragraphs(autotuneSummary(state))}
<table>
<tr><th>pattern</th><th class="n">placements tried</th><th class="n">chosen</th><th class="n">latency</th></tr>
${rows.join('\n')}
</table>
${paragraphs(autotuneNotes(state))}`,
  );
}
