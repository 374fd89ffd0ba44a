// Reads the precision options of other tools.
import type { Problem } from '../../kernel/base/problem.ts';
import { maxArgumentBytes, thousands, utf8Length } from '../../kernel/base/text.ts';
import {
  cannotCarry,
  dialectOf,
  type LayerSpec,
  modelOfCommand,
  readLayerSpecs,
  scalesAsked,
  type TrtexecDialect,
  typesAsked,
  valuesOfFlags,
  writeLayerSpecs,
} from '../../kernel/build/trtexecFlags.ts';
import { hasLayerFlags, noLayerFlags, type TensorrtTarget, typeSince } from '../../kernel/rules/buildFacts.ts';
import { bareGlob, globOfRegex } from './internal/globOfRegex.ts';
import { type PrecisionType, precisionType, writeName } from '../../kernel/rules/overrideFile.ts';
import type { PlannedNode, PrecisionPlan } from '../../kernel/rules/precisionPlan.ts';
import type { NodeIndex } from '../../kernel/rules/resolveOverrides.ts';

/** A plan in the words of one program: arguments, one per element, and what could not be said in them. */
export interface PrecisionArguments {
  args: string[];
  problems: Problem[];
}

/** What a build needs next to its other options; the same for every back-end with layer precisions. */
export interface LayerRequests {
  /** Types in addition to FP32 that the builder must be allowed to use. */
  allow: ('fp16' | 'bf16' | 'int8' | 'fp8' | 'int4')[];
  constraints: 'obey' | 'prefer' | 'none';
  layerPrecisions: { name: string; type: PrecisionType }[];
  layerOutputTypes: { name: string; types: PrecisionType[] }[];
}

const switches = ['fp16', 'bf16', 'int8', 'fp8', 'int4'] as const;

/** A plan as layer names and types: exact names only, since wildcards mean different things in different versions. */
export function layerRequests(plan: PrecisionPlan): LayerRequests {
  const asked = new Set<string>(plan.base === 'keep' ? [] : [plan.base]);
  for (const { compute, outputs } of plan.nodes) for (const type of [compute, ...(outputs ?? [])]) asked.add(type);
  const reached = plan.nodes.filter(({ later }) => !later);
  return {
    allow: switches.filter((type) => asked.has(type)),
    constraints: reached.length > 0 ? plan.require : 'none',
    layerPrecisions: reached.map(({ name, compute }) => ({ name, type: compute })),
    layerOutputTypes: reached.flatMap((node) => (node.outputs ? [{ name: node.name, types: layerTypes(node) }] : [])),
  };
}

/**
 * A node's output types for its layer. One type stands for all of a layer's outputs, however many it has; several must
 * be as many as it has, or the build fails. TensorRT makes one layer for each output of a Split, the first of its name.
 */
function layerTypes({ op, outputs }: PlannedNode): PrecisionType[] {
  const types = outputs ?? [];
  if (op === 'Split') return types.slice(0, 1);
  const floating = [...new Set(types.filter((type) => type !== 'int32' && type !== 'bool'))];
  return op !== 'TopK' && floating.length === 1 ? floating : types;
}

/** What no name of a layer can request: nodes whose name an earlier one has. */
export function sharedNames({ nodes }: PrecisionPlan): Problem[] {
  const later = nodes.filter((node) => node.later);
  const [first] = later;
  if (!first) return [];
  const count = thousands(later.length);
  const which =
    later.length === 1 ? JSON.stringify(first.name) : `${count} nodes, such as ${JSON.stringify(first.name)},`;
  const message = `${which} ${later.length === 1 ? 'is' : 'are'} omitted: an earlier node has the same name, and a layer precision would apply to that one. Give the nodes unique names, or build a typed copy of the model.`;
  return [error('name-shared', message)];
}

