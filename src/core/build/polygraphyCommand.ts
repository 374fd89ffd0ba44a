import type { BuildFiles, CommandLine, CommandNote, EngineOptions } from './engineOptions.ts';
import { poolName } from './poolName.ts';
import { translateOptions } from './translateOptions.ts';
import type { Version } from './trtexecFlags.ts';

/** The Polygraphy at hand, and the TensorRT that it will use. */
export interface Polygraphy {
  tensorrt: Version | null;
  product: 'tensorrt' | 'tensorrt-rtx';
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
  const notes: CommandNote[] = [];
  const refuse = (flag: string, message: string) => notes.push({ kind: 'refused', flag, message });
  const ignore = (flag: string, message: string) => notes.push({ kind: 'ignored', flag, message });
  const typedOnly = tool.product === 'tensorrt-rtx' || (tool.tensorrt?.[0] ?? 0) >= 11;

  addVerbosity();
  addPrecision();
  addShapes();
  const pools = { ...(options.workspace === undefined ? {} : { workspace: options.workspace }), ...options.pools };
  if (Object.keys(pools).length > 0)
    args.push('--pool-limit', ...Object.entries(pools).map(([name, mib]) => `${poolName(name)}:${mib}M`));
  addTacticSources();
  if (options.outputs) args.push('--trt-outputs', ...(options.outputs === 'all' ? ['mark', 'all'] : options.outputs));
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
    const mode = options.precision ?? 'fp32';
    const layers = options.layerPrecisions ?? [];
    if (typedOnly && (mode !== 'fp32' || layers.length > 0)) {
      refuse(
        'precision',
        'This TensorRT builds only strongly typed networks and ignores precision flags. Build a typed copy of the model.',
      );
      return;
    }
    if (options.stronglyTyped && !typedOnly) args.push('--strongly-typed');
    if (mode === 'best') args.push('--fp16', '--int8');
    else if (mode === 'int8') args.push('--int8', '--fp16');
    else if (mode !== 'fp32') args.push(`--${mode}`);
    addLayers(layers);
  }

  function addLayers(layers: NonNullable<EngineOptions['layerPrecisions']>): void {
    const constraints = options.precisionConstraints ?? (layers.length > 0 ? 'obey' : 'none');
    if (constraints !== 'none' && typedOnly)
      ignore(
        'precisionConstraints',
        'This TensorRT builds only strongly typed networks and has no precision constraints.',
      );
    else if (constraints !== 'none') args.push('--precision-constraints', constraints);
    if (layers.length === 0) return;
    args.push('--layer-precisions');
    args.push(...layers.map(({ name, type }) => `${name}:${polygraphyType[type] ?? type}`));
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

/** Polygraphy takes the names that TensorRT's Python module has for its types; all others are as they are here. */
const polygraphyType: Record<string, string> = { fp32: 'float32', fp16: 'float16', bf16: 'bfloat16' };
