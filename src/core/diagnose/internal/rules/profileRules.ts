import type { DiagnosisRule } from '../rule.ts';
import { causeText } from '../causeText.ts';

const GIVE_SHAPES = {
  trtexec: 'Pass --minShapes, --optShapes and --maxShapes for every dynamic input.',
  polygraphy: 'Pass --trt-min-shapes, --trt-opt-shapes and --trt-max-shapes for every dynamic input.',
  trtlens: 'Pass --min-shapes, --opt-shapes and --max-shapes (or --shapes) for every dynamic input.',
  onnxruntime:
    'Set trt_profile_min_shapes, trt_profile_opt_shapes and trt_profile_max_shapes of the TensorRT provider for every dynamic input.',
  'nv-tensorrt-rtx':
    'Set nv_profile_min_shapes, nv_profile_opt_shapes and nv_profile_max_shapes of the provider for every dynamic input.',
  'torch-tensorrt': 'Give each input as torch_tensorrt.Input(min_shape=…, opt_shape=…, max_shape=…).',
  torch2trt: 'Call torch2trt with min_shapes, opt_shapes and max_shapes, or with fixed shapes.',
  ultralytics: 'Export with dynamic=True and the largest batch and imgsz, or with the fixed imgsz that is used later.',
  'jetson-inference':
    'jetson-inference builds for fixed shapes only: export the model with a fixed batch and size, or build the engine with trtexec and load that.',
  deepstream: 'Set infer-dims and batch-size in the configuration of nvinfer, or export with fixed shapes.',
  'tf-trt': "Convert with use_dynamic_shape=True and call the converter's build() with input shapes.",
  other:
    'Add an optimization profile: min, opt and max shapes for every dynamic input (`profile.set_shape(name, min, opt, max)`, then `config.add_optimization_profile(profile)`).',
};

const INSIDE = {
  onnxruntime:
    'Send shapes between trt_profile_min_shapes and trt_profile_max_shapes, or widen these and delete the cached engine.',
  'nv-tensorrt-rtx':
    'Send shapes between nv_profile_min_shapes and nv_profile_max_shapes, or widen these and build again.',
  triton:
    'Send shapes inside the profile of the plan (an inspection of the engine shows it; compare dims and max_batch_size in config.pbtxt), build the plan with wider --minShapes and --maxShapes, or let dynamic_batching keep the batch below max_batch_size.',
  ultralytics: 'Predict with the imgsz and batch of the export, or export with dynamic=True and the largest ones.',
  'tensorrt-llm':
    'Keep batch and lengths within the engine: build with larger --max_batch_size, --max_input_len, --max_seq_len or --max_num_tokens.',
  comfyui: 'Use an image size between the minimum and maximum of the engine, or build one for a wider range.',
  other: 'Use shapes between min and max of the profile, or build with wider --minShapes and --maxShapes.',
};

/** What Triton's configuration asks of a request. */
const EXPECTED =
  '[[{missing}Send all dimensions, the batch first (`np.expand_dims(image, 0)`). ]][[{fixed}Send exactly the sizes that the configuration fixes (resize or pad the image to them), or give -1 in dims of config.pbtxt where the engine takes other sizes. ]]';

const sizesIn = (shape: string): number[] => shape.slice(1, -1).split(',').map(Number);

/** Whether shapes of one rank differ where the first is fixed. */
const isOfOtherSize = (want: readonly number[], have: readonly number[]): boolean =>
  want.length === have.length && want.some((size, at) => size >= 0 && size !== have[at]);

