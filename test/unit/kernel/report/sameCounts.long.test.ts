import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type BuildFilesGiven, loadFiles } from '../../../../src/kernel/node/store/loadBuild.ts';
import { fusion } from '../../../../src/kernel/node/cli/fusion.ts';
import { report as reportCommand } from '../../../../src/kernel/node/cli/report.ts';
import type { Fate, FusionReport, LayerKind } from '../../../../src/kernel/fusion/fusionReport.ts';
import { buildOverlay } from '../../../../src/kernel/picture/graph/overlay.ts';
import { fusionGroups } from '../../../../src/kernel/picture/graph/fusionGroups.ts';
import { indexGraph } from '../../../../src/kernel/picture/graph/graphIndex.ts';
import { toGraphData, type ViewData } from '../../../../src/kernel/picture/graph/viewData.ts';
import { flowDefaults, toFusionFlow } from '../../../../src/kernel/picture/page/fusionFlow.ts';
import { toFusionUnits } from '../../../../src/kernel/picture/page/layerRows.ts';
import { toFusionPanel } from '../../../../src/kernel/picture/page/fusionPanel.ts';
import { figuresOf } from '../../../../src/kernel/picture/page/headline.ts';
import { formatReport } from '../../../../src/kernel/report/reportText.ts';
import { fateOrder } from '../../../../src/kernel/report/words.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';
import { runCommand } from '../../shell/cli/runCommand.ts';
import { captures, metaOf } from '../fusion/loadCapture.ts';
import { type Counts, countsOfReport, countsOfSentence } from './countsOfText.ts';

const number = (text: string): number => Number(text.replaceAll(',', ''));

/** The summary of a text for a terminal: its lines between the headline and the next section, in one. */
function summaryOf(text: string): string {
  const [, summary = ''] = text.split('\n\n');
  return summary.replaceAll('\n', ' ');
}

/** `Fused layers (12)` with `93 % · 4 nodes · 1 shared node` → 12 layers, 4 nodes. */
function countsOfPanel(report: FusionReport): Counts {
  const { items } = toFusionPanel(report);
  const counts: Counts = { layers: {}, kernels: 0, nodes: {}, total: 0 };
  const add = (of: Record<string, number>, key: string, value: number) => {
    if (value > 0) of[key] = (of[key] ?? 0) + value;
  };
  const find = (text: string, noun: string) => number(new RegExp(`([\\d,]+) ${noun}s?(?: ·|$)`).exec(text)?.[1] ?? '0');
  for (const item of items) {
    const nodes = find(item.description, 'node');
    counts.total += nodes;
    if (item.kind === 'foreignNode') {
      add(counts.layers, 'foreign', 1);
      add(counts.nodes, 'foreign', nodes);
      counts.kernels += find(item.description, 'kernel');
    } else if (item.selection.kind === 'layers') {
      const { kind } = report.layers[item.selection.ids[0]!]!;
      const several = / \(([\d,]+)\)$/.exec(item.label)?.[1];
      add(counts.layers, kind, item.kind === 'layers' ? number(several ?? '0') : 1);
      if (kind === 'fused' || kind === 'single') add(counts.nodes, kind, nodes);
    } else if (item.selection.kind === 'fate') add(counts.nodes, item.selection.fate, nodes);
    else
      for (const child of item.children())
        add(counts.nodes, child.selection.kind === 'fate' ? child.selection.fate : '', find(child.description, 'node'));
  }
  return counts;
}

/** Numbers of the table of groups and of what is not computed, in a text for a terminal. */
function nodesOfTable(report: string): number {
  // Findings name nodes, too.
  const text = report.replace(/^What holds it back\n(?:.+\n)*/m, '');
  const rows = [...text.matchAll(/^ {2}(?:[ \d.,<>%]+ %? {2}[ \d.,]+ (?:ms|µs|s) {2}|)[ %]*?([\d,]+) nodes? /gm)];
  const more = [...text.matchAll(/^ {2}… and [\d,]+ more with ([\d,]+) nodes?$/gm)];
  return [...rows, ...more].reduce((sum, [, nodes]) => sum + number(nodes!), 0);
}

const folder = temporaryFolder();

