import { versionNumber } from '../../kernel/base/text.ts';

/** Plugins of TensorRT's own library, by its README. */
export const OWN_PLUGINS =
  /_TRT$|_TensorRT$|^(?:CoordConvAC|CropAndResize(?:Dynamic)?|Custom\w+PluginDynamic|DecodeBbox3DPlugin|GroupNormalizationPlugin|ModulatedDeformConv2d|PillarScatterPlugin|Proposal(?:Dynamic)?|VoxelGeneratorPlugin)$/;

/** The versions of TensorRT that brought plugins of its own library (CHANGELOG.md of NVIDIA/TensorRT). */
const SINCE: readonly [names: RegExp, version: string][] = [
  [/^BatchedNMSDynamic_TRT$/, '7.2'],
  [/^EfficientNMS(?:_ONNX)?_TRT$/, '8.0'],
  [
    /^(?:DisentangledAttention_TRT|MultiscaleDeformableAttnPlugin_TRT|DecodeBbox3DPlugin|PillarScatterPlugin|VoxelGeneratorPlugin)$/,
    '8.4',
  ],
];

/** The version from which on TensorRT has a plugin; undefined: not known, or the one at hand has it. */
export function pluginSince(plugin: string, version: string | null): string | undefined {
  const since = SINCE.find(([names]) => names.test(plugin))?.[1];
  return since === undefined || (version !== null && versionNumber(version) >= versionNumber(since))
    ? undefined
    : since;
}

/**
 * Which project makes a plugin, by the name under which a model or an engine asks for it: TensorRT's own library has none
 * of these.
 *
 * Sources: docs/en/06-custom-ops/tensorrt.md of open-mmlab/mmdeploy with its #186, #212; open-mmlab/mmcv#1965;
 * docs/custom_ops.md of DerryHub/BEVFormer_tensorrt with its #97; README.md of grimoire/amirstan_plugin;
 * wang-xinyu/tensorrtx#107, #1542; jkjung-avt/tensorrt_demos#417, #469; laugh12321/TensorRT-YOLO#292;
 * perception/autoware_tensorrt_plugins of autowarefoundation/autoware_universe; NVIDIA-AI-IOT/CUDA-PointPillars;
 * dlunion/tensorRTIntegrate#37.
 */
const MAKERS: readonly [names: RegExp, maker: string, build: string][] = [
  [
    /^(?:MMCV\w+|TRTBatched(?:Rotated|BEV)?NMS|TRTInstanceNormalization|grid_sampler|GridPriorsTRT|GatherTopk|ScaledDotProductAttentionTRT)$/,
    'mmdeploy (libmmdeploy_tensorrt_ops.so)',
    'Build its custom operators against this TensorRT (`cmake -DMMDEPLOY_TARGET_BACKENDS=trt -DTENSORRT_DIR=… -DCUDNN_DIR=…`); its library for ONNX Runtime does not have them.',
  ],
  [
    /^(?:(?:GridSampler[23]D|MultiScaleDeformableAttn|ModulatedDeformableConv2d|Rotate|BEVPoolV2|QKV)TRT2?|InverseTRT)$/,
    'BEVFormer_tensorrt',
    'Compile the TensorRT folder of that project, or of the one that copied it (UniAD), against this TensorRT.',
  ],
  [
    /^(?!Custom)\w+PluginDynamic$/,
    'amirstan_plugin (of mmdetection-to-tensorrt)',
    'Build it against this TensorRT (`cmake -DTENSORRT_DIR=…`) and set AMIRSTAN_LIBRARY_PATH to its build/lib.',
  ],
  [
    /^(?:YoloLayer|Mish|HardSwishLayer)_TRT$/,
    'the project that wrote the network: libmyplugins.so of tensorrtx, libyolo_layer.so of tensorrt_demos',
    'Compile the plugin of that project on this machine (make), with the number of classes and the input size of this model.',
  ],
  [
    /^Efficient(?:Rotated|Idx)NMS_TRT$/,
    'TensorRT-YOLO (its custom_plugins library, not the one for inference)',
    'Build that library against this TensorRT.',
  ],
  [
    /^(?:Argsort|QuickCumsumCuda|SegmentCSR|CustomUnique|ImplicitGemm|GetIndices?Pairs\w*)$/,
    'autoware_tensorrt_plugins (of Autoware)',
    'Build that package, with spconv for this GPU.',
  ],
  [
    /^FusedConcatConv\w+$/,
    'ESS of Isaac ROS (ess_plugins.so)',
    'It comes with the model, in plugins/ for each processor (aarch64, x86_64), and is for the TensorRT of that release of Isaac ROS.',
  ],
  [
    /^PPScatterPlugin$/,
    'CUDA-PointPillars',
    'Compile that project: the plugin is in the library that its build folder gets.',
  ],
  [
    /^DCNv2$/,
    'a project around deformable convolution, such as tensorRTIntegrate or TensorRT-CenterNet',
    "Compile that project's plugin into the program; in a static library the linker drops what only registers itself. From TensorRT 10.1 on DeformConv of opset 19 needs none.",
  ],
];

/** The project that makes a plugin, and how to build it; undefined: not known. */
export function makerOf(plugin: string): { maker: string; build: string } | undefined {
  const row = MAKERS.find(([names]) => names.test(plugin));
  return row && { maker: row[1], build: row[2] };
}
