// Which objects of TensorRT a C++ text has, without compiling it.

/** Whether a text uses TensorRT's headers. */
export const usesTensorrt = (text: string): boolean =>
  /#\s*include\s*[<"](?:\w+\/)*Nv(?:Infer|OnnxParser|UffParser|CaffeParser)|\bnvinfer1::|\bnvonnxparser::/.test(text);

const results: Readonly<Record<string, string>> = {
  createInferBuilder: 'IBuilder',
  createInferRuntime: 'IRuntime',
  createInferRefitter: 'IRefitter',
  createParser: 'IParser',
  createBuilderConfig: 'IBuilderConfig',
  createNetwork: 'INetworkDefinition',
  createNetworkV2: 'INetworkDefinition',
  createOptimizationProfile: 'IOptimizationProfile',
  deserializeCudaEngine: 'ICudaEngine',
  buildEngineWithConfig: 'ICudaEngine',
  createExecutionContext: 'IExecutionContext',
  createExecutionContextWithoutDeviceMemory: 'IExecutionContext',
  buildSerializedNetwork: 'IHostMemory',
  getPluginRegistry: 'IPluginRegistry',
  addConvolution: 'IConvolutionLayer',
  addConvolutionNd: 'IConvolutionLayer',
  addPooling: 'IPoolingLayer',
  addPoolingNd: 'IPoolingLayer',
  addDeconvolution: 'IDeconvolutionLayer',
  addFullyConnected: 'IFullyConnectedLayer',
};

/** By the name of a variable: the interface that its declaration names, or that of the function that made it. */
export function cppTypes(code: string): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  // `ICudaEngine* engine`, `const nvinfer1::ICudaEngine& engine`, `std::unique_ptr<nvinfer1::ICudaEngine> mEngine{…}`
  for (const [, type, variable] of code.matchAll(
    /\b(I[A-Z]\w+)(?:\s*,[^<>;(){}]{0,120})?\s*[*&>]+\s*(?:const\s+)?([A-Za-z_]\w*)/g,
  ))
    types.set(variable!, type!);
  for (const [, variable, call] of code.matchAll(/\b([A-Za-z_]\w*)\s*(?:=|\{|\()[^;{}]{0,300}?\b(\w+)\s*\(/g)) {
    const type = results[call!];
    if (type !== undefined && !types.has(variable!)) types.set(variable!, type);
  }
  return types;
}
