import type { FusionReport, ReportLayer, ReportNode } from '../../../src/kernel/fusion/fusionReport.ts';
import { checkClaims } from './checkClaims.ts';
import { readRawEvidence, tokensOf, type RawEvidence, type RawLayer } from './rawEvidence.ts';
import { endsOf, isSaid, piecesOf, prefixesOf } from './rawNames.ts';
import { readRawModel, type RawModel, type RawNode } from './rawModel.ts';

/** A statement of a report that the raw inputs contradict, or that they do not bear out. */
export interface Violation {
  rule:
    | 'sum'
    | 'reference'
    | 'gone'
    | 'dead'
    | 'unknown'
    | 'lost'
    | 'exact'
    | 'member'
    | 'named'
    | 'layer'
    | 'kernels'
    | 'within'
    | 'shape'
    | 'dims'
    | 'line'
    | 'version'
    | 'text';
  node: string | null;
  message: string;
}

export interface CheckInput {
  model: Uint8Array;
  log?: string | undefined;
  layerInfo?: string | undefined;
}

/**
 * Holds every statement of a report against the text of the log and the layer info. Shares no code with the readers and
 * the resolver: another decoder for the model, patterns on the text for the rest. Where several nodes have one name, it
 * asks only what is sure.
 */
export function checkReport(report: FusionReport, input: CheckInput, text = ''): Violation[] {
  return new Checker(report, readRawModel(input.model), readRawEvidence(input.log, input.layerInfo)).check(text);
}

/** Makes one token of those that a name reads like which contains what separates tokens. */
function joinTokens(tokens: string[], name: string): void {
  const parts = tokensOf(`[ONNX Layer: ${name}]`);
  for (let at = 0; parts.length > 1 && at < tokens.length; at++)
    if (parts.every((part, index) => tokens[at + index] === part)) tokens.splice(at, parts.length, name);
}

class Checker {
  readonly #report: FusionReport;
  readonly #model: RawModel;
  readonly #raw: RawEvidence;
  readonly #found: Violation[] = [];
  readonly #nodes: Map<string, ReportNode>;
  /** Nodes that an engine layer's metadata, or its whole name, names, with these layers. */
  readonly #named = new Map<string, number[]>();
  /** Nodes that a `ForeignNode … metadata:` line lists. */
  readonly #listed = new Set<string>();
  /** Into what the log absorbs each name. */
  readonly #absorbedInto = new Map<string, string>();
  /** The layer that writes each tensor, unless it only moves what another one wrote. */
  readonly #writers = new Map<string, RawLayer>();