/** The plan as arguments of a trtexec of this version. `names` are all names of the model. */
export function trtexecArguments(
  plan: PrecisionPlan,
  target: TensorrtTarget,
  names: readonly string[],
): PrecisionArguments {
  const problems: Problem[] = [];
  if (hasLayerFlags(target) === false && plan.nodes.length + Number(plan.base !== 'keep') > 0) {
    problems.push(error('no-layer-flags', noLayerFlags(target)));
    return { args: [], problems };
  }
  const dialect = dialectOf(target.version);
  const starred = names.some((name) => name.includes('*')) ? names : [];
  const requests = layerRequests(plan);
  problems.push(...sharedNames(plan));
  const carried = (name: string): boolean => {
    const reason = cannotCarry(name, dialect, starred);
    if (reason !== null) problems.push(error('trtexec-cannot-carry', `${JSON.stringify(name)} is omitted: ${reason}.`));
    return reason === null;
  };
  const kept = requests.layerPrecisions.filter(({ name }) => carried(name));
  const names_ = new Set(kept.map(({ name }) => name));
  const outputs = requests.layerOutputTypes.filter(({ name }) => names_.has(name));
  for (const { op, name, outputs: requested } of plan.nodes) {
    if (op !== 'Split' || !requested?.some((type) => type !== requested[0])) continue;
    const message = `${JSON.stringify(name)}: TensorRT creates one layer per output of a Split, and only the first has this name. The other output types are omitted.`;
    problems.push({ severity: 'warning', code: 'output-types-left-out', message });
  }
  const args = switchesFor(requests.allow, target, problems);
  if (kept.length > 0) args.push(`--precisionConstraints=${requests.constraints}`);
  addSpecs(
    args,
    problems,
    'layerPrecisions',
    kept.map(({ name, type }) => ({ name, types: [type] })),
  );
  addSpecs(args, problems, 'layerOutputTypes', outputs);
  return { args, problems };
}

/** `--fp16` and similar ones. */
function switchesFor(allow: LayerRequests['allow'], target: TensorrtTarget, problems: Problem[]): string[] {
  for (const type of allow) {
    const since = typeSince(type, target);
    if (since)
      problems.push(
        error('type-unsupported-version', `--${type} needs TensorRT ${since} or later; it is passed anyway.`),
      );
  }
  return allow.map((type) => `--${type}`);
}

function addSpecs(args: string[], problems: Problem[], flag: string, specs: LayerSpec[]): void {
  if (specs.length === 0) return;
  const argument = `--${flag}=${writeLayerSpecs(specs)}`;
  const bytes = utf8Length(argument);
  if (bytes > maxArgumentBytes) {
    const message = `--${flag} for ${specs.length} layers is ${bytes} bytes long; Linux allows at most ${maxArgumentBytes} bytes in one argument. Use the Python back-end, or build a typed copy of the model.`;
    problems.push(error('argument-too-long', message));
  }
  args.push(argument);
}

const polygraphyWords: Readonly<Record<PrecisionType, string>> = {
  fp32: 'float32',
  fp16: 'float16',
  bf16: 'bfloat16',
  int8: 'int8',
  fp8: 'fp8',
  int4: 'int4',
  int32: 'int32',
  int64: 'int64',
  bool: 'bool',
};

