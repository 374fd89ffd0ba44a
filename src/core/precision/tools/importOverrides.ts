import type { Problem } from '../../text/problem.ts';
import { bareGlob, globOfRegex } from './globOfRegex.ts';
import { precisionType } from '../language/precisionType.ts';
import { writeName } from '../language/quoteName.ts';
import { readLayerSpecs } from './trtexecSpec.ts';
import type { LayerSpec, TrtexecDialect } from './trtexecSpec.ts';

/** An override file made from another program's words, and what could not be taken over. */
export interface ImportedOverrides {
  text: string;
  problems: Problem[];
}

/** Values of trtexec's flags; absent ones are omitted. */
export interface TrtexecFlags {
  layerPrecisions?: string;
  layerOutputTypes?: string;
  precisionConstraints?: string;
}

/**
 * Rules that mean what trtexec makes of its flags: wildcards first, since an exact name wins over them there, and a
 * later rule wins here.
 */
export function importTrtexec(flags: TrtexecFlags, dialect: TrtexecDialect): ImportedOverrides {
  const problems: Problem[] = [];
  const read = (flag: 'layerPrecisions' | 'layerOutputTypes') => {
    const { specs, error } = readLayerSpecs(flags[flag] ?? '', flag, dialect);
    if (error !== null) problems.push(problem('error', 'bad-spec', `--${flag}: ${error} trtexec stops here.`));
    return new Map(specs.map((spec) => [spec.name, spec]));
  };
  const precisions = read('layerPrecisions');
  const outputs = read('layerOutputTypes');
  const lines: string[] = [];
  if (flags.precisionConstraints === 'prefer') lines.push('require prefer');
  if ((flags.precisionConstraints ?? 'none') === 'none' && precisions.size + outputs.size > 0) {
    problems.push(
      problem(
        'warning',
        'constraints-missing',
        'Without --precisionConstraints=obey or prefer, trtexec ignores these flags; the rules here still apply.',
      ),
    );
  }
  const names = [...new Set([...precisions.keys(), ...outputs.keys()])];
  const wild = names.filter((name) => isWild(name, dialect));
  if (wild.length > 1) {
    problems.push(
      problem(
        'info',
        'wildcard-order',
        'If several wildcards match a layer, trtexec picks one in hash-table order; here the last rule wins.',
      ),
    );
  }
  for (const name of [...wild, ...names.filter((name) => !wild.includes(name))]) {
    const line = ruleLine(name, precisions.get(name), outputs.get(name), dialect, problems);
    if (line !== null) lines.push(line);
  }
  return { text: lines.map((line) => `${line}\n`).join(''), problems };
}

function isWild(name: string, dialect: TrtexecDialect): boolean {
  return dialect.wildcard ? name.includes('*') : name === '*';
}

function ruleLine(
  name: string,
  precision: LayerSpec | undefined,
  output: LayerSpec | undefined,
  dialect: TrtexecDialect,
  problems: Problem[],
): string | null {
  const word = precision?.types[0];
  const compute = word === undefined ? null : precisionType(word);
  if (word !== undefined && compute === null) {
    problems.push(
      problem('error', 'unknown-type', `${JSON.stringify(name)}: "${word}" is not a type of override files.`),
    );
    return null;
  }
  const types = (output?.types ?? []).map(precisionType);
  if (types.includes(null)) {
    problems.push(
      problem(
        'error',
        'unknown-type',
        `${JSON.stringify(name)}: override files do not support every output type of "${output?.types.join('+')}".`,
      ),
    );
    return null;
  }
  const first = types[0];
  if (compute === null && first) {
    problems.push(
      problem(
        'warning',
        'output-type-only',
        `${JSON.stringify(name)} has an output type but no precision: the rule requests ${first} for both.`,
      ),
    );
  }
  const type = compute ?? first;
  if (!type) return null;
  const arrow = types.length > 0 ? ` -> ${types.join(', ')}` : '';
  return `${selectorOf(name, dialect, problems)} ${type}${arrow}`;
}