/** The build folders of generated models, made with the real TensorRT-RTX. */
const builds = readdirSync(fixturePath('builds'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `builds/${name}`);

/** Model and files that a build left; undefined where there is nothing to report on. */
function filesOf(build: string): BuildFilesGiven | undefined {
  const isCapture = !build.startsWith('builds/');
  const root = fixturePath(isCapture ? `captures/${build}` : build);
  const { model } = isCapture ? metaOf(build) : {};
  const onnx = isCapture ? modelPath(model ?? '') : `${root}/model.onnx`;
  const find = (...names: string[]) =>
    names
      .flatMap((name) => [name, `${name}.gz`])
      .map((name) => `${root}/${name}`)
      .find((path) => existsSync(path));
  const log = find('log.txt', 'log0.txt', 'build.log');
  const layers = find('layers.json');
  if (!existsSync(onnx) || !(log ?? layers)) return undefined;
  return { onnx, log, layers, profile: find('profile.json') };
}

const all = [...captures(), ...builds].flatMap((build) => {
  const files = filesOf(build);
  return files ? [{ build, files }] : [];
});

describe('every surface gives the same counts', () => {
  // Of one build in six: each command reads all files anew.
  it.each(all.filter((_, index) => index % 6 === 0))('$build: the commands', async ({ build, files }) => {
    const report = JSON.parse(JSON.stringify((await loadFiles(files)).report)) as FusionReport;
    const options = Object.entries(files).flatMap(([option, path]) => (path ? [`--${option}`, path] : []));
    const output = join(folder, `${build.replace('/', '.')}.json`);
    const json = await runCommand(fusion, ...options, '--json');
    await runCommand(reportCommand, ...options, '-o', output);
    // The command line adds figures of the build.
    const { figures, ...printed } = JSON.parse(json.out) as FusionReport & { figures: unknown };
    expect(figures).toBeTypeOf('object');
    expect(printed).toEqual(report);
    expect((JSON.parse(readFileSync(output, 'utf8')) as ViewData).report).toEqual(report);
  });

  it.each(all)('$build', async ({ files }) => {
    const { report, model } = await loadFiles(files);
    // What the command prints without --json.
    const text = formatReport(report);
    const expected = countsOfReport(report);

    expect(countsOfSentence(summaryOf(text))).toEqual(expected);
    for (const { key, meaning } of figuresOf(report, null)) {
      const said = number(/^[^:]+: ([\d,]+) of /.exec(meaning)?.[1] ?? '0');
      if ((fateOrder as string[]).includes(key)) expect([key, said]).toEqual([key, report.accounting[key as Fate]]);
    }
    expect(countsOfPanel(report)).toEqual(expected);

    const computed = (['foreign', 'fused', 'single'] as Fate[]).reduce((sum, fate) => sum + report.accounting[fate], 0);
    if (report.layers.length + report.foreignNodes.length > 0) expect(nodesOfTable(text)).toBe(computed);

    // The legend of the graph: one line a fate, ForeignNodes one by one.
    const graph = indexGraph(toGraphData(model));
    const legend = buildOverlay('fusion', graph, report, fusionGroups(graph, report), new Map());
    const byFate: Record<string, number> = {};
    for (const { key, nodes } of legend.categories) {
      const fate = key.startsWith('foreign') ? 'foreign' : key;
      byFate[fate] = (byFate[fate] ?? 0) + nodes;
    }
    expect(byFate).toEqual(expected.nodes);

    // The middle column of the fusion page.
    const options = { ...flowDefaults, weight: 'nodes' as const, open: new Map(), groups: Number.POSITIVE_INFINITY };
    const flow = toFusionFlow(
      report,
      toFusionUnits(report),
      report.nodes.map(() => []),
      options,
    );
    expect(flow.columns.groups.reduce((sum, { nodes }) => sum + nodes, 0)).toBe(report.accounting.total);
  });
});

describe('the counts of a sentence', () => {
  it('are read from it, not assumed', () => {
    expect(
      countsOfSentence(
        '3 engine layers: 2 ForeignNodes (1,088 kernels), 1 reformat. Of 12 nodes, 9 are in ForeignNodes (2 derived; > 99 % of the time), 1 was folded, 2 are unknown.',
      ),
    ).toEqual({
      layers: { foreign: 2, reformat: 1 } satisfies Partial<Record<LayerKind, number>>,
      kernels: 1088,
      nodes: { foreign: 9, folded: 1, unknown: 2 },
      total: 12,
    });
  });
});
