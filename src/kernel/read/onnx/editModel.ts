// Changes a model and keeps every other byte; removes names.
import protobuf from 'protobufjs/minimal.js';
import { addTo } from '../../base/addTo.ts';
import { type ByteSource, errorText, type Problem, type Read } from '../../base/problem.ts';
import { decodeUtf8 } from '../../base/text.ts';
import { ModelIndex } from './internal/modelIndex.ts';
import {
  ATTRIBUTE,
  DIMENSION,
  ENTRY,
  FUNCTION,
  GRAPH,
  MODEL,
  OPSET,
  NODE,
  SHAPE,
  SPARSE_TENSOR,
  TENSOR,
  TENSOR_TYPE,
  TYPE,
  VALUE,
} from './internal/onnxFields.ts';
import { fieldEnd, scanFields } from './internal/scanFields.ts';
import { bytesTag, WireError } from './internal/wireCursor.ts';
import {
  type DataType,
  dataTypeNumber,
  elementBytes,
  isRealElement,
  joinSegments,
  type OnnxModel,
  type OnnxTensor,
  type RealElement,
  type Segment,
  segmentsSize,
} from './onnxModel.ts';
import { readModel } from './readModel.ts';
import {
  ExternalData,
  externalEntries,
  graphNode,
  importedDomain,
  initializer,
  MessagePatch,
  type NewNode,
  type NewTensor,
  type NewValue,
  retypeTensor,
  UnfitTensor,
  valueField,
} from './writeModel.ts';

const listTags: Readonly<Record<ValueList, number>> = {
  inputs: GRAPH.input,
  outputs: GRAPH.output,
  values: GRAPH.value,
};

/** Says what an edit cannot do. */
interface Refusals {
  refuse(message: string, node?: string): void;
}

/** The edits that add, take out and replace whole parts of a graph. */
export class GraphEditor {
  readonly #refusals: Refusals;
  readonly #index: ModelIndex;
  readonly #source: ByteSource;

  constructor(refusals: Refusals, index: ModelIndex, source: ByteSource) {
    this.#refusals = refusals;
    this.#index = index;
    this.#source = source;
  }

  async apply(edits: ModelEdits): Promise<void> {
    for (const cast of edits.casts ?? []) this.#cast(cast);
    await this.#nodes(edits);
    this.#tensors(edits);
    for (const edit of edits.external ?? []) await this.#moveExternal(edit);
  }

