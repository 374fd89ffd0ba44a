import { type DiagnosisRule, EVERY_CAUSE } from '../rule.ts';

const POOL =
  'Start tritonserver with a larger --cuda-memory-pool-byte-size=GPU:BYTES (64 MB are the default; it must hold the tensors of all requests that wait), or send smaller batches.';

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
    id: 'triton-placeholder',
    code: 'profile-inconsistent',
    pattern:
      /(?:[Uu]nable to|[Ff]ailed|[Ii]nvalid|[Ee]xpected|[Cc]annot|[Ee]rror|stoi)[^\n]{0,160}\$\{(?<name>[a-z_]+)\}/,
    severity: 'error',
    once: true,
    cause: 'A config.pbtxt of Triton still holds the placeholder {name} in place of a value.',
    advice:
      'Fill the templates of all models (`python3 tools/fill_template.py -i …/config.pbtxt triton_backend:tensorrtllm,engine_dir:…,tokenizer_dir:…`), with the script and the templates of the release that is installed: each has other names.',
    source: 'NVIDIA/TensorRT-LLM#1995',
  },
  {
    id: 'triton-accelerator-parameter',
    code: 'flag-conflict',
    pattern: /unknown parameter '(?<option>[^']+)' is provided for (?<accelerator>\w+) Execution Accelerator/,
    cause:
      'The backend of this Triton does not know the parameter {option} of the accelerator {accelerator}, so that it does not load the model.',
    advice:
      "Remove it from execution_accelerators in config.pbtxt, or use a container whose backend knows it: the page of the backend on GitHub is of the newest release, so read that of the branch of this one (r24.03 for 24.03). ONNX Runtime's backend takes precision_mode and max_workspace_size_bytes in all of them, and trt_… options in later ones.",
    source: 'triton-inference-server/onnxruntime_backend, onnxruntime.cc; tensorflow_backend',
  },
  {
    id: 'triton-backend',
    code: 'library-missing',
    pattern:
      /unknown platform '(?<name>\w+)'|unknown Execution Accelerator '(?<name2>\w+)' is requested|unable to find backend library for backend '(?<name3>\w+)'|unable to find 'libtriton_(?<name4>\w+)\.so'(?: or '[^']+')? for model '(?<model2>[^']+)'|unexpected platform type +(?:(?<name5>\w+) )?for (?<model>\S+)/,
    named: ({ groups: { name, name2, name3, name4, name5, model, model2 } = {} }) => ({
      values: { name: name ?? name2 ?? name3 ?? name4 ?? name5, model: model ?? model2 },
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
  {
    id: 'triton-request-shape',
    code: 'runtime-shape',
    pattern:
      /request specifies invalid shape for input '(?<input>[^']+)' for (?<model>\S+?)\.? Error details: model expected the shape of dimension (?<dim>\d+) to be between (?<low>\d+) and (?<high>\d+) but received (?<have>\d+)/,
    named: ({ groups: { dim } = {} }) => ({
      values: {
        first: dim === '0' ? ' Dimension 0 is the batch: max_batch_size of config.pbtxt must not exceed it.' : '',
      },
    }),
    cause:
      'A request to {model} has {have} in dimension {dim} of input {input}, and the profile of the engine takes {low} to {high}.',
    advice:
      'Send what the profile takes, or export the model with that dimension dynamic and build the plan with --minShapes, --optShapes and --maxShapes for the range that is needed.{first}',
    source: 'Triton tensorrt_backend; triton-inference-server/server#2768, #3014, #4384',
  },
  {
    id: 'triton-output-size',
    code: 'runtime-shape',
    pattern:
      /unexpected (?:size|shape) for output '(?<output>[^']+)'(?:, byte-size (?<have>\d+) (?:is less than|does not equal) (?<want>[\d *]*\d))?/,
    severity: 'error',
    cause: 'Output {output} has another size than Triton prepared for it[[: {have} bytes, and the result has {want}]].',
    advice:
      'Let dims of this output in config.pbtxt agree with the model, with -1 for sizes that change (`curl HOST:8000/v2/models/MODEL/config` shows what Triton takes). Where its size depends on the data (after NonZero, NonMaxSuppression or a TopK with a computed K), the TensorRT backend cannot prepare it: fill the output up to a fixed size in the model (EfficientNMS does), end the engine before that operator, or serve the ONNX model with the ONNX Runtime backend.',
    sure: 'likely',
    source: 'Triton tensorrt_backend instance_state.cc, core ensemble; triton-inference-server/server#5576',
  },
  {
    id: 'triton-request',
    code: 'runtime-shape',
    pattern:
      /inference request batch-size must be <= (?<max>\d+) for '(?<model>[^']+)'|expected (?<want>\d+) inputs but got (?<have>\d+) inputs for model '(?<model2>[^']+)'|unexpected (?:inference )?(?:input|output) '(?<input>[^']+)' for model '(?<model3>[^']+)'|inference input (?:'[^']+' )?data-type is '(?<have2>\w+)', but model (?:'[^']+' )?expects '(?<want2>\w+)'|input byte size mismatch for input '(?<input2>[^']+)'|got unexpected (?:numpy array shape|datatype) [^\n]*expected/,
    severity: 'error',
    named: ({ groups: { max, want, have, input, have2, want2, input2, model, model2, model3 } = {} }) => ({
      values: {
        model: model ?? model2 ?? model3,
        what: max
          ? `its batch is larger than max_batch_size (${max})`
          : want
            ? `it has ${have} inputs and the model ${want}`
            : input
              ? `the model has no input or output ${input}`
              : want2
                ? `an input is ${have2} and the model takes ${want2}`
                : input2
                  ? `the data of input ${input2} is longer or shorter than its shape and type say`
                  : 'the data has another shape or type than the client was told',
      },
    }),
    cause: 'The request does not fit the model[[ {model}]] of Triton: {what}.',
    advice:
      'Compare the request with the inputs in config.pbtxt (`curl HOST:8000/v2/models/MODEL/config`): with max_batch_size above 0 the shape of the request begins with the batch, which dims leave out.',
    source: 'Triton infer_request.cc, tritonclient; triton-inference-server/server#4563, #6832',
  },
  {
    id: 'triton-config-unreadable',
    code: 'file-missing',
    pattern:
      /Error parsing text-format inference\.ModelConfig: (?<where>\d+:\d+): (?<why>[^\n]+)|failed to read text proto from (?<file>\S+)|must specify 'platform' or 'backend'|[Uu]nable to find '[^']+' or directory containing config\.pbtxt/,
    once: true,
    cause: 'Triton cannot read a model configuration (config.pbtxt)[[, line {where}: {why}]].',
    advice:
      'Correct that place: it is text of protobuf (`input [ { name: "x" data_type: TYPE_FP32 dims: [ 3, 224, 224 ] } ]`), with platform or backend and the name of the folder as name. Remove fields that this version does not have.',
    source: 'Triton model_config_utils.cc; docs of the model configuration',
  },
  {
    id: 'triton-no-config',
    code: 'file-missing',
    pattern:
      /model configuration is not provided for model '(?<model>[^'\n]+)'|must specify platform for model (?:configuration|'(?<model2>[^'\n]+)')/,
    severity: 'error',
    named: ({ groups: { model, model2 } = {} }) => ({ values: { model: model ?? model2 } }),
    cause:
      'The model[[ {model}]] of the repository has no configuration (config.pbtxt) from which Triton could run it.',
    advice:
      'Write REPOSITORY/MODEL/config.pbtxt with backend (or platform), inputs and outputs; Triton completes it itself only for TensorRT, ONNX, TensorFlow and OpenVINO models whose file has the name that the backend expects, and not with --disable-auto-complete-config. Otherwise take the model out of the repository.',
    source: 'Triton model_config_utils.cc; triton-inference-server/server#5197',
  },
  {
    id: 'triton-no-version',
    code: 'model-missing',
    pattern:
      /at least one version must be available under the version policy of model '(?<model>[^']+)'|failed to load '(?<model2>[^']+)', no version is available|failed to load model '(?<model3>[^']{1,300})'?[^\n]*(?:not found|failed to poll)|unable to find '(?<file>\/[^']+)' for model/,
    once: true,
    severity: 'error',
    named: ({ groups: { model, model2, model3 } = {} }) => ({ values: { model: model ?? model2 ?? model3 } }),
    cause: 'Triton finds no version of the model[[ {model}]] that it could load[[: {file} does not exist]].',
    advice:
      'The layout is REPOSITORY/MODEL/config.pbtxt and REPOSITORY/MODEL/1/model.plan (model.onnx, model.pt): the folder of the version is a number, and the file has the name that the backend expects (default_model_filename changes it). If the file is there, its own error is above.',
    after: [...EVERY_CAUSE, 'failed'],
    sure: 'likely',
    source: 'Triton model_repository_manager.cc',
  },
  {
    id: 'triton-port',
    code: 'failed',
    pattern:
      /Socket '(?<port>[^']+)' already in use|failed to start (?:HTTP|GRPC|Metrics) service|Address already in use/,
    once: true,
    severity: 'error',
    cause: 'The server cannot open its port[[ ({port})]]: another program, or another server, uses it.',
    advice:
      'End the other one, or give other ports (--http-port, --grpc-port, --metrics-port; `-p` of docker run). TensorRT is not what fails.',
    source: 'Triton http_server.cc',
  },
  {
    id: 'triton-memory-pool',
    code: 'out-of-memory',
    pattern: /CNMEM_STATUS_OUT_OF_MEMORY/,
    severity: 'warning',
    once: true,
    harmless: true,
    cause: 'The pool of GPU memory in which Triton passes tensors between models is full: it uses memory of the host.',
    advice: POOL,
    source: 'Triton memory.cc; triton-inference-server/server#8177',
  },
  {
    id: 'triton-gpu-buffers',
    code: 'out-of-memory',
    pattern: /trying to load GPU buffers in the Python backend stub: (?<why>[^\n]+)/,
    severity: 'error',
    once: true,
    cause: 'A Python model of Triton could not pass its GPU tensors on ({why}): its outputs are empty or wrong.',
    advice: `Most often the pool of GPU memory for them is too small for a large request. ${POOL}`,
    sure: 'likely',
    source: 'Triton python_backend pb_stub.cc; triton-inference-server/server#7148, #8177',
  },
  {
    id: 'shared-memory',
    code: 'out-of-memory',
    pattern:
      /[Uu]nable to (?:create|initialize) shared memory[^\n]*|No space left on device[^\n]*(?:shm|shared)|insufficient shared memory \(shm\)|Bus error[^\n]*shm|Failed to increase the shared memory pool size/,
    once: true,
    severity: 'error',
    cause: 'The container has too little shared memory (/dev/shm) for the processes that exchange tensors.',
    advice: 'Start it with more: `docker run --shm-size=2g` (or --ipc=host).',
    source: 'Triton python_backend, shm_manager.cc; PyTorch data loaders',
  },
  {
    id: 'triton-measurement',
    code: 'failed',
    pattern:
      /Failed to maintain requested inference load|No valid requests recorded within time interval|Failed to retrieve results from inference request|^Thread \[\d+\] had error: (?<why>[^\n]{3,200})/m,
    severity: 'error',
    once: true,
    cause: 'The measurement (perf_analyzer) has no results: its requests to Triton fail[[ ({why})]].',
    advice:
      'The log of the server says why a request fails. Send one request of real data first (--input-data FILE; random values may be outside of what the model takes, --shape for dynamic inputs), use the client of the release of the server, and raise --concurrency-range and the batch slowly and --measurement-interval for slow models.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source:
      'Triton perf_analyzer; triton-inference-server/server#136, #2342, triton-inference-server/model_analyzer#357',
  },
  {
    id: 'triton-unavailable',
    code: 'failed',
    pattern:
      /(?:Model '(?<model>[^'\n]+)' loading failed with error: version \d+ is at UNAVAILABLE state|failed to load '(?<model2>[^'\n]+)' version \d+|\| *(?<model3>[\w.-]+) +\| *\d+ +\| *UNAVAILABLE|UNAVAILABLE): (?<status>Internal|Invalid argument|Not found|Unsupported|Unavailable|Unknown): (?<why>[^|\n;]{3,200}[^|\n;\s])/,
    severity: 'error',
    lastResort: true,
    named: ({ groups: { model, model2, model3, status, why } = {} }) => {
      const [what, use] = tritonStatus(status!, why!);
      return { values: { model: model ?? model2 ?? model3, what, use } };
    },
    cause: 'Triton cannot load the model[[ {model}]]: {what} ({why}).',
    advice: '{use} The lines that begin with E before it, and --log-verbose=1, say more.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'Triton model_lifecycle.cc, status.h; triton-inference-server/tensorrtllm_backend#297',
  },
  {
    id: 'triton-failed',
    code: 'failed',
    pattern:
      /creating server: (?:Internal|Invalid argument|Unavailable|Not found) - (?<why>[^\n]+)|ensemble '?(?<model>[^'\s]+)'? (?:depends on|contains)[^\n]*|Invalid argument: ensemble[^\n]*/,
    once: true,
    severity: 'error',
    cause: 'Triton does not start, because a model of its repository could not be loaded[[ ({why})]].',
    advice:
      'The reason is in the table of models that Triton prints at its start (Status UNAVAILABLE: …) and in the lines that begin with E before it: diagnose those. Start with --log-verbose=1, or load one model only (--model-control-mode=explicit --load-model=NAME); --exit-on-error=false keeps the others.',
    after: [...EVERY_CAUSE, 'failed', 'file-missing'],
    sure: 'likely',
    source: 'Triton main.cc; triton-inference-server/server#2858, #6416, #7950',
  },
];