/** The plan as arguments of Polygraphy (`run --trt`, `convert`). It splits at the last colon only, so any name fits. */
export function polygraphyArguments(plan: PrecisionPlan, target: TensorrtTarget): PrecisionArguments {
  const problems: Problem[] = [];
  if (hasLayerFlags(target) === false && plan.nodes.length + Number(plan.base !== 'keep') > 0) {
    problems.push(error('no-layer-flags', noLayerFlags(target)));
    return { args: [], problems };
  }
  const requests = layerRequests(plan);
  problems.push(...sharedNames(plan));
  const args = switchesFor(
    requests.allow.filter((type) => type !== 'int4'),
    target,
    problems,
  );
  if (requests.allow.includes('int4'))
    problems.push(error('polygraphy-cannot-carry', 'Polygraphy has no option --int4; it is omitted.'));
  if (requests.layerPrecisions.length > 0) {
    args.push('--precision-constraints', requests.constraints, '--layer-precisions');
    for (const { name, type } of requests.layerPrecisions) {
      if (name.startsWith('-')) {
        problems.push(
          error(
            'polygraphy-cannot-carry',
            `${JSON.stringify(name)} is omitted: Polygraphy would read it as an option.`,
          ),
        );
      } else {
        args.push(`${name}:${polygraphyWords[type]}`);
      }
    }
  }
  if (requests.layerOutputTypes.length > 0) {
    const count = requests.layerOutputTypes.length;
    problems.push({
      severity: 'warning',
      code: 'no-output-types',
      message: `Polygraphy has no option for output types of layers; ${count} of them ${count === 1 ? 'is' : 'are'} omitted.`,
    });
  }
  return { args, problems };
}

function error(code: string, message: string): Problem {
  return { severity: 'error', code, message };
}

/**
 * A plan as arguments of `python -m modelopt.onnx.autocast`: what stays FP32 is excluded, the rest becomes the base
 * type. AutoCast's names are regular expressions that must match a name from its start.
 */
export function autocastArguments(plan: PrecisionPlan, index: NodeIndex): PrecisionArguments {
  const problems: Problem[] = [];
  const low = plan.base === 'keep' ? lowTypeOf(plan) : plan.base;
  const keep = plan.nodes.filter(({ compute }) => compute === 'fp32');
  const include = plan.nodes.filter(({ compute }) => compute === low);
  const others = plan.nodes.length - keep.length - include.length;
  if (others > 0) {
    problems.push(
      warning(
        'autocast-types',
        `AutoCast supports FP32 and one low-precision type (${low}); ${others} nodes with other types are omitted.`,
      ),
    );
  }
  if (plan.base === 'keep' && plan.nodes.length > 0) {
    problems.push(
      warning(
        'autocast-base',
        `AutoCast converts everything to ${low} that is not excluded or out of range. Write "base ${low}" to say so in the file.`,
      ),
    );
  }
  if (plan.nodes.some(({ outputs }) => outputs))
    problems.push(warning('no-output-types', 'AutoCast does not support output types; they are omitted.'));
  const wholeOps = keptOps(plan, index);
  const args = ['--low_precision_type', low, '--keep_io_types'];
  if (wholeOps.size > 0) args.push('--op_types_to_exclude', ...wholeOps);
  const names = keep.filter(({ op }) => !wholeOps.has(op)).map(({ name }) => nameRegex(name));
  if (names.length > 0) args.push('--nodes_to_exclude', ...new Set(names));
  if (include.length > 0) args.push('--nodes_to_include', ...new Set(include.map(({ name }) => nameRegex(name))));
  for (const { name } of [...keep, ...include]) {
    if (index.nodes[index.named(name)[0] ?? -1]?.name === '') {
      problems.push(
        warning(
          'autocast-unnamed',
          'AutoCast selects nodes by name and decides about unnamed ones itself. Name them first.',
        ),
      );
      break;
    }
  }
  return { args, problems };
}

function lowTypeOf(plan: PrecisionPlan): 'fp16' | 'bf16' {
  const half = plan.nodes.filter(({ compute }) => compute === 'fp16').length;
  return plan.nodes.filter(({ compute }) => compute === 'bf16').length > half ? 'bf16' : 'fp16';
}

/** Operator types whose every computing node stays FP32 (three or more: short lists read better). */
function keptOps(plan: PrecisionPlan, index: NodeIndex): Set<string> {
  const kept = new Map<string, number>();
  for (const { op, compute } of plan.nodes) if (compute === 'fp32') kept.set(op, (kept.get(op) ?? 0) + 1);
  const all = new Map<string, number>();
  for (const { op } of index.nodes) all.set(op, (all.get(op) ?? 0) + 1);
  return new Set([...kept].filter(([op, count]) => count >= 3 && all.get(op) === count).map(([op]) => op));
}