  async #nodes({ insert = [], remove = [], replace = [], operators = [] }: ModelEdits): Promise<void> {
    for (const { graph, node, after } of insert) this.#insert(graph, node, after);
    for (const id of remove) this.#replace(id, []);
    for (const { node, by } of replace) this.#replace(node, [by].flat());
    for (const { node, op } of operators) await this.#setOperator(node, op);
  }

  #tensors({
    declare = [],
    redeclare = [],
    undeclare = [],
    addInitializers = [],
    removeInitializers = [],
  }: ModelEdits): void {
    for (const edit of declare) this.#declare(edit);
    for (const edit of redeclare)
      this.#undeclare({ ...edit, name: edit.value.name }, valueField(listTags[edit.list], edit.value));
    for (const edit of undeclare) this.#undeclare(edit);
    const gone = new Set(removeInitializers.map(({ graph, name }) => `${graph}\n${name}`));
    for (const edit of addInitializers) this.#addInitializer(edit, gone.has(`${edit.graph}\n${edit.tensor.name}`));
    for (const edit of removeInitializers) this.#removeInitializer(edit);
  }

  #cast({ graph, name, input, output, to, after }: NonNullable<ModelEdits['casts']>[number]): void {
    const type = dataTypeNumber(to);
    if (type === undefined) return this.#refusals.refuse(`${to} is not an ONNX data type.`);
    const attributes = { to: { int: type } };
    this.#insert(graph, { op: 'Cast', name, inputs: [input], outputs: [output], attributes }, after);
  }

  #insert(path: string, node: NewNode, after: string | null): void {
    const graph = this.#index.graphs.get(path)?.graph;
    if (!graph) return this.#refusals.refuse(`There is no graph "${path}".`);
    const before = after === null ? null : this.#index.nodes.get(after);
    if (before === undefined || (before && before.graph !== graph))
      return this.#refusals.refuse(`There is no node ${after} in graph "${path}".`);
    const patch = this.#index.graphPatch(path);
    const at = before ? fieldEnd(before.node.span!) : (graph.nodes[0]?.span?.at ?? patch.span.offset);
    patch.insert(at, ...graphNode(node));
  }

  /** `by`: what stands there instead, in this order. */
  #replace(id: string, by: readonly NewNode[]): void {
    const place = this.#index.nodes.get(id);
    if (!place) return this.#refusals.refuse(`There is no node ${id}.`);
    const { at } = place.node.span!;
    this.#index.graphPatch(place.graph.path).replace(at, fieldEnd(place.node.span!), ...by.flatMap(graphNode));
  }

  async #setOperator(id: string, op: string): Promise<void> {
    if (!this.#index.nodes.has(id)) return this.#refusals.refuse(`There is no node ${id}.`);
    const patch = this.#index.nodePatch(id);
    for (const field of await scanFields(this.#source, patch.span))
      if (field.tag === NODE.op)
        patch.replace(field.at, fieldEnd(field), {
          bytes: protobuf.Writer.create().uint32(NODE.op).string(op).finish(),
        });
  }

  #declare({ graph: path, list, value }: NonNullable<ModelEdits['declare']>[number]): void {
    const graph = this.#index.graphs.get(path)?.graph;
    if (!graph) return this.#refusals.refuse(`There is no graph "${path}".`);
    if (graph[list].some(({ name }) => name === value.name))
      return this.#refusals.refuse(`"${value.name}" is among the ${list} of graph "${path}" already.`);
    if (dataTypeNumber(value.newType) === undefined)
      return this.#refusals.refuse(`${value.newType} is not an ONNX data type.`);
    this.#append(path, valueField(listTags[list], value));
  }

  #undeclare(
    { graph: path, list, name }: NonNullable<ModelEdits['undeclare']>[number],
    by: ReturnType<typeof valueField> = [],
  ): void {
    const found = (this.#index.graphs.get(path)?.graph[list] ?? []).filter((value) => value.name === name);
    if (found.length === 0) return this.#refusals.refuse(`"${name}" is not among the ${list} of graph "${path}".`);
    const patch = this.#index.graphPatch(path);
    for (const { span } of found) patch.replace(span!.at, fieldEnd(span!), ...by);
  }

  #addInitializer({ graph: path, tensor }: NonNullable<ModelEdits['addInitializers']>[number], again: boolean): void {
    if (!this.#index.graphs.has(path)) return this.#refusals.refuse(`There is no graph "${path}".`);
    if (!again && this.#index.partsOf(path).initializers.has(tensor.name))
      return this.#refusals.refuse(`There is an initializer "${tensor.name}" already.`);
    this.#append(path, initializer(tensor, null));
  }

  #removeInitializer({ graph: path, name }: NonNullable<ModelEdits['removeInitializers']>[number]): void {
    const found = this.#index.partsOf(path).initializers.get(name) ?? [];
    if (found.length === 0) return this.#refusals.refuse(`There is no initializer "${name}"${path && ` in ${path}`}.`);
    const patch = this.#index.graphPatch(path);
    for (const { span } of found) patch.replace(span!.at, fieldEnd(span!));
  }

  async #moveExternal({ graph: path, name, entries }: NonNullable<ModelEdits['external']>[number]): Promise<void> {
    const found = this.#index.partsOf(path).initializers.get(name) ?? [];
    const outside = found.filter(({ data }) => data && 'external' in data);
    if (outside.length === 0)
      return this.#refusals.refuse(`The initializer "${name}" has no external data${path && ` in ${path}`}.`);
    for (const { span } of outside) {
      const patch = this.#index.graphPatch(path).child(span!, GRAPH.initializer);
      for (const field of await scanFields(this.#source, span!))
        if (field.tag === TENSOR.externalData || field.tag === TENSOR.location)
          patch.replace(field.at, fieldEnd(field));
      const bytes = externalEntries(protobuf.Writer.create(), entries).finish();
      patch.insert(span!.offset + span!.length, { bytes });
    }
  }

  /** Behind everything that the graph has. */
  #append(path: string, field: ReturnType<typeof valueField>): void {
    const patch = this.#index.graphPatch(path);
    patch.insert(patch.span.offset + patch.span.length, ...field);
  }
}

