import { counted, oneLine } from '../base/text.ts';
import { states } from './document.ts';
import {
  type Action,
  type Block,
  type Document,
  type DocumentFact,
  type DocumentFinding,
  plainOf,
  type Row,
  type Target,
  type Text,
} from './document.ts';
import { chartSvg, curveSvg } from './internal/chartSvg.ts';
import { escapeHtml } from './internal/escapeHtml.ts';
import { pagePolicy, pageStyle } from './internal/pageStyle.ts';

export interface TextOptions {
  /** Rows of a table and items of a list that are shown at most. */
  most?: number;
  /** Where the others are: `--json lists all`. */
  moreHint?: string;
}

/** A column is padded up to this; a longer cell moves its row. */
const widest = 60;

/**
 * A document for a terminal: its title, then its blocks; what is in a section is indented. Nothing is wrapped, so that a
 * line can be searched for. Ends with a line end.
 */
export function renderText({ title, blocks }: Document, options: TextOptions = {}): string {
  const body = blocksLines(blocks, options);
  return `${[oneLine(title), ...(body.length === 0 ? [] : body)].join('\n')}\n`;
}

/** Blocks, with an empty line around sections and findings. */
function blocksLines(blocks: readonly Block[], options: TextOptions): string[] {
  const lines: string[] = [];
  let afterPart = false;
  for (const block of blocks) {
    const own = blockLines(block, options);
    if (own.length === 0) continue;
    const isPart = block.kind === 'section' || block.kind === 'findings';
    if (isPart || afterPart) lines.push('');
    lines.push(...own);
    afterPart = isPart;
  }
  return lines;
}

function blockLines(block: Block, options: TextOptions): string[] {
  switch (block.kind) {
    case 'verdict':
      return [`${states[block.state].sign} ${line(block.text)}`];
    case 'text':
    case 'note':
      return [line(block.text)];
    case 'warning':
      return [`Warning: ${line(block.text)}`];
    case 'figures':
      return [block.figures.map(({ label, value }) => `${label}: ${line(value)}`).join(', ')];
    case 'facts':
      return factLines(block.facts);
    case 'findings':
      return block.findings.flatMap((finding, at) => [...(at === 0 ? [] : ['']), ...findingLines(finding)]);
    case 'table':
      return tableLines(block, options);
    case 'list':
      return [
        ...block.items
          .slice(0, options.most)
          .map(({ text, detail }) => (detail === undefined ? line(text) : `${line(text)}  ${detail}`)),
        ...restLines(block.items.length, block.noun, options),
      ];
    case 'source':
      return block.folded ? [] : [`${block.title}:`, ...indented(block.text.trimEnd().split('\n').map(oneLine))];
    case 'actions':
      return commandLines(block.actions);
    case 'chart':
    case 'curve':
      return [];
    case 'section': {
      const own = blocksLines(block.blocks, options);
      return own.length === 0 ? [] : [block.title, ...indented(own)];
    }
  }
}

const line = (text: Text): string => oneLine(plainOf(text));

const indented = (lines: readonly string[]): string[] => lines.map((one) => (one === '' ? '' : `  ${one}`));

const factLines = (all: readonly { label: string; value: Text }[]): string[] =>
  all.flatMap(({ label, value }) => {
    const [first, ...more] = plainOf(value).split('\n');
    return [`${label}: ${oneLine(first!)}`, ...indented(more.map(oneLine))];
  });

function findingLines({ severity, code, place, text, facts = [], advice, actions = [] }: DocumentFinding): string[] {
  const head = [severity, code].filter(Boolean).join(' ');
  return [
    `${head}${place === undefined ? '' : `, ${line(place)}`}: ${line(text)}`,
    ...indented([...factLines(facts), ...(advice === undefined ? [] : [line(advice)]), ...commandLines(actions)]),
  ];
}

const commandLines = (actions: readonly Action[]): string[] =>
  actions.flatMap(({ command }) => (command === undefined ? [] : [`next: ${oneLine(command)}`]));

