import { onnx } from 'onnx-proto';
import { expect } from 'vitest';
import { readFileSync } from 'node:fs';
import {
  dataTypeName,
  type OnnxAttribute,
  type OnnxGraph,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
} from '../../src/kernel/read/onnx/onnxModel.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';

/** An independent decoder must see in the file what the reader sees: both are brought into one plain form. */
export async function expectAgreement(path: string): Promise<void> {
  const bytes = readFileSync(path);
  const { value, problems } = await readModel(bytesOf(bytes));
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(ours(value!, bytes)).toEqual(theirModel(onnx.ModelProto.decode(bytes)));
}

const attributeKinds = Object.fromEntries(
  Object.entries(onnx.AttributeProto.AttributeType).map(([name, number]) => [number, name.toLowerCase()]),
);

/** onnx-proto has its own Long class inside: Number takes them all. */
const numbers = (list: unknown[] | null | undefined): number[] => (list ?? []).map(Number);
const text = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
const list = <T>(values: T[] | null | undefined): T[] => values ?? [];
const entries = (pairs: onnx.IStringStringEntryProto[] | null | undefined): object[] =>
  list(pairs).map(({ key, value }) => ({ key: key ?? '', value: value ?? '' }));

const { DataType } = onnx.TensorProto;
/** Bytes of an element, how raw data is read, and the field that has the elements of a tensor without raw data. */
const integers = new Map<
  number,
  [bytes: number, read: (raw: ArrayBuffer) => Iterable<number>, field: 'int32Data' | 'int64Data']
>([
  [DataType.INT64, [8, (raw) => Array.from(new BigInt64Array(raw), Number), 'int64Data']],
  [DataType.INT32, [4, (raw) => new Int32Array(raw), 'int32Data']],
  [DataType.INT8, [1, (raw) => new Int8Array(raw), 'int32Data']],
  [DataType.UINT8, [1, (raw) => new Uint8Array(raw), 'int32Data']],
  [DataType.BOOL, [1, (raw) => new Uint8Array(raw), 'int32Data']],
]);

function theirInts(tensor: onnx.ITensorProto): number[] | undefined {
  const count = numbers(tensor.dims).reduce((product, dimension) => product * dimension, 1);
  const known = integers.get(tensor.dataType ?? 0);
  if (!known || count > 64 || tensor.dataLocation === onnx.TensorProto.DataLocation.EXTERNAL) return undefined;
  const [bytes, read, field] = known;
  const raw = Uint8Array.from(tensor.rawData ?? []);
  if (raw.length > 0) return raw.length === bytes * count ? [...read(raw.buffer)] : undefined;
  return count === list(tensor[field]).length ? numbers(tensor[field]) : undefined;
}

/** The same for floating-point numbers. */
const floats = new Map<
  number,
  [bytes: number, read: (raw: ArrayBuffer) => Iterable<number>, field: 'floatData' | 'doubleData' | 'int32Data']
>([
  [DataType.FLOAT, [4, (raw) => new Float32Array(raw), 'floatData']],
  [DataType.DOUBLE, [8, (raw) => new Float64Array(raw), 'doubleData']],
  [DataType.FLOAT16, [2, (raw) => new Float16Array(raw), 'int32Data']],
  [
    DataType.BFLOAT16,
    [2, (raw) => new Float32Array(Uint32Array.from(new Uint16Array(raw), (half) => half << 16).buffer), 'int32Data'],
  ],
]);

function theirFloats(tensor: onnx.ITensorProto): number[] | undefined {
  const count = numbers(tensor.dims).reduce((product, dimension) => product * dimension, 1);
  const known = floats.get(tensor.dataType ?? 0);
  if (!known || count > 64 || tensor.dataLocation === onnx.TensorProto.DataLocation.EXTERNAL) return undefined;
  const [bytes, read, field] = known;
  const raw = Uint8Array.from(tensor.rawData ?? []);
  if (raw.length > 0) return raw.length === bytes * count ? [...read(raw.buffer)] : undefined;
  const values = numbers(tensor[field]);
  if (count !== values.length || count === 0) return undefined;
  return field === 'int32Data' ? [...read(Uint16Array.from(values).buffer)] : values;
}

const theirTensor = (tensor: onnx.ITensorProto): object => ({
  name: tensor.name ?? '',
  type: dataTypeName(tensor.dataType ?? 0),
  shape: numbers(tensor.dims),
  external:
    tensor.dataLocation === onnx.TensorProto.DataLocation.EXTERNAL
      ? Object.fromEntries(list(tensor.externalData).map(({ key, value }) => [key, value]))
      : null,
  raw: tensor.rawData && tensor.rawData.length > 0 ? Buffer.from(tensor.rawData).toString('base64') : null,
  ints: theirInts(tensor),
  floats: theirFloats(tensor),
});

