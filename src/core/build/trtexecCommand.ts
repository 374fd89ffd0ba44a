import type { BuildFiles, CommandLine, CommandNote, EngineOptions } from './engineOptions.ts';
import { translateOptions } from './translateOptions.ts';
import { before, flagStatus, type Version } from './trtexecFlags.ts';

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
  addPrecision(line, options);
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

function addPrecision(line: Line, options: EngineOptions): void {
  const typed = options.stronglyTyped === true;
  const mode = options.precision ?? 'fp32';
  if (typed) line.need('stronglyTyped');
  if (mode !== 'fp32') {
    if (typed)
      line.refuse(mode, `--${mode} cannot be combined with --stronglyTyped, which takes all types from the model.`);
    else line.need(mode);
    // INT8 alone leaves FP32 for everything it cannot do; people who ask for it expect FP16 next to it.
    if (mode === 'int8' && !typed) line.add('fp16');
  }
  const layers = options.layerPrecisions ?? [];
  const outputs = options.layerOutputTypes ?? [];
  const constraints = options.precisionConstraints ?? (layers.length + outputs.length > 0 ? 'obey' : 'none');
  if (constraints !== 'none') line.need('precisionConstraints', constraints);
  else if (layers.length + outputs.length > 0)
    line.ignore('precisionConstraints', 'With precisionConstraints none, TensorRT ignores all layer precisions.');
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
  const pools = { ...(options.workspace === undefined ? {} : { workspace: options.workspace }), ...options.pools };
  if (Object.keys(pools).length === 0) return;
  if (line.has('memPoolSize')) {
    // Without a suffix the unit is MiB; "1024MiB" would be read as bytes.
    line.add(
      'memPoolSize',
      Object.entries(pools)
        .map(([pool, mib]) => `${pool}:${mib}`)
        .join(','),
    );
    return;
  }
  for (const [pool, mib] of Object.entries(pools)) {
    if (pool === 'workspace') line.translate('memPoolSize', 'workspace', String(Math.round(mib)));
    else line.refuse('memPoolSize', `This trtexec has no --memPoolSize, so the pool ${pool} cannot be set.`);
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

  /** A flag that makes the engine that was requested; if it is missing, the build is rejected. */
  need(flag: string, value?: string): void {
    this.#add(flag, value, 'refused');
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