/** What to change in a model. Nodes are named by id, graphs by path ('' is the main graph), tensors by name. */
export interface ModelEdits {
  /** Cast nodes to insert: right after a node (by id), or before the first node of the graph. */
  casts?: {
    graph: string;
    name: string;
    input: string;
    output: string;
    to: DataType;
    after: string | null;
  }[];
  /** Inputs of nodes that read another tensor. */
  inputs?: { node: string; index: number; tensor: string }[];
  /** Outputs of nodes that write another tensor. */
  outputs?: { node: string; index: number; tensor: string }[];
  /** Names of nodes. */
  names?: { node: string; name: string }[];
  /** Initializers to convert: float, float16, bfloat16 and double into one another. */
  initializers?: { graph: string; name: string; from: DataType; to: DataType }[];
  /** Nodes of which the tensor `value`, or the number `value_float`, is to be converted. */
  constants?: { node: string; from: DataType; to: DataType }[];
  /** Declared types of graph inputs, outputs and inner tensors. */
  values?: { graph: string; name: string; to: DataType }[];
  /** New nodes: right after a node (by id), or before the first node of the graph. */
  insert?: { graph: string; node: NewNode; after: string | null }[];
  /** Nodes to take out, with their subgraphs. What they wrote, nothing writes any more. */
  remove?: string[];
  /** Nodes to write again, each as one node or as several that follow one another; what stood there is gone. */
  replace?: { node: string; by: NewNode | readonly NewNode[] }[];
  /** Operators of nodes. */
  operators?: { node: string; op: string }[];
  /** New inputs, outputs and declared inner tensors of a graph. */
  declare?: { graph: string; list: ValueList; value: NewValue }[];
  /** Inputs, outputs and declarations to write again, at their places. */
  redeclare?: { graph: string; list: ValueList; value: NewValue }[];
  /** Inputs, outputs and declarations to take out. */
  undeclare?: { graph: string; list: ValueList; name: string }[];
  addInitializers?: { graph: string; tensor: NewTensor }[];
  removeInitializers?: { graph: string; name: string }[];
  /** Initializers whose elements are elsewhere now: the entries of their external data, written again. */
  external?: { graph: string; name: string; entries: Record<string, string> }[];
  /** Entries to add to the model's metadata; one of the same key is replaced. */
  metadata?: { key: string; value: string }[];
  /** Versions of operator sets that the model imports, in place of those that it imports of the same domains. */
  importOpsets?: { domain: string; version: number }[];
}

/** The lists of a graph that declare tensors. */
export type ValueList = 'inputs' | 'outputs' | 'values';

/** The edited model as pieces of the old one and new bytes (`segmentBytes` gives its bytes), and its new external data. */
export interface EditedModel {
  segments: Segment[];
  size: number;
  /** The file for elements that were converted outside the model; it is next to the edited model. null: none. */
  external: { location: string; segments: Segment[]; size: number } | null;
}

export interface EditOptions {
  /** Name of the file that takes converted external data. It must not be one that the model uses. */
  externalFile?: string;
}

/** Protobuf's readers take no message of 2 GiB or more. */
const SIZE_LIMIT = 2 ** 31 - 1;

/**
 * Plans an edited copy of a model, without reading its weights: everything that the edits do not name stays byte for
 * byte, external data stays where it is unless it is converted. No edits give the same file.
 *
 * Never throws. With any error among the problems there is no value: `cannot-edit` (what an edit names is not there,
 * or cannot be changed), `too-large` (2 GiB or more in the model file), and those of `readModel`.
 */
export async function planEdit(
  model: OnnxModel,
  source: ByteSource,
  edits: ModelEdits,
  options: EditOptions = {},
): Promise<Read<EditedModel>> {
  const spanned = await withSpans(model, source);
  if ('problems' in spanned) return spanned;
  const external = new ExternalData(options.externalFile ?? 'converted.onnx.data');
  const editor = new Editor(spanned.model, source, external);
  try {
    await editor.apply(edits);
  } catch (error) {
    // The source may have changed under the plan, or fail.
    editor.refuse(`The model can no longer be read: ${errorText(error)}`);
  }
  const problems = editor.problems;
  const segments = problems.length > 0 ? [] : editor.segments();
  if (problems.length > 0) return { value: undefined, problems };
  const size = segmentsSize(segments);
  if (size > SIZE_LIMIT && source.size <= SIZE_LIMIT) {
    const message = `The edited model would have ${size} bytes, but an ONNX file must be smaller than 2 GiB. Save the model with external data first.`;
    return { value: undefined, problems: [{ severity: 'error', code: 'too-large', message }] };
  }
  const { location, size: externalSize } = external;
  const outside = external.segments.length > 0 ? { location, segments: external.segments, size: externalSize } : null;
  return { value: { segments, size, external: outside }, problems };
}

