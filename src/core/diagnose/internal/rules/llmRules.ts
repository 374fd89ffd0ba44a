import { type DiagnosisRule, EVERY_CAUSE } from '../rule.ts';

/** TensorRT-LLM: checkpoints, engines, its runtime and server. */
export const LLM_RULES: readonly DiagnosisRule[] = [
  {
    id: 'llm-cache-size',
    code: 'out-of-memory',
    pattern:
      /maxTokensInPagedKvCache \(?\d*\)? ?must be large enough|(?:[Nn]ot enough|[Nn]o free|Can't allocate|[Ii]nsufficient)[^\n]{0,40}\b(?:KV[- ]?cache )?blocks?\b|free GPU memory[^\n]{0,60}(?:not enough|insufficient)[^\n]{0,60}KV|Impossible to fit in any sequence in kvCache|[Mm]ax(?:imum)? KV cache[^\n]{0,80}(?:too small|not enough)/,
    once: true,
    severity: 'error',
    cause: 'The memory for the KV cache is too small for one sequence of the longest length that the engine allows.',
    advice:
      'Give the cache more: raise kv_cache_free_gpu_mem_fraction (0.9) or max_tokens_in_paged_kv_cache to at least the maximum sequence length times the beam width, and free memory of the GPU. Otherwise build with a smaller --max_seq_len, --max_batch_size or --max_beam_width, with a quantized cache, or over more GPUs.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT-LLM#494, #542, triton-inference-server/tensorrtllm_backend#59, #168; janhq/cortex.cpp#981',
  },
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
    id: 'lora-weight-names',
    code: 'weights-missing',
    pattern: /KeyError: '(?<name>[\w.-]*\.base_layer\.\w+)'/,
    severity: 'error',
    cause:
      'The weight {name} is one of a model that LoRA (PEFT) wrapped, and what was exported or converted before names its weights without that.',
    advice:
      'Merge the LoRA into the weights first (`pipe.fuse_lora(); pipe.unload_lora_weights()`, `model.merge_and_unload()`), use the versions of diffusers and peft that the requirements.txt of the script names, delete the ONNX files and engines of earlier runs, and export again.',
    sure: 'likely',
    source: 'PEFT BaseTunerLayer; NVIDIA/TensorRT#4090',
  },
  {
    id: 'llm-weight-missing',
    code: 'weights-missing',
    pattern:
      /KeyError: '(?<name>(?![\w.-]*\.base_layer\.)[\w.-]*\.(?:q?weight|bias|qzeros|scales|g_idx|\w+_scale|\w+_scaling_factor)\w*)'|Required but not provided tensors: ?\{'(?<name2>[^']+)'|(?:Some|The following) weights? (?:are|is) (?:missing|not found)[^\n]*?(?<name3>\b\w+\.[\w.]+)|KeyError: '(?<name4>\w*state_dict)'/,
    severity: 'error',
    named: ({ groups: { name, name2, name3, name4 } = {} }) => {
      const weight = name ?? name2 ?? name3 ?? name4!;
      return { values: { weight, why: weightCause(weight) } };
    },
    cause: 'The model has no weight {weight}, which the conversion reads: {why}.',
    advice:
      'Give the kind of checkpoint that the options name (a GPTQ or AWQ model for int4_gptq and int4_awq, the original one for the others), with the script of the release that is installed and for this architecture. If the model is newer than that release, use a later one.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT-LLM#1528, #1677, #2677, SWivid/F5-TTS#967',
  },
  {
    id: 'llm-rope-settings',
    code: 'library-mismatch',
    pattern: /(?:rope|rotary)_?\w{0,20}scaling\[[^\n]{0,200}\nKeyError: '\w+'/,
    severity: 'error',
    cause:
      'The model describes its rotary embedding (rope_scaling in its config.json) in a form that this release does not read: the model is newer, as Llama 3.1 and later are than TensorRT-LLM 0.11.',
    advice:
      'Update TensorRT-LLM (0.12 or later for Llama 3.1), with the transformers that its requirements name, and convert the checkpoint and build the engine with that release.',
    sure: 'likely',
    source: 'TensorRT-LLM commands/build.py; NVIDIA/TensorRT-LLM#2052',
  },
  {
    id: 'llm-checkpoint',
    code: 'model-invalid',
    pattern:
      /KeyError: '(?:(?<key>architecture)|(?<model>\w+For(?:CausalLM|ConditionalGeneration)|(?:\w+_)?(?:llama|llava|qwen|mistral|mixtral|gemma|phi|falcon|bloom|chatglm|baichuan|internlm|deepseek|vila|whisper|nemotron|starcoder|minicpm|exaone|cohere|mamba|dbrx|grok)\w*))'|Unsupported model architecture: (?<model2>\w+)/,
    named: (m) => ({
      values: {
        what: m.groups!['key']
          ? 'A configuration has no architecture: a folder given to trtllm-build is then no checkpoint of TensorRT-LLM, but most often one of Hugging Face'
          : `This version of the program, or of transformers, does not know the architecture ${m.groups!['model'] ?? m.groups!['model2']}`,
      },
    }),
    cause: '{what}.',
    advice:
      'Write the checkpoint with convert_checkpoint.py (or quantize.py) of the same version for this model, and give its output folder to trtllm-build. For a newer architecture use a later TensorRT-LLM and the transformers that its requirements name; one that brings its own code (VILA, remote code) needs that code, too (its path, --trust_remote_code).',
    sure: 'likely',
    source: 'NVIDIA/TensorRT-LLM#1026, #2141, #2158, #6360',
  },
  {
    id: 'llm-weight-shape',
    code: 'shape-mismatch',
    pattern:
      /The value updated is not the same shape as the original[\s\S]{0,12}?Updated: (?<updated>[\w.]*[([][^)\]]*[)\]]), original: (?<original>[\w.]*[([][^)\]]*[)\]])|assert v\.shape == self\.(?:_value\.|_)?shape\b|For FP4, the shape of the value should be the same[\s\S]{0,120}?Updated: (?<updated2>[\w.]*[([][^)\]]*[)\]]), original: (?<original2>[\w.]*[([][^)\]]*[)\]])/,
    once: true,
    severity: 'error',
    named: ({ groups: { updated, updated2, original, original2 } = {} }) => ({
      values: { updated: updated ?? updated2, original: original ?? original2 },
    }),
    cause:
      'A weight of the checkpoint has another shape[[ ({updated})]] than the model that TensorRT-LLM makes of the options and the configuration[[ ({original})]].',
    advice:
      'Give the options with which the checkpoint was quantized and divided: the same quantization and group size (--per_group, --group_size), tp_size and pp_size, vocabulary and number of KV heads (config.json). Convert it again with the script of the release that is installed; one that another tool quantized (AutoGPTQ, AutoAWQ, with another group size or act-order) may have a layout that this release does not read.',
    sure: 'likely',
    source: 'TensorRT-LLM parameter.py; NVIDIA/TensorRT-LLM#866',
  },
  {
    id: 'llm-checkpoint-format',
    code: 'model-unreadable',
    pattern:
      /Error: (?:Unsupported (?<kind>\w+) quantized checkpoint format|(?:GPTQ )?[Qq]uantized checkpoint format not supported)/,
    severity: 'error',
    cause:
      'TensorRT-LLM does not read the quantized checkpoint[[ ({kind})]]: it goes by the ending of the path that it was given.',
    advice:
      'Give the file itself with its full path, not its folder or a name without ending (--quant_ckpt_path …/model.pt, .npz or .safetensors, as the script of this release lists them). If its ending is another one, quantize the model with the script of the same release (examples/quantization/quantize.py), and build from its output.',
    sure: 'likely',
    source: 'TensorRT-LLM, examples/*/weight.py; NVIDIA/ChatRTX#43',
  },
  {
    id: 'llm-tp-size',
    code: 'shape-mismatch',
    pattern: /Current weight shape is invalid for mapping\.tp_size=(?<size>\d+)|Invalid TP size/,
    once: true,
    severity: 'error',
    cause: 'A weight cannot be divided among the GPUs: its size is no multiple of tp_size[[ ({size})]].',
    advice:
      'Use a --tp_size that divides the heads, the KV heads, the hidden and intermediate size and, for quantized weights, their number of groups (config.json of the model): most often 1, 2 or 4. Otherwise fill up the weights, or divide by layers (--pp_size).',
    source: 'TensorRT-LLM, examples/*/weight.py',
  },
  {
    id: 'llm-plugin-size',
    code: 'engine-other-version',
    pattern: /sizeof\(T\) <= remaining_buffer_size|remaining_buffer_size == 0/,
    once: true,
    severity: 'error',
    cause:
      'The engine holds a plugin of TensorRT-LLM that was written with more or less data than the library reads: they are of two versions.',
    advice:
      'Compare the version in config.json of the engine with `pip show tensorrt_llm` (or the image of Triton) where it runs, and build the engine again with that one: trtllm-build, the runtime and the backend of Triton have to be of one release. On one version it is an error of that release: use a later one.',
    sure: 'likely',
    source:
      'TensorRT-LLM cubinObjRegistry.h; NVIDIA/TensorRT-LLM#4241, triton-inference-server/tensorrtllm_backend#679',
  },
  {
    id: 'llm-cache-disabled',
    code: 'flag-conflict',
    pattern: /KV-cache-less is only supported for context|Failed to find Max KV cache blocks in metrics/,
    once: true,
    severity: 'error',
    cause: 'The engine was built without a KV cache (--kv_cache_type=disabled), which only the context phase can do.',
    advice:
      'Build with --kv_cache_type=paged for generation and for in-flight batching. Without a cache the engine computes one output per request (max_tokens=1, such as for scores or embeddings): run it without in-flight batching.',
    sure: 'likely',
    source: 'TensorRT-LLM gptAttentionPlugin.cpp; NVIDIA/TensorRT-LLM#2443',
  },
  {
    id: 'llm-cross-cache',
    code: 'flag-conflict',
    pattern: /Do not set crossKvCacheFraction for decoder-only model/,
    cause: 'The configuration gives a part of the cache to cross-attention, which a decoder-only model does not have.',
    advice: 'Remove cross_kv_cache_fraction from config.pbtxt of the model tensorrt_llm.',
    source: 'NVIDIA/TensorRT-LLM#2814',
  },
  {
    id: 'llm-cross-cache-missing',
    code: 'flag-conflict',
    pattern: /Must set crossKvCacheFraction for encoder-decoder model/,
    cause: 'The model is an encoder-decoder one, and the configuration gives no part of the cache to cross-attention.',
    advice:
      'Set cross_kv_cache_fraction (0.5, for example) in config.pbtxt of the model tensorrt_llm, or KvCacheConfig(cross_kv_cache_fraction=0.5).',
    source: 'NVIDIA/TensorRT-LLM#2419',
  },
  {
    id: 'llm-mpi',
    code: 'failed',
    pattern:
      /ORTE (?:was|has|does)|OPAL ERROR|MPI_ABORT was invoked|mpirun (?:noticed|detected|has exited)|There are not enough slots available|MPI_Init(?:_thread)?[^\n]{0,40}(?:fail|error|abort)|UCX {2}ERROR|Failed: MPI error/,
    once: true,
    severity: 'error',
    cause: 'MPI ended the processes of the program, or could not start them.',
    advice:
      'The first error of a rank above is the cause. If there is none: start as many processes as GPUs (mpirun -n N --allow-run-as-root, --oversubscribe), give the container --ipc=host --ulimit memlock=-1, and install mpi4py for the MPI that runs.',
    after: [...EVERY_CAUSE, 'failed'],
    sure: 'possible',
    source: 'Open MPI; NVIDIA/TensorRT-LLM docs',
  },
  {
    id: 'llm-worker',
    code: 'failed',
    pattern:
      /Executor worker returned error|Executor worker died during initialization|Encountered an error in forward\w* function: (?<why>[^\n]+)|Failed to build engine for rank (?<rank>\d+)/,
    once: true,
    severity: 'error',
    cause: 'A worker of TensorRT-LLM failed[[: {why}]][[ (rank {rank})]].',
    advice:
      'Its own error is further above. If there is none: set TLLM_LOG_LEVEL=DEBUG, run with one GPU, see that GPU memory is free (free_gpu_memory_fraction), and that this version of TensorRT-LLM supports the model and the GPU (its support matrix).',
    after: [...EVERY_CAUSE, 'failed'],
    sure: 'possible',
    source: 'TensorRT-LLM executor; NVIDIA/TensorRT-LLM#978, #2723, #7706',
  },
  {
    id: 'llm-request',
    code: 'runtime-shape',
    pattern:
      /Failed to get (?:value|data) from tensor(?:: ?| )(?<name>\w+)|Input tensor '?(?<name2>\w+)'? (?:is )?(?:missing|not found)(?! in)/,
    severity: 'error',
    named: ({ groups: { name, name2 } = {} }) => ({ values: { name: name ?? name2 } }),
    cause: 'TensorRT-LLM does not find the input {name} as it needs it.',
    advice:
      'If it is one of a request: give it with the type and shape that config.pbtxt of the model says (a client of the same release does). If it is one of the engine (host_…, cache_…, an input of the network): the engine is from another release, or built with other options than the runtime expects; build it again with the release that runs it.',
    sure: 'likely',
    source: 'TensorRT-LLM; NVIDIA/TensorRT-LLM#1137, triton-inference-server/tensorrtllm_backend#215',
  },
  {
    id: 'llm-kernels-gpu',
    code: 'gpu-unsupported',
    pattern: /Assertion failed: Unsupported [Aa]rch(?:itecture)?\b[^\n]*?\b(?<file>\w+)\.(?:cpp|cu|h):\d+/,
    severity: 'error',
    cause: 'TensorRT-LLM has no kernels for this GPU in {file}.',
    advice:
      'Use a GPU that the support matrix of this TensorRT-LLM lists: Ampere or later (the first releases also Volta and Turing, none Pascal). Weight-only and other quantized kernels (cutlass) need more than FP16: build without the quantization or the plugin concerned to see.',
    source: 'TensorRT-LLM cutlass_preprocessors.cpp; Tlntin/Qwen-TensorRT-LLM#15',
  },
  {
    id: 'llm-check',
    code: 'internal',
    pattern:
      /(?:Assertion failed: |^)(?<claim>[^\n]{1,300}?) \((?:\/[\w.+-]+)*\/(?<part>batch_manager|kernels|plugins|runtime|executor|layers|common|thop)\/(?:[\w.+-]+\/)*(?<file>[\w.]+\.(?:cpp|h|cu|cuh)):\d+\)|Error occurred when running GEMM/m,
    severity: 'error',
    named: ({ groups: { claim, part, file } = {} }) => ({
      values: {
        file,
        said: claim !== undefined && /[a-z] [a-z]+ [a-z]/i.test(claim) ? claim.replace(/\.$/, '') : undefined,
        ...llmCheck(part),
      },
    }),
    cause: 'TensorRT-LLM stopped at a check of its own[[ in {file}]][[: {said}]]. Most often that means: {what}.',
    advice: '{use}.',
    after: EVERY_CAUSE.filter((code) => code !== 'internal'),
    sure: 'possible',
    source: 'TensorRT-LLM, TLLM_CHECK by folder; NVIDIA/TensorRT-LLM#699, #5389, #2069',
  },
];

