import { bytesTag, floatTag, varintTag } from './wireCursor.ts';

/** Tags of the fields of onnx.proto that are read, message by message. Lists of numbers come packed or one by one. */
export const MODEL = {
  irVersion: varintTag(1),
  producer: bytesTag(2),
  producerVersion: bytesTag(3),
  domain: bytesTag(4),
  modelVersion: varintTag(5),
  docString: bytesTag(6),
  graph: bytesTag(7),
  opset: bytesTag(8),
  metadata: bytesTag(14),
  trainingInfo: bytesTag(20),
  function: bytesTag(25),
  configuration: bytesTag(26),
};

export const GRAPH = {
  node: bytesTag(1),
  name: bytesTag(2),
  initializer: bytesTag(5),
  docString: bytesTag(10),
  input: bytesTag(11),
  output: bytesTag(12),
  value: bytesTag(13),
  quantization: bytesTag(14),
  sparseInitializer: bytesTag(15),
  metadata: bytesTag(16),
};

export const ANNOTATION = {
  tensor: bytesTag(1),
  parameter: bytesTag(2),
};

export const NODE = {
  input: bytesTag(1),
  output: bytesTag(2),
  name: bytesTag(3),
  op: bytesTag(4),
  attribute: bytesTag(5),
  docString: bytesTag(6),
  domain: bytesTag(7),
  overload: bytesTag(8),
  metadata: bytesTag(9),
};

export const ATTRIBUTE = {
  name: bytesTag(1),
  float: floatTag(2),
  int: varintTag(3),
  string: bytesTag(4),
  tensor: bytesTag(5),
  graph: bytesTag(6),
  float1: floatTag(7),
  floats: bytesTag(7),
  int1: varintTag(8),
  ints: bytesTag(8),
  strings: bytesTag(9),
  tensors: bytesTag(10),
  graphs: bytesTag(11),
  type: varintTag(20),
  reference: bytesTag(21),
  sparseTensor: bytesTag(22),
};

export const TENSOR = {
  dim: varintTag(1),
  dims: bytesTag(1),
  dataType: varintTag(2),
  float1: floatTag(4),
  floatData: bytesTag(4),
  int32: varintTag(5),
  int32Data: bytesTag(5),
  stringData: bytesTag(6),
  int64: varintTag(7),
  int64Data: bytesTag(7),
  name: bytesTag(8),
  rawData: bytesTag(9),
  double1: (10 << 3) | 1,
  doubleData: bytesTag(10),
  uint64: varintTag(11),
  uint64Data: bytesTag(11),
  externalData: bytesTag(13),
  location: varintTag(14),
};

export const SPARSE_TENSOR = { values: bytesTag(1), indices: bytesTag(2), dim: varintTag(3), dims: bytesTag(3) };
export const VALUE = { name: bytesTag(1), type: bytesTag(2) };
export const TYPE = { tensor: bytesTag(1), sparseTensor: bytesTag(8) };
export const TENSOR_TYPE = { elementType: varintTag(1), shape: bytesTag(2) };
export const SHAPE = { dimension: bytesTag(1) };
export const DIMENSION = { value: varintTag(1), parameter: bytesTag(2) };
export const ENTRY = { key: bytesTag(1), value: bytesTag(2) };
export const OPSET = { domain: bytesTag(1), version: varintTag(2) };

export const FUNCTION = {
  name: bytesTag(1),
  input: bytesTag(4),
  output: bytesTag(5),
  node: bytesTag(7),
  opset: bytesTag(9),
  domain: bytesTag(10),
  overload: bytesTag(13),
};