/** Why a model without a span cannot be edited. */
export const SEVERAL_PIECES =
  'The file stores the graph in several pieces, so it cannot be edited. Save the model again with onnx.save.';

/** The model with the places of its parts; read again where it was read without them. */
async function withSpans(
  model: OnnxModel,
  source: ByteSource,
): Promise<{ model: OnnxModel } | { value: undefined; problems: Problem[] }> {
  if (model.graph.span) return { model };
  const { value, problems } = await readModel(source, { spans: true });
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (!value || errors.length > 0) return { value: undefined, problems: errors };
  if (value.graph.span) return { model: value };
  return { value: undefined, problems: [{ severity: 'error', code: 'cannot-edit', message: SEVERAL_PIECES }] };
}

class Editor {
  readonly index: ModelIndex;
  readonly problems: Problem[] = [];
  private readonly source: ByteSource;
  private readonly external: ExternalData;

  constructor(model: OnnxModel, source: ByteSource, external: ExternalData) {
    this.index = new ModelIndex(model, source.size);
    this.source = source;
    this.external = external;
  }

  refuse(message: string, node?: string): void {
    this.problems.push({ severity: 'error', code: 'cannot-edit', message, ...(node !== undefined && { node }) });
  }

  /** One after the other: each may read a little of the file. */
  async apply(edits: ModelEdits): Promise<void> {
    const rewired = new Map<string, Rewiring[]>();
    for (const edit of edits.inputs ?? []) addTo(rewired, edit.node, { ...edit, list: 'inputs' });
    for (const edit of edits.outputs ?? []) addTo(rewired, edit.node, { ...edit, list: 'outputs' });
    for (const [id, changes] of rewired) await this.rewire(id, changes);
    for (const { node, name } of edits.names ?? []) await this.rename(node, name);
    for (const edit of edits.initializers ?? []) await this.retypeInitializers(edit);
    for (const edit of edits.constants ?? []) await this.retypeConstant(edit);
    for (const edit of edits.values ?? []) await this.retypeValues(edit);
    await new GraphEditor(this, this.index, this.source).apply(edits);
    await this.addMetadata(edits.metadata ?? []);
    await this.importOpsets(edits.importOpsets ?? []);
  }

  /** Protobuf's fields may follow in any order, so new ones are put behind everything else. */
  private async addMetadata(entries: readonly { key: string; value: string }[]): Promise<void> {
    if (entries.length === 0) return;
    const { file } = this.index;
    const old = (await scanFields(this.source, file.span)).filter(({ tag }) => tag === MODEL.metadata);
    for (const field of old) {
      const [key] = (await scanFields(this.source, field)).filter(({ tag }) => tag === ENTRY.key);
      const name = key && protobuf.Reader.create(await this.source.read(key.at, fieldEnd(key) - key.at));
      const text = name && (name.uint32(), name.string());
      if (entries.some((entry) => entry.key === text)) file.replace(field.at, fieldEnd(field));
    }
    for (const { key, value } of entries) {
      const writer = protobuf.Writer.create().uint32(MODEL.metadata).fork();
      writer.uint32(ENTRY.key).string(key).uint32(ENTRY.value).string(value).ldelim();
      file.insert(this.source.size, { bytes: writer.finish() });
    }
  }

  private async importOpsets(entries: readonly { domain: string; version: number }[]): Promise<void> {
    if (entries.length === 0) return;
    const { file } = this.index;
    const old = (await scanFields(this.source, file.span)).filter(({ tag }) => tag === MODEL.opset);
    for (const field of old) {
      const [domain] = (await scanFields(this.source, field)).filter(({ tag }) => tag === OPSET.domain);
      const name = domain && protobuf.Reader.create(await this.source.read(domain.at, fieldEnd(domain) - domain.at));
      const text = name ? (name.uint32(), name.string()) : '';
      if (entries.some((entry) => entry.domain === (text === 'ai.onnx' ? '' : text)))
        file.replace(field.at, fieldEnd(field));
    }
    for (const { domain, version } of entries) file.insert(this.source.size, importedDomain(domain, version));
  }