/** Columns as wide as their longest cell; a sign before rows with a state. */
function tableLines({ columns, rows, noun }: Block & { kind: 'table' }, options: TextOptions): string[] {
  const shown = rows.slice(0, options.most);
  const hasSigns = rows.some(({ state }) => state !== undefined);
  const hasHead = columns.some(({ title }) => title !== '');
  const cellsOf = ({ cells, state }: Row): string[][] => [
    ...(hasSigns ? [[state === undefined ? ' ' : states[state].sign]] : []),
    ...cells.map((cell) => plainOf(cell).split('\n').map(oneLine)),
  ];
  const head = [...(hasSigns ? [[' ']] : []), ...columns.map(({ title }) => [title])];
  const all = [...(hasHead ? [head] : []), ...shown.map(cellsOf)];
  const right = [...(hasSigns ? [false] : []), ...columns.map(({ numeric }) => numeric === true)];
  const widths = right.map((_, at) =>
    Math.min(widest, Math.max(0, ...all.flatMap((row) => row[at]!.map(({ length }) => length)))),
  );
  const lines = all.flatMap((row) => {
    const height = Math.max(...row.map(({ length }) => length));
    return Array.from({ length: height }, (_, at) =>
      row
        .map((cell, column) => {
          const text = cell[at] ?? '';
          return right[column] ? text.padStart(widths[column]!) : text.padEnd(widths[column]!);
        })
        // The sign is one letter with one space behind it.
        .reduce((whole, cell, column) => whole + (column === 0 ? '' : hasSigns && column === 1 ? ' ' : '  ') + cell, '')
        .trimEnd(),
    );
  });
  return [...lines, ...restLines(rows.length, noun, options)];
}

function restLines(count: number, noun: string, { most = Infinity, moreHint }: TextOptions): string[] {
  if (count <= most) return [];
  return [`… and ${counted(count - most, `more ${noun}`)}${moreHint === undefined ? '' : `; ${moreHint}`}`];
}

export interface MarkdownOptions {
  /** Level of the title: `###` by default, as comments on pull requests want it. */
  level?: number;
  /** Rows of a table and items of a list that are shown at most. */
  most?: number;
  /** Where a link leads; null or no function: its text only. */
  hrefOf?: (to: Target) => string | null;
}

/** A document for a pull request, a job summary or a message. Nothing in its texts is read as markup. */
export function renderMarkdown({ title, blocks }: Document, options: MarkdownOptions = {}): string {
  const { level = 3 } = options;
  return `${[`${'#'.repeat(level)} ${escapeMarkdown(title)}`, ...blocksParts(blocks, level + 1, options)].join('\n\n')}\n`;
}

const blocksParts = (blocks: readonly Block[], level: number, options: MarkdownOptions): string[] =>
  blocks.flatMap((block) => blockParts(block, level, options));

/** Parts with an empty line between them. */
function blockParts(block: Block, level: number, options: MarkdownOptions): string[] {
  const inline = (text: Text) => inlineOf(text, options);
  switch (block.kind) {
    case 'verdict':
      return [`${states[block.state].sign} **${inline(block.text)}**`];
    case 'text':
    case 'note':
      return [inline(block.text)];
    case 'warning':
      return [`**Warning:** ${inline(block.text)}`];
    case 'figures':
    case 'facts': {
      const all = block.kind === 'facts' ? block.facts : block.figures;
      return [all.map(({ label, value }) => `- ${escapeMarkdown(label)}: ${inline(value)}`).join('\n')];
    }
    case 'findings':
      return [block.findings.map((finding) => findingItem(finding, options)).join('\n')];
    case 'table':
      return [tableText(block, options), ...rest(block.rows.length, block.noun, options)];
    case 'list':
      return [
        block.items
          .slice(0, options.most)
          .map(({ text, detail }) => `- ${inline(text)}${detail === undefined ? '' : ` (${escapeMarkdown(detail)})`}`)
          .join('\n'),
        ...rest(block.items.length, block.noun, options),
      ];
    case 'source':
      return [`${escapeMarkdown(block.title)}:`, fenced(block.text)];
    case 'actions': {
      const commands = block.actions.flatMap(({ command }) => command ?? []);
      return commands.length === 0 ? [] : [fenced(commands.join('\n'))];
    }
    case 'chart':
    case 'curve':
      return [];
    case 'section':
      return [
        `${'#'.repeat(Math.min(6, level))} ${escapeMarkdown(block.title)}`,
        ...blocksParts(block.blocks, level + 1, options),
      ];
  }
}

function inlineOf(text: Text, { hrefOf }: MarkdownOptions): string {
  if (typeof text === 'string') return escapeMarkdown(text);
  return text
    .map((span) => {
      if (typeof span === 'string') return escapeMarkdown(span);
      const href = hrefOf?.(span.to) ?? null;
      return href === null ? escapeMarkdown(span.text) : `[${escapeMarkdown(span.text)}](<${href}>)`;
    })
    .join('');
}

