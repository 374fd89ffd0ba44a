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

/** Optimization profiles: when building, and when the engine runs. */
export const PROFILE_RULES: readonly DiagnosisRule[] = [
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
    id: 'profile-missing',
    code: 'profile-missing',
    pattern: /no optimization profile has been defined|dynamic input is missing dimensions in profile (?<profile>\d+)/,
    named: (_, text) => ({ values: { input: /([^\s:(]+): dynamic input is missing/.exec(text)?.[1] } }),
    cause: 'The network has dynamic inputs[[ ({input})]] but no optimization profile for them.',
    advice: GIVE_SHAPES,
    source: 'NVIDIA/TensorRT#1167, #532',
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
    id: 'input-rank',
    code: 'runtime-shape',
    pattern: /condition: (?:engineDims|profileMaxDims)\.nbDims == \w+\.nbDims/,
    cause: 'The program sets a shape for an input that has another number of dimensions in the engine.',
    advice:
      'Print the shape that is set and that of the engine (`engine.get_tensor_shape(name)`): the batch is a dimension of its own, and inputs are counted in the order of the engine. Set shapes by name, for inputs only.',
    source: 'TensorRT executionContext.cpp; NVIDIA/TensorRT#3725, #588',
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
];
