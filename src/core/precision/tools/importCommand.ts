import { importAutocast, type ImportedOverrides, importPolygraphy, importTrtexec } from './importOverrides.ts';
import type { TrtexecFlags } from './importOverrides.ts';
import type { TrtexecDialect } from './trtexecSpec.ts';

/**
 * Rules that mean what a command line of trtexec, Polygraphy or ModelOpt AutoCast asks for, recognised by its flags;
 * one argument per element, as the program gets them. undefined: it has none of their flags.
 */
export function importCommand(command: readonly string[], dialect: TrtexecDialect): ImportedOverrides | undefined {
  const values = valuesOf(command);
  const polygraphy = values.get('--layer-precisions');
  if (polygraphy) {
    const { text, problems } = importPolygraphy(polygraphy);
    const prefers = values.get('--precision-constraints')?.[0] === 'prefer';
    return withBase({ text: `${prefers ? 'require prefer\n' : ''}${text}`, problems }, values);
  }
  if ([...values.keys()].some((flag) => /^--(?:nodes|op_types)_to_(?:ex|in)clude$|^--low_precision_type$/.test(flag)))
    return importAutocast(command.slice(command.findIndex((word) => word.startsWith('--'))));
  const flags: TrtexecFlags = {};
  for (const flag of ['layerPrecisions', 'layerOutputTypes', 'precisionConstraints'] as const) {
    const value = values.get(`--${flag}`)?.[0];
    if (value !== undefined) flags[flag] = value;
  }
  if (flags.layerPrecisions === undefined && flags.layerOutputTypes === undefined) return undefined;
  return withBase(importTrtexec(flags, dialect), values);
}

/** The types that TensorRT may use in addition, as far as an override file can express them. */
function withBase({ text, problems }: ImportedOverrides, flags: ReadonlyMap<string, unknown>): ImportedOverrides {
  const asked = ['fp16', 'bf16', 'best', 'int8', 'fp8', 'int4'].filter((type) => flags.has(`--${type}`));
  const base = ['fp16', 'bf16', 'best'].find((type) => asked.includes(type))?.replace('best', 'fp16');
  const others = asked.filter((type) => type !== base).map((type) => `--${type}`);
  if (others.length > 0)
    problems.push({
      severity: 'warning',
      code: 'types-not-taken',
      message: `An override file has one type for all other nodes, fp16 or bf16. Pass ${others.join(', ')} to the build itself.`,
    });
  return { text: base === undefined ? text : `base ${base}\n${text}`, problems };
}

/** The words that belong to each flag: after its `=`, and up to the next flag, such as `-v`. */
function valuesOf(command: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let current: string[] = [];
  for (const word of command) {
    if (!word.startsWith('-')) {
      current.push(word);
      continue;
    }
    const equals = word.indexOf('=');
    current = equals < 0 ? [] : [word.slice(equals + 1)];
    found.set(equals < 0 ? word : word.slice(0, equals), current);
  }
  return found;
}
