// Names of TensorRT's API that are gone.
import { goneNames } from './goneNames.ts';

export interface Gone {
  since: string;
  advice: string;
}

const tableOf = (language: 'python' | 'cpp'): ReadonlyMap<string, Gone> =>
  new Map(
    goneNames.flatMap(({ since, advice, ...names }) =>
      (names[language] ?? '')
        .split(' ')
        .filter(Boolean)
        .map((name) => [name, { since, advice }] as const),
    ),
  );

export const goneTables = { python: tableOf('python'), cpp: tableOf('cpp') };

/** Names of Python that another one replaces, with the same meaning. */
export const renamed: Readonly<Record<string, string>> = {
  'ICudaEngine.num_bindings': 'num_io_tensors',
  'ICudaEngine.get_binding_name': 'get_tensor_name',
  'INetworkDefinition.add_convolution': 'add_convolution_nd',
  'INetworkDefinition.add_deconvolution': 'add_deconvolution_nd',
  'INetworkDefinition.add_pooling': 'add_pooling_nd',
  'INetworkDefinition.add_padding': 'add_padding_nd',
  'IPluginRegistry.plugin_creator_list': 'all_creators',
  'IBuilderConfig.min_timing_iterations': 'avg_timing_iterations',
  'ProfilingVerbosity.DEFAULT': 'LAYER_NAMES_ONLY',
  'ProfilingVerbosity.VERBOSE': 'DETAILED',
  'EngineCapability.DEFAULT': 'STANDARD',
  'EngineCapability.SAFE_GPU': 'SAFETY',
  'EngineCapability.SAFE_DLA': 'DLA_STANDALONE',
  'BuilderFlag.WEIGHTLESS': 'STRIP_PLAN',
};

/** The first version without a name such as `ICudaEngine.num_bindings`, and what to do instead. */
export function goneName(language: 'python' | 'cpp', name: string): Gone | undefined {
  const gone = goneTables[language].get(name);
  const instead = language === 'python' && Object.hasOwn(renamed, name) ? renamed[name] : undefined;
  return gone && instead !== undefined ? { ...gone, advice: `Use ${instead}.` } : gone;
}
