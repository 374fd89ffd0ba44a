import { escaped, pageActions, pageStyle, staticPage } from '../text/htmlPage.ts';
import { counted } from '../text/numbers.ts';
import type { AccuracyOutput, AccuracyReport } from './accuracyReport.ts';
import {
  accuracyVerdict,
  castsText,
  errorFigure,
  evidence,
  magnitude,
  nodeLevel,
  nodeTitle,
  notJudgedTexts,
  passesTolerance,
} from './accuracyText.ts';
import type { JudgedNode } from './judgement.ts';
import { type Ladder, ladderHtml } from './ladder.ts';
import { randomWarning } from './randomInputs.ts';
import { moduleOf } from './sensitivityGroups.ts';
import { isWithin } from './outputErrors.ts';

/** What the page around a report offers; the editor has commands, a file has none. */
export interface AccuracyPageOptions {
  /** The model's name. */
  title: string;
  /** Links above the report, such as a command of the editor. */
  links?: { label: string; href: string }[];
  /** The precisions compared; undefined: they were not. */
  ladder?: Ladder | undefined;
  /** Where a node's name leads to. */
  nodeLink?: (id: string) => string;
}

/**
 * A report as one page of HTML without scripts: what `trtlens accuracy --html` writes and the editor shows. Everything
 * from the model enters it escaped.
 */
export function accuracyPage(
  given: AccuracyReport,
  { title, links = [], ladder, nodeLink }: AccuracyPageOptions,
): string {
  const report = nodeLevel(given);
  const { low, outputs, nodes, fix, inputs, samples, tolerance } = report;
  const type = low.toUpperCase();
  const warning = randomWarning(inputs);
  const name = (node: JudgedNode): string => {
    const text = escaped(nodeTitle(node, report));
    return nodeLink ? `<a href="${escaped(nodeLink(node.id))}">${text}</a>` : text;
  };
  const culprits = nodes.filter(({ role, alone }) => role === 'root' || alone !== undefined);
  const body = `<p class="verdict ${passesTolerance(report) ? 'good' : 'bad'}">${escaped(accuracyVerdict(report))}</p>
${links.length > 0 ? pageActions(links) : ''}
${warning === null ? '' : `<p class="warning">Warning: ${escaped(warning)}.</p>`}
<h2>Outputs</h2>
${outputTable(outputs, tolerance)}
<p class="note">Error: max|difference| / max|reference| of ${counted(samples, 'sample')}. Tolerance ${tolerance}. ${escaped(howSimulated(low))}</p>
<p class="note">${escaped(inputsText(inputs))}</p>
${kernelLevel(given)}
${ladder === undefined ? '' : `<h2>Precisions</h2>\n${ladderHtml(ladder)}`}
<h2>Error over depth</h2>
${strip(nodes, tolerance)}
<p class="note">From left to right ${counted(nodes.length, 'node')} in the model's order, with its modules below. Line: error in the ${type} run. Bars: what the node alone loses on exact inputs, from 1e-7 to 1. Dashed: the tolerance. Marks at the top: not finite. Red: to blame.${notJudgedTexts(
    nodes,
  )
    .map((text) => ` ${escaped(text)}.`)
    .join('')}</p>
${
  culprits.length === 0
    ? ''
    : `<h2>Culprits</h2>
<table><tr><th>node</th><th>operator</th><th>role</th><th>evidence</th><th class="n">alone</th></tr>
${culprits.map((node) => `<tr><td>${name(node)}</td><td>${escaped(node.op)}</td><td class="${node.role}">${node.role}</td><td>${escaped(evidence(node, false))}</td><td class="n">${errorFigure(node.alone ?? null)}</td></tr>`).join('\n')}
</table>
<p class="note">Root: reads values that fit. Victim: reads a value that does not fit or was already wrong, and must stay in FP32 until it is small again. Alone: error of the outputs when only this node is in ${type}.</p>`
}
${sensitivityTable(report)}
<h2>Fix</h2>
${fixText(report)}
${fix && fix.nodes.length > 0 ? `<details><summary>The rules as text</summary><pre>${escaped(fix.rules)}</pre></details>` : ''}`;
  return staticPage(`${title} in ${type}`, style, body);
}

function outputTable(outputs: readonly AccuracyOutput[], tolerance: number): string {
  const rows = outputs.map(({ name, judged, error, mean, max }) => {
    const fails = judged && !isWithin(error, tolerance);
    return `<tr class="${fails ? 'bad' : ''}"><td>${escaped(name)}${judged ? '' : ' (not judged)'}</td><td class="n">${errorFigure(error)}</td><td class="n">${errorFigure(mean)}</td><td class="n">${max === null ? '' : magnitude(max)}</td></tr>`;
  });
  return `<table><tr><th>output</th><th class="n">error</th><th class="n">mean</th><th class="n">largest value</th></tr>
${rows.join('\n')}
</table>`;
}

