import { counted } from '../../../base/text.ts';
import { causeText } from '../causeText.ts';
import { type DiagnosisRule, EVERY_CAUSE } from '../rule.ts';

export const FOLD =
  'Fold constants (`polygraphy surgeon sanitize --fold-constants` or onnxsim), with fixed input shapes where that is possible.';

/** Words by which TensorRT says what a layer needs. */
const NEEDS =
  '\\b(?:must|cannot|can ?not|requires?|should|expect(?:s|ed)|unsupported|not supported|out of bounds|mismatch(?:ed|ing)?|incompatible|exceeds?|without|doesn.t appear|allowed|no dimensions|Assertion|lowering)\\b';

/** What TensorRT says of a layer: `conv1: IConvolutionLayer … must …`, `(Unnamed Layer* 3) [Slice]: … must …`. */
const layerSays = (words: string): RegExp =>
  new RegExp(
    `(?:(?:^|: |\\()I[A-Z]\\w+(?:Layer|Node)\\b|\\(Unnamed Layer\\* \\d+\\) \\[\\w+\\]|^(?:Error\\[\\d+\\]: )?[\\w./]+: \\w+Layer |Error Code [349]: (?:API Usage|Internal|Shape) Error \\([^\\s:()]+: )(?=[^\\n]*${NEEDS})(?=[^\\n]*(?:${words}))`,
    'm',
  );

/** A text without its end that belongs to what is around it: dots, and brackets that open before it. */
export function withoutEnd(text: string): string {
  const bare = text.replace(/[.\s]+$/, '');
  return bare.endsWith(')') && bare.split(')').length > bare.split('(').length ? withoutEnd(bare.slice(0, -1)) : bare;
}

/** The layer of such a message, its kind, and what it says. */
function layerIn(_: unknown, text: string): { layer: string | undefined; values: Record<string, string | undefined> } {
  const cause = causeText(text);
  const [, layer, why = cause] =
    /^(?:I[A-Z]\w+Layer )?(\(Unnamed Layer\* \d+\) \[\w+\][^:]*|[^\s:()]+): (?:\1: )?(.+)$/.exec(cause) ?? [];
  const kind = /\bI([A-Z]\w+?)(?:Layer|Node)\b/.exec(cause)?.[1] ?? /\[(\w+)\]/.exec(layer ?? '')?.[1];
  return {
    layer,
    values: {
      layer,
      kind: kind?.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase(),
      why: withoutEnd(why).replaceAll('`', ''),
    },
  };
}

/** What a layer of the network is refused for, in words that are the same in TensorRT 5 to 8, and what to do. */
const LAYER_WORDS: readonly (readonly [RegExp, string, string])[] = [
  [
    /at least/,
    'its input has fewer dimensions than it needs',
    'Networks with explicit batch count the batch as a dimension, others do not: with the ONNX parser of TensorRT 7 and later make the network with the flag EXPLICIT_BATCH, with that of TensorRT 6 and older (and those for UFF and Caffe) without it. A layer that a program adds itself needs an input of that rank, (C,1,1) for a fully connected one: reshape it before. Of several such lines the first is the cause.',
  ],
  [
    /volume of dimensions/,
    'its dimensions are for another number of values than the weights that it gets',
    'The script and the weights are of different models: compare the sizes in the script (classes, hidden size, a head of two outputs) with the shapes in the checkpoint, and change them there.',
  ],
  [
    /index to gather/,
    'it takes a size of a tensor that has fewer dimensions',
    'Compare the rank of that input with the rank in the export: give the profile the same number of dimensions, fix the input shapes and fold constants (onnxsim, `polygraphy surgeon sanitize --fold-constants`). Such nodes (Shape, Gather) count from 0.',
  ],
  [
    /slice size must be positive[^\n]*-1/,
    'a size of its slice is dynamic (-1), and it takes only numbers',
    'Compute the size in the network, with a shape layer and its like, and give it as an input of the layer (setInput(2, size), in Python set_input(2, size)) in place of a number: -1 has no meaning there.',
  ],
  [
    /slice/,
    'it cuts more than its input has, or nothing',
    'Compare start, size and stride with the shape that the input has for every shape of the profile: odd sizes (641 for 640) and images that are not a multiple of the stride lead to that. Give input sizes that the model was made for, and fold constants.',
  ],
  [/\bK\b/, 'it asks for more elements than the axis has, or none', 'Lower K, or give a larger input.'],
  [
    /ax[ei]s/,
    'it has an axis that its input does not have',
    'Networks without explicit batch cannot work on the batch, and their first axis is the channel. Make the network with explicit batch (TensorRT 7 and later), or give an axis of the input.',
  ],
];

