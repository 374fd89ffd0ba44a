// Lines without a prefix that is known. What is read of them: messages of TensorRT 8.2 and later, of its parser and of
// ONNX Runtime, behind anything or nothing, and how a program ended. TensorRT before 8.2 wrote other messages; they are not read.
/** Source files of TensorRT's ONNX parser: their names open its messages, whatever a program writes before them. */
const PARSER_FILES =
  'ModelImporter|ModelRefitter|NvOnnxParser|builtin_op_importers|onnx2trt_utils|onnxOp\\w+|importerUtils|WeightsContext|ImporterContext|ShapedWeights|RNNHelpers|LoopHelpers|ConditionalHelpers|onnxErrorRecorder';

/** The parser's error codes, as its Python binding and other programs print them. */
const PARSER_CODES =
  'UNSUPPORTED_NODE\\w*|INVALID_NODE|UNSUPPORTED_GRAPH|INVALID_GRAPH|INVALID_VALUE|UNSUPPORTED_NODE|MODEL_DESERIALIZE_FAILED';

/** What messages of TensorRT, its parser and ONNX Runtime begin with, wherever they are. */
const OWN = [
  '(?:Error\\[\\d+\\]: |\\b\\d{1,2}: )?(?:\\[[^\\]\\s]+:\\d+\\] |\\bI[A-Z]\\w+::\\w+: )?Error Code:? \\d+: ',
  '\\b\\d{1,2}: \\[[\\w.:~() -]+::\\d+\\] ',
  `(?:[\\w.-]*[\\\\/])*\\b(?:${PARSER_FILES})\\.[ch]pp:\\d+: `,
  'ERROR: \\S+\\.cpp:\\d+ In function \\w+:',
  '\\[ONNXRuntimeError\\] : \\d+ : ',
].join('|');

/** The parser's own account of an error, which others quote inside their messages, too. */
const QUOTED = [
  'While parsing node number \\d+ ',
  'In node -?\\d+ (?:with name: .{0,300}? and operator: \\w* )?\\(\\w+\\): [A-Z_]+: ',
  `\\b(?:${PARSER_CODES}): `,
].join('|');

/** Sentences of TensorRT that people copy without what stands before them, where a line begins or after `Error:`. */
const SENTENCES = [
  'Network has dynamic or shape inputs, but no optimization profile',
  'Dynamic dimensions required for input',
  'Could not find any implementation for node',
  'No importer registered for op',
  'No [Pp]lugin (?:found|creator)|Plugin not found',
  'Unsupported ONNX data type',
  'Network must have at least one output',
  'The engine plan file is (?:not compatible|generated on)',
  'Failed to (?:parse (?:the )?ONNX|allocate|deserialize)',
  'Assertion failed: ',
].join('|');
const SENTENCE = new RegExp(`^\\s*(?:\\[?(?:ERROR|Error|error)\\]?[:!]?\\s+)?(?=${SENTENCES})`);

const IN_MESSAGE = new RegExp(OWN);
const ANYWHERE = new RegExp(`${OWN}|${QUOTED}`);

/** Warnings of the parser, by their words: a program that prints no level leaves nothing else to know them by. */
const WARNINGS =
  /Your ONNX model|outside the range|Attribute \S+ not found|Attempting to cast|DataType is determined|already exists|Make sure (?:input|output)|at least opset/;

/**
 * Where a message of TensorRT begins in a line whose prefix is not known, and how severe it is; null if it holds none
 * that is a warning or an error. `within`: it follows an error, whose part it may be.
 */
export function strayMessage(head: string, within: boolean): { at: number; severity: 'warning' | 'error' } | null {
  const sentence = within ? null : SENTENCE.exec(head);
  if (sentence !== null) return { at: sentence[0].length, severity: 'error' };
  const match = (within ? IN_MESSAGE : ANYWHERE).exec(head);
  if (match === null) return null;
  const prefix = head.slice(0, match.index);
  const text = head.slice(match.index);
  if (/\b(?:error|fatal|critical|fail)|[[ :]E[\] :/]|^E\b/i.test(prefix)) return { at: match.index, severity: 'error' };
  if (/\bwarn|[[ :]W[\] :/]|^W\b/i.test(prefix)) return { at: match.index, severity: 'warning' };
  if (/\b(?:info|verbose|debug|trace)\b|[[ :][IVD][\] :/]/i.test(prefix)) return null;
  return { at: match.index, severity: WARNINGS.test(text) ? 'warning' : 'error' };
}

/** The end of a program, as shells, Python, Windows and containers print it: never a part of the message before it. */
const END =
  /^(?:\S*(?:: line \d+: +\d+)? *)?(?:Killed|Aborted|Segmentation fault|Bus error|Floating point exception|Illegal instruction)\b|^terminate called|^ *what\(\): |^\[\d+\] +\d+ (?:killed|abort|segmentation)|\b(?:0[xX][cC]0000[\da-fA-F]{3}|-1073741819|3221225477)\b|\b(?:exit(?:ed)?|returned|died|terminated|finished)\b.{0,40}\b(?:code|status|SIG[A-Z]+|signal)\b|\boom-kill|\bOOMKilled\b|Fatal Python error|^App run failed/;

const FENCE = /^```[\w-]*\s*$/;

/** Whether a line begins or ends a quotation in Markdown. */
export const isFence = (text: string, from = 0, to = text.length): boolean =>
  text.charCodeAt(from) === 0x60 && FENCE.test(text.slice(from, to));

/** Whether a line is no part of the message before it: it says how a program ended, or a quotation begins or ends. */
export const endsMessage = (head: string): boolean => END.test(head) || isFence(head);
