import type { DiagnosisRule } from '../rule.ts';
import { EVERY_CAUSE } from './everyCause.ts';

/** Torch-TensorRT, torch2trt, and the export of PyTorch models. */
export const TORCH_RULES: readonly DiagnosisRule[] = [
  {
    id: 'torchscript-build',
    code: 'failed',
    pattern: /\[Error thrown at core\/conversion\/[^\]]*\] Building TensorRT engine failed/,
    cause: 'Torch-TensorRT got no engine from TensorRT: the cause is an error that TensorRT printed before.',
    advice:
      'Compile inside `with torch_tensorrt.logging.debug():` to see what TensorRT says, and look at the first error.',
    after: EVERY_CAUSE,
    source: 'pytorch/TensorRT#536',
  },
  {
    id: 'torch-tensorrt-operators',
    code: 'unsupported-op',
    pattern:
      /Unsupported operators? listed below|Method requested cannot be compiled (?:end to end )?by (?:Torch-)?TensorRT|VerifyConverterSupportForBlock\(g->block\(\)\) to be true/,
    once: true,
    cause: 'Torch-TensorRT has no converter for some operators of the module; the log lists them (aten::…).',
    advice:
      'Leave them to PyTorch: compile without require_full_compilation, or name them in torch_executed_ops. The Dynamo front end (ir="dynamo") has more converters.',
    source: 'pytorch/TensorRT core/compiler.cpp',
  },
  {
    id: 'torch2trt-converter',
    code: 'unsupported-op',
    pattern: /has no attribute '_trt'|known unsupported method (?<name>[\w.]+)/,
    once: true,
    named: (m, text) => ({
      values: { name: m.groups!['name'] ?? /known unsupported method ([\w.]+)/.exec(text)?.[1] },
    }),
    cause: 'A method that the model calls has no converter in torch2trt[[: {name}]].',
    advice:
      'Rewrite the module without it, add a converter (`@tensorrt_converter`), or go by ONNX: torch.onnx.export, then trtexec.',
    source: 'NVIDIA-AI-IOT/torch2trt torch2trt.py',
  },
];