function selectorOf(name: string, dialect: TrtexecDialect, problems: Problem[]): string {
  if (!isWild(name, dialect)) return writeName(name);
  const star = name.indexOf('*');
  const [head, tail] = [name.slice(0, star), name.slice(star + 1)];
  const glob = bareGlob(`${plainInGlob(head, name, problems)}**${plainInGlob(tail, name, problems)}`);
  // "a/**/b" here also stands for "a/b", which trtexec's "a/*/b" does not fit.
  const collapses = tail.startsWith('/') && (head === '' || head.endsWith('/'));
  const collapsed = head + tail.slice(1);
  return collapses && collapsed !== '' ? `${glob}, not:${writeName(collapsed)}` : glob;
}

/** Plain text as part of a pattern; a character that cannot be in one becomes `?`. */
function plainInGlob(text: string, name: string, problems: Problem[]): string {
  const glob = text.replace(/[*?[]/g, (c) => `[${c}]`).replace(/[\s,"#]|->/g, (c) => '?'.repeat(c.length));
  if (/[\s,"#]|->/.test(text)) {
    problems.push(
      problem(
        'info',
        'wildcard-approximated',
        `"?" replaces a character of ${JSON.stringify(name)} that a pattern cannot contain.`,
      ),
    );
  }
  return glob;
}

/** Rules from the words after Polygraphy's `--layer-precisions`: `name:float32`, split at the last colon. */
export function importPolygraphy(items: readonly string[]): ImportedOverrides {
  const problems: Problem[] = [];
  const chosen = new Map<string, string>();
  for (const item of items) {
    const colon = item.lastIndexOf(':');
    const name = item.slice(0, Math.max(colon, 0));
    const type = precisionType(item.slice(colon + 1));
    if (name === '' || type === null) {
      const what = name === '' ? 'does not have the form name:type' : 'has no type of override files';
      problems.push(problem('error', 'bad-spec', `${JSON.stringify(item)} ${what}.`));
      continue;
    }
    chosen.set(name, type);
  }
  const lines = [...chosen].map(([name, type]) => `${writeName(name)} ${type}\n`);
  return { text: lines.join(''), problems };
}

/** The words of an AutoCast command line (`python -m modelopt.onnx.autocast …`), one argument per element, as rules. */
export function importAutocast(args: readonly string[]): ImportedOverrides {
  const problems: Problem[] = [];
  const lists = new Map<string, string[]>();
  let current: string[] = [];
  for (const arg of args) {
    if (arg.startsWith('--')) {
      const [flag = '', value] = arg.split(/=(.*)/s);
      lists.set(flag, (current = value === undefined ? [] : [value]));
    } else {
      current.push(arg);
    }
  }
  const low = precisionType(lists.get('--low_precision_type')?.[0] ?? 'fp16') === 'bf16' ? 'bf16' : 'fp16';
  const lines = [`base ${low}`];
  const add = (flag: string, type: string, asSelector: (word: string) => string | null) => {
    for (const word of lists.get(flag) ?? []) {
      const selector = asSelector(word);
      if (selector !== null) lines.push(`${selector} ${type}`);
    }
  };
  const regex = (word: string): string | null => {
    const found = globOfRegex(word);
    if (found === null) {
      problems.push(
        problem(
          'warning',
          'regex-not-taken',
          `A pattern cannot express the regular expression ${JSON.stringify(word)}. Write the node names instead.`,
        ),
      );
    } else if (!found.exact) {
      problems.push(
        problem(
          'info',
          'regex-approximated',
          `${found.selector} replaces the regular expression ${JSON.stringify(word)}. Unlike there, "?" and "[…]" do not match "/", and "**/" also matches the empty string.`,
        ),
      );
    }
    return found?.selector ?? null;
  };
  add('--op_types_to_exclude', 'fp32', (op) => `op:${writeName(op)}`);
  add('--nodes_to_exclude', 'fp32', regex);
  add('--op_types_to_include', low, (op) => `op:${writeName(op)}`);
  add('--nodes_to_include', low, regex);
  return { text: `${lines.join('\n')}\n`, problems };
}

function problem(severity: Problem['severity'], code: string, message: string): Problem {
  return { severity, code, message };
}
