import type { DiagnosisRule } from '../rule.ts';
import { EVERY_CAUSE } from './everyCause.ts';

/** Triton: model repository, configuration, requests. */
export const TRITON_RULES: readonly DiagnosisRule[] = [
  {
    id: 'triton-no-gpu',
    code: 'library-missing',
    pattern:
      /TensorRT backend supports only GPU device|GPU instances not supported|GPU Execution Accelerator can only be set on non-CPU/,
    once: true,
    cause: 'Triton sees no GPU that it can use, or the configuration places the model on the CPU.',
    advice:
      'Check `nvidia-smi` in the container (docker run --gpus all) and that the driver fits the release of the container; Triton prints the GPUs it found when it starts. In config.pbtxt use instance_group with KIND_GPU, or none. The build for JetPack has no GPU instances for its Python backend.',
    sure: 'likely',
    source: 'triton-inference-server/server#2488, #4696, #5863, #6588',
  },
  {
    id: 'triton-stub',
    code: 'failed',
    pattern: /Stub process '(?<name>[^']+)' is not healthy/,
    severity: 'error',
    once: true,
    cause: 'The Python model {name} of Triton ended while it was starting.',
    advice:
      'Its own error is further above in the log (a missing package, a wrong path in config.pbtxt, too little GPU memory). If there is none: start the container with more shared memory (--shm-size=2g) and more memory.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'Triton python_backend; triton-inference-server/tensorrtllm_backend#712',
  },
  {
    id: 'triton-repository',
    code: 'file-missing',
    pattern: /(?:err_msg:|Internal(?: -|:) )failed to stat file (?<file>\S+)/,
    cause: 'The model repository of Triton, {file}, does not exist.',
    advice:
      'Give the folder that holds one folder for each model (model/config.pbtxt, model/1/model.plan), as it is named inside the container.',
    source: 'Triton filesystem; NVIDIA-ISAAC-ROS/isaac_ros_dnn_inference#35',
  },
  {
    id: 'triton-input-dims',
    code: 'profile-inconsistent',
    pattern:
      /failed to create \w+ backend on model:(?<model>\S+) because tensor:(?<input>\S+) input-dims is not correct/,
    severity: 'error',
    cause: 'The dimensions of input {input} in the configuration of model {model} do not suit nvinferserver.',
    advice:
      'Give dims in config.pbtxt as fixed sizes without the batch (three: channels, height, width) and set max_batch_size; export the model with fixed height and width.',
    sure: 'likely',
    source: 'NVIDIA-AI-IOT/deepstream_triton_model_deploy#17',
  },
  {
    id: 'triton-backend',
    code: 'library-missing',
    pattern:
      /unknown platform '(?<name>\w+)'|unknown Execution Accelerator '(?<name2>\w+)' is requested|unable to find backend library for backend '(?<name3>\w+)'|unable to find 'libtriton_(?<name4>\w+)\.so'(?: or '[^']+')? for model '(?<model2>[^']+)'|unexpected platform type +for (?<model>\S+)/,
    named: ({ groups: { name, name2, name3, name4, model, model2 } = {} }) => ({
      values: { name: name ?? name2 ?? name3 ?? name4, model: model ?? model2 },
    }),
    cause: 'This Triton does not have what the configuration of the model[[ {model}]] asks for[[: {name}]].',
    advice:
      'Check backend and platform in config.pbtxt (backend "tensorrt", or platform "tensorrt_plan", with model.plan for an engine, "onnxruntime_onnx" with model.onnx), and use a container that has the backend: those for one purpose (tensorrt-llm) and own builds have only some. The accelerator "tensorrt" needs an ONNX Runtime that was built with it.',
    source: 'triton-inference-server/server#2179, #3204, #8342, #2743, #5206',
  },
  {
    id: 'triton-configuration',
    code: 'profile-inconsistent',
    pattern:
      /model '(?<model>[^']+)', tensor '(?<tensor>[^']+)': the model expects (?<want>[^\n]+?) but the model configuration specifies (?<have>[^\n]+)/,
    cause:
      'The model configuration (config.pbtxt) of {model} does not fit the engine: tensor {tensor} has {want}, and the configuration gives {have}.',
    advice:
      'Give dims in config.pbtxt as the engine has them, without the batch where max_batch_size is above 0; -1 where the profile is dynamic. Or remove the inputs and outputs: Triton completes the configuration of an engine itself.',
    source: 'Triton, model_config_utils.cc',
  },
  {
    id: 'triton-inputs',
    code: 'profile-inconsistent',
    pattern:
      /unable to load model '(?<model>[^']+)', configuration expects (?<have>\d+) (?<kind>inputs|outputs), model provides (?<want>\d+)/,
    cause:
      'The model configuration (config.pbtxt) of {model} does not fit the engine, which has {want} {kind}; the configuration has {have}.',
    advice:
      'Give every input and output of the engine in config.pbtxt, or remove them all: Triton completes the configuration of an engine itself.',
    source: 'Triton, tensorrt_backend and model_config_utils.cc',
  },
];
