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
  return `${tensorText(tensor)}${isStatic ? '' : (builtText(report, tensor.name) ?? engineText(report, tensor.name))}`;
}

/** ` (built for 1×8 to 8×256, optimum 4×64)`; null if nothing says for which shapes. */
function builtText({ builtShapes = [] }: FusionReport, name: string): string | null {
  const own = builtShapes.filter(({ input }) => input === name);
  if (own.length === 0) return null;
  const texts = own.map(({ min, opt, max }) => {
    const [least, best, most] = [min, opt, max].map((sizes) => sizes.join('×'));
    if (least === most) return `${best}`;
    return `${least} to ${most}${best === least || best === most ? '' : `, optimum ${best}`}`;
  });
  const isOne = own.length === 1 && own[0]!.min.join() === own[0]!.max.join();
  return ` (built ${isOne ? 'as' : 'for'} ${texts.join('; ')})`;
}

/** What the layers have: TensorRT 8 writes the shapes of the run there, not those of the engine. */
function engineText(report: FusionReport, name: string): string {
  const dims = engineDims(report, name);
  if (dims === null) return '';
  return dims.includes(-1) ? ' (dynamic in the engine)' : ` (${dims.join('×')} in the layer info)`;
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
