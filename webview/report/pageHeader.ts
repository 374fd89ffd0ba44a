import { select } from 'd3-selection';
import type { ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import { strings } from '../shared/strings.ts';
import { releaseName } from '../../src/kernel/base/text.ts';

const texts = strings.reportPage;

export type Tab = 'fusion' | 'graph' | 'both';
export type ThemeChoice = 'system' | 'light' | 'dark';

/** The page's head: what build this is, which view is shown, and the theme. */
export function pageHeader(
  parent: HTMLElement,
  start: { tab: Tab; theme: ThemeChoice },
  on: { tab(tab: Tab): void; theme(theme: ThemeChoice): void },
) {
  const head = select(parent).append('header').attr('class', 'page-head');
  const title = head.append('h1');
  const facts = head.append('span').attr('class', 'muted facts');
  const badge = head.append('span').attr('class', 'badge').property('hidden', true);

  const tabs = head.append('div').attr('class', 'tabs').attr('role', 'group').attr('aria-label', texts.views);
  const all: [Tab, string][] = [
    ['fusion', texts.fusion],
    ['graph', texts.graph],
    ['both', texts.both],
  ];
  const buttons = tabs
    .selectAll<HTMLButtonElement, [Tab, string]>('button')
    .data(all)
    .join('button')
    .attr('type', 'button')
    .attr('data-tab', ([tab]) => tab)
    .text(([, text]) => text)
    .on('click', (_, [tab]) => choose(tab));
  const choose = (tab: Tab) => {
    buttons.attr('aria-pressed', ([own]) => String(own === tab));
    on.tab(tab);
  };

  const label = head.append('label').attr('class', 'theme');
  label.append('span').attr('class', 'muted').text(`${texts.theme} `);
  const themes = label.append('select');
  for (const [value, text] of Object.entries(texts.themes)) themes.append('option').attr('value', value).text(text);
  const apply = (theme: ThemeChoice) => {
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  };
  themes.property('value', start.theme).on('change', () => {
    const theme = themes.property('value') as ThemeChoice;
    apply(theme);
    on.theme(theme);
  });
  apply(start.theme);
  choose(start.tab);

  return {
    choose,
    show(data: ViewData | null) {
      const named = data?.title ?? 'TensorRT Lens';
      document.title = data === null ? named : `${named} · TensorRT Lens`;
      title.text(named);
      facts.text(data === null ? '' : factsOf(data).join(' · '));
      const origin = data?.build?.origin;
      badge.property('hidden', origin !== 'recorded' && origin !== 'imported');
      badge.text(origin === 'recorded' ? texts.recorded : texts.imported);
      badge.attr('title', origin === 'recorded' ? texts.recordedMeans : texts.importedMeans);
    },
  };
}

function factsOf({ build, report }: ViewData): string[] {
  const { product, version } = report?.tensorrt ?? build?.tensorrt ?? { product: null, version: null };
  const facts: string[] = [];
  if (product !== null || version !== null) {
    facts.push(releaseName({ product, version }));
  }
  if (build === null) return facts;
  const precisions = ['fp16', 'bf16', 'int8', 'fp8', 'best'].filter((name) => build.options[name] === true);
  if (precisions.length > 0) facts.push(precisions.join(' + '));
  if (build.gpu !== null) facts.push(texts.onGpu(build.gpu));
  const started = new Date(build.started);
  if (!Number.isNaN(started.getTime())) {
    facts.push(started.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' }));
  }
  return facts;
}
