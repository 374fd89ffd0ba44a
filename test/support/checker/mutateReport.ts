import type { FusionReport, ReportNode } from '../../../src/kernel/fusion/fusionReport.ts';

/** A wrong report that looks right: sums and references of the changed one agree again. */
export interface Mutation {
  name: string;
  /** Changes a copy of the report; false where it has nothing to change in this way. `pick` chooses one of several. */
  change: (report: FusionReport, pick: Pick) => boolean;
}

export type Pick = <T>(items: readonly T[]) => T | undefined;

export const mutations: Mutation[] = [
  {
    name: 'a member is said to be removed',
    change: (report, pick) => {
      const node = pick(report.nodes.filter(isNamed(report)));
      if (node) takeOut(report, node, 'removed');
      return node !== undefined;
    },
  },
  {
    name: 'a member is said to be folded',
    change: (report, pick) => {
      const node = pick(report.nodes.filter(isNamed(report)));
      if (node) takeOut(report, node, 'folded');
      return node !== undefined;
    },
  },
  {
    name: 'a named node is unknown',
    change: (report, pick) => {
      const node = pick(report.nodes.filter(isNamed(report)));
      if (node) takeOut(report, node, 'unknown');
      return node !== undefined;
    },
  },
  {
    name: 'a named node is lost',
    change: (report, pick) => {
      const node = pick(report.nodes.filter(isNamed(report)));
      if (node) takeOut(report, node, 'unaccounted');
      return node !== undefined;
    },
  },
  {
    name: 'a layer loses one of several nodes',
    change: (report, pick) => {
      const layer = pick(
        report.layers.filter(
          ({ kind, nodes, evidence }) => kind !== 'foreign' && nodes.length > 1 && evidence.includes('metadata'),
        ),
      );
      const node = report.nodes.find(({ id, exact }) => exact && layer?.nodes.includes(id));
      if (!layer || !node) return false;
      layer.nodes = layer.nodes.filter((id) => id !== node.id);
      node.layers = node.layers.filter((id) => id !== layer.id);
      if (node.layers.length === 0 && node.foreignNode === null) takeOut(report, node, 'unknown');
      settle(report);
      return true;
    },
  },
  {
    name: 'a layer gets a node that it does not name',
    change: (report, pick) => {
      const layer = pick(
        report.layers.filter(({ kind, evidence }) => kind !== 'foreign' && evidence.includes('metadata')),
      );
      const node = pick(
        report.nodes.filter(({ fate, op }) => fate === 'folded' || (fate === 'removed' && op !== 'Concat')),
      );
      if (!layer || !node) return false;
      layer.nodes.push(node.id);
      node.layers = [layer.id];
      node.foreignNode = layer.foreignNode;
      node.fate = layer.foreignNode === null ? 'fused' : 'foreign';
      node.exact = true;
      if (layer.foreignNode !== null) report.foreignNodes[layer.foreignNode]!.nodes.push(node.id);
      settle(report);
      return true;
    },
  },
  {
    name: 'a derived member is called exact',
    change: (report, pick) => {
      const node = pick(
        report.nodes.filter(({ exact, fate, reason }) => !exact && fate === 'foreign' && reason.startsWith('Derived')),
      );
      if (node) node.exact = true;
      return node !== undefined;
    },
  },
  {
    name: 'the accounting counts one more',
    change: (report) => {
      report.accounting.foreign++;
      report.accounting.total++;
      return true;
    },
  },
  {
    name: 'a node is not counted',
    change: (report) => {
      const node = report.nodes.pop()!;
      report.model.nodes--;
      report.accounting.total--;
      report.accounting[node.fate]--;
      return true;
    },
  },
  {
    name: 'a layer is left out',
    change: (report) => report.layers.length > 0 && report.layers.pop() !== undefined,
  },
  {
    name: 'a layer counts twice',
    change: (report) => {
      const last = report.layers.at(-1);
      if (last) report.layers.push({ ...last, id: last.id + 1, nodes: [] });
      return last !== undefined;
    },
  },
  {
    name: 'a constant is computed on the host',
    change: (report, pick) => {
      const node = pick(report.nodes.filter(({ fate }) => fate === 'folded'));
      if (node) Object.assign(node, { fate: 'shape', exact: false });
      settle(report);
      return (
        node !== undefined &&
        report.layers.every(
          ({ inputs, outputs, type }) =>
            type !== 'shape_call' && [...inputs, ...outputs].every(({ dims }) => dims?.every((dim) => dim >= 0)),
        )
      );
    },
  },
  {
    name: 'another version',
    change: (report) => {
      report.tensorrt.version = '9.8.7';
      return true;
    },
  },
  {
    name: 'a log line that is about something else',
    change: (report, pick) => {
      const node = pick(
        report.nodes.filter(({ reason, fate }) => /\(.*log line \d+\)/.test(reason) && fate !== 'unknown'),
      );
      if (node) node.reason = node.reason.replace(/log line \d+/, 'log line 1');
      return node !== undefined && !node.reason.startsWith('TensorRT fused it');
    },
  },
];

/** In a place that TensorRT's metadata gives it. */
const isNamed =
  (report: FusionReport) =>
  ({ exact, layers, reason }: ReportNode): boolean =>
    exact &&
    (reason.startsWith('The metadata of') || reason.includes('lists it')) &&
    layers.every((layer) => report.layers[layer]!.kind !== 'foreign');

function takeOut(report: FusionReport, node: ReportNode, fate: 'removed' | 'folded' | 'unaccounted' | 'unknown'): void {
  for (const group of [...report.layers, ...report.foreignNodes])
    group.nodes = group.nodes.filter((id) => id !== node.id);
  Object.assign(node, {
    fate,
    layers: [],
    foreignNode: null,
    exact: fate !== 'unknown' && fate !== 'unaccounted',
    reason: 'A constant.',
  });
  settle(report);
}

/** Makes kinds and sums fit again. */
function settle(report: FusionReport): void {
  for (const node of report.nodes) {
    if (node.fate !== 'single' && node.fate !== 'fused') continue;
    node.fate = node.layers.every((layer) => report.layers[layer]!.nodes.length === 1) ? 'single' : 'fused';
  }
  const { accounting } = report;
  for (const fate of Object.keys(accounting) as (keyof typeof accounting)[]) {
    if (fate !== 'total') accounting[fate] = report.nodes.filter((node) => node.fate === fate).length;
  }
}