/** What a check of TensorRT-LLM most often means, by the folder of its source. */
function llmCheck(part: string | undefined): { what: string; use: string } {
  if (part === 'batch_manager' || part === 'executor')
    return {
      what: 'the scheduler or the KV cache came into a state that it does not expect, by an error of this version or by options that do not fit each other',
      use: 'Update TensorRT-LLM first. Otherwise switch off one after the other what the engine or the server uses besides: reuse of cache blocks (enable_kv_cache_reuse), chunked context, overlap, speculative decoding, beams; and let the engine, the backend and config.pbtxt be of one version',
    };
  if (part === 'runtime' || part === 'layers')
    return {
      what: 'a request or a tensor does not fit the engine, or the engine and the runtime are of different versions',
      use: 'Keep batch, beam width and lengths within those of the build (config.json of the engine), and build the engine again with the TensorRT-LLM that runs it',
    };
  if (part === 'common')
    return {
      what: 'CUDA, NCCL or a library could not do what it asked for',
      use: 'See that `nvidia-smi` works in the container and shows free memory, that the driver is new enough for its CUDA, and start it with --gpus all --ipc=host; with several GPUs set NCCL_DEBUG=INFO',
    };
  return {
    what: 'this GPU, data type, quantization or size has no kernel in this version',
    use: 'Compare the GPU, the quantization and the data type with the support matrix of this version of TensorRT-LLM; build without the plugin or quantization concerned, or use a later version',
  };
}

/** Why a checkpoint has no such weight. */
function weightCause(name: string): string {
  if (/qweight|qzeros|scales|g_idx/.test(name)) return 'it is not quantized, or in another way than the options say';
  if (/_scale|scaling_factor/.test(name)) return 'the options ask for a quantization that was not applied to it';
  if (name.startsWith('lm_head')) return 'it shares that of the embedding, which this release does not handle here';
  if (name.endsWith('state_dict')) return 'it is in another format (safetensors, or saved without that level)';
  return 'it is of another architecture, or names its weights in another way';
}