function findingItem(
  { severity, code, place, text, facts = [], advice }: DocumentFinding,
  options: MarkdownOptions,
): string {
  const head = [severity, code].filter((part) => part !== undefined).join(' ');
  const where = place === undefined ? '' : `, ${inlineOf(place, options)}`;
  const more = [
    ...facts.map(({ label, value }) => `${escapeMarkdown(label)}: ${inlineOf(value, options)}`),
    ...(advice === undefined ? [] : [inlineOf(advice, options)]),
  ];
  return [`- **${escapeMarkdown(head)}**${where}: ${inlineOf(text, options)}`, ...more].join('\\\n  ');
}

function tableText({ columns, rows }: Block & { kind: 'table' }, options: MarkdownOptions): string {
  const hasSigns = rows.some(({ state }) => state !== undefined);
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const cellsOf = ({ cells, state }: Row) => [
    ...(hasSigns ? [state === undefined ? '' : states[state].sign] : []),
    ...cells.map((cell) => (typeof cell === 'string' ? lines(cell) : inlineOf(cell, options))),
  ];
  return [
    row([...(hasSigns ? [''] : []), ...columns.map(({ title }) => escapeMarkdown(title))]),
    row([...(hasSigns ? ['---'] : []), ...columns.map(({ numeric }) => (numeric ? '---:' : '---'))]),
    ...rows.slice(0, options.most).map((one) => row(cellsOf(one))),
  ].join('\n');
}

/** Lines of a cell stay lines. */
const lines = (text: string): string => text.split('\n').map(escapeMarkdown).join('<br>');

const rest = (count: number, noun: string, { most = Infinity }: MarkdownOptions): string[] =>
  count <= most ? [] : [`… and ${counted(count - most, `more ${noun}`)}.`];

/** A block of code that no line of the text can end. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}

/** A text in one line of Markdown, also in a cell of a table: nothing in it is markup. */
export const escapeMarkdown = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex -- names may hold any
    .replaceAll(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]|~#@$]/g, '\\$&');

export interface HtmlOptions {
  /** Where a link or a button leads; null: its text only, and no button. */
  hrefOf?: (to: Target) => string | null;
  /** Rows of a table and items of a list that are shown at most: longer pages are slow. */
  most?: number;
  /** Where the others are: `--json lists all`. */
  moreHint?: string;
}

