import type { DiagnosisRule } from '../rule.ts';

/** TensorRT-LLM: checkpoints, engines, its runtime and server. */
export const LLM_RULES: readonly DiagnosisRule[] = [
  {
    id: 'llm-gemm',
    code: 'no-implementation',
    pattern: /Can't free tmp workspace for GEMM tactics profiling|No valid (?:\w+ )*GEMM tactic/,
    severity: 'error',
    once: true,
    cause: 'TensorRT-LLM has no kernel that runs the quantized matrix products of this model on this GPU.',
    advice:
      'Use a quantization that this GPU has (its support matrix: FP8 and W4A8 need Ada or Hopper, INT4 AWQ and GPTQ Ampere or later), with the types and group size that it lists, and see that GPU memory is free while the engine is built. With fewer GPUs in tp_size the matrices get sizes that more kernels take. Otherwise use a later TensorRT-LLM.',
    after: ['out-of-memory', 'gpu-unsupported'],
    sure: 'likely',
    source: 'NVIDIA/TensorRT-LLM#1416, #1739, #1792, #1841, #1850',
  },
  {
    id: 'llm-gemm-untimed',
    code: 'no-implementation',
    pattern: /Have not found any valid GEMM config for shape/,
    severity: 'warning',
    once: true,
    cause:
      'TensorRT-LLM could not time kernels for some matrix products on this GPU; it uses a default, or fails when it runs.',
    advice:
      'If the engine runs, nothing has to be done. Otherwise the GPU has no kernels for this quantization (its support matrix), or its memory was full while the engine was built.',
    after: ['no-implementation', 'out-of-memory'],
    sure: 'possible',
    source: 'NVIDIA/TensorRT-LLM#353, #3274',
  },
  {
    id: 'llm-engine-configuration',
    code: 'engine-other-version',
    pattern:
      /(?:loading failed with error: |creating modelInstanceState: )(?:key '(?<key>\w+)' not found|\[json\.exception\.(?<kind>\w+)[^\n]*)/,
    named: (m) => ({
      values: {
        what:
          m.groups!['kind'] === 'parse_error'
            ? 'is missing or empty: the path of the engine is most often wrong'
            : 'has other keys than this version of the server reads: the engine and the server are of different versions',
      },
    }),
    cause: 'The configuration of the engine (config.json) {what}.',
    advice:
      'Check gpt_model_path (engine_dir) in config.pbtxt: the folder with config.json and the .engine files, as it is named inside the container. Use one version of TensorRT-LLM for trtllm-build, the backend of Triton and its files config.pbtxt, and build the engine again.',
    sure: 'likely',
    source: 'triton-inference-server/tensorrtllm_backend#207, #500; NVIDIA/TensorRT-LLM#1803',
  },
  {
    id: 'llm-value-missing',
    code: 'flag-conflict',
    pattern: /creating modelInstanceState: bad optional access/,
    severity: 'error',
    cause: 'TensorRT-LLM needs a value for this kind of engine that its configuration does not give.',
    advice:
      'Fill in all parameters of config.pbtxt (fill_template.py) that this kind of decoding needs (decoding_mode, lookahead or Medusa values, max_beam_width), with the templates of the same version, or build the engine without that feature.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT-LLM#2020',
  },
  {
    id: 'llm-world-size',
    code: 'flag-conflict',
    pattern:
      /Engine world size \((?<engine>[\d* ]+)\) != Runtime world size \((?<have>\d+)\)|MPI size (?<have2>\d+) != TP size (?<engine2>\d+ \* PP size \d+)|mpiSize == tp \* pp|MPI worldSize is expected to be equal to tp\*pp/,
    once: true,
    named: ({ groups: { engine, engine2, have, have2 } = {} }) => ({
      values: { engine: engine ?? engine2?.replace(' PP size', ''), have: have ?? have2 },
    }),
    cause:
      'The engine is for another number of processes (tensor parallel times pipeline parallel[[, {engine}]]) than were started[[ ({have})]].',
    advice:
      'Start as many: `mpirun -n N python run.py …`, or --world_size N of launch_triton_server.py. If mpirun starts N and each sees 1, mpi4py was built for another MPI than the mpirun that runs.',
    source: 'NVIDIA/TensorRT-LLM#108, #440, #753, #1796, #1992, #2021',
  },
  {
    id: 'llm-checkpoint',
    code: 'model-invalid',
    pattern: /KeyError: '(?:(?<key>architecture)|(?<model>\w+For(?:CausalLM|ConditionalGeneration)))'/,
    named: (m) => ({
      values: {
        what: m.groups!['key']
          ? 'The folder given to trtllm-build is no checkpoint of TensorRT-LLM, but most often one of Hugging Face'
          : `This version of TensorRT-LLM does not know the architecture ${m.groups!['model']}`,
      },
    }),
    cause: '{what}.',
    advice:
      'Write the checkpoint with convert_checkpoint.py (or quantize.py) of the same version for this model, and give its output folder to trtllm-build. For a newer architecture use a later TensorRT-LLM.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT-LLM#2141, #6360',
  },
  {
    id: 'llm-cross-cache',
    code: 'flag-conflict',
    pattern: /Do not set crossKvCacheFraction for decoder-only model/,
    cause: 'The configuration gives a part of the cache to cross-attention, which a decoder-only model does not have.',
    advice: 'Remove cross_kv_cache_fraction from config.pbtxt of the model tensorrt_llm.',
    source: 'NVIDIA/TensorRT-LLM#2814',
  },
];
