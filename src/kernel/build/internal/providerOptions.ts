import type { EngineOptions } from '../buildOptions.ts';
import type { ShapeRange } from './optionValues.ts';

/** Options of ONNX Runtime's TensorRT providers, as a build's options, with what has no counterpart. */
export interface ProviderBuild {
  options: Partial<EngineOptions>;
  notes: string[];
}

type Given = Readonly<Record<string, unknown>>;

/** What decides where nodes run, or how an engine is kept and run, and not what it is. */
const besideEngine =
  /^(?:device_id|has_user_compute_stream|user_\w+|enable_cuda_graph|(?:trt|nv)_(?:engine_cache_\w+|cuda_graph_\w+|dump_\w+|ep_context_\w+|detailed_build_log|context_memory_sharing_enable|force_sequential_engine_build|force_timing_cache|engine_decryption_\w+|runtime_cache_path|max_partition_iterations|min_subgraph_size|multi_profile_enable|use_external_data_initializer|onnx_bytestream\w*|timing_cache_enable|max_shared_mem_size|user_\w+|int8_use_native_calibration_table))$/;

const isOn = (value: string): boolean => /^(?:1|true)$/i.test(value);

/** As a session lists them all: what is not set, or off. */
const isOff = (value: unknown): boolean => /^(?:|0|false)$/i.test(String(value));

const megabyte = 1024 * 1024;

/**
 * The build that ONNX Runtime's TensorRT provider (`trt_…`) or TensorRT-RTX provider (`nv_…`) would make with these
 * options. Values may be texts, as its API wants them, or numbers and booleans.
 */
export function fromProviderOptions(given: Given): ProviderBuild {
  const options: Partial<EngineOptions> = {};
  const notes: string[] = [];
  const extra: string[] = [];
  const names = Object.keys(given);
  const isRtx = names.some((name) => name.startsWith('nv_')) && !names.some((name) => name.startsWith('trt_'));
  if (isRtx) options.backend = 'rtx';
  const at = (name: string): string => {
    const value = given[`${isRtx ? 'nv' : 'trt'}_${name}`];
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  };
  const used = new Set<string>();
  const take = (name: string, use: (value: string) => void): void => {
    const value = at(name);
    used.add(`${isRtx ? 'nv' : 'trt'}_${name}`);
    if (value !== '') use(value);
  };
  take('max_workspace_size', (value) => {
    // 0 means no limit.
    if (Number(value) > 0) options.workspace = Number(value) / megabyte;
  });
  for (const type of ['fp16', 'bf16', 'int8'] as const)
    take(`${type}_enable`, (value) => {
      if (isOn(value)) options.precision = type;
    });
  // INT8 without FP16 leaves the rest in FP32, which no --precision asks for.
  if (isOn(at('int8_enable')) && !isOn(at('fp16_enable')))
    notes.push('trt_int8_enable without trt_fp16_enable: --precision int8 also lets TensorRT choose FP16.');
  take('int8_calibration_table_name', (value) => (options.calibrationCache = value));
  take('builder_optimization_level', (value) => (options.optimizationLevel = Number(value)));
  take('timing_cache_path', (value) => {
    if (isOn(at('timing_cache_enable'))) options.timingCache = value;
    used.add('trt_timing_cache_enable');
  });
  take('tactic_sources', (value) => (options.tacticSources = value.split(',').map((one) => one.trim())));
  take('engine_hw_compatible', (value) => {
    if (isOn(value)) options.hardwareCompatibility = 'ampere+';
  });
  take('auxiliary_streams', (value) => {
    if (Number(value) >= 0) extra.push(`--maxAuxStreams=${value}`);
  });
  take('sparsity_enable', (value) => {
    if (isOn(value)) extra.push('--sparsity=enable');
  });
  take('weight_stripped_engine_enable', (value) => {
    if (isOn(value)) extra.push('--stripWeights');
  });
  take('dla_enable', (value) => {
    if (isOn(value)) extra.push(`--useDLACore=${at('dla_core') || '0'}`, '--allowGPUFallback');
  });
  used.add('trt_dla_core');
  take('extra_plugin_lib_paths', (value) => extra.push(...value.split(';').map((one) => `--dynamicPlugins=${one}`)));
  if (extra.length > 0) options.extraArguments = extra;
  const profiles = profilesFrom(
    (['min', 'opt', 'max'] as const).map((which) => {
      let shapes: [string, string][] = [];
      take(`profile_${which}_shapes`, (value) => (shapes = shapesIn(value)));
      return shapes;
    }),
  );
  if (profiles.length > 0) options.profiles = profiles;
  for (const name of names)
    if (!used.has(name) && !isOff(given[name]))
      notes.push(
        besideEngine.test(name)
          ? `${name} has no effect on the engine.`
          : `${name} has no counterpart among the build options.`,
      );
  return { options, notes };
}