  /** The edited file. Edits that contradict one another are rejected. */
  segments(): Segment[] {
    try {
      return joinSegments(this.index.file.payload());
    } catch (error) {
      this.refuse(`Two edits change the same part of the model: ${errorText(error)}.`);
      return [];
    }
  }

  /** Replaces the names that a node reads or writes. */
  private async rewire(id: string, changes: Rewiring[]): Promise<void> {
    const place = this.index.nodes.get(id);
    if (!place) return this.refuse(`There is no node ${id}.`);
    const patch = this.index.nodePatch(id);
    const fields = await scanFields(this.source, patch.span);
    const inputs = fields.filter(({ tag }) => tag === NODE.input);
    const outputs = fields.filter(({ tag }) => tag === NODE.output);
    for (const { list, index, tensor } of changes) {
      const field = (list === 'inputs' ? inputs : outputs)[index];
      if (!field) {
        this.refuse(`Node ${id} "${place.node.name}" has no ${list === 'inputs' ? 'input' : 'output'} ${index}.`, id);
        continue;
      }
      const bytes = protobuf.Writer.create().uint32(field.tag).string(tensor).finish();
      patch.replace(field.at, fieldEnd(field), { bytes });
    }
  }

  private async rename(id: string, name: string): Promise<void> {
    if (!this.index.nodes.has(id)) return this.refuse(`There is no node ${id}.`);
    const patch = this.index.nodePatch(id);
    const bytes = protobuf.Writer.create().uint32(NODE.name).string(name).finish();
    const old = (await scanFields(this.source, patch.span)).filter(({ tag }) => tag === NODE.name);
    for (const [index, field] of old.entries())
      patch.replace(field.at, fieldEnd(field), ...(index === 0 ? [{ bytes }] : []));
    if (old.length === 0) patch.insert(patch.span.offset + patch.span.length, { bytes });
  }

  private async retypeInitializers({
    graph: path,
    name,
    from,
    to,
  }: {
    graph: string;
    name: string;
    from: DataType;
    to: DataType;
  }): Promise<void> {
    const tensors = this.index.partsOf(path).initializers.get(name) ?? [];
    if (tensors.length === 0) return this.refuse(`There is no initializer "${name}"${path && ` in ${path}`}.`);
    for (const tensor of tensors) {
      const patch = this.index.graphPatch(path).child(tensor.span!, GRAPH.initializer);
      await this.retype(patch, tensor, from, to, `initializer "${name}"`);
    }
  }

  private async retypeConstant({ node: id, from, to }: { node: string; from: DataType; to: DataType }): Promise<void> {
    const node = this.index.nodes.get(id)?.node;
    const scalar = node?.attributes.find(({ name, kind }) => name === 'value_float' && kind === 'float');
    if (scalar?.span && from === 'float' && isRealElement(to))
      return this.retypeScalar(this.index.attributePatch(id, scalar.span), to);
    const attribute = node?.attributes.find(({ name, kind }) => name === 'value' && kind === 'tensor');
    const tensor = attribute?.value as OnnxTensor | null | undefined;
    if (!attribute?.span || !tensor?.span) return this.refuse(`Node ${id} is not a Constant with a tensor.`, id);
    const patch = this.index.attributePatch(id, attribute.span).child(tensor.span, ATTRIBUTE.tensor);
    await this.retype(patch, tensor, from, to, `constant ${id} "${node?.name}"`);
  }

  /** The attribute `value_float` becomes a `value` of the new type. */
  private async retypeScalar(patch: MessagePatch, to: RealElement): Promise<void> {
    const fields = await scanFields(this.source, patch.span);
    const replaced = new Set([ATTRIBUTE.name, ATTRIBUTE.float, ATTRIBUTE.type]);
    for (const field of fields) if (replaced.has(field.tag)) patch.replace(field.at, fieldEnd(field));
    const number = fields.findLast(({ tag }) => tag === ATTRIBUTE.float);
    const size = elementBytes[to];
    const writer = protobuf.Writer.create().uint32(ATTRIBUTE.name).string('value');
    writer.uint32(ATTRIBUTE.type).uint32(TENSOR_ATTRIBUTE);
    const tensor = protobuf.Writer.create().uint32(TENSOR.dataType).uint32(dataTypeNumber(to)!);
    tensor.uint32(TENSOR.rawData).uint32(size);
    const head = tensor.finish();
    writer.uint32(ATTRIBUTE.tensor).uint32(head.length + size);
    const end = patch.span.offset + patch.span.length;
    const value: Segment = number
      ? { convert: { offset: number.offset - elementBytes.float, length: elementBytes.float, from: 'float', to } }
      : { bytes: new Uint8Array(size) };
    patch.insert(end, { bytes: writer.finish() }, { bytes: head }, value);
  }

