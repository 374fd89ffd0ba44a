import { type DiagnosisRule, EVERY_CAUSE } from '../rule.ts';

const POLYGRAPHY_RULES: readonly DiagnosisRule[] = [
  {
    id: 'polygraphy-invalid-values',
    code: 'failed',
    pattern:
      /Output validation failed: iteration \d+ contains invalid values|Encountered (?:one or more )?(?:NaNs?|non-finite)[^\n]{0,60}(?:values|in output)|(?<!\b[Nn]o )\b(?:NaN|Inf) Detected\b/,
    severity: 'error',
    once: true,
    cause: 'An output has NaN or infinite values.',
    advice:
      'Find the first tensor with them: run with --validate and all outputs marked (--trt-outputs mark all --onnx-outputs mark all --onnxrt). If ONNX Runtime has them too, the input or the model makes them. If only FP16 has them, values exceed 65504 there: keep that part (normalization, softmax, exp, sums) in FP32, or use BF16.',
    sure: 'likely',
    source: 'Polygraphy comparator/comparator.py',
  },
];

/** Polygraphy, ONNX Runtime, TensorFlow, Paddle, and programs that build on them. */
export const FRAMEWORK_RULES: readonly DiagnosisRule[] = [
  ...POLYGRAPHY_RULES,
  {
    id: 'provider-failed',
    anywhere: true,
    code: 'failed',
    pattern:
      /TensorRT EP (?:failed to create|could not build|could not deserialize|Failed to Build) [eE]ngine|EP_FAIL : (?<why>[^\n]+)|TensorRT EP failed to create/,
    named: ({ 0: text }) => ({ values: { who: /TensorRT|TRT/i.test(text) ? 'The TensorRT provider' : 'A provider' } }),
    cause: '{who} of ONNX Runtime gave up[[: {why}]].',
    advice:
      'The first error of the provider above is the cause; set log_severity_level=0 and trt_detailed_build_log to see it. Without the provider in the list, or with the CUDA provider after it, the model runs meanwhile.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'ONNX Runtime tensorrt_execution_provider.cc; microsoft/onnxruntime#21567',
  },
];
