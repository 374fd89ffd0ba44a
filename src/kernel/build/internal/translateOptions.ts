import { type CommandNote, type EngineOptions, optionRows, type Translation } from '../buildOptions.ts';

/** Takes what options become for one program. */
export interface ArgumentWriter {
  /** @param values null: the flag has none */
  flag: (flag: string, values: string[] | null, required: boolean) => void;
  note: (note: CommandNote) => void;
}

/**
 * Translates every option whose translation the table contains; those that are `own` are left to the back-end.
 * Values from the model only ever become values of a flag.
 */
export function translateOptions(
  backend: 'trtexec' | 'polygraphy' | 'driver',
  options: EngineOptions,
  writer: ArgumentWriter,
): void {
  for (const [name, row] of optionRows) {
    const translation: Translation = row[backend];
    const value = options[name] ?? row.default;
    if (translation === 'own' || translation === 'outside' || isNothing(value)) continue;
    if ('refused' in translation) writer.note({ kind: 'refused', flag: name, message: translation.refused });
    else if ('ignored' in translation) writer.note({ kind: 'ignored', flag: name, message: translation.ignored });
    else writeFlags(translation, textsOf(value), writer);
  }
}

function writeFlags(
  { flag, required, fixed, words, each }: Extract<Translation, { flag: unknown }>,
  values: string[] | null,
  writer: ArgumentWriter,
): void {
  const translated = fixed !== undefined ? [fixed] : words ? values?.flatMap((value) => words[value] ?? []) : values;
  if (translated?.length === 0) return;
  for (const one of typeof flag === 'string' ? [flag] : flag)
    if (each) for (const value of translated ?? []) writer.flag(one, [value], required === true);
    else writer.flag(one, translated ?? null, required === true);
}

/** Asks for nothing: omitted, switched off, or empty. */
const isNothing = (value: unknown): boolean =>
  value === undefined || value === false || value === '' || (Array.isArray(value) && value.length === 0);

/** null: a flag without a value. */
function textsOf(value: unknown): string[] | null {
  if (value === true) return null;
  return Array.isArray(value) ? value.map(String) : [String(value)];
}