/** What a build's kernels may change: a second opinion, never the basis of the fix. */
function kernelLevel({ kernel, outputs, tolerance }: AccuracyReport): string {
  if (!kernel) return '';
  const culprits = kernel.held.filter(({ culprit }) => culprit);
  return `<h2>In this build's kernels</h2>
${outputTable(outputs, tolerance)}
<p class="note">The kernels of the build use ${counted(kernel.held.length, 'value')} without storing them. If TensorRT leaves these unrounded, the errors are those above. This is a hypothesis: confirm it with Run Engine or trtlens run. The fix does not rely on it.</p>
${culprits.length === 0 ? '' : `<ul>${culprits.map(({ name, kernel: by }) => `<li>${escaped(name)}: inside ${escaped(by)}</li>`).join('')}</ul>`}`;
}

/** `Inputs: image 1×3×64×64 from files.` */
const inputsText = (inputs: AccuracyReport['inputs']): string =>
  `Inputs: ${inputs.map(({ name, shape, source }) => `${name} ${shape.join('×') || 'scalar'} ${source === 'file' ? 'from files' : 'random'}`).join(', ') || 'none'}.`;

/** The worst of what was run alone in low precision. */
function sensitivityTable({ sensitivity, low }: AccuracyReport): string {
  if (!sensitivity?.length) return '';
  const rows = sensitivity
    .slice(0, 20)
    .map(
      ({ kind, name, nodes, error }) =>
        `<tr><td>${kind}</td><td>${escaped(name)}</td><td class="n">${nodes.length}</td><td class="n">${errorFigure(error)}</td></tr>`,
    );
  return `<h2>Sensitivity</h2>
<table><tr><th>only</th><th></th><th class="n">nodes</th><th class="n">error</th></tr>
${rows.join('\n')}
</table>
<p class="note">Error of the outputs when nothing else is in ${low.toUpperCase()}.</p>`;
}

/** What the numbers are, for a low precision. */
function howSimulated(low: string): string {
  const type = low.toUpperCase();
  if (low !== 'fp16' && low !== 'bf16')
    return `The Q/DQ nodes of the model make ${type}; without them, a node is exact.`;
  return `Each node computes in FP32, and every value is rounded to ${type}. This is what a strongly typed engine gives; with a flag such as --${low}, TensorRT keeps some nodes in FP32 by itself, so this is the worst case there.`;
}

function fixText({ fix, reason }: AccuracyReport): string {
  if (!fix) return `<p>No fix: ${escaped(reason ?? '')}</p>`;
  if (fix.nodes.length === 0) return '<p>Nothing to fix.</p>';
  const least = fix.minimal ? 'no single one can be left out' : 'the search ended early, a smaller set may exist';
  const rows = fix.without.map(
    ({ selector, nodes, error }) =>
      `<tr><td>${escaped(selector)}</td><td class="n">${nodes.length}</td><td class="n">${errorFigure(error)}</td></tr>`,
  );
  return `<p>Keep ${counted(fix.nodes.length, 'node')} in FP32: error ${errorFigure(fix.error)}${castsText(fix)} (${least}; ${counted(fix.runs, 'run')}).</p>
<table><tr><th>rule</th><th class="n">nodes</th><th class="n">error without it</th></tr>
${rows.join('\n')}
</table>`;
}

const WIDTH = 1000;
const HEIGHT = 140;
/** For the numbers of the scale. */
const MARGIN = 40;
/** Errors from 1e-7 to 1 fill the height. */
const DECADES = 7;

const heightOf = (error: number): number =>
  HEIGHT * Math.min(1, Math.max(0, 1 + Math.log10(Math.max(error, 1e-12)) / DECADES));

