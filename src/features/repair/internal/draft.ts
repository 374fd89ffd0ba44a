import { graphPathOf, isStandardDomain } from '../../../kernel/network/modelGraph.ts';
import type { ModelEdits, ValueList } from '../../../kernel/read/onnx/editModel.ts';
import { elementCount, type OnnxNode } from '../../../kernel/read/onnx/onnxModel.ts';
import { rawElements } from '../../../kernel/read/onnx/readElements.ts';
import type { NewNode, NewTensor, NewValue } from '../../../kernel/read/onnx/writeModel.ts';
import { calledName } from './nodeName.ts';
import { orphans } from './orphans.ts';
import { NewPlace } from './place.ts';
import type { RefusedPlace, RepairPlace } from '../../../kernel/network/repairMap.ts';
import { addedOpset, importsOnnx, type RepairSubject } from '../subject.ts';
import { shapeText } from '../../../kernel/base/text.ts';

/** Operators whose inputs or attributes operator set 9 changed. */
const changedIn9 = new Set(['BatchNormalization', 'Scan', 'Upsample']);

/** The edits of one repair, as they are collected. A node can be changed once. */
export class RepairDraft {
  readonly subject: RepairSubject;
  /** The repair's id: new nodes and tensors have it in their names. */
  readonly repair: string;
  /** Ids of the nodes that the failed build names. Repairs that would do more than needed keep to these. */
  readonly blocked: ReadonlySet<string>;
  readonly places: RepairPlace[] = [];
  /** What was left as it is although it looks like a place, and why. */
  readonly refused: RefusedPlace[] = [];
  /** Outputs of the model that have another name now, or that are gone (null). */
  readonly outputs = new Map<string, string | null>();
  /** The texts for which inputs take the index now, also noted in the model; empty: there are none. */
  texts: readonly string[] = [];
  readonly #replaced = new Map<string, NewNode[]>();
  readonly #edits: Required<
    Pick<
      ModelEdits,
      | 'inputs'
      | 'outputs'
      | 'names'
      | 'values'
      | 'declare'
      | 'redeclare'
      | 'undeclare'
      | 'addInitializers'
      | 'removeInitializers'
    >
  > = {
    inputs: [],
    outputs: [],
    names: [],
    values: [],
    declare: [],
    redeclare: [],
    undeclare: [],
    addInitializers: [],
    removeInitializers: [],
  };
  #raised: number | null = null;
  readonly #constants = new Map<string, string>();
  readonly #names = new Set<string>();

  constructor(subject: RepairSubject, repair: string, blocked: ReadonlySet<string>) {
    this.subject = subject;
    this.repair = repair;
    this.blocked = blocked;
  }

