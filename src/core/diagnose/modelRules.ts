import { causeText } from './causeText.ts';
import type { DiagnosisRule } from './diagnosisRule.ts';

const SHAPES_ADVICE =
  'Check the shapes that the exporter wrote. If inputs have dynamic dimensions, give real shapes: a dimension that is built as 1 often does not fit.';
const TYPES_ADVICE =
  'Insert a Cast so that both have one type, as a typed copy of the model does. On TensorRT 10 and earlier, mark no outputs inside the region.';

/**
 * What is wrong with the model: its file, operators, shapes and types. A word before a text is looked for from its
 * beginning on only (`\b`, `(?<!\S)`): from each of its characters would take seconds where a line is one long word.
 */
export const MODEL_RULES: DiagnosisRule[] = [
  {
    code: 'weights-missing',
    pattern: /Failed to open file: (.+?)(?:$|\n|;)/,
    say: (m) => ({
      message: `The weights file ${m[1]} is missing.`,
      advice: 'Put the external weights next to the .onnx file, with the file name that the model uses.',
    }),
  },
  {
    code: 'weights-missing',
    pattern: /Failed to import initiali?zer:? ?(\S*)/,
    say: (m) => ({
      message: `An initializer cannot be loaded${m[1] ? `: ${m[1]}` : ''}; its weights file is missing or too short.`,
      advice: 'Put the complete external weights next to the .onnx file.',
    }),
  },
  {
    code: 'model-missing',
    pattern:
      /Could not open file (.+?\.onnx)\b|[Nn]o such file: (.+?\.onnx)|(?:Could not find (?:file|path): |FileNotFoundError: .{0,300}'(?=[^'\n]+\.onnx))(.+?\.onnx)/,
    say: (m) => ({
      message: `The model ${m[1] ?? m[2] ?? m[3]} does not exist or cannot be read.`,
      advice: 'Check the path; it is relative to the working directory of the build.',
    }),
  },
  {
    code: 'model-unreadable',
    pattern:
      /MODEL_DESERIALIZE_FAILED|Failed to parse the ONNX model|not an ONNX model|Failed to sort (?:the )?model topologically|Graph contains a cycle/,
    say: (m) =>
      /topolog|cycle/.test(m[0])
        ? {
            message: 'The graph of the model has a cycle.',
            advice: 'Export it again, or check it with `python -m onnx.checker`.',
          }
        : {
            message: 'The file is not a complete ONNX model: it is truncated or damaged.',
            advice: 'Export it again, or compare its size with the original.',
          },
  },
  {
    code: 'model-unreadable',
    pattern: /Node input was not registered|toposort/,
    say: () => ({
      message:
        'TensorRT does not find a tensor that this node reads: the model was cut badly, or the tensor is a sparse initializer.',
      advice: 'Export it again with dense initializers, or check it with `python -m onnx.checker`.',
    }),
  },
  {
    code: 'plugin-missing',
    pattern:
      /\b(\w+) plugin was not found in the plugin registry|could not find plugin:? (\w+_TRT)\b|Cannot find plugin: (\w+_TRT)\b|: (\w+) plugin creator version \S+ was not found/,
    say: (m) => ({
      message: `The plugin ${m[1] ?? m[2] ?? m[3] ?? m[4]} of this node is not registered.`,
      advice:
        "Load TensorRT's plugin library (libnvinfer_plugin) or your own, or replace the node with supported operators; a newer TensorRT may have the operator itself. TensorRT-RTX has no plugin library.",
    }),
  },
  {
    code: 'unsupported-op',
    pattern:
      /(?:could not find|Cannot find) plugin:? (\w+)|Plugin not found, are the plugin name|No importer registered for op: (\w+)|UNSUPPORTED_NODE: (?:false$|Assertion failed: creator)/,
    say: (m, text) => ({
      op: m[1] ?? m[2] ?? parsedOp(text),
      message: `TensorRT has no importer for the operator ${m[1] ?? m[2] ?? parsedOp(text)} of this node, and no plugin with that name is registered.`,
      advice: 'Replace the node with supported operators or by a plugin of the same name.',
    }),
  },
  {
    code: 'unsupported-op',
    pattern: /In function check(\w+):\s*\n?\s*\[8\]/,
    say: (m) => ({
      op: m[1]!,
      message: `TensorRT does not support the operator ${m[1]} of this node.`,
      advice: 'Replace the node with supported operators, or write a plugin with the same name.',
    }),
  },
  {
    code: 'unsupported-op',
    pattern: /Failed to convert ONNX dat[ea] type|Unsupported ONNX data type: (\w+)/,
    say: (m) => ({
      message: `The model has tensors of a type that TensorRT does not have${m[1] ? `: ${m[1]}` : ''}.`,
      advice: 'Keep strings and such types out of the engine: cut the model after the nodes that read them.',
    }),
  },
  {
    code: 'shape-mismatch',
    pattern: /: last dimension of input0 = (\S+) and second to last dimension of input1 = (\S+) but must match/,
    say: (m, text) => ({
      ...named(text, m[0]),
      message: `This node cannot multiply its inputs: the last dimension of the first is ${m[1]}, the second to last of the second is ${m[2]}.`,
      advice: SHAPES_ADVICE,
    }),
  },
  {
    code: 'shape-mismatch',
    pattern: /: attempt to multiply two matrices with mismatching dimensions/,
    say: (m, text) => ({
      ...named(text, m[0]),
      message: 'This node cannot multiply its inputs: their inner dimensions differ.',
      advice: SHAPES_ADVICE,
    }),
  },
  {
    code: 'shape-mismatch',
    pattern:
      /: all concat input tensors must have the same (?:dimensions except on the concatenation axis \((\d+)\)|number of dimensions).*?Input (\d+) shape: (\[[\d, -]*\]), Input (\d+) shape: (\[[\d, -]*\])/,
    say: (m, text) => ({
      ...named(text, ': all concat'),
      message: `This node cannot join its inputs${m[1] ? ` along axis ${m[1]}` : ''}: input ${m[2]} has shape ${m[3]}, input ${m[4]} has ${m[5]}.`,
      advice: SHAPES_ADVICE,
    }),
  },
  {
    code: 'shape-mismatch',
    pattern:
      /: axis (\d+) dimensions must be equal for concatenation on axis (\d+)\. Dimensions are (\S+) and (\S+?)\./,
    say: (m, text) => ({
      ...named(text, ': axis '),
      message: `This node cannot join its inputs along axis ${m[2]}: their dimensions along axis ${m[1]} are ${m[3]} and ${m[4]}.`,
      advice: SHAPES_ADVICE,
    }),
  },
  {
    code: 'shape-mismatch',
    pattern:
      /reshape changes volume\. Reshaping (\[[^\]]*\]) to (\[[^\]]*\])|reshape would change volume (\d+) to (\d+)/,
    say: (m, text) => ({
      ...named(text, m[1] ? ': reshape changes' : ': reshaping failed'),
      message: m[1]
        ? `This node cannot reshape ${m[1]} into ${m[2]}: the numbers of elements differ.`
        : `This node cannot reshape ${m[3]} elements into ${m[4]}.`,
      advice: SHAPES_ADVICE,
    }),
  },
  {
    code: 'shape-mismatch',
    pattern: /broadcast dimensions must be conformable/,
    say: (m, text) => ({
      ...named(text, `: ${m[0]}`),
      message: 'The inputs of this node have shapes that cannot be broadcast to each other.',
      advice: SHAPES_ADVICE,
    }),
  },
  {
    code: 'shape-mismatch',
    pattern:
      /Kernel weight dimension failed to broadcast to input|Axis must be in the range .* Provided axis is: (-?\d+)/,
    say: (m, text) => ({
      message:
        m[1] === undefined
          ? 'The weights of this node are for another number of channels than its input has.'
          : `The axis ${m[1]} of this node does not exist: ${causeText(text)}.`,
      advice: SHAPES_ADVICE,
    }),
  },
  {
    code: 'type-mismatch',
    pattern: /Mismatched type for tensor ([^,\n]+?)'?, (\w+) vs\. expected type: ?(\w+)/,
    say: (m, text) => ({
      ...skipped(text),
      layer: /implementation for node (\{ForeignNode\[.*?\]\})/.exec(text)?.[1] ?? '',
      tensors: [m[1]!],
      message: `Tensor ${m[1]} is ${m[2]} where its region expects ${m[3]}, so TensorRT cannot compile the region.`,
      advice: TYPES_ADVICE,
    }),
  },
  {
    code: 'type-mismatch',
    pattern: /: could not find any supported formats consistent with input\/output data types/,
    say: (m, text) => ({
      ...named(text, m[0]),
      message: 'The plugin of this node supports none of the types and formats that its inputs and outputs have.',
      advice:
        'Cast the inputs to types that the plugin supports, or let its supportsFormatCombination() accept these types.',
    }),
  },
  {
    code: 'type-mismatch',
    pattern: /: \w+ \w+ must have same input types\. But they are of types (\w+) and (\w+)/,
    say: (m, text) => ({
      ...named(text, m[0]),
      message: `The inputs of this node have different types: ${m[1]} and ${m[2]}.`,
      advice: TYPES_ADVICE,
    }),
  },
  {
    code: 'type-mismatch',
    pattern: /name=(\S+)[\s\S]*element type \((\w+)\) differs from input \d+'s element type \((\w+)\)/,
    say: (m, text) => ({
      ...skipped(text),
      layer: m[1]!,
      message: `The inputs of this node have different types: ${m[2]} and ${m[3]}.`,
      advice: TYPES_ADVICE,
    }),
  },
];

/** Where only a tactic failed, others are tried: the build may pass. */
const skipped = (text: string): { severity?: 'warning' } =>
  text.includes('Skipping tactic') && !text.includes('Could not find any implementation')
    ? { severity: 'warning' }
    : {};

/** The layer that a cause begins with: `mm: last dimension…`, `IConcatenationLayer cat: cat: axis 2…`. */
function named(text: string, before: string): { layer?: string } {
  const cause = causeText(text);
  const at = cause.indexOf(before);
  if (at <= 0) return {};
  const name = cause.slice(0, at).replace(/^.*?\bI[A-Z]\w+Layer /, '');
  // `cat: cat`: once for the layer, once for the node inside it.
  const half = (name.length - 2) / 2;
  return { layer: half > 0 && name.slice(0, half) === name.slice(half + 2) ? name.slice(0, half) : name };
}

/** The operator that the parser was at. */
const parsedOp = (text: string) =>
  /While parsing node number \d+ \[(\S*) ->/.exec(text)?.[1] ??
  /node \d+ '.*' \((\w+)\): /.exec(text)?.[1] ??
  '(not named)';