/** A document as one page without scripts: for the editor and for a file. Everything in it is escaped. */
export function renderHtml({ title, blocks }: Document, options: HtmlOptions = {}): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="TensorRT Lens">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${pagePolicy}">
<title>${escapeHtml(title)}</title>
<style>${pageStyle}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${blocksHtml(blocks, options, 2)}
</main>
</body>
</html>
`;
}

/** @param level of the headings of sections */
const blocksHtml = (blocks: readonly Block[], options: HtmlOptions, level: number): string =>
  blocks
    .map((block) => blockHtml(block, options, level))
    .filter((html) => html !== '')
    .join('\n');

function blockHtml(block: Block, options: HtmlOptions, level: number): string {
  const inline = (text: Text) => inlineHtml(text, options);
  switch (block.kind) {
    case 'verdict':
      return `<p class="verdict ${block.state}">${signHtml(block.state)} ${inline(block.text)}</p>`;
    case 'text':
      return `<p>${inline(block.text)}</p>`;
    case 'note':
      return `<p class="note">${inline(block.text)}</p>`;
    case 'warning':
      return `<p class="warning" role="note">Warning: ${inline(block.text)}</p>`;
    case 'figures':
      return factsHtml(block.figures, options, 'figures');
    case 'facts':
      return factsHtml(block.facts, options, 'facts');
    case 'findings':
      return `<ul class="findings">${block.findings.map((finding) => findingHtml(finding, options)).join('\n')}</ul>`;
    case 'table':
      return tableHtml(block, options) + restHtml(block.rows.length, block.noun, options);
    case 'list': {
      const items = block.items
        .slice(0, options.most)
        .map(
          ({ text, detail }) =>
            `<li>${inline(text)}${detail === undefined ? '' : ` <small>${escapeHtml(detail)}</small>`}</li>`,
        );
      return `<ul>${items.join('\n')}</ul>${restHtml(block.items.length, block.noun, options)}`;
    }
    case 'source':
      return `<details${block.folded ? '' : ' open'}><summary>${escapeHtml(block.title)}</summary><pre>${escapeHtml(block.text)}</pre></details>`;
    case 'actions':
      return actionsHtml(block.actions, options);
    case 'chart':
      return block.chart.points.length === 0
        ? ''
        : `<div class="wide">${chartSvg(block.chart)}</div>\n<p class="note">${escapeHtml(block.chart.legend)}</p>`;
    case 'curve':
      return `<div class="wide">${curveSvg(block.curve)}</div>\n<p class="note">${escapeHtml(block.curve.legend)}</p>`;
    case 'section':
      return `<section><h${level}>${escapeHtml(block.title)}</h${level}>\n${blocksHtml(block.blocks, options, level + 1)}</section>`;
  }
}

function inlineHtml(text: Text, { hrefOf }: HtmlOptions): string {
  if (typeof text === 'string') return escapeHtml(text);
  return text
    .map((span) => {
      if (typeof span === 'string') return escapeHtml(span);
      const href = hrefOf?.(span.to) ?? null;
      return href === null ? escapeHtml(span.text) : `<a href="${escapeHtml(href)}">${escapeHtml(span.text)}</a>`;
    })
    .join('');
}

const signHtml = (state: keyof typeof states): string =>
  `<span class="sign ${state}" role="img" aria-label="${states[state].word}">${states[state].sign}</span>`;

const factsHtml = (all: readonly DocumentFact[], options: HtmlOptions, name: string): string =>
  `<dl class="${name}">${all
    .map(({ label, value }) => `<div><dt>${escapeHtml(label)}</dt><dd>${inlineHtml(value, options)}</dd></div>`)
    .join('')}</dl>`;

function findingHtml(finding: DocumentFinding, options: HtmlOptions): string {
  const { severity, code, place, text, facts = [], advice, actions = [] } = finding;
  const head = [severity, code].filter((part) => part !== undefined).join(' ');
  return `<li class="${severity}"><p><b>${escapeHtml(head)}</b>${place === undefined ? '' : `, ${inlineHtml(place, options)}`}: ${inlineHtml(text, options)}</p>${
    facts.length === 0 ? '' : factsHtml(facts, options, 'facts')
  }${advice === undefined ? '' : `<p>${inlineHtml(advice, options)}</p>`}${actionsHtml(actions, options)}</li>`;
}

/** Buttons; an action that only a terminal has is shown as its command. */
function actionsHtml(actions: readonly Action[], { hrefOf }: HtmlOptions): string {
  const all = actions.flatMap(({ label, to, command }) => {
    const href = to === undefined ? null : (hrefOf?.(to) ?? null);
    if (href !== null) return [`<a class="action" href="${escapeHtml(href)}">${escapeHtml(label)}</a>`];
    return command === undefined ? [] : [`${escapeHtml(label)}: <code>${escapeHtml(command)}</code>`];
  });
  return all.length === 0 ? '' : `<p>${all.join(' ')}</p>`;
}

function tableHtml({ columns, rows }: Block & { kind: 'table' }, options: HtmlOptions): string {
  const hasSigns = rows.some(({ state }) => state !== undefined);
  const numeric = (at: number) => (columns[at]?.numeric ? ' class="n"' : '');
  const head = columns.map(({ title }, at) => `<th scope="col"${numeric(at)}>${escapeHtml(title)}</th>`);
  const body = rows.slice(0, options.most).map(({ cells, state }: Row) => {
    const [first = '', ...others] = cells.map((cell) => inlineHtml(cell, options));
    const sign = hasSigns ? `<td class="s">${state === undefined ? '' : signHtml(state)}</td>` : '';
    const rest = others.map((cell, at) => `<td${numeric(at + 1)}>${cell}</td>`).join('');
    return `<tr${state === undefined ? '' : ` class="${state}"`}>${sign}<th scope="row"${numeric(0)}>${first}</th>${rest}</tr>`;
  });
  return `<div class="wide"><table><thead><tr>${hasSigns ? '<td class="s"></td>' : ''}${head.join('')}</tr></thead>
<tbody>${body.join('\n')}</tbody></table></div>`;
}

function restHtml(count: number, noun: string, { most = Infinity, moreHint }: HtmlOptions): string {
  if (count <= most) return '';
  const hint = moreHint === undefined ? '.' : `; ${moreHint}.`;
  return `\n<p class="note">${escapeHtml(`… and ${counted(count - most, `more ${noun}`)}${hint}`)}</p>`;
}
