import type { CommandLine, CommandNote, EngineOptions } from './engineOptions.ts';
import { poolName } from './poolName.ts';
import { translateOptions } from './translateOptions.ts';

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
  const notes: CommandNote[] = rtx ? refusedByRtx(options) : [];
  const add: Add = (name, value) => {
    // One argument with `=`: a value that begins with a dash stays a value.
    if (value !== undefined && value !== '') args.push(`--${name}=${value}`);
  };

  if (!rtx) addPrecision(options, args);
  addTargets(options.computeCapability ?? [], rtx, add, notes);
  if (driverPrecisions(options)) add('precisions', files.precisions);
  for (const profile of options.profiles ?? []) add('profile', profileText(profile, notes));
  const pools = { ...(options.workspace === undefined ? {} : { workspace: options.workspace }), ...options.pools };
  for (const [name, mib] of Object.entries(pools)) add('pool', `${poolName(name)}=${Math.round(mib)}`);
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

function refusedByRtx(options: EngineOptions): CommandNote[] {
  const notes: CommandNote[] = [];
  const why = 'TensorRT-RTX builds only strongly typed networks; build a typed copy of the model';
  if (options.precision && options.precision !== 'fp32')
    notes.push(refused('precision', `no ${options.precision} flag: ${why}.`));
  if (driverPrecisions(options)) notes.push(refused('layerPrecisions', `no layer precisions: ${why}.`));
  if (options.precisionConstraints && options.precisionConstraints !== 'none')
    notes.push({
      kind: 'ignored',
      flag: 'precisionConstraints',
      message: 'TensorRT-RTX has no precision constraints: its networks are strongly typed.',
    });
  if (options.calibrationCache)
    notes.push(
      refused(
        'calibrationCache',
        'TensorRT-RTX does not support INT8 calibration. Quantize the model with Q/DQ nodes.',
      ),
    );
  return notes;
}

function addPrecision(options: EngineOptions, args: string[]): void {
  const modes = { fp32: [], fp16: ['fp16'], bf16: ['bf16'], int8: ['int8', 'fp16'], fp8: ['fp8', 'fp16'] };
  const mode = options.precision ?? 'fp32';
  args.push(...(mode === 'best' ? ['fp16', 'int8'] : modes[mode]).map((name) => `--${name}`));
  if (options.stronglyTyped) args.push('--strongly-typed');
  if (options.calibrationCache) args.push(`--calibration-cache=${options.calibrationCache}`);
  const constraints = options.precisionConstraints ?? (driverPrecisions(options) ? 'obey' : 'none');
  if (constraints !== 'none') args.push(`--precision-constraints=${constraints}`);
}

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
