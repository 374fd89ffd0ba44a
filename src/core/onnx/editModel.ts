import protobuf from 'protobufjs/minimal.js';
import type { ByteSource } from '../text/byteSource.ts';
import type { Problem, Read } from '../text/problem.ts';
import { elementBytes, isRealElement, type RealElement } from './convertElements.ts';
import { ExternalData, retypeTensor, UnfitTensor } from './editTensor.ts';
import { GraphEditor } from './editGraph.ts';
import { ModelIndex } from './modelIndex.ts';
import type { NewNode, NewTensor, NewValue } from './writeParts.ts';
import type { MessagePatch } from './messagePatch.ts';
import { ATTRIBUTE, GRAPH, NODE, TENSOR, TENSOR_TYPE, TYPE, VALUE } from './onnxFields.ts';
import type { DataType, OnnxModel, OnnxTensor } from './onnxModel.ts';
import { readModel } from './readModel.ts';
import { fieldEnd, scanFields } from './scanFields.ts';
import { joinSegments, type Segment, segmentsSize } from './segment.ts';
import { dataTypeNumber } from './tensorTypes.ts';
import { WireError } from './wireCursor.ts';
import { errorText } from '../text/errorText.ts';
import { addTo } from '../text/addTo.ts';

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
  /** Nodes to write again; what stood there is gone. */
  replace?: { node: string; by: NewNode }[];
  /** Operators of nodes. */
  operators?: { node: string; op: string }[];
  /** New inputs, outputs and declared inner tensors of a graph. */
  declare?: { graph: string; list: ValueList; value: NewValue }[];
  /** Inputs, outputs and declarations to take out. */
  undeclare?: { graph: string; list: ValueList; name: string }[];
  addInitializers?: { graph: string; tensor: NewTensor }[];
  removeInitializers?: { graph: string; name: string }[];
  /** Initializers whose elements are elsewhere now: the entries of their external data, written again. */
  external?: { graph: string; name: string; entries: Record<string, string> }[];
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
  const message =
    'The file stores the graph in several pieces, so it cannot be edited. Save the model again with onnx.save.';
  return { value: undefined, problems: [{ severity: 'error', code: 'cannot-edit', message }] };
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
