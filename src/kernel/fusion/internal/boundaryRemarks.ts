import { foreignNumber, type FusionReport, type Remark } from '../fusionReport.ts';
import { quote } from './namedMembers.ts';
import { readersOf, type Resolution } from './resolution.ts';

/** Boundaries beyond these are not described one by one. */
const mostBoundaries = 400;

/** What computes a node: `F0` a ForeignNode, `L3` a layer; undefined if nothing does. */
type Home = string;

/** For each tensor that goes from one group to another, what makes it a boundary, where the inputs say so. */
export function boundaryRemarks(from: Resolution, report: FusionReport): Remark[] {
  const remarks: Remark[] = [];
  const outputs = new Set(from.graph.graphOutputs);
  const seen = new Set<string>();
  for (let tensor = 0; tensor < from.graph.tensors.length && remarks.length < mostBoundaries; tensor++) {
    const { producer, owner, name } = from.graph.tensors[tensor]!;
    if (producer < 0 || owner >= 0) continue;
    const isOutput = outputs.has(tensor);
    const all = readersOf(from, tensor);
    // Nearly all tensors stay in their group.
    if (!isOutput && all.every((node) => isTogether(from, producer, node))) continue;
    const home = homeOf(from, producer);
    if (home === undefined) continue;
    const readers = all.flatMap((node) => {
      const reader = homeOf(from, node);
      return reader === undefined ? [] : [{ node, home: reader }];
    });
    const others = [...new Set(readers.map(({ home: reader }) => reader))].filter((reader) => reader !== home);
    const nodes = [producer, ...readers.map(({ node }) => node)];
    const evidence = { tensor: name };
    if (isOutput && home.startsWith('F')) {
      remarks.push(
        remark(
          from,
          report,
          'analysis',
          'graph-output',
          `${describe(report, home)} ends at ${quote(name)}, a graph output.`,
          [producer],
          [home],
          evidence,
        ),
      );
    }
    if (isOutput && others.length > 0) {
      const message = `${quote(name)} is a graph output and must be written, which separates ${describe(report, home)} from ${list(others.map((other) => describe(report, other)))}.`;
      remarks.push(remark(from, report, 'missed', 'graph-output', message, nodes, [home, ...others], evidence));
    } else if (others.length > 1 || (others.length === 1 && readers.some((reader) => reader.home === home))) {
      const message = `${capital(list([...new Set(readers.map(({ home: reader }) => reader))].map((reader) => describe(report, reader))))} read ${quote(name)}, so ${describe(report, home)} must write it.`;
      remarks.push(
        remark(from, report, 'analysis', 'read-by-other-group', message, nodes, [home, ...others], evidence),
      );
    }
    for (const other of others) {
      const border = nativeBorder(report, home, other, name);
      if (!border || seen.has(border.key)) continue;
      seen.add(border.key);
      remarks.push(remark(from, report, 'analysis', border.code, border.message, nodes, [home, other], evidence));
    }
  }
  return remarks;
}

/** A ForeignNode begins or ends at a native layer. */
function nativeBorder(
  report: FusionReport,
  home: Home,
  other: Home,
  tensor: string,
): { key: string; code: string; message: string } | undefined {
  const [foreign, native] = home.startsWith('F') ? [home, other] : [other, home];
  if (!foreign.startsWith('F') || !native.startsWith('L')) return undefined;
  const layer = report.layers[Number(native.slice(1))]!;
  const plugin = /plugin/i.test(layer.type);
  const what = layer.type === '' ? '' : ` (${layer.type})`;
  const where = foreign === home ? 'ends' : 'begins';
  return {
    key: `${where} ${foreign} ${native}`,
    code: plugin ? 'plugin' : 'native-layer',
    message: `${describe(report, foreign)} ${where} at ${quote(tensor)}: ${quote(layer.name)} runs as a ${plugin ? 'plugin' : `native layer${what}`}.`,
  };
}

function homeOf(from: Resolution, node: number): Home | undefined {
  const region = from.regionOf[node]!;
  if (region >= 0) return `F${region}`;
  const layer = from.nodeLayers[node]!.at(-1);
  return layer === undefined ? undefined : `L${layer}`;
}

/** Whether two nodes have the same home; the other one may have none. */
function isTogether(from: Resolution, node: number, other: number): boolean {
  const region = from.regionOf[node]!;
  const otherRegion = from.regionOf[other]!;
  if (region >= 0 || otherRegion >= 0) return region === otherRegion;
  const layer = from.nodeLayers[other]!.at(-1);
  return layer === undefined || layer === from.nodeLayers[node]!.at(-1);
}

const describe = (report: FusionReport, home: Home): string => {
  const index = Number(home.slice(1));
  if (home.startsWith('L')) return `layer ${index} (${quote(report.layers[index]!.name)})`;
  return foreignNumber(report.foreignNodes[index]!);
};

/** A message begins with a capital letter, `layer 3 ("conv")` included. */
const capital = (text: string): string => text[0]!.toUpperCase() + text.slice(1);

const list = (words: string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)!}`;

function remark(
  from: Resolution,
  report: FusionReport,
  kind: Remark['kind'],
  code: string,
  message: string,
  nodes: number[],
  homes: Home[],
  evidence: Remark['evidence'],
): Remark {
  return {
    kind,
    code,
    message,
    evidence,
    nodes: [...new Set(nodes)].map((node) => from.graph.nodes[node]!.id),
    // A ForeignNode's kernels are many and found through its nodes; its one opaque layer is named.
    layers: homes.flatMap((home) => {
      const index = Number(home.slice(1));
      if (home.startsWith('L')) return [index];
      const { layers } = report.foreignNodes[index]!;
      return layers.length === 1 ? layers : [];
    }),
  };
}
