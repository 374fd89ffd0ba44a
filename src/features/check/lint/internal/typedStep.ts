// The one command of trtlens that does what flags for types did.
import { splitCommand } from '../../../../kernel/base/text.ts';
import { modelOfCommand, typesAsked, valuesOfFlags } from '../../../../kernel/build/trtexecFlags.ts';

/** A command line that asks for types, and what writes the typed model and prints the command for it. */
export interface TypedStep {
  /** One argument per element, without the model where the text does not say which. */
  command: string[];
  /** Arguments of `trtlens`. */
  trtlens: string[];
}

/** Flags that ask for types: of trtexec and of Polygraphy. */
export const asksForType = /^--(?:fp16|bf16|int8|best|fp8|int4|layerPrecisions|layerOutputTypes|layer-precisions)$/;

/** Of a flag in a command of a script: `text` is what follows from the tool's name on, as the shell or a YAML file has it. */
export function stepOfShell(text: string): TypedStep | null {
  // `CMD ["trtexec", "--fp16"]` of a Dockerfile, and the like in YAML.
  const [, tool, quote, comma, behind] = /^([^\s"']+)(["'])(\s*,)?(.*)/s.exec(text) ?? [];
  if (comma !== undefined) {
    const items = behind!.matchAll(quote === '"' ? /"([^"]*)"/g : /'([^']*)'/g);
    return stepOf([tool!, ...[...items].map(([, item]) => item!)]);
  }
  const command = tool === undefined ? text : `${tool}${behind}`;
  const words = splitCommand(/[)"']/.test(command) ? withoutOuter(command) : command)[0] ?? [];
  // Items of a list in YAML.
  return stepOf(words.includes('-') ? words.filter((word) => word !== '-') : words);
}

/** A command without what closes brackets or quotes that were opened before it, and what follows: `(cd x; trtexec --fp16)`. */
function withoutOuter(text: string): string {
  let depth = 0;
  let quote = -1;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (char === '\\') at += 1;
    else if (quote >= 0) {
      if (char === text[quote]) quote = -1;
    } else if (char === '"' || char === "'") quote = at;
    else if (char === '(') depth += 1;
    else if (char === ')' && --depth < 0) return asOneWord(text.slice(0, at));
  }
  return asOneWord(quote < 0 ? text : text.slice(0, quote));
}

/** With what the shell fills in from a command as a part of its word. */
const asOneWord = (text: string): string => (text.includes('"') ? text : text.replaceAll(/\$\([^()]*\)/g, '"$&"'));

/** Of a program that starts a tool: the strings of the call, in order. */
export const stepOfStrings = (strings: readonly string[]): TypedStep | null =>
  stepOf(strings.flatMap((text) => text.split(/\s+/).filter(Boolean)));

const builderFlags = { FP16: '--fp16', BF16: '--bf16', INT8: '--int8' } as const;

/** Of a program that calls the builder: the trtexec command that asks for the same. `strings` are those of the program. */
export function stepOfProgram(names: readonly string[], strings: readonly string[]): TypedStep | null {
  const flags = Object.entries(builderFlags).flatMap(([flag, word]) =>
    names.some((name) => new RegExp(`^BuilderFlag(?:\\.|::k)${flag}$`).test(name)) ? [word] : [],
  );
  if (flags.length === 0) return null;
  const onnx = strings.find((text) => /^[^\s{}%]+\.onnx$/.test(text));
  const cache = strings.find((text) => /^[^\s{}%]+\.cache$/.test(text));
  const model = onnx === undefined ? [] : [`--onnx=${onnx}`];
  return stepOf(['trtexec', ...model, ...flags, ...(cache === undefined ? [] : [`--calib=${cache}`])]);
}

/** Not before a shell or program has filled in its variables. */
const isPath = (path: string): boolean => !/[${}%]/.test(path);

/** A command whose model the text does not say, with `path` for it; `at`: where it would be. */
function withModel([name = '', ...words]: readonly string[], at: number | undefined, path: string): string[] {
  if (name !== 'polygraphy') return [name, `--onnx=${path}`, ...words];
  // Behind the subcommand.
  const isModel = at !== undefined || !isPath(words[1] ?? '');
  return [name, ...words.toSpliced((at ?? 2) - 1, isModel ? 1 : 0, path)];
}

function stepOf(words: readonly string[]): TypedStep | null {
  const [tool = '', ...rest] = words;
  // It builds nothing.
  if (rest.some((word) => word === '--loadEngine' || word.startsWith('--loadEngine='))) return null;
  const name = /polygraphy/i.test(tool) ? 'polygraphy' : 'trtexec';
  const model = modelOfCommand(words);
  const known = model !== undefined && isPath(model.path);
  // `--onnx=` alone: the text only continues it with a variable.
  const command =
    known || name === 'polygraphy'
      ? [name, ...rest]
      : [name, ...rest.filter((word, at) => model?.at !== at + 1 && !/^--onnx=?$/.test(word))];
  const path = known ? model.path : 'MODEL.onnx';
  const target = (ending: string): string => path.replace(/(?:\.onnx)?$/i, ending);
  if (typesAsked(valuesOfFlags(command)) === null) return null;
  const named = known ? command : withModel(command, model?.at, path);
  return { command: named, trtlens: ['precision', 'import', '--apply', target('.typed.onnx'), '--', ...named] };
}
