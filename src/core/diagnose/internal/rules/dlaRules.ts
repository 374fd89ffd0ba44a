import type { DiagnosisRule } from '../rule.ts';

/** What the samples for cuDLA do with a model that was trained for quantization (qdq_translator.py). */
const NO_QDQ =
  'The layer belongs to a Q/DQ node, which this DLA does not take: build the model without its Q/DQ nodes, with a calibration cache of their scales (--calib); the script qdq_translator.py of cuDLA-samples makes both.';

/** Layers and programs on NVIDIA's Deep Learning Accelerator (Jetson Xavier, Orin; DRIVE). */
export const DLA_RULES: readonly DiagnosisRule[] = [
  {
    id: 'dla-core',
    code: 'dla-failed',
    pattern:
      /(?:dlaCore|getDLACore\(\)) < (?:core->|mCore\.)?numEngines\(\)|(?:Specified|Requested) DLA core (?<core>\d{1,9})[^\n]*(?:exceeds|not|invalid)|DLA (?:is )?not (?:available|supported) on this (?:platform|device)|Cannot create DLA engine|getNbDLACores\(\) ?(?:==|>) ?0 failed/,
    cause:
      'TensorRT sees no DLA core[[ {core}]] as it was asked for: this machine has none of that number, or a container hides it.',
    advice:
      'Use a core that exists (AGX and NX of Xavier and Orin: 0 and 1, but Orin NX 8 GB only 0; Orin Nano, Nano and TX2 have none). In a container start it with --runtime nvidia, from an image for this JetPack, and try trtexec outside of it. Set the core in what loads the engine, too (`runtime->setDLACore`; DeepStream: enable-dla=1 and use-dla-core), or build for the GPU.',
    source:
      'marcoslucianops/DeepStream-Yolo#27, mlcommons/inference_results_v0.5#34, NVIDIA-ISAAC-ROS/isaac_ros_depth_segmentation#12',
  },
  {
    id: 'dla-precision',
    code: 'dla-failed',
    pattern:
      /DLA[^\n]{0,80}(?:requires?|must (?:be|run|use)|supports? only|only supports?)[^\n]{0,40}(?:FP16|INT8|kHALF|kINT8|half)|(?:fp16|int8)[^\n]{0,40}(?:required|must be (?:set|enabled))[^\n]{0,20}DLA/i,
    cause: 'The DLA computes in FP16 and INT8 only, and the build allows neither.',
    advice: { trtexec: 'Add --fp16 or --int8.', other: 'Set the builder flag FP16 or INT8.' },
    source: 'TensorRT DLA documentation; NVIDIA-ISAAC-ROS/isaac_ros_dnn_inference#46',
  },
  {
    id: 'dla-standalone',
    code: 'dla-failed',
    pattern:
      /Safe DLA is enabled but not all layers are running on DLA|DLA should only have one graph for the whole network|isDLA\(n->backend\)|forceToUseNvmIO/,
    cause:
      'A loadable for the DLA alone (--buildDLAStandalone) is one graph that runs on the DLA as a whole, and here a layer does not run there, or splits it.',
    advice:
      'Find those layers: warnings that name DLA list them with --verbose, and a build with --useDLACore and --allowGPUFallback but without --buildDLAStandalone (EngineCapability STANDARD) lists which layers run where. Replace or remove them (constants, Shuffle, Q/DQ nodes, operators outside the limits of the DLA), or build the loadable of the part before them and run the others on the GPU.',
    source: 'NVIDIA/TensorRT#2190, #4165, NVIDIA-AI-IOT/cuDLA-samples#34',
  },
  {
    id: 'dla-no-fallback',
    code: 'dla-failed',
    pattern:
      /(?:layer|Layer) '?(?<layer>[^'\n]+?)'?(?: \(\w+\))?[^\n]{0,60}not supported on DLA[^\n]*(?:GPU fallback|fallback|FALLBACK)[^\n]*(?:not|disabled)|Default DLA is enabled but layer (?<layer2>[^\n]+?) is not supported on DLA and falling back to GPU is not enabled/,
    named: ({ groups: { layer, layer2 } = {} }) => {
      const name = layer ?? layer2;
      return { layer: name, values: { quantized: /quantize/i.test(name ?? '') ? NO_QDQ : undefined } };
    },
    cause: 'A layer cannot run on the DLA, and the build does not allow it to run on the GPU[[: {layer}]].',
    advice:
      '[[{quantized} ]]Let it run on the GPU with --allowGPUFallback (BuilderFlag GPU_FALLBACK), or replace the layers that the warnings name: a DLA loadable (--buildDLAStandalone) needs all of them on the DLA.',
    source: 'NVIDIA-AI-IOT/cuDLA-samples#19',
  },
  {
    id: 'dla-fallback',
    code: 'dla-fallback',
    pattern:
      /Layer '(?<layer>[^\n]+?)' \((?<kind>\w+)\): (?<why>[^\n]+?)\.? Switching (?:this )?layer'?s? device type to GPU|Default DLA is enabled but layer (?<layer2>[^\n]+?) is not (?:supported|running) on DLA|Validation failed for DLA layer: (?<layer3>[^\n]+?)\. Switching|Splitting DLA subgraph at: (?<layer4>[^\n]+?) because|(?<why5>DLA (?:only supports|supports only) [^\n]+?)\. Switching (?:to GPU for layer )?(?<layer5>(?!this layer)[^\n]+?)(?: device type to GPU|$)|DLA Layer (?<layer6>[^\n]+?) (?<why6>does not support [^\n]+?)\.?$|(?<!\w)(?<kind7>\w+) layer (?<layer7>[^\n]+?) (?:is )?not supported on DLA|(?:^|\] |WARNING: )(?<layer8>(?:\(Unnamed Layer\* \d+\) \[\w+\]|[^\s:'"]+)): (?<why8>(?:DLA (?:cores? |Layers? )?(?:only |does not |do not |cannot |requires |supports )|\w+ on DLA )[^\n]+?)(?:\.? Switching [^\n]*|\.?$)/m,
    severity: 'warning',
    named: ({ 0: text, groups = {} }, whole) => {
      const of = (name: string): string | undefined =>
        Object.entries(groups).find(([key, value]) => value !== undefined && key.startsWith(name))?.[1];
      const layer = of('layer');
      return {
        layer,
        values: {
          kind: of('kind') ?? kindIn(layer ?? '') ?? 'layer',
          why:
            of('why') ??
            (text.startsWith('Validation') ? /^This version of DLA [^\n]+/.exec(whole)?.[0] : undefined) ??
            UNEXPLAINED,
        },
      };
    },
    // What several such lines say together is made by `dlaReport`.
    cause: 'Layer {layer} ({kind}) runs on the GPU: {why}.',
    advice: 'See the report of all layers that left the DLA.',
    source:
      'NVIDIA-AI-IOT/jetson_dla_tutorial#3, NVIDIA/TensorRT#899, #1301, #2318; lewes6369/TensorRT-Yolov3#86, ultralytics/ultralytics#23488, onnx/tensorflow-onnx#1632, marcoslucianops/DeepStream-Yolo#27',
  },
];

/** `(Unnamed Layer* 277) [Shuffle]` */
const kindIn = (layer: string): string | undefined => /\[(\w+)\]$/.exec(layer)?.[1]?.toUpperCase();

/** Why a layer left the DLA where TensorRT says no more. */
export const UNEXPLAINED = 'not supported on DLA';
