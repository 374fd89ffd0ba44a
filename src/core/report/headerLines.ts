import type { FusionReport, ReportTensor } from '../fusion/fusionReport.ts';
import { counted } from '../text/numbers.ts';
import { oneLine, shorten } from '../text/oneLine.ts';
import { width, wrap } from './textLines.ts';

/** More inputs than these are counted. */
const mostInputs = 6;

/**
 * What was built: model, TensorRT, and the inputs with their shapes, those of the engine where the model leaves a size open:
 * `vit_tiny.onnx · TensorRT 10.6.0`, `Inputs: input float 1×3×224×224`.
 */
export function headerLines(report: FusionReport): string[] {
  const { product, version } = report.tensorrt;
  const name = product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'TensorRT';
  const facts = [
    oneLine(report.model.file),
    product === null && version === null ? '' : `${name}${version === null ? '' : ` ${version}`}`,
    report.build === undefined ? '' : `build ${report.build.number} of ${report.build.of} in the log`,
  ].filter((fact) => fact !== '');
  const inputs = graphInputs(report).map((input) => inputText(report, input));
  const more = inputs.length > mostInputs ? [counted(inputs.length - mostInputs, 'other input')] : [];
  return [
    shorten(facts.join(' · '), width),
    ...(inputs.length === 0 ? [] : wrap(`Inputs: ${[...inputs.slice(0, mostInputs), ...more].join(', ')}`, '', '  ')),
  ];
}

/** The inputs of the main graph: they come first, and nothing produces them. */
function graphInputs({ tensors }: FusionReport): ReportTensor[] {
  const end = tensors.findIndex(({ producer }) => producer !== null);
  return tensors.slice(0, end < 0 ? tensors.length : end);
}

function inputText(report: FusionReport, tensor: ReportTensor): string {
  const isStatic = tensor.shape?.every((size) => typeof size === 'number') === true;
  const built = isStatic ? null : engineDims(report, tensor.name);
  const note = built === null ? '' : built.includes(-1) ? ' (dynamic in the engine)' : ` (built as ${built.join('×')})`;
  return `${tensorText(tensor)}${note}`;
}

/** Dimensions of a tensor as the engine layers have it; -1: dynamic. null if no layer has it by this name. */
function engineDims({ layers }: FusionReport, name: string): readonly number[] | null {
  for (const { inputs, outputs } of layers)
    for (const tensor of [...inputs, ...outputs]) if (tensor.name === name && tensor.dims !== null) return tensor.dims;
  return null;
}

/** `input_ids int64 batch×seq` */
export function tensorText({ name, type, shape }: Pick<ReportTensor, 'name' | 'type' | 'shape'>): string {
  const sizes = shape === null ? '' : shape.length === 0 ? 'scalar' : shape.map((size) => size ?? '?').join('×');
  return [oneLine(name), type ?? '', oneLine(sizes)].filter((part) => part !== '').join(' ');
}
