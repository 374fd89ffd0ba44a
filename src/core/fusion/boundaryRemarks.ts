import type { FusionReport, Remark } from './fusionReport.ts';
import { quote } from './namedMembers.ts';
import { readersOf, type Resolution } from './resolution.ts';

/** Boundaries beyond these are not described one by one. */
const mostBoundaries = 400;

/** Who computes a node: `F0` a ForeignNode, `L3` a layer; undefined where nobody does. */
type Home = string;

/** For each tensor that goes from one group to another, what makes it a boundary, where the inputs say so. */
export function boundaryRemarks(from: Resolution, report: FusionReport): Remark[] {
  const remarks: Remark[] = [];
  const outputs = new Set(from.graph.graphOutputs);
  const seen = new Set<string>();
  for (let tensor = 0; tensor < from.graph.tensors.length && remarks.length < mostBoundaries; tensor++) {
    const { producer, owner, name } = from.graph.tensors[tensor]!;
    if (producer < 0 || owner >= 0) continue;
    const home = homeOf(from, producer);
    if (home === undefined) continue;
    const readers = readersOf(from, tensor).flatMap((node) => {
      const reader = homeOf(from, node);
      return reader === undefined ? [] : [{ node, home: reader }];
    });
    const others = [...new Set(readers.map(({ home: reader }) => reader))].filter((reader) => reader !== home);
    const isOutput = outputs.has(tensor);
    const nodes = [producer, ...readers.map(({ node }) => node)];
    const evidence = { tensor: name };
    if (isOutput && home.startsWith('F')) {
      remarks.push(
        remark(
          from,
          report,
          'analysis',
          'graph-output',
          `${say(report, home)} ends at ${quote(name)}: an output of the model.`,
          [producer],
          [home],
          evidence,
        ),
      );
    }
    if (isOutput && others.length > 0) {
      const message = `${quote(name)} is an output of the model and has to be written: ${say(report, home)} and ${list(others.map((other) => say(report, other)))} stay apart there.`;
      remarks.push(remark(from, report, 'missed', 'graph-output', message, nodes, [home, ...others], evidence));
    } else if (others.length > 1 || (others.length === 1 && readers.some((reader) => reader.home === home))) {
      const message = `${quote(name)} from ${say(report, home)} is read by ${list([...new Set(readers.map(({ home: reader }) => reader))].map((reader) => say(report, reader)))}, so it is written.`;
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

/** A ForeignNode begins or ends where a native layer stands. */
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
  const what = layer.type === '' ? '' : ` as ${layer.type}`;
  const where = foreign === home ? 'ends' : 'begins';
  return {
    key: `${where} ${foreign} ${native}`,
    code: plugin ? 'plugin' : 'native-layer',
    message: `${say(report, foreign)} ${where} at ${quote(tensor)}: TensorRT runs ${quote(layer.name)} ${plugin ? 'as a plugin' : `natively${what}`}.`,
  };
}

function homeOf(from: Resolution, node: number): Home | undefined {
  const region = from.regionOf[node]!;
  if (region >= 0) return `F${region}`;
  const layer = from.nodeLayers[node]!.at(-1);
  return layer === undefined ? undefined : `L${layer}`;
}

const say = (report: FusionReport, home: Home): string => {
  const index = Number(home.slice(1));
  return home.startsWith('F') ? `ForeignNode ${index}` : `layer ${index} (${quote(report.layers[index]!.name)})`;
};

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
