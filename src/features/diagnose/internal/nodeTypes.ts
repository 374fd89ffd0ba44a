// Element types of a node that no version takes, or that it may not mix.
import { valueAt } from '../../../kernel/base/addTo.ts';
import { isStandardDomain, type ModelGraph } from '../../../kernel/network/modelGraph.ts';
import type { NodeProblem } from './checkShapes.ts';
import {
  comesFromInput,
  type FormCheck,
  given,
  isRtx,
  type NodeToCheck,
  problem,
  since,
  typeOf,
  typeText,
} from './nodeToCheck.ts';

// Each operator was asked of the parser of TensorRT-RTX 1.7 with each type, those that ONNX does not allow included.

/** Operators of floating-point numbers only. */
const FLOATS =
  /^(?:(?:Cos|Sin|Tan|Acos|Asin|Atan)h?|AveragePool|Ceil|Celu|Conv|Einsum|Elu|Erf|Exp|Floor|Gelu|Gemm|Hard\w+|InstanceNormalization|IsInf|IsNaN|LeakyRelu|Log|LogSoftmax|LpNormalization|MatMul|MaxPool|MeanVarianceNormalization|Mish|PRelu|Reciprocal|ReduceL2|ReduceLogSum(?:Exp)?|Resize|Round|Selu|Sigmoid|Softmax|Softplus|Softsign|Sqrt|Swish|ThresholdedRelu)$/;
/** Operators of numbers, not of BOOL. */
const NUMBERS =
  /^(?:Abs|Add|ArgM(?:ax|in)|Clip|CumSum|DepthToSpace|Div|(?:Greater|Less)(?:OrEqual)?|Global(?:Average|Max)Pool|Max|Mean|Min|Mod|Mul|Neg|Pow|Reduce\w+|Relu|Shrink|Sign|SpaceToDepth|Sub|Sum|TopK)$/;
const LOGIC = /^(?:And|Or|Xor|Not)$/;
/** Operators that take UINT8 of an input; all others refuse it. */
const TAKES_BYTES = /^(?:Cast|Identity|Equal|Shape|Size|Dropout|QuantizeLinear|DequantizeLinear|If|Loop|Scan)$/;
/** Operators that move UINT8 from an input to an output before 11.0. */
const MOVES_BYTES = /^(?:Flatten|Reshape|Squeeze|Transpose|Unsqueeze)$/;
const INTEGER = /^int(?:32|64)$/;
const FLOAT = /^(?:b?float(?:16)?|double)$/;

const unsupported = (message: string, repair?: string): NodeProblem =>
  problem('unsupported-type', message, 'Cast the input before it, and back after it.', repair);

/** Operators whose inputs must have one type. */
const EQUAL_TYPES = /^(?:Add|Sub|Mul|Div|Pow|Min|Max|MatMul|Gemm|Concat|Equal|Greater\w*|Less\w*|PRelu|Sum|Mean|Mod)$/;
/** Operators whose first inputs must have one floating-point type where the model is strongly typed, by their number. */
const EQUAL_FLOATS: Readonly<Record<string, number>> = {
  Conv: 2,
  ConvTranspose: 2,
  Einsum: 9,
  LayerNormalization: 3,
  InstanceNormalization: 3,
  LSTM: 3,
  GRU: 3,
  RNN: 3,
  ScatterElements: 3,
  ScatterND: 3,
};

/** Inputs that are indices or conditions: operator, place, what it takes. */
const OTHER_INPUTS: Readonly<Record<string, [at: number, takes: RegExp, text: string]>> = {
  Gather: [1, INTEGER, 'INT32 or INT64 indices'],
  GatherElements: [1, INTEGER, 'INT32 or INT64 indices'],
  GatherND: [1, INTEGER, 'INT32 or INT64 indices'],
  Where: [0, /^bool$/, 'a BOOL condition'],
};

/** What is wrong with the types of one node; undefined: nothing that is known. */
export function typesProblem(one: NodeToCheck): NodeProblem | undefined {
  const { op } = one.node;
  if (!isStandardDomain(one.node.domain)) return undefined;
  return bytes(one) ?? firstType(one, op) ?? otherInput(one, op) ?? mixedTypes(one, op);
}

