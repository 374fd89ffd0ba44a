import { type DiagnosisRule } from '../rule.ts';

/** Torch-TensorRT's own checks in Python: what was given to it, and how its modules are run. */
const TORCH_CHECKS: readonly DiagnosisRule[] = [];

/** Torch-TensorRT, torch2trt, and the export of PyTorch models. */
export const TORCH_RULES: readonly DiagnosisRule[] = [
  ...TORCH_CHECKS,
  {
    id: 'torch-trt-conversion',
    code: 'unsupported-op',
    pattern:
      /Target (?<name3>aten\.[\w.]+) does not support|Conversion of function (?<name>\S+) not currently supported|UnsupportedOperatorException|Unable to (?:convert|get schema for)(?: node)?:? (?<name2>[^\n(]{0,200})|Could not find schema for[^\n]*/,
    severity: 'error',
    named: ({ groups: { name, name2, name3 } = {} }) => ({
      values: { name: name ?? name3 ?? /\baten::\w+|\bprim::\w+/.exec(name2 ?? '')?.[0] },
    }),
    cause: 'Torch-TensorRT has no converter for an operator of the module[[: {name}]], or not in this form.',
    advice:
      'Leave it to PyTorch: name it in torch_executed_ops and compile without require_full_compilation (to convert a whole module to an engine every operator needs a converter). A later Torch-TensorRT has more converters, and the Dynamo front end (ir="dynamo") more than TorchScript.',
    after: ['out-of-memory'],
    source: 'Torch-TensorRT dynamo/conversion/_TRTInterpreter.py, core/conversion',
  },
];
