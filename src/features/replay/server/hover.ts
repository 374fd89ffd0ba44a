import { type Hover, MarkupKind, type Position } from 'vscode-languageserver';
import { sameAlgorithm } from '../../../kernel/read/replay/replayFile.ts';
import { bestOfEachType, describeAlgorithm, offerFor, titleOf } from '../../../kernel/read/replay/readChoices.ts';
import { code, codeList, escapeHover } from '../../../kernel/server/markdown.ts';
import { spanRange } from '../../../kernel/server/places.ts';
import { entryAt, type ReplayAnalysis } from './replayAnalysis.ts';
import { counted, thousands, timeText } from '../../../kernel/base/text.ts';

/** An entry as text: its choice, the nodes of the layer, and what TensorRT offered instead. */
export function replayHover(analysis: ReplayAnalysis, place: Position): Hover | null {
  const entry = entryAt(analysis, place);
  if (!entry) return null;
  const offset = analysis.document.offsetAt(place);
  const onKey = offset <= entry.key.end;
  const { places } = entry;
  const member = [places.implementation, places.tactic, places.inputs, places.outputs].find(
    (span) => span && span.start <= offset && offset <= span.end,
  );
  if (!onKey && !member) return null;
  const lines = [code(entry.layer), ...describeAlgorithm(entry.algorithm).map(escapeHover)];
  lines.push(...nodesText(analysis, entry.layer), ...offerText(analysis, entry.layer));
  const span = onKey ? entry.key : (member ?? entry.key);
  return {
    contents: { kind: MarkupKind.Markdown, value: lines.join('\n\n') },
    range: spanRange(analysis.document, span),
  };
}

function nodesText({ hints, facts }: ReplayAnalysis, layer: string): string[] {
  const hint = hints.find(({ entry }) => entry.layer === layer);
  if (!hint || !facts.index) return [];
  if (hint.nodes.length === 0) return ['Its nodes are unknown: no build of this model has a layer with this name.'];
  const { index } = facts;
  const names = hint.nodes.map((i) => index.names[i] ?? '');
  const source =
    hint.source === 'build' ? (hint.exact ? 'named by TensorRT' : 'derived from the graph') : 'from the name alone';
  const time = hint.averageMs === null ? '' : `, ${timeText(hint.averageMs)} in the last build`;
  return [`**${counted(names.length, 'node')}** (${source})${time}`, codeList(names)];
}

function offerText({ facts, read }: ReplayAnalysis, layer: string): string[] {
  const offer = offerFor(layer, facts.choices);
  const entry = read.value?.entries.find((one) => one.layer === layer);
  if (!offer || !entry) return [];
  const own = offer.choices.find(({ algorithm }) => sameAlgorithm(algorithm, entry.algorithm));
  const time = own?.ms === null || own?.ms === undefined ? '' : `, ${timeText(own.ms)}`;
  const lines = [
    `TensorRT offered ${thousands(offer.choices.length)} choices; this is ${own ? `one of them${time}` : '**none of them**'}. The fastest of each type:`,
  ];
  lines.push(
    bestOfEachType(offer.choices)
      .slice(0, 6)
      .map((choice) => `- ${escapeHover(titleOf(choice))}`)
      .join('\n'),
  );
  return lines;
}