export const entryFor = <Entry extends readonly [RegExp, ...string[]]>(table: readonly Entry[], text: string) =>
  table.find(([words]) => words.test(text));

/** What TensorRT refuses a layer of the network for. */
export const LAYER_RULES: readonly DiagnosisRule[] = [
  {
    id: 'layer-inputs',
    code: 'model-invalid',
    pattern:
      /(?<layer>\(Unnamed Layer\* \d+\) \[[\w ]+\]|(?<![^\s(:])[^\s(:]+): I(?<kind>\w+?)Layer expected (?<want>\d+) inputs? but received (?<have>\d+)/,
    named: ({ groups: { layer, want, have } = {} }) => ({
      layer,
      values: {
        needs: counted(Number(want), 'input'),
        step:
          Number(have) > Number(want)
            ? 'Leave out those that it does not take: its class in the documentation lists them.'
            : 'Set the others with `layer.set_input(index, tensor)`: index 1 of a recurrence is the value of the next iteration.',
      },
    }),
    cause: 'The layer {layer} ({kind}) takes {needs} and got {have}.',
    advice: '{step}',
    source: 'built with TensorRT 10.6',
  },
  {
    id: 'negative-length',
    code: 'shape-mismatch',
    pattern: /Error \(Tensor (?<tensor>.+?) has axis (?<axis>\d+) with inherently negative length/,
    cause:
      'Tensor {tensor} would have a negative size on axis {axis}: the window, kernel or slice is larger than what it is applied to.',
    advice:
      'Compare the kernel size, stride, padding and dilation with the input size at that place; a larger input, more padding or a smaller window mends it. With dynamic sizes the smallest shape of the profile counts.',
    source: 'built with TensorRT 10.6',
  },
  {
    id: 'shape-not-integer',
    code: 'type-mismatch',
    pattern: /SymbolicCoord[^\n]*value->type\(\) == ValueType::kINT/,
    cause:
      'A tensor that gives a shape, a start or a size is of a floating-point type, and TensorRT needs INT32 or INT64 there.',
    advice:
      'Make it of int32 or int64 (for a constant: `np.array([…], np.int64)`), or cast it before; the next error names the layer.',
    sure: 'likely',
    source: 'TensorRT symbolicCoord.h; built with TensorRT 10.6',
  },
  {
    id: 'layer-words',
    code: 'shape-mismatch',
    pattern:
      /(?:(?<layer>\(Unnamed Layer\* \d+\) \[[\w ]+\]|(?<=^[#>* ]{0,20}|[:\])] )[^\s:()]+): )(?<why>at least (?:\d|one|two|three|four)(?: non-batch)? dimensions? (?:is|are) required|volume of dimensions is not consistent with weights size|index to gather must not exceed length of vector|slice (?:size must be positive|is out of bounds)|out of bounds slice|K (?:not in range|must )|(?:axes error|invalid (?:axes|axis)|(?:axis|axes) (?:out of|not in) range))[^\n]*/m,
    named: (m, text) => {
      const { layer, why } = m.groups!;
      const [, what, step] = entryFor(LAYER_WORDS, m[0])!;
      return {
        layer,
        values: { what, step, why: withoutEnd(text.slice(text.indexOf(why!, m.index)).split('\n')[0]!) },
      };
    },
    cause: 'TensorRT refuses this node: {what}[[ ({why})]].',
    advice: '{step}',
    after: ['shape-mismatch'],
    sure: 'likely',
    source: 'TensorRT 5 to 8, Layers.cpp; NVIDIA/TensorRT#457, #723, #826',
  },
  {
    id: 'layer-weights-type',
    code: 'type-mismatch',
    pattern:
      /(?<layer>(?<![^\s:()])[^\s:()]+|\(Unnamed Layer\* \d+\) \[[\w ]+\]): cannot use precision (?<have>\w+) with weights of type (?<want>\w+)/,
    severity: 'error',
    cause:
      'This node has weights of the type {want}, and what it computes with is {have}: this TensorRT has no such layer.',
    advice:
      'Most often it belongs to sizes that the model computes (Shape, Slice, Cast): export with fixed shapes and fold constants, or cast to FP32 before it and back after it. Later versions import most of these.',
    source: 'NVIDIA/TensorRT#482',
  },
  {
    id: 'layer-constant',
    code: 'unsupported-form',
    pattern: layerSays(
      'build[- ]time (?:constant|extent)|rooted at an IConstantLayer|initializer|must (?:be|have) (?:a )?constant',
    ),
    named: layerIn,
    cause:
      'An input of this node[[ ({kind} layer)]] is computed from data, and TensorRT needs it, or a size that it gives, when it builds: {why}.',
    advice: `${FOLD} Otherwise write that input as an initializer.`,
    source: 'texts of the layers of TensorRT 10.6 and TensorRT-RTX 1.7.1',
  },
  {
    id: 'layer-plugin',
    code: 'unsupported-form',
    pattern: layerSays('PluginV2Layer|IPluginV\\w+|V2DynamicExt'),
    named: layerIn,
    cause: 'The plugin of this node does not implement what this network needs: {why}.',
    advice:
      'Dynamic shapes and explicit batch need IPluginV2DynamicExt or IPluginV3: port the plugin (its interface decides, not its name), or build with fixed shapes where that is all that the message asks for.',
    source: 'texts of the layers of TensorRT 10.6; wang-xinyu/tensorrtx#414',
  },
  {
    id: 'layer-types',
    code: 'type-mismatch',
    pattern: layerSays('\\b(?:types?|k?FLOAT|k?(?:Int|INT)\\d+|Bool|kBOOL|precision)\\b'),
    named: layerIn,
    cause: 'This node[[ ({kind} layer)]] has inputs or outputs of types that it cannot take: {why}.',
    advice:
      'Insert Casts so that its inputs have one type that it takes. In a weakly typed build, leave out the precision that is requested for it.',
    source: 'texts of the layers of TensorRT 10.6 and TensorRT-RTX 1.7.1',
  },
  {
    id: 'layer-shapes',
    code: 'shape-mismatch',
    pattern: layerSays(
      '[dD]im(?:ension)?s?\\b|[rR]ank|[sS]hape|scalar|\\b\\dD\\b|ax[ei]s|extent|channel|sizes?\\b|length|volume|bounds|elements|subscript',
    ),
    named: layerIn,
    cause: 'This node[[ ({kind} layer)]] gets a shape or size that does not fit: {why}.',
    advice:
      'Compare the shapes of its inputs (Netron, `polygraphy inspect model --show layers attrs`) with what it needs for every shape of the profile. Sizes that depend on dynamic dimensions need fixed inputs or folded constants; a program that adds the layer itself has to pass computed sizes as a second input.',
    source: 'texts of the layers of TensorRT 10.6 and TensorRT-RTX 1.7.1; NVIDIA/TensorRT#545',
  },
  {
    id: 'layer-refused',
    code: 'unsupported-form',
    pattern: layerSays(''),
    named: layerIn,
    cause: 'TensorRT does not take this node[[ ({kind} layer)]] as it is: {why}.',
    advice:
      'Export the model so that the node avoids what is named, with constants folded; a later TensorRT may take it.',
    sure: 'likely',
    source: 'texts of the layers of TensorRT 10.6 and TensorRT-RTX 1.7.1',
  },
  {
    id: 'layer-of-old',
    code: 'unsupported-form',
    pattern: /^(?<layer>\(Unnamed Layer\* \d+\) \[[\w ]+\]): (?<why>[a-z][^\n]{8,200})/m,
    named: ({ groups }) => ({
      values: {
        kind: /\[([\w ]+)\]$/.exec(groups!['layer']!)![1]!.toLowerCase(),
        why: groups!['why']!.replace(/[\s.]+$/, ''),
      },
    }),
    cause: 'TensorRT does not take this node ({kind} layer) as it is: {why}.',
    advice:
      'Compare the shapes and attributes of the layer with what the message asks for; of several such lines the first is the cause. Without explicit batch, shapes do not count the batch. A later TensorRT may take it.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'TensorRT 5 to 7, Layers.cpp',
  },
];
