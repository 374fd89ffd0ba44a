// The command line of each back-end; suggested sizes.
import { shapeArgument } from '../base/text.ts';
import type { OnnxModel, OnnxValue } from '../read/onnx/onnxModel.ts';
import { networkOf } from '../network/network.ts';
import { type ModelGraph } from '../network/modelGraph.ts';
import type { Dim, Shape } from '../network/outputTypes.ts';
import { buildsOnlyTyped, type BuiltShape } from './buildManifest.ts';
import { memoryPools } from './buildOptions.ts';
import type { BuildFiles, CommandLine, CommandNote, EngineOptions } from './buildOptions.ts';
import { precisionRequest } from './internal/precisionRequest.ts';
import { translateOptions } from './internal/translateOptions.ts';
import { before, flagStatus, type Version } from './trtexecFlags.ts';

export { fromProviderOptions, toProviderOptions } from './internal/providerOptions.ts';

/** Which binding the driver uses. */
export interface DriverTarget {
  product: 'tensorrt' | 'tensorrt-rtx';
}

/** Files that the driver reads or writes. `precisions` is to hold `driverPrecisions(options)` when that is not null. */
export interface DriverFiles {
  /** The model that it parses: the options' own, or a copy of it. */
  model: string;
  engine: string;
  precisions: string;
  /** Where the choices go; omitted: they are not recorded. */
  choices?: string | undefined;
}

/**
 * Arguments for `build_engine.py`. Which flags the installed TensorRT has is the driver's to say, except for requests
 * that TensorRT-RTX can never meet: those are rejected here, before anything runs.
 */
export function driverCommand(options: EngineOptions, files: DriverFiles, { product }: DriverTarget): CommandLine {
  const rtx = product === 'tensorrt-rtx';
  const args = ['--module', rtx ? 'tensorrt_rtx' : 'tensorrt', '--onnx', files.model, '--engine', files.engine];
  const { types, constraints, notes } = precisionRequest(options, rtx ? rtxTyped : null);
  const add: Add = (name, value) => {
    // One argument with `=`: a value that begins with a dash stays a value.
    if (value !== undefined && value !== '') args.push(`--${name}=${value}`);
  };

  args.push(...types.filter((type) => type !== 'int4').map((type) => `--${type}`));
  if (types.includes('int4'))
    notes.push(refused('layerPrecisions', 'The Python driver cannot allow INT4 for layers. Use Q/DQ nodes for it.'));
  if (!rtx && options.stronglyTyped) args.push('--strongly-typed');
  if (!rtx) add('calibration-cache', options.calibrationCache);
  if (constraints !== 'none') add('precision-constraints', constraints);
  addTargets(options.computeCapability ?? [], rtx, add, notes);
  if (driverPrecisions(options)) add('precisions', files.precisions);
  for (const profile of options.profiles ?? []) add('profile', profileText(profile, notes));
  for (const { bindingName, mib } of memoryPools(options)) add('pool', `${bindingName}=${Math.round(mib)}`);
  add('choices', files.choices);
  if (options.outputs === 'all') args.push('--all-outputs');
  else for (const name of options.outputs ?? []) add('output', name);
  translateOptions('driver', options, {
    flag: (flag, values) => (values === null ? args.push(`--${flag}`) : add(flag, values.join(','))),
    note: (note) => notes.push(note),
  });
  args.push(...(options.extraArguments ?? []));
  return { args, notes };
}

type Add = (name: string, value: string | number | undefined) => void;

function addTargets(targets: string[], rtx: boolean, add: Add, notes: CommandNote[]): void {
  if (rtx) add('compute-capability', targets.join(','));
  else if (targets.length > 0)
    notes.push(
      refused('computeCapability', 'Only TensorRT-RTX can build for another GPU than the one in this machine.'),
    );
}