function firstType(one: NodeToCheck, op: string): NodeProblem | undefined {
  const type = typeOf(one, 0);
  if (type === null) return undefined;
  const power =
    op === 'Pow' && !since(one, '10.11') ? [type, typeOf(one, 1)].find((each) => INTEGER.test(each ?? '')) : null;
  if (power) return unsupported(`Pow of ${typeText(power)} is refused before 10.11.`);
  const isInteger = INTEGER.test(type);
  const refused = LOGIC.test(op)
    ? type !== 'bool'
    : FLOATS.test(op)
      ? isInteger || type === 'bool'
      : type === 'bool' && NUMBERS.test(op) && op !== 'ReduceMax' && op !== 'ReduceMin';
  return refused ? unsupported(`${op} of ${typeText(type)} is refused.`) : undefined;
}

function otherInput(one: NodeToCheck, op: string): NodeProblem | undefined {
  if (op === 'GatherND' && !since(one, '11.0')) return undefined;
  const row = Object.hasOwn(OTHER_INPUTS, op) ? OTHER_INPUTS[op] : undefined;
  const type = row && typeOf(one, row[0]);
  return type && !row[1].test(type) ? unsupported(`${op} takes ${row[2]}, and gets ${typeText(type)}.`) : undefined;
}

const bytes: FormCheck = (one) => {
  const { node, graph, index } = one;
  if (!TAKES_BYTES.test(node.op) && (since(one, '11.0') || !MOVES_BYTES.test(node.op)))
    for (const at of node.inputs.keys())
      if (given(one, at) && typeOf(one, at) === 'uint8' && ofInput(graph, graph.inputs[index]![at]!))
        return problem(
          'unsupported-type',
          `${node.op} of UINT8 is refused.`,
          'Cast to INT32 before it, and to UINT8 only for an output of the model.',
          'narrow-integers',
        );
  const made = graph.outputs[index]![0] ?? -1;
  if (one.inferred.types[made] !== 'uint8' || !ofInput(graph, made)) return undefined;
  const tensor = graph.tensors[made];
  return tensor && (tensor.consumers.length > 0 || graph.owner[index]! >= 0)
    ? problem(
        'unsupported-type',
        'UINT8 inside the model: TensorRT has it only at inputs and outputs.',
        'Cast to INT32.',
        node.op === 'Cast' ? 'inner-uint8' : undefined,
      )
    : undefined;
};

/** Whether a tensor is made of the values of inputs, and not quantized: constants and quantized values are read as INT8. */
const ofInput = (graph: ModelGraph, tensor: number): boolean =>
  comesFromInput(graph, tensor, (producer) =>
    graph.nodes[producer]!.op.endsWith('QuantizeLinear')
      ? []
      : [...graph.inputs[producer]!, ...graph.captured[producer]!],
  );

/** The places of inputs that must have one type. */
function equalPlaces({ node }: NodeToCheck, op: string, isStrong: boolean): number[] {
  const places = [...node.inputs.keys()];
  if (op === 'Where') return places.slice(1);
  if (op === 'Pow') return [];
  if (EQUAL_TYPES.test(op)) return places;
  return isStrong || op === 'InstanceNormalization' ? places.slice(0, valueAt(EQUAL_FLOATS, op) ?? 0) : [];
}

function mixedTypes(one: NodeToCheck, op: string): NodeProblem | undefined {
  const isStrong = isRtx(one) || since(one, '11.0');
  const types = equalPlaces(one, op, isStrong).flatMap((at) => {
    const type = given(one, at) ? (typeOf(one, at) ?? '') : '';
    // TensorRT converts DOUBLE where it reads it.
    if (FLOAT.test(type)) return type === 'double' ? 'float' : type;
    return INTEGER.test(type) && !Object.hasOwn(EQUAL_FLOATS, op) ? type : [];
  });
  const other = types.find((type) => type !== types[0]);
  if (other === undefined) return undefined;
  const bothFloat = FLOAT.test(other) && FLOAT.test(types[0]!);
  if (bothFloat ? !isStrong && op !== 'InstanceNormalization' : !since(one, '10.0')) return undefined;
  return problem(
    'type-mismatch',
    `${op} mixes ${typeText(types[0]!)} and ${typeText(other)}${bothFloat ? ': the model is strongly typed' : ''}.`,
    'Insert a Cast.',
    bothFloat && EQUAL_TYPES.test(op) ? 'cast-mixed-types' : undefined,
  );
}