function theirValue({ name, type }: onnx.IValueInfoProto): object {
  const tensor = type?.tensorType ?? type?.sparseTensorType;
  const shape = tensor?.shape?.dim?.map((dimension) => {
    const { value } = dimension as onnx.TensorShapeProto.Dimension;
    if (value === 'dimParam') return dimension.dimParam || null;
    // -1 stands for an unknown size in some exporters' files; the model's type has null for that.
    return value === 'dimValue' && Number(dimension.dimValue) >= 0 ? Number(dimension.dimValue) : null;
  });
  return {
    name: name ?? '',
    type: tensor?.elemType ? dataTypeName(tensor.elemType) : null,
    shape: tensor?.shape ? shape : null,
  };
}

function theirAttribute(attribute: onnx.IAttributeProto): object {
  const kind = attributeKinds[attribute.type ?? 0]!;
  const values: Record<string, () => unknown> = {
    float: () => attribute.f,
    int: () => Number(attribute.i),
    string: () => text(attribute.s!),
    tensor: () => theirTensor(attribute.t!),
    floats: () => attribute.floats,
    ints: () => numbers(attribute.ints),
    strings: () => list(attribute.strings).map(text),
    tensors: () => list(attribute.tensors).map(theirTensor),
  };
  return { name: attribute.name ?? '', kind, value: values[kind]?.() ?? null };
}

function theirNode(node: onnx.INodeProto): object {
  const attributes = list(node.attribute);
  return {
    name: node.name ?? '',
    op: node.opType ?? '',
    domain: node.domain ?? '',
    inputs: list(node.input),
    outputs: list(node.output),
    attributes: attributes.map(theirAttribute),
    subgraphs: attributes.flatMap(({ g, graphs }) => [...(g ? [g] : []), ...list(graphs)]).map(theirGraph),
  };
}

function theirGraph(graph: onnx.IGraphProto): object {
  return {
    name: graph.name ?? '',
    nodes: list(graph.node).map(theirNode),
    inputs: list(graph.input).map(theirValue),
    outputs: list(graph.output).map(theirValue),
    values: list(graph.valueInfo).map(theirValue),
    initializers: [
      ...list(graph.initializer).map(theirTensor),
      ...list(graph.sparseInitializer).map(({ values, dims }) => ({
        ...theirTensor(values!),
        shape: numbers(dims),
        ints: undefined,
        floats: undefined,
      })),
    ],
  };
}

const theirOpsets = (opsets: onnx.IOperatorSetIdProto[] | null | undefined): object[] =>
  list(opsets).map(({ domain, version }) => ({ domain: domain ?? '', version: Number(version ?? 0) }));

const theirModel = (model: onnx.IModelProto): object => ({
  irVersion: Number(model.irVersion),
  producer: model.producerName ?? '',
  producerVersion: model.producerVersion ?? '',
  domain: model.domain ?? '',
  opsets: theirOpsets(model.opsetImport),
  metadata: entries(model.metadataProps),
  graph: theirGraph(model.graph!),
  functions: list(model.functions).map((body) => ({
    name: body.name ?? '',
    domain: body.domain ?? '',
    inputs: list(body.input),
    outputs: list(body.output),
    opsets: theirOpsets(body.opsetImport),
    nodes: list(body.node).map(theirNode),
  })),
});

/** The reader's result in the same form; `file` gives the bytes at the places that the reader names. */
function ours(model: OnnxModel, file: Buffer): object {
  const tensor = ({ name, type, shape, data, ints, floats: values }: OnnxTensor): object => {
    const inline = data && 'inline' in data && data.inline.length > 0 && !data.inline.field ? data.inline : null;
    return {
      name,
      type,
      shape,
      external: data && 'external' in data ? data.external : null,
      raw: inline && file.subarray(inline.offset, inline.offset + inline.length).toString('base64'),
      ints,
      floats: values,
    };
  };
  const value = ({ name, type, shape }: OnnxValue): object => ({ name, type, shape });
  const attribute = ({ name, kind, value: content }: OnnxAttribute): object => {
    if (kind === 'tensor') return { name, kind, value: tensor(content as OnnxTensor) };
    if (kind === 'tensors') return { name, kind, value: (content as OnnxTensor[]).map(tensor) };
    return { name, kind, value: content };
  };
  const node = ({ name, op, domain, inputs, outputs, attributes, subgraphs }: OnnxNode): object => ({
    name,
    op,
    domain,
    inputs,
    outputs,
    attributes: attributes.map(attribute),
    subgraphs: subgraphs.map((subgraph) => graphOf(subgraph.graph)),
  });
  const graphOf = ({ name, nodes, inputs, outputs, values, initializers }: OnnxGraph): object => ({
    name,
    nodes: nodes.map(node),
    inputs: inputs.map(value),
    outputs: outputs.map(value),
    values: values.map(value),
    initializers: initializers.map(tensor),
  });
  const { irVersion, producer, producerVersion, domain, opsets, metadata, graph, functions } = model;
  return {
    irVersion,
    producer,
    producerVersion,
    domain,
    opsets,
    metadata,
    graph: graphOf(graph),
    functions: functions.map((body) => ({
      name: body.name,
      domain: body.domain,
      inputs: body.inputs,
      outputs: body.outputs,
      opsets: body.opsets,
      nodes: body.nodes.map(node),
    })),
  };
}