/** What the driver's precision file is to hold: layer names as TensorRT has them after parsing. null: no such request. */
export function driverPrecisions(
  options: EngineOptions,
): { precisions: Record<string, string>; outputTypes: Record<string, string[]> } | null {
  const { layerPrecisions = [], layerOutputTypes = [] } = options;
  if (layerPrecisions.length + layerOutputTypes.length === 0) return null;
  return {
    precisions: Object.fromEntries(layerPrecisions.map(({ name, type }) => [name, type])),
    outputTypes: Object.fromEntries(layerOutputTypes.map(({ name, types }) => [name, types])),
  };
}

const refused = (flag: string, message: string): CommandNote => ({ kind: 'refused', flag, message });

const rtxTyped = 'TensorRT-RTX builds only strongly typed networks';

function profileText(profile: NonNullable<EngineOptions['profiles']>[number], notes: CommandNote[]): string {
  const sizes = (name: string, text: string) => {
    if (/^(\d+(x\d+)*)?$/.test(text)) return text === '' ? [] : text.split('x').map(Number);
    notes.push(refused('profiles', `input ${JSON.stringify(name)}: "${text}" is not a shape such as 1x3x224x224.`));
    return [];
  };
  const entries = Object.entries(profile).map(([name, { min, opt, max }]) => [
    name,
    { min: sizes(name, min), opt: sizes(name, opt), max: sizes(name, max) },
  ]);
  return JSON.stringify(Object.fromEntries(entries));
}

/** The trtexec at hand; null version: unknown, then only the help decides. */
export interface Trtexec {
  version: Version | null;
  /** Flags of its `--help`; null: not asked. */
  flags: ReadonlySet<string> | null;
}

/**
 * Arguments for one trtexec build that leaves what the views need: a verbose log, detailed layer info and, where
 * asked, a profile. Requests that this version cannot meet become notes; a `refused` note means: do not run it.
 * Values from the model (names, shapes) only ever become one argument together with their flag.
 */
export function trtexecCommand(options: EngineOptions, files: BuildFiles, tool: Trtexec): CommandLine {
  const line = new Line(tool);
  line.need('onnx', options.model);
  line.need('saveEngine', options.engine ?? files.engine);
  line.own('verbose');
  if (options.verbosity) line.add('profilingVerbosity', options.verbosity);
  else line.own('profilingVerbosity', 'detailed');
  line.own('exportLayerInfo', files.layers);
  addTrtexecPrecision(line, options);
  addProfiles(line, options);
  addMemory(line, options);
  translateOptions('trtexec', options, {
    flag: (flag, values, required) => line[required ? 'need' : 'add'](flag, values?.join(',')),
    note: (note) => line.notes.push(note),
  });
  if (options.profileRun) {
    line.add('exportProfile', files.profile);
    line.add('exportTimes', files.times);
    line.own('separateProfileRun');
  } else {
    line.own('skipInference');
  }
  for (const argument of options.extraArguments ?? []) line.extra(argument);
  return { args: line.args, notes: line.notes };
}

