import { causeText } from '../causeText.ts';
import { type DiagnosisRule } from '../rule.ts';

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

export const entryFor = <Entry extends readonly [RegExp, ...string[]]>(table: readonly Entry[], text: string) =>
  table.find(([words]) => words.test(text));

/** What TensorRT refuses a layer of the network for. */
export const LAYER_RULES: readonly DiagnosisRule[] = [
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
];