/** What a status of Triton means for a model, and what to look at. */
function tritonStatus(status: string, why: string): [what: string, use: string] {
  if (/^[\w.]*(?:Error|Exception): /.test(why))
    return [
      'its code in Python failed when it started',
      "Check the parameters of its config.pbtxt (paths as they are inside of the container) and that the container has the packages, of the versions that the model needs (transformers, the model's own code).",
    ];
  switch (status) {
    case 'Invalid argument':
      return [
        'its configuration does not fit the model or this server',
        'Compare config.pbtxt with the model: names, types and dims of inputs and outputs, max_batch_size, instance_group. Without a config.pbtxt Triton writes one itself for engines and ONNX models (`/v2/models/NAME/config`).',
      ];
    case 'Not found':
      return [
        'a file, library or model that it needs is not there',
        'The layout is REPOSITORY/MODEL/1/model.plan (model.onnx, model.pt, model.py), and paths are those inside of the container.',
      ];
    case 'Unsupported':
      return [
        'this server or backend does not do that',
        'Use one release of Triton for the server, its backends and the tools that made the model.',
      ];
    default:
      return [
        'its backend failed when it loaded the model',
        'An engine must be built by the TensorRT of this container, on this kind of GPU, and fit in its free memory; of other models try the file once outside of Triton.',
      ];
  }
}