  constructor(report: FusionReport, model: RawModel, raw: RawEvidence) {
    this.#report = report;
    this.#model = model;
    this.#raw = { ...raw, layers: raw.layers && layersOfProfile(raw.layers, report.optimizationProfile?.shown ?? 0) };
    this.#nodes = new Map(report.nodes.map((node) => [node.id, node]));
    for (const { name } of report.nodes.filter((node) => node.name.includes('[ONNX Layer: ')))
      for (const tokens of [...(raw.layers ?? []).map((layer) => layer.tokens), ...raw.foreign.values()])
        joinTokens(tokens, name);
    this.#raw.layers?.forEach((layer, index) => {
      for (const name of layer.tokens.length > 0 ? layer.tokens : piecesOf(layer.name)) {
        const node = this.#unique(name);
        if (node) this.#named.set(node.id, [...(this.#named.get(node.id) ?? []), index]);
      }
    });
    for (const { line, into, absorbed } of raw.fusions) {
      if (!line.includes(' into ')) continue;
      for (const name of absorbed) this.#absorbedInto.set(name.replace(/_clone_\d+$/, ''), into);
    }
    for (const layer of this.#raw.layers ?? []) {
      if (layer.name.startsWith('Reformatting CopyNode') || /Shape|^Constant$/.test(layer.type)) continue;
      for (const { name } of layer.outputs) this.#writers.set(name, layer);
    }
    for (const tokens of raw.foreign.values()) {
      for (const token of tokens) {
        const node = this.#unique(token);
        if (node) this.#listed.add(node.id);
      }
    }
  }

  check(text: string): Violation[] {
    this.#sums();
    this.#references();
    this.#layers();
    this.#members();
    for (const node of this.#report.nodes) this.#node(node);
    this.#version();
    this.#found.push(...checkClaims(this.#report, this.#model, this.#raw, text));
    if (/^No ForeignNode|\. No ForeignNode/m.test(text) && (this.#raw.hasForeign || this.#raw.layers === null)) {
      this.#wrong('text', null, 'the text says that there is no ForeignNode');
    }
    return this.#found;
  }

  #wrong(rule: Violation['rule'], node: string | null, message: string): void {
    this.#found.push({ rule, node, message });
  }

  /** The node that a token or a name means, where only one can be meant. */
  #unique(token: string): RawNode | undefined {
    for (let end = token.length; end > 0; end = token.lastIndexOf(' | ', end - 1)) {
      const nodes = this.#model.byName.get(token.slice(0, end));
      if (nodes) return this.#onPath(nodes, token.slice(end));
    }
    return undefined;
  }

  /** Of several nodes of one name the one whose owners a path names: ` | then (then_branch) | if (If)`. */
  #onPath(nodes: RawNode[], path: string): RawNode | undefined {
    if (nodes.length === 1 || path === '') return nodes.length === 1 ? nodes[0] : undefined;
    const fits = nodes.filter((node) => {
      const owner = node.owner === null ? undefined : this.#model.byId.get(node.owner);
      return (
        owner !== undefined &&
        path.includes(` | ${owner.name} (${owner.op})`) &&
        (path.includes(` (${node.part!}) `) || !path.includes('_branch)'))
      );
    });
    return fits.length === 1 ? fits[0] : undefined;
  }

  #sums(): void {
    const { accounting, nodes } = this.#report;
    const { total, ...fates } = accounting;
    const count = this.#model.nodes.length;
    if (total !== count || nodes.length !== count || this.#report.model.nodes !== count) {
      this.#wrong(
        'sum',
        null,
        `the model has ${count} nodes, the report ${total}, ${nodes.length} and ${this.#report.model.nodes}`,
      );
    }
    for (const [fate, number] of Object.entries(fates)) {
      const real = nodes.filter((node) => node.fate === fate).length;
      if (real !== number) this.#wrong('sum', null, `${number} ${fate} in the accounting, ${real} nodes`);
    }
    nodes.forEach((node, index) => {
      const raw = this.#model.nodes[index];
      if (raw && (raw.id !== node.id || raw.op !== node.op))
        this.#wrong('sum', node.id, `${node.op} where the model has ${raw.id} ${raw.op}`);
    });
  }

  #references(): void {
    const { layers, foreignNodes, nodes } = this.#report;
    const inLayer = layers.map((layer) => new Set(layer.nodes));
    const inForeign = foreignNodes.map((foreign) => new Set(foreign.nodes));
    for (const node of nodes) {
      const { id, foreignNode, fate } = node;
      for (const layer of node.layers)
        if (!inLayer[layer]?.has(id)) this.#wrong('reference', id, `layer ${layer} lacks it`);
      if ((foreignNode !== null) !== (fate === 'foreign'))
        this.#wrong('reference', id, `${fate} with ForeignNode ${foreignNode}`);
      if (foreignNode !== null && !inForeign[foreignNode]?.has(id))
        this.#wrong('reference', id, `ForeignNode ${foreignNode} lacks it`);
      if ((fate === 'single' || fate === 'fused') !== (foreignNode === null && node.layers.length > 0)) {
        this.#wrong('reference', id, `${fate} with ${node.layers.length} layers`);
      }
      const alone = node.layers.every((layer) => inLayer[layer]?.size === 1);
      if ((fate === 'single' && !alone) || (fate === 'fused' && alone))
        this.#wrong('reference', id, `${fate}, alone: ${alone}`);
    }
    for (const layer of layers) this.#layerReferences(layer);
    this.#foreignReferences();
  }

  #foreignReferences(): void {
    for (const { id, nodes: members, exact } of this.#report.foreignNodes) {
      for (const member of members) {
        const node = this.#nodes.get(member);
        if (!node) this.#wrong('reference', member, `a member of ForeignNode ${id} that the report lacks`);
        else if (exact && !node.exact && !this.#model.byId.get(member)?.hasBody)
          this.#wrong('exact', member, `derived in the exact ForeignNode ${id}`);
      }
    }
  }

  #layerReferences(layer: ReportLayer): void {
    for (const id of layer.nodes) {
      const node = this.#nodes.get(id);
      const isWhole = layer.kind === 'foreign';
      if (!node) this.#wrong('reference', id, `layer ${layer.id} has a node that the report lacks`);
      else if (!isWhole && !node.layers.includes(layer.id))
        this.#wrong('reference', id, `is not in its layer ${layer.id}`);
      else if (isWhole && node.foreignNode === null)
        this.#wrong('reference', id, `is in no ForeignNode, but in layer ${layer.id}`);
    }
    if (layer.nodes.length > 0 && layer.evidence.length === 0)
      this.#wrong('reference', null, `layer ${layer.id} has no evidence`);
  }

  /** The report's layers are the engine's, or without an engine no more than the optimizer counts. */
  #layers(): void {
    const { layers, foreignNodes } = this.#report;
    const { layers: raw, funnel } = this.#raw;
    if (raw === null) {
      const native = layers.filter(({ foreignNode }) => foreignNode === null).length + foreignNodes.length;
      const last = funnel.at(-1);
      if (last !== undefined && native > last)
        this.#wrong('layer', null, `${native} layers where the optimizer counts ${last}`);
      for (const { name } of layers) {
        if (!this.#raw.text.includes(piecesOf(name)[0] ?? name.replace(/ copy$/, '')))
          this.#wrong('layer', null, `a layer that the log does not have: ${name}`);
      }
      return;
    }
    if (raw.length !== layers.length)
      this.#wrong('layer', null, `${layers.length} layers, the engine has ${raw.length}`);
    layers.forEach(({ name }, index) => {
      if (raw[index] && raw[index].name !== name)
        this.#wrong('layer', null, `layer ${index} is ${raw[index].name}, not ${name}`);
    });
  }

  /** Every node that a layer's metadata or a region's list names is in it, and what is there as sure is named. */
  #members(): void {
    if (this.#isOther()) return;
    for (const [id, layers] of this.#named) {
      const node = this.#nodes.get(id);
      for (const layer of layers) {
        if (!this.#report.layers[layer]?.nodes.includes(id))
          this.#wrong('member', id, `layer ${layer} names it and lacks it`);
      }
      if (node?.fate === 'unknown') this.#wrong('unknown', id, `layer ${layers[0]} names it`);
    }
    for (const foreign of this.#report.foreignNodes) {
      const tokens = this.#raw.foreign.get(foreign.name);
      if (!tokens) continue;
      const members = new Set(foreign.nodes);
      for (const token of tokens) {
        const node = this.#unique(token);
        if (node && !members.has(node.id) && !this.#isOtherBranch(node))
          this.#wrong('member', node.id, `${foreign.name} lists it and lacks it`);
      }
    }
    const { layers } = this.#raw;
    this.#report.layers.forEach((layer, index) => {
      const raw = layers?.[index];
      if (!raw || raw.tokens.length === 0 || raw.isCut || raw.name !== layer.name || layer.kind === 'foreign') return;
      const names = new Set(raw.tokens.flatMap((token) => prefixesOf(token)));
      const written = new Set(raw.outputs.map(({ name }) => name));
      for (const id of layer.nodes) {
        const node = this.#nodes.get(id);
        const owner = this.#model.byId.get(id);
        if (!node?.exact || !owner || owner.outputs.some((output) => written.has(output))) continue;
        if (!names.has(owner.name) && ![...this.#fusedWith(owner)].some((name) => names.has(name))) {
          this.#wrong('member', id, `is in layer ${index}, whose metadata does not name it`);
        }
      }
    });
  }

  /** The names that the log fuses with a node, if only by way of others; its own is one of them. */
  #fusedWith(node: RawNode): Set<string> {
    const reached = new Set([node.name]);
    for (let grown = true; grown;) {
      grown = false;
      for (const { into, absorbed } of this.#raw.fusions) {
        const all = [into, ...absorbed].flatMap((name) => piecesOf(name.replace(/_clone_\d+$/, '')));
        if (
          !all.some((name) => reached.has(name)) ||
          all.every((name) => reached.has(name) || this.#model.constants.has(name))
        )
          continue;
        for (const name of all) if (!this.#model.constants.has(name)) reached.add(name);
        grown = true;
      }
    }
    return reached;
  }

  #node(node: ReportNode): void {
    const raw = this.#model.byId.get(node.id);
    if (!raw || this.#isOther()) return;
    if (node.fate === 'removed' || node.fate === 'folded' || node.fate === 'shape') this.#gone(node, raw);
    if (node.fate === 'unknown') {
      if (node.exact) this.#wrong('exact', node.id, 'is unknown for sure');
      if (this.#listed.has(node.id)) this.#wrong('unknown', node.id, 'a ForeignNode lists it');
    }
    if (node.fate === 'unaccounted') this.#lost(node, raw);
    if (node.fate === 'shape' && !this.#isDynamic())
      this.#wrong('shape', node.id, 'is said to be computed on the host, where every shape is known');
    if (node.fate !== 'removed' && node.fate !== 'folded' && this.#isNotTaken(raw)) {
      this.#wrong('gone', node.id, `${node.fate}, though its branch is not taken`);
    }
    if (node.exact && (node.fate === 'foreign' || node.fate === 'fused' || node.fate === 'single'))
      this.#exact(node, raw);
    this.#line(node, raw);
  }

  /** A lost node is named by nothing, in a build that names what kernels compute, and it does more than move data. */
  #lost({ id, exact, layers, foreignNode }: ReportNode, raw: RawNode): void {
    if (exact || layers.length > 0 || foreignNode !== null) this.#wrong('lost', id, 'is lost and has a place');
    if (this.#named.has(id) || this.#listed.has(id)) this.#wrong('lost', id, 'is lost, but TensorRT names it');
    if (this.#absorbedInto.has(raw.name)) this.#wrong('lost', id, 'is lost, but the log fuses it');
    if (this.#writerOf(raw)) this.#wrong('lost', id, 'is lost, but a layer writes its result');
    if (this.#raw.layers?.every(({ tokens }) => tokens.length === 0) ?? true)
      this.#wrong('lost', id, 'is lost, but no layer has metadata');
    if (
      /Identity|Reshape|Squeeze|Transpose|Cast|Slice|Split|Concat|Gather|Constant|Shape|CumSum|LSTM|GRU|RNN|Loop|Scan/.test(
        raw.op,
      )
    )
      this.#wrong('lost', id, `is lost, but a ${raw.op} changes no value or is a loop`);
  }

  /** A node that is said to need no work is in no layer, list or fusion, and no layer writes what it gives. */
  #gone(node: ReportNode, raw: RawNode): void {
    const { fate, id } = node;
    if (this.#named.has(id)) this.#wrong('gone', id, `${fate}, but layer ${this.#named.get(id)![0]} names it`);
    if (this.#listed.has(id) && !this.#isOtherBranch(raw))
      this.#wrong('gone', id, `${fate}, but a ForeignNode lists it`);
    const writer = this.#writerOf(raw);
    // What TensorRT itself erases leaves its output to the layer before it; `#line` looks at the line.
    if (writer && fate !== 'shape' && !/log line \d+/.test(node.reason))
      this.#wrong('gone', id, `${fate}, but layer "${writer.name}" writes ${raw.outputs.join(', ')}`);
    const isOne = this.#model.byName.get(raw.name)!.length === 1;
    if (!isOne) return;
    const fusion = this.#absorbedInto.get(raw.name);
    if (fusion && fate === 'removed') this.#wrong('gone', id, `removed, but the log fuses it into ${fusion}`);
    if (this.#raw.layers === null && fate === 'removed' && raw.op === 'Concat') {
      const copy = this.#raw.copies.find(({ to }) => raw.outputs.includes(to));
      if (copy) this.#wrong('gone', id, `removed, but the log copies ${copy.from} to ${copy.to}`);
    }
    this.#graphNode(node, raw);
  }

  /** What the optimizer is given under GRAPH NODES is not gone before it begins, nor is what a region is named after. */
  #graphNode({ id, fate, reason }: ReportNode, raw: RawNode): void {
    const kinds = (this.#raw.registered.get(raw.name) ?? []).map((layer) => this.#raw.graphNodes.get(layer));
    const kind = kinds.find((found) => found !== undefined);
    // Identities come to nothing inside of a region; all else in the graph that the optimizer is given is there.
    if (this.#isOtherBranch(raw)) return;
    if (kind && fate === 'removed' && !/^(?:IDENTITY|CAST|COPY)$/.test(kind) && !/log line \d+/.test(reason)) {
      this.#wrong('gone', id, `removed, but GRAPH NODES has it as ${kind}`);
    }
    if (kind === 'FILL' && fate !== 'removed') this.#wrong('gone', id, `${fate}, but GRAPH NODES has it as FILL`);
    const region = [...this.#raw.foreign.keys()].find((name) => endsOf(name, raw.name));
    if (region && fate === 'removed') this.#wrong('gone', id, `removed, but ${region} is named after it`);
  }

  /** The layer that writes a tensor of the node, unless it only moves what another one wrote. */
  #writerOf(node: RawNode): RawLayer | undefined {
    if (node.owner !== null) return undefined;
    const own = node.outputs.filter((output) => output !== '' && this.#model.producers.get(output) === node);
    return own.map((output) => this.#writers.get(output)).find((layer) => layer !== undefined);
  }

  /** A branch of an If that no kernel names, while kernels name the other. */
  #isOtherBranch(node: RawNode): boolean {
    const isNamedIn = (owner: string, part: string) =>
      [...this.#named.keys()].some((id) => id.startsWith(`${owner}/${part}/`));
    for (let at: RawNode | undefined = node; at?.owner !== null && at; at = this.#model.byId.get(at.owner!)) {
      const owner = this.#model.byId.get(at.owner)!;
      if (owner.op !== 'If' || isNamedIn(owner.id, at.part!)) continue;
      if (isNamedIn(owner.id, at.part === 'then_branch' ? 'else_branch' : 'then_branch')) return true;
    }
    return false;
  }

  /** The engine decides nothing (no kernel jumps, none is of an If), and only the other branch has kernels. */
  #isNotTaken(node: RawNode): boolean {
    const { layers } = this.#raw;
    if (layers === null || layers.some(({ type }) => type === 'cjmp' || type === 'jmp')) return false;
    return this.#isOtherBranch(node);
  }

  /** Shapes of this engine are known only when it runs. */
  #isDynamic(): boolean {
    const { layers, text } = this.#raw;
    if (layers === null || layers.every(({ inputs, outputs }) => inputs.length + outputs.length === 0)) return true;
    return (
      layers.some(
        ({ type, name, inputs, outputs }) =>
          // Engines of static shapes have a `dummy_shape_call` of no tensors.
          (type === 'shape_call' && !name.startsWith('dummy_')) ||
          /ShapeHostToDevice|DeviceToShapeHost/i.test(`${type} ${name}`) ||
          [...inputs, ...outputs].some(({ dims }) => dims.some((dim) => dim < 0)),
      ) || /: \(-1|, -1[,)]/.test(text.slice(text.indexOf('GRAPH NODES')))
    );
  }

  /** What is sure stands in the text. */
  #exact(node: ReportNode, raw: RawNode): void {
    if (this.#named.has(raw.id) || this.#listed.has(raw.id)) return;
    const escaped = JSON.stringify(raw.name).slice(1, -1);
    const spelled = raw.name.replace(/[^A-Za-z0-9/]/g, '_');
    const layers = this.#raw.registered.get(raw.name) ?? [];
    const others = this.#fusedWith(raw);
    if (![raw.name, escaped, spelled, ...layers, ...others].some((name) => isSaid(name, this.#raw.said))) {
      this.#wrong('exact', node.id, `is exact, and no layer, list or fusion in the inputs names it`);
    }
  }

  /** The log line that a sentence gives as its evidence names the node. */
  #line(node: ReportNode, raw: RawNode): void {
    const line = /\(.*log line (\d+)\)/.exec(node.reason)?.[1];
    if (line === undefined || node.fate === 'unknown') return;
    const text = this.#raw.lines.slice(Number(line) - 1, Number(line) + 3).join('\n');
    const layers = this.#raw.registered.get(raw.name) ?? [];
    // Of a function's node, the line is about the call that an operator replaced.
    const call = / in place of its function /.test(node.reason) ? this.#model.byId.get(raw.owner ?? '') : undefined;
    const said = call ?? raw;
    const names = [said.name, ...(call ? [] : layers), ...said.outputs.filter((output) => output !== '')];
    const isChained =
      node.reason.startsWith('TensorRT fused') && this.#raw.fusions.some(({ line: other }) => other.includes(raw.name));
    if (!names.some((name) => text.includes(name)) && !isChained)
      this.#wrong('line', node.id, `log line ${line} does not name it`);
  }

  #version(): void {
    const { version } = this.#report.tensorrt;
    if (version === null || this.#raw.text.includes(version)) return;
    const [major = '', minor = '', patch = ''] = version.split('.');
    const short = [minor.padStart(2, '0'), patch.padStart(2, '0')].join('');
    const frames = [`v${major}${short}`, `v${major}${minor}${patch.padStart(2, '0')}`];
    if (!frames.some((frame) => this.#raw.text.includes(frame)))
      this.#wrong('version', null, `${version} stands nowhere`);
  }

  /** The report itself says that the inputs are of another model: then it states nothing. */
  #isOther(): boolean {
    return this.#report.problems.some(({ code }) => code === 'other-model');
  }
}

/** The layers of one optimization profile: a kernel's is the one that any kernel of its region, `_myl1_`, names. */
function layersOfProfile(layers: RawLayer[], shown: number): RawLayer[] {
  if (!layers.some(({ name, inputs }) => [name, ...inputs.map((tensor) => tensor.name)].join().includes(' [profile ')))
    return layers;
  const regionOf = ({ name }: RawLayer): string | undefined => /_myl(\d+)_\d+$/.exec(name)?.[1];
  const said = (layer: RawLayer): number => {
    const names = [layer, ...layer.inputs, ...layer.outputs].map(({ name }) => name);
    return Math.max(...names.map((name) => Number(/ \[profile (\d+)\]/.exec(name)?.[1] ?? 0)));
  };
  return layers.filter((layer) => {
    const region = regionOf(layer);
    const own = region === undefined ? [layer] : layers.filter((other) => regionOf(other) === region);
    return Math.max(...own.map(said)) === shown;
  });
}
