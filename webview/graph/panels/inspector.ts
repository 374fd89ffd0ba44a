import { totalMs } from '../../../src/kernel/fusion/fusionReport.ts';
import type { Fate, Remark, ReportNode } from '../../../src/kernel/fusion/fusionReport.ts';
import { builtPrecision } from '../../../src/kernel/picture/graph/overlay.ts';
import type { TensorOrigin } from '../../../src/kernel/picture/graph/graphIndex.ts';
import type { RequestedPrecision } from '../../../src/kernel/picture/graph/viewData.ts';
import type { ViewCommand, ViewHost } from '../../../src/kernel/protocol/views.ts';
import type { DrawnGroup } from '../../../src/kernel/picture/graph/fusionGroups.ts';
import { percentText, shapeText, shorten, thousands, timeText } from '../../../src/kernel/base/text.ts';
import { DetailLinks, type DetailTargets, factList, groupName, heading, detailSection } from './details.ts';
import { button, element } from '../../shared/element.ts';
import { nodeAccuracy } from './accuracyDetails.ts';
import { nodeQuantization } from './internal/quantizationDetails.ts';
import { nodeTensors, portCard, tensorDetails } from './tensorDetails.ts';
import type { GraphModel } from '../view/graphModel.ts';
import { graphStrings } from './graphStrings.ts';
import { iconButton } from './internal/icons.ts';
import {
  fateSentence,
  findingHead,
  heldBackHead,
  layerOf,
  longestName,
  phrase,
  savingOf,
  savingText,
} from '../../../src/kernel/report/words.ts';

const words = graphStrings.facts;

/** What the engine computes: only that has a type. */
const computedFates: ReadonlySet<Fate> = new Set(['foreign', 'fused', 'single']);
/** Kernels of a group, and nodes of a kernel, that are listed. */
const [mostKernels, mostNodes] = [20, 4];

/** What the panel shows. */
export type Subject =
  | { kind: 'point'; point: number }
  | { kind: 'module'; module: number; open: boolean }
  | { kind: 'group'; group: number }
  | { kind: 'tensors'; origins: TensorOrigin[] }
  /** `layers`: those that compute the points, where they are selected. */
  | { kind: 'many'; points: number[]; title: string; layers?: number[] };

export interface InspectorActions extends DetailTargets {
  close(): void;
}

/** Where ONNX Runtime runs a node; nothing without its log. */
function placementOf({ placement }: ReportNode): Node[] {
  if (placement === undefined) return [];
  const text = `${placement.provider ?? words.placementUnknown}. ${placement.reason}`;
  return [detailSection(words.placement, element('p', {}, text))];
}

/** The panel next to the graph: everything that is known about what is selected. */
export class Inspector {
  readonly root: HTMLElement;
  readonly #body: HTMLElement;
  readonly #actions: InspectorActions;
  readonly #toggle: (module: number) => void;
  readonly #host: ViewHost;
  readonly #links: DetailLinks;

  /** `toggle` expands or collapses a module. */
  constructor(host: ViewHost, actions: InspectorActions, toggle: (module: number) => void) {
    this.#host = host;
    this.#actions = actions;
    this.#toggle = toggle;
    this.#links = new DetailLinks(host, actions);
    this.#body = element('div', { class: 'inspector-body' });
    const close = iconButton('close', graphStrings.close, () => actions.close(), { class: 'inspector-close' });
    this.root = element(
      'aside',
      { class: 'graph-inspector', 'aria-label': graphStrings.inspector, hidden: true },
      close,
      this.#body,
    );
  }

  show(model: GraphModel, subject: Subject | null): void {
    this.root.hidden = subject === null;
    if (subject === null) {
      this.#body.replaceChildren();
      return;
    }
    this.#body.replaceChildren(...this.#contents(model, subject));
    this.#body.scrollTop = 0;
  }