/** A regular expression (Python's) for exactly this name. */
export function nameRegex(name: string): string {
  return `^${name.replace(/[.*+?^${}()|[\]\\#&~-]/g, '\\$&')}$`;
}

function warning(code: string, message: string): Problem {
  return { severity: 'warning', code, message };
}

/** Programs whose command line can request a type of a node. */
export const precisionPrograms = ['trtexec', 'polygraphy', 'autocast'] as const;
export type PrecisionProgram = (typeof precisionPrograms)[number];

/** A plan in the words of one of the programs. */
export function programArguments(
  program: PrecisionProgram,
  plan: PrecisionPlan,
  target: TensorrtTarget,
  index: NodeIndex,
): PrecisionArguments {
  if (program === 'trtexec') return trtexecArguments(plan, target, index.names);
  return program === 'polygraphy' ? polygraphyArguments(plan, target) : autocastArguments(plan, index);
}

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

/**
 * Rules that mean what a command line of trtexec, Polygraphy or ModelOpt AutoCast asks for, recognized by its flags;
 * one argument per element, as the program gets them. undefined: it has none of their flags.
 */
export function importCommand(command: readonly string[], dialect: TrtexecDialect): ImportedOverrides | undefined {
  const values = valuesOfFlags(command);
  const asked = typesAsked(values);
  if (asked === 'polygraphy') {
    const { text, problems } = importPolygraphy(values.get('--layer-precisions')!);
    const prefers = values.get('--precision-constraints')?.[0] === 'prefer';
    return withBase({ text: `${prefers ? 'require prefer\n' : ''}${text}`, problems }, values);
  }
  if (asked === 'autocast') return importAutocast(command.slice(command.findIndex((word) => word.startsWith('--'))));
  if (asked !== 'trtexec') return undefined;
  const flags: TrtexecFlags = {};
  for (const flag of ['layerPrecisions', 'layerOutputTypes', 'precisionConstraints'] as const) {
    const value = values.get(`--${flag}`)?.[0];
    if (value !== undefined) flags[flag] = value;
  }
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

/** What a command line asks of a whole network, as rules; undefined: no type. A calibration cache gives the scales of INT8. */
function importSwitches(command: readonly string[]): ImportedOverrides | undefined {
  const values = valuesOfFlags(command);
  if (typesAsked(values) !== 'switches') return undefined;
  const has = (type: string): boolean => values.has(`--${type}`);
  const base = has('fp16') || has('best') ? 'fp16' : has('bf16') ? 'bf16' : null;
  const problems: Problem[] = [];
  const lines = base === null ? [] : [`base ${base}`];
  const scales = scalesAsked(values);
  if (has('int8') && scales !== undefined)
    lines.push(`scales ${scales}`, ...['Conv', 'ConvTranspose', 'Gemm', 'MatMul'].map((op) => `op:${op} int8`));
  const lost = ['int8', 'fp8', 'int4'].filter((type) => has(type) && (type !== 'int8' || scales === undefined));
  if (lost.length > 0)
    problems.push({
      severity: 'warning',
      code: 'types-not-taken',
      message: `${lost.map((type) => `--${type}`).join(', ')} without a calibration cache says no scales: write Q/DQ nodes from samples.`,
    });
  return { text: `${lines.join('\n')}\n`, problems };
}

/**
 * The rules for what a command line asks, with the model and the calibration cache that it names, as it names them;
 * undefined: it asks for no type.
 */
export function rulesOfCommand(
  command: readonly string[],
  dialect = dialectOf(null),
): (ImportedOverrides & { model: string | undefined; scales: string | null }) | undefined {
  const rules = importCommand(command, dialect) ?? importSwitches(command);
  if (rules === undefined) return undefined;
  return { ...rules, model: modelOfCommand(command)?.path, scales: /^scales (.+)$/m.exec(rules.text)?.[1] ?? null };
}