  private async retype(
    patch: MessagePatch,
    tensor: OnnxTensor,
    from: DataType,
    to: DataType,
    what: string,
  ): Promise<void> {
    if (!isRealElement(from) || !isRealElement(to)) return this.refuse(`Cannot convert ${what} from ${from} to ${to}.`);
    try {
      await retypeTensor(this.source, patch, tensor, { from, to }, this.external);
    } catch (error) {
      if (!(error instanceof UnfitTensor || error instanceof WireError)) throw error;
      this.refuse(`Cannot convert ${what}: ${error.message}.`);
    }
  }

  private async retypeValues({ graph: path, name, to }: { graph: string; name: string; to: DataType }): Promise<void> {
    const number = dataTypeNumber(to);
    if (number === undefined) return this.refuse(`${to} is not an ONNX data type.`);
    const declared = this.index.partsOf(path).types.get(name) ?? [];
    if (declared.length === 0) return this.refuse(`Graph "${path}" does not declare the type of tensor "${name}".`);
    for (const { value, tag } of declared)
      await this.retypeValue(this.index.graphPatch(path).child(value.span!, tag), number);
  }

  private async retypeValue(patch: MessagePatch, number: number): Promise<void> {
    for (const type of await scanFields(this.source, patch.span)) {
      if (type.tag !== VALUE.type) continue;
      const typePatch = patch.child(type, type.tag);
      for (const tensor of await scanFields(this.source, type)) {
        if (tensor.tag !== TYPE.tensor && tensor.tag !== TYPE.sparseTensor) continue;
        const tensorPatch = typePatch.child(tensor, tensor.tag);
        for (const { tag, at, offset } of await scanFields(this.source, tensor)) {
          if (tag !== TENSOR_TYPE.elementType) continue;
          tensorPatch.replace(at, offset, { bytes: protobuf.Writer.create().uint32(tag).uint32(number).finish() });
        }
      }
    }
  }
}

interface Rewiring {
  list: 'inputs' | 'outputs';
  index: number;
  tensor: string;
}

/** AttributeProto.AttributeType.TENSOR. */
const TENSOR_ATTRIBUTE = 4;

/** What a name is of: each kind is numbered for itself. */
type Named = 'tensor' | 'node' | 'graph' | 'dimension';

/** What happens to the fields of a message, by tag; the others stay. A message inside is given by the name of its rules. */
type Rules = Readonly<Record<number, Named | 'drop' | { message: keyof typeof rules }>>;