  #contents(model: GraphModel, subject: Subject): Node[] {
    switch (subject.kind) {
      case 'point':
        return subject.point < model.graph.nodes
          ? this.#node(model, subject.point)
          : this.#terminal(model, subject.point);
      case 'module':
        return this.#module(model, subject.module, subject.open);
      case 'group':
        return this.#group(model, subject.group);
      case 'tensors':
        return tensorDetails(model, subject.origins, this.#links);
      case 'many':
        return [
          heading(subject.title),
          ...this.#layers(model, subject.layers ?? []),
          ...this.#actionsOf(model, subject.points),
          this.#links.points(model, subject.points),
        ];
    }
  }

  #node(model: GraphModel, point: number): Node[] {
    const node = model.graph.data.nodes[point]!;
    const { report } = model.data;
    const said = report?.nodes[model.fusion.reportOf[point]!];
    const parts: Node[] = [
      heading(node.op, node.domain === '' ? null : node.domain),
      element('p', { class: 'mono wrap muted' }, node.name === '' ? `${words.id} ${node.id}` : node.name),
    ];
    parts.push(...this.#links.source(model, [point]));
    if (node.older !== undefined) parts.push(element('p', { class: 'fate' }, node.older.note));
    for (const { severity, message, advice, line } of model.faults.get(point) ?? []) {
      const log = button(words.logLine(line), () => this.#host.openLine('failedLog', line), { class: 'link' });
      const texts = [element('strong', {}, message), element('p', {}, advice), log];
      parts.push(element('div', { class: `fault ${severity}` }, ...texts));
    }
    if (report !== null && said !== undefined) {
      parts.push(element('p', { class: `fate${said.exact ? '' : ' derived'}` }, fateSentence(report, said)));
      parts.push(this.#factList(model, point, said));
    }
    const group = model.fusion.groupOf[point]!;
    const isShared = group >= 0 && model.fusion.groups[group]!.points.length > 1;
    const isComputed = said === undefined ? report === null : computedFates.has(said.fate);
    if (isComputed) parts.push(...this.#actionRow(model, [point], isShared ? group : -1));
    if (report !== null && said !== undefined) {
      parts.push(...this.#layers(model, said.layers), ...placementOf(said));
      const remarks = report.remarks.filter(({ nodes }) => nodes.includes(node.id));
      const reason = said.reason === '' ? [] : [element('p', {}, said.reason)];
      if (isComputed) parts.push(...evidence(said.exact, [...reason, ...this.#remarks(remarks)]));
      else parts.push(...reason, ...folded(words.remarks, this.#remarks(remarks)));
    }
    parts.push(...nodeAccuracy(model, node.id), ...nodeQuantization(model, node.id));
    parts.push(nodeTensors(model, words.inputs, point, node.inputs, false, this.#links));
    parts.push(nodeTensors(model, words.outputs, point, node.outputs, true, this.#links));
    if (node.attributes.length > 0) {
      parts.push(detailSection(words.attributes, factList(node.attributes.map(({ name, value }) => [name, value]))));
    }
    return parts;
  }

  #factList(model: GraphModel, point: number, said: ReportNode): Node {
    const report = model.data.report!;
    const rows: [string, string | Node][] = [];
    if (computedFates.has(said.fate)) {
      const shared = said.layers.length > 0 && sharedBy(model, said) > 1;
      const ms = model.times?.[point] ?? Number.NaN;
      if (!Number.isNaN(ms)) rows.push([words.time, shared ? words.share(timeText(ms)) : timeText(ms)]);
      const built = builtPrecision(report, said);
      rows.push([words.precision, built === null ? words.notVisible : words.builtAs(built, shared)]);
      const asked = model.asked.get(said.id);
      if (asked !== undefined)
        rows.push([words.asked, this.#asked(asked)], [words.verdict[asked.verdict], asked.reason]);
    }
    return factList(rows);
  }

  /** `FP32, rule: line 3` */
  #asked({ type, line }: RequestedPrecision): Node {
    const rule = button(words.rule(line), () => this.#host.openLine('overrides', line), { class: 'link' });
    return element('span', {}, `${type.toUpperCase()} `, rule);
  }

  #layers(model: GraphModel, ids: number[]): Node[] {
    const report = model.data.report!;
    const list = element('ul', { class: 'layers' });
    for (const id of ids.slice(0, 20)) {
      const layer = layerOf(report, id);
      if (layer === undefined) continue;
      const notes = phrase([
        layer.type,
        layer.averageMs !== null && timeText(layer.averageMs),
        layer.p99 !== undefined && words.percentiles(layer.p50 ?? 0, layer.p90 ?? 0, layer.p99),
        model.noun === 'node' && [layer.nodes.length, 'node'],
      ]);
      const outputs = layer.outputs.map(({ name, dims, type, format }) =>
        `${name} ${dims ? shapeText(dims) : ''} ${type ?? format ?? ''}`.trim(),
      );
      list.append(
        element(
          'li',
          {},
          this.#links.layer(id, layer.name),
          element('div', { class: 'muted' }, `${notes} `, this.#links.line(layer.line)),
          (layer.tactic ?? '') !== '' &&
            element('div', { class: 'muted mono wrap' }, `${words.tactic} ${layer.tactic}`),
          outputs.length > 0 && element('div', { class: 'muted mono wrap' }, `→ ${outputs.slice(0, 3).join(', ')}`),
          layer.metadata !== undefined && rawText(words.metadata, layer.metadata),
        ),
      );
    }
    return list.childElementCount === 0 ? [] : [detailSection(words.layers, list)];
  }

  /** The kernels of a group, the slowest first: time, and the nodes that each computes. */
  #kernels(model: GraphModel, { layers: ids, points }: DrawnGroup): Node[] {
    const report = model.data.report!;
    const layers = ids.flatMap((id) => layerOf(report, id) ?? []);
    if (layers.length < 2 || model.noun !== 'node') return this.#layers(model, ids);
    const whole = totalMs(layers);
    const pointOf = new Map(points.map((point) => [model.graph.data.nodes[point]?.id, point]));
    const list = element('ul', { class: 'layers' });
    for (const { id, name, averageMs, nodes } of layers
      .toSorted((a, b) => (b.averageMs ?? 0) - (a.averageMs ?? 0))
      .slice(0, mostKernels)) {
      const own = nodes.flatMap((node) => pointOf.get(node) ?? []);
      const notes = phrase([
        averageMs !== null && timeText(averageMs),
        averageMs !== null && whole !== null && whole > 0 && percentText((averageMs / whole) * 100),
        [nodes.length, 'node'],
      ]);
      const names = element('div', { class: 'kernel-nodes' });
      for (const point of own.slice(0, mostNodes)) names.append(this.#links.point(model, point), ' ');
      if (own.length > mostNodes) names.append(element('span', { class: 'muted' }, words.more(own.length - mostNodes)));
      list.append(element('li', {}, this.#links.layer(id, name), element('div', { class: 'muted' }, notes), names));
    }
    if (layers.length > mostKernels)
      list.append(element('li', { class: 'muted' }, words.moreKernels(layers.length - mostKernels)));
    return [detailSection(words.kernels, list)];
  }

  /** The same for those of some points that the engine computes. */
  #actionsOf(model: GraphModel, points: readonly number[]): Node[] {
    const { report } = model.data;
    const computed = points.filter(
      (point) => report === null || computedFates.has(report.nodes[model.fusion.reportOf[point]!]?.fate ?? 'unknown'),
    );
    return computed.some((point) => point < model.graph.nodes) ? this.#actionRow(model, computed) : [];
  }

  /** What can be done with nodes: kept in a type, their group selected, looked at in the other views. */
  #actionRow(model: GraphModel, points: readonly number[], group = -1): Node[] {
    const { report } = model.data;
    const ids = points.flatMap((point) => model.graph.data.nodes[point]?.id ?? []);
    const run = (text: string, command: ViewCommand, title = text) =>
      button(text, () => this.#host.run(command, ids), { title, 'aria-label': title });
    const row = element('div', { class: 'inspector-actions', role: 'group', 'aria-label': words.actions });
    if (points.some((point) => model.takesType(point)))
      row.append(
        run(words.keep('FP32'), 'keepFp32'),
        run('FP16', 'keepFp16', words.keep('FP16')),
        run('BF16', 'keepBf16', words.keep('BF16')),
      );
    if (group >= 0) row.append(button(words.showGroup, () => this.#actions.selectGroup(group)));
    if (report !== null && report.layers.length > 0)
      row.append(run(words.inTimeline, 'showInTimeline'), run(words.inTable, 'showInTable'));
    return row.hasChildNodes() ? [row] : [];
  }

  #remarks(remarks: readonly Remark[]): Node[] {
    const items = remarks
      .slice(0, 12)
      .map(({ kind, message, evidence }) => element('li', {}, `${kind}: ${message} `, this.#links.line(evidence.line)));
    return items.length === 0 ? [] : [element('ul', {}, ...items)];
  }

  #terminal(model: GraphModel, point: number): Node[] {
    const { graph } = model;
    const isInput = point < graph.nodes + graph.data.inputs.length;
    const tensor = isInput
      ? graph.data.inputs[point - graph.nodes]!
      : graph.data.outputs[point - graph.nodes - graph.data.inputs.length]!;
    const neighbors = new Set<number>();
    const [start, edges, ends] = isInput
      ? [graph.outStart, graph.outEdges, graph.to]
      : [graph.inStart, graph.inEdges, graph.from];
    for (let i = start[point]!; i < start[point + 1]!; i++) neighbors.add(ends[edges[i]!]!);
    return [
      heading(tensor.name, isInput ? graphStrings.input : graphStrings.output),
      element('p', {}, portCard(model, point) || words.unknownType),
      this.#links.points(model, [...neighbors]),
    ];
  }

  #module(model: GraphModel, index: number, open: boolean): Node[] {
    // A module stays selected when the picture becomes a flat one, which has none.
    const module = model.nested.modules[index]!;
    const rows: [string, string][] = [[words.contents, graphStrings.nodes(module.end - module.start, model.noun)]];
    for (const { label, nodes } of model.categoriesIn(index)) rows.push([label, thousands(nodes)]);
    const ms = model.moduleTime(index);
    if (ms !== null) rows.push([words.time, timeText(ms)]);
    const differing = model.differing(index);
    if (module.times > 1)
      rows.push([
        graphStrings.times(module.times),
        differing === null ? '' : differing === 0 ? graphStrings.alike : graphStrings.differ(differing),
      ]);
    else if (model.isOutlier(index)) rows.push([graphStrings.outlier, '']);
    const groups = new Set<number>();
    for (let i = module.start; i < module.end; i++) groups.add(model.fusion.groupOf[model.nested.sequence[i]!]!);
    groups.delete(-1);
    const list = element('ul', {});
    for (const group of [...groups].sort((a, b) => a - b).slice(0, 30)) {
      list.append(
        element(
          'li',
          {},
          button(groupName(model, model.fusion.groups[group]!), () => this.#actions.selectGroup(group), {
            class: 'link wrap',
          }),
        ),
      );
    }
    return [
      heading(module.label, module.id === '' ? null : module.id),
      factList(rows),
      button(open ? words.shut : words.open, () => this.#toggle(index)),
      ...this.#actionsOf(model, [...model.nested.sequence.subarray(module.start, module.end)]),
      ...(groups.size > 0 ? [detailSection(words.group, list)] : []),
    ];
  }

  #group(model: GraphModel, index: number): Node[] {
    const group = model.fusion.groups[index]!;
    const report = model.data.report!;
    const rows: [string, string][] = [[words.contents, graphStrings.groupNodes(group, model.noun)]];
    const ms = model.groupTime(group);
    if (ms !== null) rows.push([words.time, timeText(ms)]);
    const precision = model.groupPrecision(group);
    if (precision !== '') rows.push([words.precision, precision.toUpperCase()]);
    const saving = savingOf(report, group.kind === 'foreign' ? { foreignNode: group.ref } : { layer: group.ref });
    const saved = saving === undefined ? '' : savingText(saving);
    if (saved !== '') rows.push([words.saved, saved]);
    const parts: Node[] = [
      heading(groupName(model, group)),
      ...this.#links.source(model, group.points),
      factList(rows),
      ...this.#kernels(model, group),
      ...this.#actionsOf(model, group.points),
    ];
    const findings = (report.findings ?? []).filter((one) => one.layers.some((id) => group.layers.includes(id)));
    if (findings.length > 0) {
      const list = element('ul', {});
      for (const one of findings) list.append(element('li', {}, `${findingHead(one)}: ${one.message}`));
      parts.push(detailSection(words.findings, list));
    }
    const held = (report.heldBack ?? []).filter((one) => one.layers.some((id) => group.layers.includes(id)));
    if (held.length > 0) {
      const list = element('ul', {});
      for (const one of held) list.append(element('li', {}, `${heldBackHead(one)}: ${one.message}`));
      parts.push(detailSection(words.heldBack, list));
    }
    parts.push(detailSection(words.contents, this.#links.points(model, group.points)));
    // Why it begins and ends where it does is said of the tensors at its border.
    const foreign = group.kind === 'foreign' ? report.foreignNodes.find(({ id }) => id === group.ref) : undefined;
    const border = new Set([...(foreign?.inputs ?? []), ...(foreign?.outputs ?? [])]);
    const atBorder = report.remarks.filter(({ evidence: { tensor } }) => tensor !== undefined && border.has(tensor));
    const inside = report.remarks.filter(
      (remark) => !atBorder.includes(remark) && remark.layers.some((layer) => group.layers.includes(layer)),
    );
    const proof: Node[] = [];
    if (foreign !== undefined) {
      proof.push(element('p', { class: 'mono wrap muted' }, shorten(foreign.name, longestName)));
      if (foreign.line !== null) proof.push(element('p', {}, this.#links.line(foreign.line)));
    }
    proof.push(...this.#remarks(inside));
    parts.push(...evidence(group.exact, proof), ...folded(words.border(atBorder.length), this.#remarks(atBorder)));
    return parts;
  }
}

/** One line that unfolds; nothing without contents. */
const folded = (title: string, contents: readonly Node[]): Node[] =>
  contents.length === 0 ? [] : [element('details', { class: 'folded' }, element('summary', {}, title), ...contents)];

/** Whether TensorRT says it itself, with what it says. */
const evidence = (isExact: boolean, proof: readonly Node[]): Node[] => {
  const title = words.evidenceOf(isExact ? 'exact' : 'derived');
  return proof.length === 0 ? [element('p', { class: 'muted' }, title)] : folded(title, proof);
};

/** How many nodes share the largest of a node's layers. */
const sharedBy = (model: GraphModel, { layers }: ReportNode): number =>
  Math.max(1, ...layers.map((id) => layerOf(model.data.report!, id)?.nodes.length ?? 1));

/** A text as TensorRT wrote it, folded up; its control characters are separators and become new lines. */
function rawText(title: string, text: string): Node {
  const whole = text.replaceAll(/[\u0000-\u001f]+/g, '\n');
  return element(
    'details',
    {},
    element('summary', { class: 'muted' }, title),
    element('pre', { class: 'raw', tabindex: 0 }, whole),
  );
}