  /** The nodes with one of these operators that are still as they were; `domain:Operator` for other domains. */
  nodes(...operators: string[]): OnnxNode[] {
    const wanted = new Set(operators);
    return this.subject.model.nodes.filter((node) => wanted.has(this.subject.op(node)) && !this.#replaced.has(node.id));
  }

  /** All nodes that are still as they were. */
  get rest(): OnnxNode[] {
    return this.subject.model.nodes.filter((node) => !this.#replaced.has(node.id));
  }

  isReplaced(node: OnnxNode): boolean {
    return this.#replaced.has(node.id);
  }

  /** New nodes in the place of a node; they count once `NewPlace.done` is called. */
  at(node: OnnxNode): NewPlace {
    return new NewPlace(this, node);
  }

  refuse(node: OnnxNode, reason: string): void {
    this.refused.push({ node: node.id, name: calledName(node), operator: node.op, reason });
  }

  /** A name that nothing has yet. */
  fresh(base: string): string {
    let name = base;
    for (let number = 1; this.subject.names.has(name) || this.#names.has(name); number++) name = `${base}_${number}`;
    this.#names.add(name);
    return name;
  }

  /** Adds an initializer, once for the same content. @returns its name */
  constant(type: string, shape: readonly number[], values: ArrayLike<number>, base: string): string {
    if (values.length !== elementCount([...shape]))
      throw new Error(`${base}: ${values.length} elements for ${shapeText(shape)}`);
    const key =
      values.length <= 16
        ? `${type} ${shape.join()} ${Array.from(values, (value) => (Object.is(value, -0) ? '-0' : value)).join()}`
        : null;
    const known = key === null ? undefined : this.#constants.get(key);
    if (known !== undefined) return known;
    const name = this.initializer(base, type, shape, rawElements(type, values));
    if (key !== null) this.#constants.set(key, name);
    return name;
  }

  /** Adds an initializer of that very name. */
  addInitializer(name: string, type: string, shape: readonly number[], values: ArrayLike<number>): void {
    this.initializer(name, type, shape, rawElements(type, values), true);
  }

  /** Adds an initializer of raw data. @returns its name */
  initializer(base: string, type: string, shape: readonly number[], bytes: NewTensor['bytes'], exact = false): string {
    const name = exact ? base : this.fresh(base);
    this.#edits.addInitializers.push({ graph: '', tensor: { name, newType: type, shape: [...shape], bytes } });
    return name;
  }

  /** Replaces a node by others, which are written in its place; none: the node goes. */
  replace(node: OnnxNode, by: NewNode[], note: string | null = null): void {
    this.#replaced.set(node.id, by);
    this.places.push({
      node: node.id,
      name: calledName(node),
      operator: node.op,
      by: by.map(({ name }) => name),
      operators: by.map(({ op }) => op),
      note,
    });
  }

  /** Takes a node away as part of a place that is another node's. */
  remove(node: OnnxNode): void {
    this.#replaced.set(node.id, []);
  }

  /** Notes a place that no node replaces. */
  place(node: OnnxNode, by: string[] = [node.name], note: string | null = null): void {
    this.places.push({ node: node.id, name: calledName(node), operator: node.op, by, note });
  }

  /** Notes a place that is an input, output or initializer. */
  placeOf(name: string, operator: string, note: string | null = null): void {
    this.places.push({ node: null, name, operator, by: [], note });
  }

  /** Lets an input of a node read another tensor. */
  rewire(node: OnnxNode, index: number, tensor: string): void {
    this.#edits.inputs.push({ node: node.id, index, tensor });
  }

  /** Lets every reader of a tensor of the main graph read another one. Readers inside of subgraphs count. */
  rewireReaders(from: OnnxNode, tensor: string, other: string): void {
    for (const reader of this.subject.readers(from, tensor))
      for (const [index, read] of reader.inputs.entries())
        if (read === tensor && !this.#replaced.has(reader.id)) this.rewire(reader, index, other);
  }

  /** Lets the model import operator set 9. @returns false: some of its nodes would mean something else there */
  raiseOpset(): boolean {
    const { opset, model } = this.subject;
    if (opset < 9) {
      const isChanged = model.nodes.some(({ op, domain }) => isStandardDomain(domain) && changedIn9.has(op));
      if (opset < 7 || isChanged || model.functions.length > 0) return false;
      this.raiseTo(9);
    }
    return true;
  }

  /** Lets the model import a newer operator set, for which its nodes are written. */
  raiseTo(version: number): void {
    this.#raised = version;
  }

  rename(node: OnnxNode, name: string): void {
    this.#edits.names.push({ node: node.id, name });
  }

  nameOutput(node: OnnxNode, index: number, tensor: string): void {
    this.#edits.outputs.push({ node: node.id, index, tensor });
  }

  /** Declares an input or output of the model with another type. */
  retype(name: string, to: string): void {
    this.#edits.values.push({ graph: '', name, to });
  }

  /** Replaces the declaration of an input or output of the main graph, at its place. */
  reshape(list: 'inputs' | 'outputs', value: NewValue): void {
    this.#edits.redeclare.push({ graph: '', list, value });
  }

  declare(list: ValueList, value: NewValue, graph = ''): void {
    this.#edits.declare.push({ graph, list, value });
  }

  undeclare(list: ValueList, name: string, graph = ''): void {
    this.#edits.undeclare.push({ graph, list, name });
  }

  removeInitializer(graph: string, name: string): void {
    this.#edits.removeInitializers.push({ graph, name });
  }

  /** The edits with everything that nothing needs any more because of them; null: nothing was changed. */
  edits(): ModelEdits | null {
    if (this.places.length === 0) return null;
    const renamed = new Set(this.#edits.outputs.map(({ tensor }) => tensor));
    // Who reads the new name of an output still reads that output.
    const rewired = this.#edits.inputs.filter(({ tensor }) => !renamed.has(tensor));
    const { removed, initializers } = orphans(this.subject, this.#replaced, rewired);
    const opset = this.#raised ?? (importsOnnx(this.subject.model) ? null : addedOpset);
    const gone = new Set(this.#edits.removeInitializers.map(({ name }) => name));
    return {
      ...this.#edits,
      ...(this.texts.length > 0 && { metadata: [{ key: 'trtlens.texts', value: JSON.stringify(this.texts) }] }),
      ...(opset !== null && { importOpsets: [{ domain: '', version: opset }] }),
      replace: [...this.#replaced].map(([node, by]) => ({ node, by })),
      remove: removed,
      removeInitializers: [
        ...this.#edits.removeInitializers,
        ...initializers.filter(({ graph, name }) => graph !== '' || !gone.has(name)),
      ],
      undeclare: [...this.#edits.undeclare, ...this.#staleDeclarations(removed)],
    };
  }

  /** Declarations of tensors that are made differently now: their types and shapes may be others. */
  #staleDeclarations(removed: readonly string[]): { graph: string; list: ValueList; name: string }[] {
    const { model } = this.subject;
    const declared = new Set(model.graph.values.map(({ name }) => name));
    const nodes = new Set([...this.#replaced.keys(), ...removed]);
    const stale = model.nodes
      .filter(({ id }) => nodes.has(id) && graphPathOf(id) === '')
      .flatMap(({ outputs }) => outputs)
      .filter((name) => declared.has(name));
    return [...new Set(stale)].map((name) => ({ graph: '', list: 'values', name }));
  }
}