const rules = {
  model: {
    [MODEL.producer]: 'drop',
    [MODEL.producerVersion]: 'drop',
    [MODEL.domain]: 'drop',
    [MODEL.docString]: 'drop',
    [MODEL.metadata]: 'drop',
    [MODEL.trainingInfo]: 'drop',
    [MODEL.configuration]: 'drop',
    [MODEL.graph]: { message: 'graph' },
    [MODEL.function]: { message: 'function' },
  },
  graph: {
    [GRAPH.name]: 'graph',
    [GRAPH.docString]: 'drop',
    [GRAPH.metadata]: 'drop',
    [GRAPH.quantization]: 'drop',
    [GRAPH.node]: { message: 'node' },
    [GRAPH.initializer]: { message: 'tensor' },
    [GRAPH.sparseInitializer]: { message: 'sparse' },
    [GRAPH.input]: { message: 'value' },
    [GRAPH.output]: { message: 'value' },
    [GRAPH.value]: { message: 'value' },
  },
  // Operators, domains and attributes stay: without them it would be another network.
  node: {
    [NODE.input]: 'tensor',
    [NODE.output]: 'tensor',
    [NODE.name]: 'node',
    [NODE.metadata]: 'drop',
    [bytesTag(6)]: 'drop', // doc_string
    [bytesTag(10)]: 'drop', // device_configurations
    [NODE.attribute]: { message: 'attribute' },
  },
  attribute: {
    [bytesTag(13)]: 'drop', // doc_string
    [ATTRIBUTE.tensor]: { message: 'tensor' },
    [ATTRIBUTE.tensors]: { message: 'tensor' },
    [ATTRIBUTE.graph]: { message: 'graph' },
    [ATTRIBUTE.graphs]: { message: 'graph' },
    [ATTRIBUTE.sparseTensor]: { message: 'sparse' },
    [bytesTag(23)]: { message: 'sparse' },
    [bytesTag(14)]: { message: 'type' },
    [bytesTag(15)]: { message: 'type' },
  },
  tensor: {
    [TENSOR.name]: 'tensor',
    [bytesTag(12)]: 'drop', // doc_string
    [bytesTag(16)]: 'drop', // metadata_props
  },
  sparse: { [SPARSE_TENSOR.values]: { message: 'tensor' }, [SPARSE_TENSOR.indices]: { message: 'tensor' } },
  value: {
    [VALUE.name]: 'tensor',
    [VALUE.type]: { message: 'type' },
    [bytesTag(3)]: 'drop', // doc_string
    [bytesTag(4)]: 'drop', // metadata_props
  },
  type: {
    [TYPE.tensor]: { message: 'tensorType' },
    [TYPE.sparseTensor]: { message: 'tensorType' },
    [bytesTag(4)]: { message: 'element' }, // sequence_type
    [bytesTag(5)]: { message: 'element' }, // map_type
    [bytesTag(9)]: { message: 'element' }, // optional_type
    [bytesTag(6)]: 'drop', // denotation
  },
  element: { [bytesTag(1)]: { message: 'type' }, [bytesTag(2)]: { message: 'type' } },
  tensorType: { [TENSOR_TYPE.shape]: { message: 'shape' } },
  shape: { [SHAPE.dimension]: { message: 'dimension' } },
  dimension: { [DIMENSION.parameter]: 'dimension', [bytesTag(3)]: 'drop' },
  function: {
    [FUNCTION.input]: 'tensor',
    [FUNCTION.output]: 'tensor',
    [FUNCTION.node]: { message: 'node' },
    [bytesTag(8)]: 'drop', // doc_string
    [bytesTag(12)]: { message: 'value' },
    [bytesTag(14)]: 'drop', // metadata_props
  },
} as const satisfies Record<string, Record<number, string | { message: string }>>;

/** A model without the names that its author gave. */
export interface AnonymousModel extends EditedModel {
  /** New names of tensors by the old ones. */
  tensors: Map<string, string>;
}

/**
 * A copy of a model in which nodes, tensors, graphs and symbolic dimensions are numbered, and descriptions, metadata and
 * the producer are left out. Operators, attributes, local functions' names, weights and the places of external data stay.
 * @throws WireError where the model is damaged
 */
export async function planAnonymous(source: ByteSource): Promise<AnonymousModel> {
  const names: Record<Named, Map<string, string>> = {
    tensor: new Map(),
    node: new Map(),
    graph: new Map(),
    dimension: new Map(),
  };
  const file = new MessagePatch({ at: 0, offset: 0, length: source.size }, 0);
  const rewrite = async (patch: MessagePatch, message: keyof typeof rules): Promise<void> => {
    const of: Rules = rules[message];
    for (const field of await scanFields(source, patch.span)) {
      const rule = of[field.tag];
      if (rule === undefined) continue;
      if (rule === 'drop') patch.replace(field.at, fieldEnd(field));
      else if (typeof rule === 'object') await rewrite(patch.child(field, field.tag), rule.message);
      else {
        const old = decodeUtf8(await source.read(field.offset, field.length));
        // The empty name is an input that is not given.
        if (old === '') continue;
        const fresh = names[rule].get(old) ?? `${rule}${names[rule].size}`;
        names[rule].set(old, fresh);
        patch.replace(field.at, fieldEnd(field), {
          bytes: protobuf.Writer.create().uint32(field.tag).string(fresh).finish(),
        });
      }
    }
  };
  await rewrite(file, 'model');
  const segments = file.payload();
  return { segments, size: segmentsSize(segments), external: null, tensors: names.tensor };
}