/** `x:1x3x224x224,y:1x8`; the names of inputs may contain colons. */
const shapesIn = (text: string): [string, string][] =>
  text.split(',').flatMap((part) => {
    const colon = part.lastIndexOf(':');
    return colon < 1 ? [] : [[part.slice(0, colon).trim(), part.slice(colon + 1).trim()] as [string, string]];
  });

/** An input's n-th shape is that of the n-th profile. A missing minimum or maximum is the other; the optimum is the maximum. */
function profilesFrom([min = [], opt = [], max = []]: [string, string][][]): Record<string, ShapeRange>[] {
  const profiles: Record<string, ShapeRange>[] = [];
  const nth = (list: readonly [string, string][], input: string): string[] =>
    list.flatMap(([name, shape]) => (name === input ? [shape] : []));
  for (const input of new Set([...min, ...opt, ...max].map(([name]) => name))) {
    const [least, usual, most] = [nth(min, input), nth(opt, input), nth(max, input)];
    const count = Math.max(least.length, usual.length, most.length);
    for (let at = 0; at < count; at++) {
      const known = usual[at] ?? most[at] ?? least[at]!;
      (profiles[at] ??= {})[input] = { min: least[at] ?? known, opt: known, max: most[at] ?? known };
    }
  }
  return profiles;
}

/** The options with which ONNX Runtime's provider makes the same engine, with what it has no option for. */
export function toProviderOptions(options: Partial<EngineOptions>): { given: Record<string, string>; notes: string[] } {
  const isRtx = options.backend === 'rtx';
  const given: Record<string, string> = {};
  const notes: string[] = [];
  const set = (name: string, value: string | number): void =>
    void (given[`${isRtx ? 'nv' : 'trt'}_${name}`] = String(value));
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === false || name === 'backend') continue;
    const lost = isRtx && !['workspace', 'profiles', 'engine', 'verbosity'].includes(name) ? null : written(name);
    if (lost === null) notes.push(`The provider has no option for "${name}".`);
  }
  return { given, notes };

  function written(name: string): true | null {
    switch (name as keyof EngineOptions) {
      case 'workspace':
        set('max_workspace_size', Math.round(options.workspace! * megabyte));
        return true;
      case 'precision':
        if (options.precision === 'fp8') return null;
        if (options.precision === 'bf16') set('bf16_enable', 1);
        if (['fp16', 'int8', 'best'].includes(options.precision!)) set('fp16_enable', 1);
        if (['int8', 'best'].includes(options.precision!)) set('int8_enable', 1);
        return true;
      case 'calibrationCache':
        set('int8_calibration_table_name', options.calibrationCache!);
        set('int8_use_native_calibration_table', 1);
        return true;
      case 'optimizationLevel':
        set('builder_optimization_level', options.optimizationLevel!);
        return true;
      case 'timingCache':
        set('timing_cache_enable', 1);
        set('timing_cache_path', options.timingCache!);
        return true;
      case 'tacticSources':
        set('tactic_sources', options.tacticSources!.join(','));
        return true;
      case 'hardwareCompatibility':
        if (options.hardwareCompatibility === 'sameComputeCapability') return null;
        if (options.hardwareCompatibility === 'ampere+') set('engine_hw_compatible', 1);
        return true;
      case 'profiles':
        for (const which of ['min', 'opt', 'max'] as const)
          set(
            `profile_${which}_shapes`,
            options
              .profiles!.flatMap((profile) =>
                Object.entries(profile).map(([input, range]) => `${input}:${range[which]}`),
              )
              .join(','),
          );
        return true;
      case 'engine':
      case 'verbosity':
        return true;
      default:
        return null;
    }
  }
}
