// Which objects of TensorRT a Python text has, without running it.

/** Names that a text gives to TensorRT's module and to what it takes from it. */
export interface TensorrtImports {
  modules: ReadonlySet<string>;
  /** By the name in the text: TensorRT's own. */
  names: ReadonlyMap<string, string>;
}

const moduleName = /^tensorrt(?:_lean|_dispatch)?$/;

/** null: the text does not import TensorRT. */
export function tensorrtImports(code: string): TensorrtImports | null {
  const modules = new Set<string>();
  const names = new Map<string, string>();
  for (const [, list] of code.matchAll(/^[ \t]*import[ \t]+([^\n;]+)/gm))
    for (const item of list!.split(',')) {
      const [name = '', , alias] = item.trim().split(/\s+/);
      if (moduleName.test(name)) modules.add(alias ?? name);
    }
  for (const [, module, bare, enclosed] of code.matchAll(
    /^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(?:([^\n(;]+)|\(([^)]{0,4000})\))/gm,
  )) {
    if (!moduleName.test(module!)) continue;
    for (const item of (bare ?? enclosed ?? '').split(',')) {
      const [name = '', , alias] = item.trim().split(/\s+/);
      if (name !== '') names.set(alias ?? name, name);
    }
  }
  return modules.size + names.size === 0 ? null : { modules, names };
}

/** What methods of TensorRT give, whatever object they are called on: their names are TensorRT's alone. */
const results: Readonly<Record<string, string>> = {
  create_network: 'INetworkDefinition',
  create_builder_config: 'IBuilderConfig',
  create_optimization_profile: 'IOptimizationProfile',
  deserialize_cuda_engine: 'ICudaEngine',
  build_cuda_engine: 'ICudaEngine',
  create_execution_context: 'IExecutionContext',
  create_execution_context_without_device_memory: 'IExecutionContext',
  get_plugin_registry: 'IPluginRegistry',
  add_convolution: 'IConvolutionLayer',
  add_convolution_nd: 'IConvolutionLayer',
  add_deconvolution: 'IDeconvolutionLayer',
  add_deconvolution_nd: 'IDeconvolutionLayer',
  add_pooling: 'IPoolingLayer',
  add_pooling_nd: 'IPoolingLayer',
  add_padding: 'IPaddingLayer',
  add_normalization: 'INormalizationLayer',
  add_fully_connected: 'IFullyConnectedLayer',
};

/** The same for methods that other libraries have, too: only on such an object. */
const resultsOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Builder: { build_engine: 'ICudaEngine' },
  INetworkDefinition: { get_layer: 'ILayer', get_input: 'ITensor', get_output: 'ITensor' },
  ILayer: { get_input: 'ITensor', get_output: 'ITensor' },
};

/** What people call such objects. Only a hint: anything may have such a name. */
const customary: readonly [RegExp, string][] = [
  [/^_?(?:\w+_)?engine$/, 'ICudaEngine'],
  [/^_?(?:\w+_)?(?:context|ctx)$/, 'IExecutionContext'],
  [/^_?(?:builder_)?config$/, 'IBuilderConfig'],
  [/^_?network$/, 'INetworkDefinition'],
  [/^_?builder$/, 'Builder'],
  [/^_?(?:onnx_)?parser$/, 'OnnxParser'],
  [/^_?layer$/, 'ILayer'],
];

const name = String.raw`[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*`;

/** The types of an object with this name: by what is assigned to it (`known`), or by custom. */
export interface PythonTypes {
  of: (receiver: string) => { type: string; known: boolean } | null;
}

export function pythonTypes(code: string, { modules, names }: TensorrtImports): PythonTypes {
  const types = new Map<string, string>();
  const typeOfCall = (call: string): string | undefined => {
    const parts = call.split('.');
    const last = parts.at(-1)!;
    if (parts.length === 2 && modules.has(parts[0]!)) return last;
    if (parts.length === 1) return names.get(last);
    const receiver = types.get(parts.slice(0, -1).join('.'));
    const layer = receiver?.endsWith('Layer') ? 'ILayer' : receiver;
    return results[last] ?? (layer === undefined ? undefined : resultsOf[layer]?.[last]);
  };
  const learn = (variable: string, call: string): void => {
    const type = typeOfCall(call);
    if (type !== undefined && /^(?:I[A-Z]|[A-Z])/.test(type)) types.set(variable, type);
  };
  // Twice: what is known of an object of a later line may be needed in an earlier one.
  for (let round = 0; round < 2; round++) {
    for (const [, variable, call] of code.matchAll(
      new RegExp(`(?<![\\w.])(${name})\\s*(?::[^=\\n]{1,100})?=(?!=)\\s*(${name})\\s*\\(`, 'g'),
    ))
      learn(variable!, call!);
    for (const [, call, variable] of code.matchAll(
      new RegExp(`(?<![\\w.])(${name})\\s*\\([^:\\n]{0,400}?\\)\\s*as\\s+(${name})`, 'g'),
    ))
      learn(variable!, call!);
  }
  for (const [, variable, owner, type] of code.matchAll(/(?<![\w.])(\w+)\s*:\s*(?:(\w+)\.)?(\w+)\s*(?=[,)=\n])/g))
    if (owner === undefined ? names.has(type!) : modules.has(owner))
      types.set(variable!, owner === undefined ? names.get(type!)! : type!);
  return {
    of: (receiver) => {
      const type = types.get(receiver);
      if (type !== undefined) return { type, known: true };
      const last = receiver.split('.').at(-1)!;
      const hint = customary.find(([pattern]) => pattern.test(last));
      return hint ? { type: hint[1], known: false } : null;
    },
  };
}