/** Errors of all nodes on a logarithmic scale; of several nodes in one column the worst. */
function strip(nodes: readonly JudgedNode[], tolerance: number): string {
  if (nodes.length === 0) return '';
  const columns = Math.min(nodes.length, WIDTH / 2);
  const width = WIDTH / columns;
  const shapes: string[] = [];
  const marks: string[] = [];
  const line: string[] = [];
  for (let column = 0; column < columns; column++) {
    const own = nodes.slice(
      Math.floor((column * nodes.length) / columns),
      Math.floor(((column + 1) * nodes.length) / columns),
    );
    const x = column * width;
    const local = heightOf(Math.max(0, ...own.map(({ localError }) => localError ?? 1)));
    const run = heightOf(Math.max(0, ...own.map(({ propagatedError }) => propagatedError ?? 1)));
    const kind = own.some(({ role }) => role === 'root') ? ' class="root"' : '';
    const title = own.map((node) => `${node.name || node.id}: ${errorFigure(node.localError)}`).join('\n');
    shapes.push(
      `<rect x="${x.toFixed(1)}" y="${(HEIGHT - local).toFixed(1)}" width="${width.toFixed(2)}" height="${local.toFixed(1)}"${kind}><title>${escaped(title)}</title></rect>`,
    );
    if (own.some(({ propagatedError }) => propagatedError === null))
      marks.push(`<circle cx="${(x + width / 2).toFixed(1)}" cy="4" r="3"/>`);
    line.push(`${(x + width / 2).toFixed(1)},${(HEIGHT - run).toFixed(1)}`);
  }
  const limit = (HEIGHT - heightOf(tolerance)).toFixed(1);
  return `<svg viewBox="${-MARGIN} -4 ${WIDTH + MARGIN} ${HEIGHT + BAND + 4}" role="img" aria-label="Error of each node over the depth of the model">
${shapes.join('\n')}
<polyline points="${line.join(' ')}"/>
<line x1="0" y1="${limit}" x2="${WIDTH}" y2="${limit}"/>
${marks.join('\n')}
${scale(tolerance)}
${moduleBand(nodes)}
</svg>`;
}

/** The errors at the left end of the scale: 1, the tolerance where it has room, 1e-7. */
function scale(tolerance: number): string {
  const limit = HEIGHT - heightOf(tolerance);
  const labels: [string, number][] = [
    ['1', 11],
    ['1e-7', HEIGHT - 4],
    ...(limit > 30 && limit < HEIGHT - 20 ? [[String(tolerance), limit - 4] satisfies [string, number]] : []),
  ];
  return labels.map(([text, y]) => `<text class="scale" x="-6" y="${y.toFixed(1)}">${text}</text>`).join('\n');
}

/** Height of the modules below the strip. */
const BAND = 22;
/** As many modules as have room for their names. */
const MODULES = 24;
/** Width of a letter. */
const LETTER = 6.6;

/** The modules below the strip: of the innermost level that has few enough of them. */
function moduleBand(nodes: readonly JudgedNode[]): string {
  let runs: { module: string; from: number; to: number }[] = [];
  for (let depth = 1; depth <= 8; depth++) {
    const found = moduleRuns(nodes, depth);
    if (found.length > MODULES || found.length === runs.length) break;
    runs = found;
  }
  if (runs.length < 2) return '';
  return runs
    .map(({ module, from, to }) => {
      const [x, width] = [(WIDTH * from) / nodes.length, (WIDTH * (to - from)) / nodes.length];
      const short = module.slice(module.lastIndexOf('/') + 1);
      const label = short.length * LETTER < width - 4 ? short : '';
      return `<g><title>${escaped(module)}</title><path d="M${x.toFixed(1)} ${HEIGHT}h${width.toFixed(1)}v${BAND}h-${width.toFixed(1)}z"/><text x="${(x + width / 2).toFixed(1)}" y="${HEIGHT + 15}">${escaped(label)}</text></g>`;
    })
    .join('\n');
}

/** Consecutive nodes of one module; nodes outside of modules belong to the run around them. */
function moduleRuns(nodes: readonly JudgedNode[], depth: number): { module: string; from: number; to: number }[] {
  const runs: { module: string; from: number; to: number }[] = [];
  for (const [i, { name }] of nodes.entries()) {
    let module = '';
    for (let level = depth; level > 0 && module === ''; level--) module = moduleOf(name, level);
    const last = runs.at(-1);
    if (last && (last.module === module || module === '')) last.to = i + 1;
    else runs.push({ module, from: i, to: i + 1 });
  }
  return runs;
}

const style = `${pageStyle}
.verdict { font-size: 1.1em; font-weight: 600; } .good { color: var(--vscode-testing-iconPassed, var(--good)); }
table + table { margin-top: 1em; } td.repaired { white-space: nowrap; }
svg { width: 100%; height: auto; }
rect { fill: var(--vscode-charts-blue, var(--bar)); } rect.root { fill: var(--vscode-errorForeground, var(--bad)); }
circle { fill: var(--vscode-errorForeground, var(--bad)); stroke: var(--vscode-editor-background, var(--page)); } polyline { fill: none; stroke: var(--vscode-charts-orange, var(--line)); stroke-width: 1.5; }
line { stroke: var(--vscode-foreground, var(--text)); stroke-dasharray: 6 4; }
path { fill: none; stroke: var(--vscode-descriptionForeground, var(--soft)); stroke-width: 0.7; } ul { padding-left: 1.4em; }
text.scale { text-anchor: end; } text { font-size: 11px; text-anchor: middle; fill: var(--vscode-descriptionForeground, var(--soft)); }
`;
