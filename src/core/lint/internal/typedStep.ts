// The one command of trtlens that does what flags for types did.
import { splitCommand } from '../../base/text.ts';
import { modelOfCommand, typesAsked, valuesOfFlags } from '../../build/trtexecFlags.ts';

/** A command line that asks for types, and what writes the typed model and prints the command for it. */
export interface TypedStep {
  /** One argument per element, without the model where the text does not say which. */
  command: string[];
  /** Arguments of `trtlens`. */
  trtlens: string[];
}

/** Flags that ask for types: of trtexec and of Polygraphy. */
export const asksForType = /^--(?:fp16|bf16|int8|best|fp8|int4|layerPrecisions|layerOutputTypes|layer-precisions)$/;

/** Of a flag in a command of a script: `text` is that command, as the shell or a YAML file has it. */
export function stepOfShell(text: string): TypedStep | null {
  const words = splitCommand(text)[0] ?? [];
  return stepOf(words.filter((word) => word !== '-'));
}

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
  if (rest.some((word) => /^--loadEngine(?:=|$)/.test(word))) return null;
  const name = /polygraphy/i.test(tool) ? 'polygraphy' : 'trtexec';
  const model = modelOfCommand([tool, ...rest]);
  const known = model !== undefined && isPath(model.path);
  // `--onnx=` alone: the text only continues it with a variable.
  const command = [name, ...rest].filter(
    (word, at) => known || name === 'polygraphy' || (model?.at !== at && !/^--onnx=?$/.test(word)),
  );
  const path = known ? model.path : 'MODEL.onnx';
  const target = (ending: string): string => path.replace(/(?:\.onnx)?$/i, ending);
  if (typesAsked(valuesOfFlags(command)) === null)
    return command.includes('--int8')
      ? {
          command,
          trtlens: ['quantization', 'calibrate', path, '--inputs', 'SAMPLES', '-o', target('.int8.onnx')],
        }
      : null;
  const named = known ? command : withModel(command, model?.at, path);
  return { command: named, trtlens: ['precision', 'import', '--apply', target('.typed.onnx'), '--', ...named] };
}