/** Optimization profiles: when building, and when the engine runs. */
export const PROFILE_RULES: readonly DiagnosisRule[] = [
  {
    id: 'webui-profile',
    code: 'runtime-shape',
    pattern: /No valid profile found\. Please go to the TensorRT tab/,
    severity: 'error',
    cause:
      'No engine of the WebUI takes this picture: its width, height, batch size or number of tokens is outside what they were exported for.',
    advice:
      'Export an engine in the TensorRT tab whose ranges hold these sizes (with hires.fix the enlarged ones, too; prompts of more than 75 tokens need a larger maximum, and the negative prompt counts), or choose sizes of an engine that is there. SD Unet "None" runs without TensorRT.',
    source: 'NVIDIA/Stable-Diffusion-WebUI-TensorRT#29, #35, #178',
  },
  {
    id: 'llm-length',
    code: 'runtime-shape',
    pattern:
      /(?:Prompt|Input) length \((?<have>\d+)\)(?: \+ max new tokens \((?<more>\d+)\))?[^\n]{0,120}?(?:exceeds|must be less than) (?:the )?max(?:imum)? (?:input|sequence|seq\w*)(?:\/\w+)? (?:length|len) \((?<max>\d+)\)/,
    cause: 'A request is too long: {have} tokens[[ and up to {more} new ones]], and the engine takes {max}.',
    advice:
      'Shorten the prompt or ask for fewer new tokens, or build with larger --max_input_len, --max_seq_len and --max_num_tokens (trtllm-build). If the engine was built with more, the server has loaded another one or limits it in config.pbtxt.',
    source:
      'triton-inference-server/tensorrtllm_backend#141, #565; NVIDIA/TensorRT-LLM#2494, llmRequest.h and gptDecoderBatched.cpp',
  },
  {
    id: 'llm-context-length',
    code: 'runtime-shape',
    pattern: /Assertion failed: max_context_len(?:gth)? <= mMaxContextLength/,
    cause: 'A prompt is longer than the engine was built for.',
    advice: INSIDE,
    source: 'NVIDIA/TensorRT-LLM#600',
  },
  {
    id: 'unknown-input',
    code: 'unknown-input',
    pattern:
      /Cannot find input tensor with name "(?<input>.+?)" in the (?:network inputs|engine bindings)|no input (?:is )?named '(?<input2>.+?)'/,
    named: ({ groups: { input, input2 } = {} }) => ({
      values: {
        input: input ?? input2,
        step: /^\d+$/.test(input ?? '')
          ? 'An x joins the sizes of a shape, a comma begins the next input: --shapes=NAME:4x16.'
          : 'Use the input names of the model.',
      },
    }),
    cause: 'The model has no input named "{input}".',
    advice: '{step}',
    source: 'captures of TensorRT 10.6',
  },
  {
    id: 'polygraphy-inputs',
    code: 'unknown-input',
    pattern:
      /Invalid inputs were provided to the optimization profile: \{(?<wrong>[^}\n]+)\}(?:\s+Note: Inputs available in the TensorRT network are: \{(?<there>[^}\n]+)\})?|Binding: (?<unset>\S+) does not have shapes set in this profile|(?:The following inputs were not found in (?:the feed[ _]dict|input data)|Some (?:input shapes|shape inputs) were not specified)[^\n]*/,
    severity: 'error',
    named: ({ groups: { wrong, unset } = {} }) => ({
      values: {
        what: wrong
          ? `names inputs that the network does not have: ${wrong}`
          : unset
            ? `has no shapes for the input ${unset}`
            : 'lacks inputs of the network',
      },
    }),
    cause: 'What the program gives to Polygraphy {what}.[[ The network has {there}.]]',
    advice:
      'Use the names that the network has (`polygraphy inspect model MODEL.onnx` lists them), and give all of its inputs; or export the model again with those names (torch.onnx.export with input_names=[…]). A file of another exporter than the program is for has other names.',
    source: 'Polygraphy profile.py, runner.py; yuvraj108c/ComfyUI-Upscaler-Tensorrt#34',
  },
  {
    id: 'polygraphy-outputs',
    code: 'unknown-input',
    pattern: /The following outputs were not found in the network: \{(?<names>[^}\n]+)\}/,
    severity: 'error',
    cause: 'The command asks for outputs that the network does not have: {names}.',
    advice:
      'Use names of tensors of the model, not of nodes (`polygraphy inspect model MODEL.onnx --show layers` lists them); "mark all" takes every tensor.',
    source: 'Polygraphy mark_outputs',
  },
  {
    id: 'polygraphy-feed',
    code: 'runtime-shape',
    pattern:
      /Input tensor: (?<input>[^\n|]+?) \| Received (?:incompatible|unexpected) (?<what>shape|dtype): (?<have>[^\n]+?)\.?\s{1,40}Note: Expected (?:a shape compatible with|type): (?<want>[^\n]+)/,
    severity: 'error',
    cause: 'The data for input {input} has the {what} {have}, and the engine takes {want}.',
    advice:
      'Feed what the engine takes: another type by astype(), another shape only within the optimization profile; build with a wider one (Profile().add(name, min, opt, max), --trt-min-shapes and so on) where the data is right. Without a profile, dynamic dimensions are built as 1.',
    source: 'Polygraphy base/util.py',
  },
  {
    id: 'shapes-defaulted',
    code: 'profile-missing',
    pattern:
      /Dynamic dimensions required for input: (?<input>.+?), but no shapes were provided(?:\. Automatically overriding shape to: (?<shape>[\dx]+))?/,
    named: ({ groups: { input } = {} }, _text, { shaped }) => ({
      values: { others: shaped.length === 0 || shaped.includes(input!) ? undefined : shaped.join(', ') },
    }),
    cause:
      'Input {input} has dynamic dimensions but no shapes were given, so the engine is built with size 1 in each of them[[, for {shape} only]].[[ The command gives shapes for {others}, which is not its name.]]',
    advice: {
      ...GIVE_SHAPES,
      trtexec: `${GIVE_SHAPES.trtexec}[[ Use the name that the model has, not {others}: --minShapes={input}:…]]`,
    },
    source: 'captures of TensorRT 8.6 and 10.6; NVIDIA/TensorRT#2208',
  },
  {
    id: 'shape-values-missing',
    code: 'shape-values-missing',
    pattern: /Network has dynamic or shape inputs, but no optimization profile has been defined/,
    when: ({ inputs }) => inputs.length > 0 && !inputs.some(({ open }) => open) && inputs.some(({ shape }) => shape),
    named: (_, __, { inputs }) => {
      const needed = inputs.filter(({ shape }) => shape);
      const withValues = (open: string, by: string, close: string, between: string) =>
        needed.map(({ name, values }) => `${name}:${open}${Array(values).fill(3).join(by)}${close}`).join(between);
      return {
        values: {
          input: needed.map(({ name }) => name).join(', '),
          first: needed[0]!.name,
          are: needed.length > 1 ? 'Inputs' : 'Input',
          is: needed.length > 1 ? 'are shape tensors' : 'is a shape tensor',
          sizes: withValues('', 'x', '', ','),
          lists: withValues('[', ',', ']', ' '),
        },
      };
    },
    cause:
      '{are} {input} {is}: the values decide shapes in the network, so the build needs them. No input has dynamic dimensions.',
    advice: {
      trtlens:
        'Pass the values in place of a shape: --shapes {sizes}, with the values that occur (or --min-shapes, --opt-shapes and --max-shapes).',
      trtexec:
        'Pass the values in place of a shape: --shapes={sizes}, with the values that occur (or --minShapes, --optShapes and --maxShapes).',
      polygraphy: 'Pass the values: --trt-min-shapes {lists} --trt-opt-shapes {lists} --trt-max-shapes {lists}.',
      other:
        'Add a profile with `profile.set_shape_input("{first}", min, opt, max)` and the values that occur, or make the input an initializer.',
    },
    source: 'built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'paddle-dynamic-shape',
    code: 'profile-missing',
    pattern:
      /some trt inputs dynamic shape info not set|shape of trt subgraph is \[[^\]]*\], please enable trt dynamic_shape/,
    severity: 'error',
    cause: 'A TensorRT part of the Paddle model has inputs of dynamic shape, and no ranges are given for them.',
    advice:
      'Let Paddle collect them: config.collect_shape_range_info(FILE) in one run, then config.enable_tuned_tensorrt_dynamic_shape(FILE); or give them with SetTRTDynamicShapeInfo, also for the tensors between the parts, which the log names. A larger min_subgraph_size leaves small parts out.',
    source: 'Paddle op_converter.h and engine.h; PaddlePaddle/PaddleOCR#3010, #3201, #3730',
  },
  {
    id: 'profile-missing',
    code: 'profile-missing',
    pattern: /no optimization profile has been defined|dynamic input is missing dimensions in profile (?<profile>\d+)/,
    named: (_, text) => ({ values: { input: /([^\s:(]+): dynamic input is missing/.exec(text)?.[1] } }),
    cause: 'The network has dynamic inputs[[ ({input})]] but no optimization profile for them.',
    advice: GIVE_SHAPES,
    source: 'NVIDIA/TensorRT#1167, #532',
  },
  {
    id: 'provider-profiles',
    code: 'profile-missing',
    pattern:
      /(?:Users need|User needs) to (?:specify|provide) all the dynamic shape inputs? with associated profiles(?:[^\n]*?input shape profiles? need[^\n]*?: ?(?<inputs>[^\n]+))?/,
    cause:
      'ONNX Runtime was given profiles for some dynamic inputs of the TensorRT subgraphs, but not for all[[: {inputs}]].',
    advice: {
      other:
        'Set trt_profile_min_shapes, trt_profile_opt_shapes and trt_profile_max_shapes for all of them, also for tensors between subgraphs, which the message names; or for none.',
      'nv-tensorrt-rtx':
        'Set nv_profile_min_shapes, nv_profile_opt_shapes and nv_profile_max_shapes for all of them, also for tensors between subgraphs; or for none.',
    },
    source: 'ONNX Runtime tensorrt_execution_provider.cc; microsoft/onnxruntime#16600',
  },
  {
    id: 'supplied-dimension',
    code: 'runtime-shape',
    pattern:
      /Supplied binding dimension (?<shape>\[[\d,]*\]) for bindings\[(?<binding>\d+)\] exceed min ~ max range at index (?<axis>\d+), maximum dimension in profile is (?<max>\d+), minimum dimension in profile is (?<min>\d+), but supplied dimension is (?<have>\d+)/,
    cause:
      'The shape {shape} of binding {binding} is outside the optimization profile: dimension {axis} is {have}, the engine allows {min} to {max}.',
    advice: INSIDE,
    source: 'TensorRT executionContext.cpp; NVIDIA/TensorRT#2739, stable-diffusion-webui-tensorrt#71',
  },
  {
    id: 'outside-profile',
    code: 'runtime-shape',
    pattern:
      /satisfyProfile(?:\. Set dimensions? (?:is |are )?(?<shape2>\[[\d,-]*\]) for tensor (?<tensor>\S+) does not satisfy any optimization profiles\.(?: Valid range for profile \d+: (?<range>\[[\d,-]*\]\.\.\[[\d,-]*\]))?)?|Supplied binding dimensions (?<shape3>\[[\d,-]*\]) for tensor (?<tensor3>\S+) exceed min\.\.max range for profile \d+\.(?: Valid range is (?<range3>\[[\d,-]*\]\.\.\[[\d,-]*\]))?|Runtime dimension does not satisfy any optimization profile|trt failed to set binding dimension to (?<shape>\[[\d,-]*\]) for input '(?<input>[^']+)'|(?:input|tensor) (?:shape|dimension)s? (?:is |are )?(?:out of|outside|not in)(?: the)? (?:range of the )?(?:optimization )?profile|request(?:ed)? shape .*?(?:exceeds|outside).{0,40}profile|condition: [^\n]*profileM(?:in|ax)Dims\.d\[/i,
    named: (m) => ({
      values: {
        shape: m.groups!['shape'] ?? m.groups!['shape2'] ?? m.groups!['shape3'],
        input: m.groups!['input'] ?? m.groups!['tensor'] ?? m.groups!['tensor3'],
        range: m.groups!['range'] ?? m.groups!['range3'],
      },
    }),
    cause:
      'The shape[[ {shape}]] of an input[[, {input},]] is outside the optimization profile of the engine[[ ({range})]], or has another rank.',
    advice: INSIDE,
    after: ['library-mismatch'],
    source:
      'TensorRT executionContext.cpp; NVIDIA/TensorRT-LLM#1332, triton-inference-server/server#3919, grimoire/mmdetection-to-tensorrt#7',
  },
  {
    id: 'paddle-runtime-shape',
    code: 'runtime-shape',
    pattern:
      /TRT runtime input shape of (?<input>\S+) is invalid[^\n]*?runtime input ?shape = (?<have>\[[\d, -]*\]), min input shape = (?<min>\[[\d, -]*\]), max input shape = (?<max>\[[\d, -]*\])/,
    severity: 'error',
    cause: 'Input {input} was given the shape {have}; the engine was built for {min} to {max}.',
    advice:
      'Widen the ranges of that input (SetTRTDynamicShapeInfo, or collect them again with the shapes that occur), or batch and resize the data so that it fits; delete the engines that were saved (_opt_cache).',
    source: 'Paddle tensorrt_engine_op.h; PaddlePaddle/PaddleOCR#3010',
  },
  {
    id: 'input-rank',
    code: 'runtime-shape',
    pattern: /condition: (?:engineDims|profileMaxDims)\.nbDims == \w+\.nbDims/,
    cause: 'The program sets a shape for an input that has another number of dimensions in the engine.',
    advice:
      'Print the shape that is set and that of the engine (`engine.get_tensor_shape(name)`): the batch is a dimension of its own, and inputs are counted in the order of the engine. Set shapes by name, for inputs only.',
    source: 'TensorRT executionContext.cpp; NVIDIA/TensorRT#3725, #588',
  },
  {
    id: 'triton-shape',
    code: 'runtime-shape',
    pattern:
      /unexpected shape for input '(?<input>[^']+)' for model '(?<model>[^']+)'\. Expected (?<want>\[[\d,-]*\]), got (?<have>\[[\d,-]*\])/,
    named: ({ groups: { want = '', have = '' } = {} }) => ({
      values: {
        missing: want.split(',').length > have.split(',').length ? '' : undefined,
        fixed: isOfOtherSize(sizesIn(want), sizesIn(have)) ? '' : undefined,
      },
    }),
    cause:
      'Input {input} of model {model} was sent with shape {have}; the configuration expects {want}[[: a dimension is missing{missing}]].',
    advice: {
      ...INSIDE,
      triton: `${EXPECTED}${INSIDE.triton}`,
      other: `${EXPECTED}${INSIDE.other}`,
    },
    source: 'Triton Inference Server infer_request.cc; triton-inference-server/server#2411',
  },
  {
    id: 'triton-max-batch',
    code: 'profile-inconsistent',
    pattern:
      /configuration (?:specified )?max(?:imum)?[- ]batch(?: size)? (?<have>\d{1,9})[^\n]*?(?:model maximum is|engine\s{1,9}only supports max-batch)[ =]{1,3}(?<want>\d+)/,
    severity: 'error',
    cause:
      'config.pbtxt allows batches of {have}, and the engine takes at most {want}: its batch is fixed, or it has none.',
    advice:
      'Set max_batch_size to what the engine takes (0 where it has no batch dimension, with the whole shape in dims), or export the model with a dynamic first dimension and build the plan with --minShapes, --optShapes and --maxShapes for it.',
    source: 'Triton TensorRT backend; triton-inference-server/server#1105, #1157, #1309',
  },
  {
    id: 'triton-tensor-format',
    code: 'profile-inconsistent',
    pattern: /unexpected vectorized dim is -1 for non-linear tensor '(?<input>[^']+)'/,
    severity: 'error',
    cause:
      'Tensor {input} of the engine has a memory format that Triton does not take: only linear and vectorized ones.',
    advice:
      'Build the plan without --inputIOFormats and --outputIOFormats (or with chw), and transpose the data or put a Transpose into the model.',
    source: 'Triton TensorRT backend; triton-inference-server/server#6777',
  },
  {
    id: 'triton-output-shape',
    code: 'runtime-shape',
    pattern:
      /unexpected shape for output '(?<input>[^']+)'[^\n]*?model configuration shape is (?<want>\[[\d,-]*\]), inference shape is (?<have>\[[\d,-]*\])/,
    cause: 'Output {input} of the model came out with shape {have}; config.pbtxt gives it {want}.',
    advice:
      'Correct dims of that output in config.pbtxt: with max_batch_size > 0 the batch is not part of dims (both shapes may be printed with and without it), and use -1 where a size varies.',
    source: 'Triton Inference Server infer_response.cc; triton-inference-server/server#1545',
  },
  {
    id: 'triton-dims',
    code: 'runtime-shape',
    pattern:
      /(?:model|for) '(?<model>[^']+)',? (?:input|tensor|output) '(?<input>[^']+)'(?::)?[^\n]*?(?:the model expects|model expects) (?:shape )?(?<want>\[[\d,-]*\])[^\n]*?(?:model configuration (?:specifies|shape is)|configuration) ?(?:shape )?(?<have>\[[\d,-]*\])/,
    cause: 'config.pbtxt of model {model} gives {input} the shape {have}, but the engine has {want}.',
    advice:
      'Correct dims and max_batch_size in config.pbtxt: with max_batch_size > 0 the batch dimension is not part of dims. One can be written from the engine.',
    source: 'Triton TensorRT backend',
  },
  {
    id: 'ultralytics-size',
    code: 'runtime-shape',
    pattern:
      /input size (?:torch\.Size\()?(?<have>[[(][\d, ]+[\])])\)? not equal to max model size (?<want>[[(][\d, ]+[\])])|AssertionError: \(torch\.Size\((?<have2>\[[\d, ]+\])\), (?<want2>[[(][\d, ]+[\])])\)/,
    named: ({ groups: { have, want, have2, want2 } = {} }) => ({
      values: { have: have ?? have2, want: want ?? want2 },
    }),
    cause: 'The engine is for inputs of {want} and got {have}.',
    advice:
      'Predict with the imgsz and batch of the export (`model.predict(imgsz=…)`), or export with dynamic=True and batch=N, the largest batch that will come.',
    source:
      'Ultralytics autobackend.py; ultralytics/ultralytics#9177, #18972; ultralytics/yolov5#11541, ultralytics/ultralytics#11179',
  },
  {
    id: 'static-dimension',
    code: 'runtime-shape',
    pattern:
      /Static dimension mismatch while setting input shape(?: for (?<input>[^\s.]+))?\.?(?: Set dimensions are (?<have>\[[\d,-]*\])\. Expected dimensions are (?<want>\[[\d,-]*\]))?/,
    cause:
      'Input[[ {input}]] was given a shape[[ ({have})]] that differs in a dimension which the engine has fixed[[: it expects {want}]].',
    advice: {
      trtexec: 'Give the fixed sizes of the model in --shapes, or export it with dynamic axes.',
      ultralytics:
        'Predict with the imgsz and batch of the export, or export with dynamic=True and batch=N, the largest batch that will come.',
      'torch-tensorrt':
        'Call the module with the shapes that it was compiled for, or compile it with torch_tensorrt.Input(min_shape=…, opt_shape=…, max_shape=…).',
      triton: 'Correct dims in config.pbtxt and what the client sends, or build the plan with dynamic axes.',
      other:
        'Give the fixed sizes of the model, or export it with dynamic axes (the batch, too: Ultralytics takes it from batch=N next to dynamic=True) and build with a profile.',
    },
    source:
      'TensorRT executionContext.cpp; ultralytics/ultralytics#17541; NVIDIA/TensorRT#4009, QwenAudio/CosyVoice#901',
  },
  {
    id: 'static-dimension-build',
    code: 'profile-inconsistent',
    pattern:
      /(?<![^\s:(])(?<input>[^\s:(]+): for dimension number (?<axis>\d+) in profile (?<profile>\d+) does not match network definition \(got min=(?<min>\d+), opt=(?<opt>\d+), max=(?<max>\d+)\), expected min=opt=max=(?<want>\d+)/,
    cause: 'The profile gives dimension {axis} of input {input} {min} to {max}, but the model fixes it to {want}.',
    advice: 'Give {want} there in min, opt and max, or export the model with that dimension dynamic.',
    source: 'TensorRT 7 and 8; NVIDIA/TensorRT#939',
  },
  {
    id: 'static-input-of-profile',
    code: 'profile-inconsistent',
    pattern:
      /(?<![^\s:(])(?<input>[^\s:(]+): k(?:MIN|OPT|MAX) dimensions in profile (?<profile>\d+) are (?<have>\[[\d,-]*\]) but input has static dimensions (?<want>\[[\d,-]*\])|Input tensor (?<input2>\S+) has static dimensions that don't match k(?:MIN|OPT|MAX) dimensions in profile index \d+\. Input dimensions are (?<want2>\[[\d,-]*\]) but profile dimensions are (?<have2>\[[\d,-]*\])/,
    once: true,
    named: ({ groups: { input, input2, have, have2, want, want2 } = {} }) => ({
      values: { input: input ?? input2, have: have ?? have2, want: want ?? want2 },
    }),
    cause: 'The profile gives input {input} the shape {have}, but the model fixes it to {want}.',
    advice: {
      trtexec: 'Remove {input} from --minShapes, --optShapes and --maxShapes, or export the model with dynamic axes.',
      ultralytics: 'Use the imgsz and batch of the ONNX file, or export with dynamic=True.',
      onnxruntime:
        'Remove {input} from trt_profile_min_shapes, trt_profile_opt_shapes and trt_profile_max_shapes, or export the model with dynamic axes.',
      other: 'Give {want} in min, opt and max, or export the model with that input dynamic.',
    },
    source: 'TensorRT network.cpp (validate); built with TensorRT 10.6',
  },
  {
    id: 'input-without-profile',
    code: 'profile-inconsistent',
    pattern: /Dynamic input tensor (?<input>\S+) is missing dimensions in profile (?<profile>\d+)/,
    cause: 'Profile {profile} has no shapes for input {input}, whose dimensions are dynamic.',
    advice: {
      trtexec: 'Give {input} in --minShapes, --optShapes and --maxShapes, by exactly that name.',
      polygraphy: 'Give {input} in --trt-min-shapes, --trt-opt-shapes and --trt-max-shapes, by exactly that name.',
      onnxruntime:
        'Give {input} in trt_profile_min_shapes, trt_profile_opt_shapes and trt_profile_max_shapes, by exactly that name.',
      other:
        'Call `profile.set_shape("{input}", min, opt, max)` for it, too. set_shape also accepts names that no input has: compare them with those of the network (`network.get_input(i).name`).',
    },
    source: 'built with TensorRT 10.6',
  },
  {
    id: 'static-model-shapes',
    code: 'profile-inconsistent',
    pattern: /Static model does not take explicit shapes/,
    cause: 'The command gives shapes, and the inputs of the model have fixed sizes.',
    advice:
      'Remove --shapes, --minShapes, --optShapes and --maxShapes, or export the model with dynamic axes (torch.onnx.export with dynamic_axes or dynamic_shapes) to build for other sizes.',
    source: 'trtexec sampleEngines.cpp; built with TensorRT 10.6',
  },
  {
    id: 'shape-values-of-profile',
    code: 'shape-values-missing',
    pattern:
      /Optimization profile (?<profile>\d+) is missing values for shape input tensor (?<input>\S+?)\.?(?=[)\s]|$)/,
    cause:
      'Profile {profile} has no values for input {input}: it is a shape tensor, whose values decide shapes in the network.',
    advice: {
      trtexec:
        'Pass its values in place of a shape: --minShapes={input}:1x8, and likewise --optShapes and --maxShapes.',
      other: 'Call `profile.set_shape_input("{input}", min, opt, max)` with its smallest, usual and largest values.',
    },
    source: 'built with TensorRT 10.6',
  },
  {
    id: 'rank-of-profile',
    code: 'profile-inconsistent',
    pattern:
      /(?<![^\s:(])(?<input>[^\s:(]+): number of dimensions is (?<have>\d+) but profile (?<profile>\d+) has (?<want>\d+)/,
    cause: 'Input {input} has {have} dimensions, and its profile gives {want}.',
    advice: 'Give as many sizes as the input has dimensions.',
    source: 'TensorRT 7 and 8; NVIDIA/TensorRT#939',
  },
  {
    id: 'volume-exceeds',
    code: 'profile-inconsistent',
    pattern: /(?:(?<![^\s:(])(?<layer>[^\s:(]+): )?tensor volume exceeds \(?2\^31\)? ?-1|volume exceeds 2\^31-1/,
    named: (m, text) => {
      const layer = m.groups!['layer'] ?? /([^\s:(]+): tensor volume exceeds/.exec(text)?.[1];
      return { layer, values: { layer, which: /k(MIN|OPT|MAX) values for profile/.exec(text)?.[1] } };
    },
    cause:
      'With the[[ {which}]] shapes of the profile a tensor[[ ({layer})]] would have more than 2³¹-1 elements, the most that this TensorRT allows.',
    advice:
      'Give smaller shapes (batch, height, width) in the profile: attention over all pixels grows with the square of their number. Otherwise compute in tiles, or split that part of the model.',
    source: 'TensorRT shapeCompiler.cpp; open-mmlab/mmdeploy#1426',
  },
  {
    id: 'profile-values',
    code: 'profile-inconsistent',
    pattern:
      /k(?<which>MIN|OPT|MAX) values for profile (?<profile>\d+) violate shape constraints: (?<why>[^\n]+?)(?: In \w+ at|\)?$)/m,
    cause: 'With the {which} shapes of profile {profile} the model has no valid shapes: {why}.',
    advice:
      'Choose shapes that the model can compute: smallest sizes that survive its strides and kernels, and equal sizes where inputs are added or joined.',
    source: 'TensorRT shapeCompiler.cpp; NVIDIA/TensorRT#1947',
  },
  {
    id: 'profile-negative',
    code: 'profile-inconsistent',
    pattern: /[oO]ptimizationProfile(?:\.cpp)?::setDimensions[^\n]*(?:x >= 0|isValidDims)/,
    once: true,
    cause:
      'An optimization profile is given sizes that it cannot have, most often -1: the dynamic dimensions of the model were passed on as they are.',
    advice: GIVE_SHAPES,
    sure: 'likely',
    source: 'TensorRT optimizationProfile.cpp; NNDam/deepstream-face-recognition#11',
  },
  {
    id: 'profile-inconsistent',
    code: 'profile-inconsistent',
    pattern:
      /MIN<=OPT<=MAX|kMIN <= kOPT <= kMAX|condition: profile->isValid|Dimension mismatch for tensor (?<input>\S+) and profile|tensor (?<input2>\S+) has \d+ dimensions but profile|is inconsistent with other shapes|IOptimizationProfile::|optimization profile is invalid|Static dimension mismatch|(?:Min|Max) value of this profile is not valid/,
    named: (m, text) => ({
      values: {
        input:
          m.groups!['input'] ?? m.groups!['input2'] ?? /optimization profiles for input tensors (\S+),/.exec(text)?.[1],
        why: causeText(text),
      },
    }),
    cause: 'An optimization profile does not match[[ input {input}]]: {why}',
    advice:
      'Every dimension needs min ≤ opt ≤ max. The rank must equal that of the input, and fixed dimensions must equal those of the model.',
    source: 'captures of TensorRT 10.6 and RTX 1.7.1',
  },
  {
    id: 'shape-input-type',
    code: 'shape-values-missing',
    pattern: /Network input (?<input>\S+) is a shape tensor and must have type Int32 or Int64\. Type is (?<type>\w+)/,
    cause:
      'A shape or size is computed from the values of input {input}, which is {type}; TensorRT needs INT32 or INT64 there.',
    advice:
      'Pass the size itself as an INT64 input, or make it a constant of the model: scales of Resize as an initializer, or its sizes. What depends on data such as a sum has to be computed outside the engine.',
    source: 'TensorRT graphShapeAnalyzer.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'dynamic-shapes-rtx-provider',
    code: 'profile-missing',
    pattern: /[Dd]ynamic input shapes? (?:are |is |were )?not provided|implicit(?:ly)? batch.{0,40}dynamic/,
    cause: 'A dynamic input has no profile and none can be derived.',
    advice: {
      onnxruntime: GIVE_SHAPES.onnxruntime,
      'nv-tensorrt-rtx': GIVE_SHAPES['nv-tensorrt-rtx'],
      other: GIVE_SHAPES.other,
    },
    source: 'microsoft/onnxruntime#26258',
  },
];
