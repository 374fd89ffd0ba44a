import { before, type Version } from '../../../kernel/build/trtexecFlags.ts';
import { targetName, type TensorrtTarget } from '../../../kernel/rules/buildFacts.ts';
import type {
  ReplayEntry,
  ReplayFix,
  ReplayVariant,
  Span,
  TensorFormat,
} from '../../../kernel/read/replay/replayFile.ts';
import { formatName } from '../editReplay.ts';

type Report = (span: Span, severity: 'error' | 'warning', code: string, message: string, fixes?: ReplayFix[]) => void;

/** Checks what one entry says of its inputs and outputs by itself, without any build. */
export function checkTensors(
  { algorithm, places }: ReplayEntry,
  target: TensorrtTarget | null,
  variant: ReplayVariant | null,
  report: Report,
): void {
  const tensors = [...algorithm.inputs, ...algorithm.outputs];
  for (const [i, tensor] of tensors.entries()) {
    const { dtype, format } = places.tensors[i] ?? {};
    if (dtype && target) checkType(tensor.dtype, dtype, target, report);
    if (format && variant === 'C') checkIgnored(tensor, format, report);
  }
}

/**
 * Data types by the first version of TensorRT whose Python module is known to have them and the first version that is
 * not known to lack them.
 */
const typesSince: Readonly<Record<string, { known: string; unless: Version }>> = {
  UINT8: { known: '8.5', unless: [8, 5, 0] },
  FP8: { known: '8.6', unless: [8, 6, 0] },
  BF16: { known: '10.0', unless: [9, 0, 0] },
  INT64: { known: '10.0', unless: [9, 0, 0] },
  INT4: { known: '10.0', unless: [9, 0, 0] },
  FP4: { known: '10.8', unless: [10, 8, 0] },
  E8M0: { known: '10.12', unless: [10, 12, 0] },
};

/** Polygraphy looks the name up in TensorRT's module: without it there, no entry of the file is loaded. */
function checkType(dtype: string, span: Span, target: TensorrtTarget, report: Report): void {
  const since = typesSince[dtype];
  if (!since || !target.version || !before(target.version, since.unless)) return;
  const message = `${targetName(target)} has no DataType.${dtype} (TensorRT ${since.known} has), so Polygraphy cannot load this file.`;
  report(span, 'error', 'unknown-type', message);
}

/** A "tensor_format" that says something else than the other members, as an edit of it alone leaves it. */
function checkIgnored(tensor: TensorFormat, span: Span, report: Report): void {
  if (!contradicts(tensor)) return;
  const name = formatName(tensor);
  const fixes =
    name === null
      ? []
      : [
          {
            title: `Change to TensorFormat.${name}`,
            edits: [{ ...span, text: JSON.stringify(`TensorFormat.${name}`) }],
            preferred: true,
          },
        ];
  const message = `Polygraphy after 0.49.0 ignores "tensor_format". The layout is that of strides, vectorized_dim and components_per_element${name === null ? '' : ` (${name})`}, which TensorFormat.${tensor.format} contradicts.`;
  report(span, 'warning', 'format-ignored', message, fixes);
}

/** What a format's name says for sure of strides and vectors; formats of a DLA are left out. */
function contradicts({ format, strides, vectorizedDim, components }: TensorFormat): boolean {
  const parts = /^(?:LINEAR|CD?HW(2|4|16|32)|(D?HWC)(8|16)?)$/.exec(format ?? '');
  if (parts === null) return false;
  const vector = Number(parts[1] ?? parts[3] ?? 1);
  if (vectorizedDim !== null && components !== null && vector !== components) return true;
  if (strides === null || strides.length < 2) return false;
  if (format === 'LINEAR') return strides.at(-1) !== 1;
  return parts[2] !== undefined && strides[1] !== 1;
}