function addTrtexecPrecision(line: Line, options: EngineOptions): void {
  const { types: allowed, constraints, notes } = precisionRequest(options);
  line.notes.push(...notes);
  if (options.stronglyTyped) line.need('stronglyTyped');
  // One refusal is enough: what removed one switch removed all.
  allowed.every((type) => line.need(type));
  const layers = options.layerPrecisions ?? [];
  const outputs = options.layerOutputTypes ?? [];
  if (constraints !== 'none') line.need('precisionConstraints', constraints);
  const carried = <T extends { name: string }>(flag: string, specs: T[]) =>
    specs.filter(({ name }) => {
      if (!/[,'\n\r]/.test(name)) return true;
      line.refuse(
        flag,
        `--${flag} cannot contain the name ${JSON.stringify(name)}, because trtexec splits at commas and quotes.`,
      );
      return false;
    });
  const precisions = carried('layerPrecisions', layers).map(({ name, type }) => `${name}:${type}`);
  if (precisions.length > 0) line.need('layerPrecisions', precisions.join(','));
  const types = carried('layerOutputTypes', outputs).map(({ name, types: each }) => `${name}:${each.join('+')}`);
  if (types.length > 0) line.need('layerOutputTypes', types.join(','));
}

function addProfiles(line: Line, options: EngineOptions): void {
  const profiles = options.profiles ?? [];
  profiles.forEach((profile, index) => {
    if (profiles.length > 1) line.need('profile', String(index));
    for (const kind of ['min', 'opt', 'max'] as const) {
      const shapes = Object.entries(profile).map(([name, range]) => {
        if (/[,'\n\r]/.test(name))
          line.refuse(
            `${kind}Shapes`,
            `--${kind}Shapes cannot contain the input name ${JSON.stringify(name)}, because trtexec splits at commas and quotes.`,
          );
        return `${name}:${range[kind]}`;
      });
      if (shapes.length > 0) line.need(`${kind}Shapes`, shapes.join(','));
    }
  });
}

function addMemory(line: Line, options: EngineOptions): void {
  const pools = memoryPools(options);
  if (pools.length === 0) return;
  if (line.has('memPoolSize')) {
    // Without a suffix the unit is MiB; "1024MiB" would be read as bytes.
    line.add('memPoolSize', pools.map(({ name, mib }) => `${name}:${mib}`).join(','));
    return;
  }
  for (const { name, mib } of pools) {
    if (name === 'workspace') line.translate('memPoolSize', 'workspace', String(Math.round(mib)));
    else line.refuse('memPoolSize', `This trtexec has no --memPoolSize, so the pool ${name} cannot be set.`);
  }
}

class Line {
  readonly args: string[] = [];
  readonly notes: CommandNote[] = [];
  readonly #tool: Trtexec;

  constructor(tool: Trtexec) {
    this.#tool = tool;
  }

  has(flag: string): boolean {
    return this.#status(flag).status !== 'missing';
  }

  /** A flag of our own, which no request needs; if it is missing, its successor or nothing is used. */
  own(flag: string, value?: string): void {
    this.#add(flag, value, 'dropped');
  }

  /** A request without which the engine is the same but for speed; if it is missing, the build goes on without it. */
  add(flag: string, value?: string): void {
    this.#add(flag, value, 'ignored');
  }

  /** A flag that makes the engine that was requested; if it is missing, the build is rejected, and the result false. */
  need(flag: string, value?: string): boolean {
    const rejected = this.notes.length;
    this.#add(flag, value, 'refused');
    return this.notes[rejected]?.kind !== 'refused';
  }

  translate(from: string, to: string, value?: string): void {
    this.notes.push({
      kind: 'translated',
      flag: from,
      message: `${this.#status(from).message} Using --${to} instead.`,
    });
    this.#push(to, value);
  }

  ignore(flag: string, message: string): void {
    this.notes.push({ kind: 'ignored', flag, message });
  }

  refuse(flag: string, message: string): void {
    this.notes.push({ kind: 'refused', flag, message });
  }

  /** The user's own argument: passed on as it is if this version has it. */
  extra(argument: string): void {
    const flag = /^--?(\w+)/.exec(argument)?.[1];
    const status = flag ? this.#status(flag) : undefined;
    if (flag && status?.status === 'missing') {
      const value = argument.includes('=') ? argument.slice(argument.indexOf('=') + 1) : undefined;
      if (flag === 'workspace' && value !== undefined) this.translate('workspace', 'memPoolSize', `workspace:${value}`);
      else if (flag === 'buildOnly' && !before(this.#tool.version ?? [8, 6, 0], [8, 6, 0]))
        this.translate('buildOnly', 'skipInference');
      else this.refuse(flag, status.message);
      return;
    }
    if (flag && status?.status === 'idle') this.notes.push({ kind: 'dropped', flag, message: status.message });
    this.args.push(argument);
  }

  #add(flag: string, value: string | undefined, otherwise: 'dropped' | 'ignored' | 'refused'): void {
    const { status, message } = this.#status(flag);
    if (status === 'missing') {
      const successor = flag === 'skipInference' ? 'buildOnly' : undefined;
      if (successor && this.has(successor)) this.translate(flag, successor, value);
      else this.notes.push({ kind: otherwise, flag, message });
      return;
    }
    if (status === 'idle') {
      this.notes.push({ kind: 'dropped', flag, message });
      return;
    }
    this.#push(flag, value);
  }

  #push(flag: string, value: string | undefined): void {
    this.args.push(value === undefined ? `--${flag}` : `--${flag}=${value}`);
  }

  #status(flag: string) {
    return flagStatus(flag, this.#tool.version, this.#tool.flags);
  }
}

/** The Polygraphy at hand, and the TensorRT that it will use. */
export interface Polygraphy {
  tensorrt: Version | null;
  product: 'tensorrt' | 'tensorrt-rtx';
  /** Its own version; null or omitted: not known. */
  version?: Version | null;
  /** Options of its `convert --help`; null or omitted: not known. */
  flags?: ReadonlySet<string> | null;
}

/** Names of the options that `polygraphy convert --help` lists, without dashes; null for any other text. */
export function readPolygraphyHelp(text: string): Set<string> | null {
  const flags = new Set([...text.matchAll(/--([a-z][\w-]*)/g)].map(([, name]) => name!));
  return flags.has('convert-to') ? flags : null;
}

/**
 * Arguments for `polygraphy convert`: builds an engine without running it. The log is the only evidence it leaves
 * (`-vvv`), so verbosity is always detailed unless asked otherwise.
 */
export function polygraphyCommand(options: EngineOptions, files: BuildFiles, tool: Polygraphy): CommandLine {
  const args = ['convert', options.model, '--convert-to', 'trt', '-o', options.engine ?? files.engine, '-vvv'];
  const typedOnly = buildsOnlyTyped(tool.product, tool.tensorrt?.[0]);
  const { types, constraints, notes } = precisionRequest(
    options,
    typedOnly ? `${productName(tool.product)} builds only strongly typed networks` : null,
  );
  const refuse = (flag: string, message: string) => notes.push({ kind: 'refused', flag, message });
  const ignore = (flag: string, message: string) => notes.push({ kind: 'ignored', flag, message });

  addVerbosity();
  addPrecision();
  addShapes();
  const pools = memoryPools(options);
  if (pools.length > 0) args.push('--pool-limit', ...pools.map(({ bindingName, mib }) => `${bindingName}:${mib}M`));
  addTacticSources();
  if (options.outputs) args.push('--trt-outputs', ...(options.outputs === 'all' ? everyTensor(tool) : options.outputs));
  translateOptions('polygraphy', options, {
    flag: (flag, values) => args.push(`--${flag}`, ...(values ?? [])),
    note: (note) => notes.push(note),
  });
  if (options.computeCapability?.length) addTargets(options.computeCapability);
  const environment = addRecorder();
  args.push(...(options.extraArguments ?? []));
  for (const flag of new Set(args.flatMap((one) => /^--([a-z][\w-]*)/.exec(one)?.[1] ?? [])))
    if (!has(flag))
      refuse(
        flag,
        `--${flag}: this Polygraphy does not list it in \`convert --help\`. Update Polygraphy (pip install -U polygraphy), or omit the option.`,
      );
  return { args, notes, ...(environment && { environment }) };

  /** argparse takes the beginning of an option for the whole. */
  function has(flag: string): boolean {
    return !tool.flags || tool.flags.has(flag) || [...tool.flags].some((one) => one.startsWith(flag));
  }

  function addVerbosity(): void {
    if (has('profiling-verbosity')) args.push('--profiling-verbosity', options.verbosity ?? 'detailed');
    else if (options.verbosity) ignore('verbosity', 'This Polygraphy cannot set the profiling verbosity.');
  }

  function addPrecision(): void {
    if (options.stronglyTyped && !typedOnly) args.push('--strongly-typed');
    args.push(...types.filter((type) => type !== 'int4').map((type) => `--${type}`));
    if (types.includes('int4'))
      refuse('layerPrecisions', 'Polygraphy cannot allow INT4 for layers. Use Q/DQ nodes for it.');
    if (constraints !== 'none') args.push('--precision-constraints', constraints);
    const layers = typedOnly ? [] : (options.layerPrecisions ?? []);
    if (layers.length > 0)
      args.push('--layer-precisions', ...layers.map(({ name, type }) => `${name}:${polygraphyType[type] ?? type}`));
  }

  function addTacticSources(): void {
    if (!options.tacticSources?.length) return;
    // Polygraphy lists the sources to use, it has no way to take one away.
    const wanted = options.tacticSources.filter((s) => s.startsWith('+')).map((s) => s.slice(1));
    if (wanted.length === options.tacticSources.length) args.push('--tactic-sources', ...wanted);
    else refuse('tacticSources', 'Polygraphy expects the tactic sources to use (`+NAME`) and cannot remove one.');
  }

  /** The script is called when the configuration is complete, and finds the file's name in its environment. */
  function addRecorder(): Record<string, string> | undefined {
    const { choices, recorder } = files;
    if (choices === undefined || recorder === undefined) return undefined;
    const flag = 'trt-config-postprocess-script';
    const why = typedOnly
      ? 'TensorRT 11 and TensorRT-RTX have no algorithm selector to record them'
      : tool.flags?.has(flag)
        ? undefined
        : `this Polygraphy does not list --${flag} in \`convert --help\` (update it: pip install -U polygraphy)`;
    if (why !== undefined) {
      ignore('recordChoices', `The choices are not recorded: ${why}.`);
      return undefined;
    }
    args.push(`--${flag}`, `${recorder}:postprocess_config`);
    // No compiled copy next to the script, which may be where nothing can be written.
    return { TRTLENS_CHOICES: choices, PYTHONDONTWRITEBYTECODE: '1' };
  }

  function addShapes(): void {
    for (const profile of options.profiles ?? []) {
      for (const kind of ['min', 'opt', 'max'] as const) {
        const shapes = Object.entries(profile).map(([name, range]) => `${name}:[${range[kind].split('x').join(',')}]`);
        if (shapes.length > 0) args.push(`--trt-${kind}-shapes`, ...shapes);
      }
    }
  }

  function addTargets(targets: string[]): void {
    if (tool.product !== 'tensorrt-rtx') {
      refuse('computeCapability', 'Only TensorRT-RTX can build for other compute capabilities.');
      return;
    }
    args.push(
      '--compute-capabilities',
      ...targets.map((t) => (t.includes('.') ? t : `${t.slice(0, -1)}.${t.slice(-1)}`)),
    );
  }
}

/** `mark all` is deprecated since 0.50 and gone in 0.55; before, `*` was the name of a tensor. */
const everyTensor = ({ version }: Polygraphy): string[] =>
  version && !before(version, [0, 50, 0]) ? ['*'] : ['mark', 'all'];

const productName = (product: Polygraphy['product']): string =>
  product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'This TensorRT';

/** Polygraphy takes the names that TensorRT's Python module has for its types; all others are as they are here. */
const polygraphyType: Record<string, string> = { fp32: 'float32', fp16: 'float16', bf16: 'bfloat16' };

/** Flags that a `--help` lists, with their dashes. */
export const flagsIn = (help: string): Set<string> => new Set(help.match(/--[a-z][\w-]*/gi));

/**
 * Arguments of nsys that record CUDA and NVTX of a program, each kernel of a CUDA graph on its own, and nothing that
 * makes the program slower.
 * @param known flags of this nsys
 * @param output path of the report without its extension
 */
export function nsysArguments(known: ReadonlySet<string>, output: string, command: readonly string[]): string[] {
  const wanted = ['--trace=cuda,nvtx', '--cuda-graph-trace=node', '--sample=none', '--cpuctxsw=none'];
  return [
    'profile',
    ...wanted.filter((flag) => known.has(flag.slice(0, flag.indexOf('=')))),
    '--force-overwrite=true',
    // nsys replaces %h, %p and the like in it.
    `--output=${output.replaceAll('%', '%%')}`,
    ...command,
  ];
}

/**
 * Arguments of trtexec that run an engine a few times, with NVTX ranges for its layers.
 * @param known flags of this trtexec, without dashes
 * @param tracesGraphs nsys lists the kernels of CUDA graphs
 * @param shapes of each input in the first optimization profile
 */
export function tracedRun(
  known: ReadonlySet<string>,
  engine: string,
  { tracesGraphs, shapes }: { tracesGraphs: boolean; shapes: readonly BuiltShape[] },
): string[] {
  const open = shapes.filter(({ min, max }) => min !== max);
  return [
    `--loadEngine=${engine}`,
    ...(known.has('profilingVerbosity') ? ['--profilingVerbosity=detailed'] : []),
    ...(open.length > 0 ? [`--shapes=${open.map(({ input, opt }) => `${input}:${opt}`).join(',')}`] : []),
    '--iterations=50',
    '--duration=0',
    '--warmUp=0',
    ...(!tracesGraphs && known.has('noCudaGraph') ? ['--noCudaGraph'] : []),
  ];
}

/** A size to build with where the model leaves it open. */
export interface SizeSuggestion {
  /** The model's own name for it, or `input[axis]`. */
  name: string;
  size: number;
  /** `required`: constants of the model fit no other size. `name`: usual for such a name or place. */
  why: 'required' | 'name';
}

/** Suggests a size for every open dimension of a model's inputs, each name once, in the order of the inputs. */
export function suggestSizes(model: OnnxModel): SizeSuggestion[] {
  const named = withNames(model);
  const graph = networkOf(named);
  const required = requiredSizes(graph, graph.inferred.shapes);
  const detects = model.nodes.some(({ op }) => op === 'NonMaxSuppression' || op === 'Resize' || op === 'Upsample');
  const found = new Map<string, SizeSuggestion>();
  const weights = new Set(model.graph.initializers.map(({ name }) => name));
  for (const { name: input, shape } of named.graph.inputs) {
    if (weights.has(input)) continue;
    shape?.forEach((name, axis) => {
      if (typeof name !== 'string' || found.has(name)) return;
      const size = required.get(name);
      found.set(
        name,
        size === undefined
          ? { name, size: usual(name, axis, shape.length, detects), why: 'name' }
          : { name, size, why: 'required' },
      );
    });
  }
  return [...found.values()];
}

/** Shapes with the suggested sizes, as `INPUT:1x3x640x640`, for the inputs of which a size was defaulted. */
export function suggestedShapes(model: OnnxModel, shapes: readonly BuiltShape[]): string[] {
  const sizes = new Map(suggestSizes(model).map(({ name, size }) => [name, size]));
  const inputs = new Map(withNames(model).graph.inputs.map(({ name, shape }) => [name, shape]));
  return shapes.flatMap(({ input, defaulted }) => {
    if (!defaulted) return [];
    const dims = (inputs.get(input) ?? []).map((dim) => (typeof dim === 'string' ? (sizes.get(dim) ?? 1) : dim));
    return [`${input}:${shapeArgument(dims)}`];
  });
}

/** Names of the open dimensions of an input, by axis: the model's own, or `input[axis]`. */
const openName = (input: string, dim: Dim, axis: number): Dim =>
  typeof dim === 'number' && dim >= 0 ? dim : typeof dim === 'string' && dim !== '' ? dim : `${input}[${axis}]`;

/** The model with a name for every open dimension of its inputs, so that it can be followed through the graph. */
function withNames(model: OnnxModel): OnnxModel {
  const inputs = model.graph.inputs.map((value): OnnxValue => ({
    ...value,
    shape: value.shape?.map((dim, axis) => openName(value.name, dim, axis)) ?? null,
  }));
  return { ...model, graph: { ...model.graph, inputs } };
}

/** What people use: one item of a batch, a short text, an image. */
function usual(name: string, axis: number, rank: number, detects: boolean): number {
  if (/batch|^(?:bs|n|b)$/i.test(name)) return 1;
  if (/channel/i.test(name)) return 3;
  if (/height|width|^[hw]$|image|size/i.test(name)) return detects ? 640 : 224;
  if (/seq|len|token|time|frame|context|past|cache/i.test(name)) return 128;
  if (axis === 0) return 1;
  if (rank === 4 && axis > 1) return detects ? 640 : 224;
  return rank <= 3 && axis === 1 ? 128 : 16;
}

const broadcasting: ReadonlySet<string> = new Set(['Add', 'Sub', 'Mul', 'Div', 'Pow', 'Where', 'Max', 'Min']);

/** Sizes that constants of the model fix: what is joined, added, multiplied or reshaped with them fits no other. */
function requiredSizes(graph: ModelGraph, shapes: readonly Shape[]): Map<string, number> {
  const required = new Map<string, number>();
  const same = (a: Dim | undefined, b: Dim | undefined): void => {
    const [name, size] = typeof a === 'string' ? [a, b] : [b, a];
    if (typeof name === 'string' && typeof size === 'number' && size > 1 && !required.has(name))
      required.set(name, size);
  };
  graph.nodes.forEach(({ op, attributes }, index) => {
    const inputs = graph.inputs[index]!.map((tensor) => shapes[tensor] ?? null);
    if (op === 'Concat') {
      const axis = attributes.find(({ name }) => name === 'axis')?.value;
      if (typeof axis === 'number') sameBeside(inputs, axis, same);
    } else if (broadcasting.has(op)) sameBroadcast(inputs, same);
    else if (op === 'MatMul')
      same(inputs[0]?.at(-1), (inputs[1]?.length ?? 0) > 1 ? inputs[1]?.at(-2) : inputs[1]?.[0]);
    else if (op === 'Reshape') {
      const target = graph.model.graph.initializers.find(({ name }) => name === graph.nodes[index]!.inputs[1])?.ints;
      const solved = inputs[0] && target ? solveReshape(inputs[0], target) : null;
      if (solved) same(solved.name, solved.size);
    }
  });
  return required;
}

type Same = (a: Dim | undefined, b: Dim | undefined) => void;

function sameBeside(inputs: readonly Shape[], axis: number, same: Same): void {
  const [first, ...more] = inputs;
  if (!first) return;
  for (const other of more)
    if (other?.length === first.length)
      first.forEach((dim, i) => {
        if (i !== (axis + first.length) % first.length) same(dim, other[i]);
      });
}

function sameBroadcast(inputs: readonly Shape[], same: Same): void {
  for (const a of inputs)
    for (const b of inputs) if (a && b && a !== b) a.forEach((dim, i) => same(dim, b[i - a.length + b.length]));
}

/** The size of the one open dimension that gives as many elements as a constant target has; null: it does not say. */
function solveReshape(from: readonly Dim[], target: readonly number[]): { name: string; size: number } | null {
  if (target.includes(-1)) return null;
  const open = from.filter((dim, i) => target[i] !== 0 && typeof dim !== 'number');
  const [name] = open;
  if (open.length !== 1 || typeof name !== 'string') return null;
  const product = (dims: readonly Dim[]) =>
    dims.reduce<number>((size, dim) => size * (typeof dim === 'number' ? dim : 1), 1);
  const known = product(from.filter((_, i) => target[i] !== 0));
  const size = product(target.filter((dim) => dim !== 0)) / known;
  return Number.isInteger(size) ? { name, size } : null;
}
