import type { ConversionLoss } from '../../onnx/convertElements.ts';
import type { OnnxGraph, OnnxModel, OnnxTensor } from '../../onnx/onnxModel.ts';
import type { Problem } from '../../text/problem.ts';
import { counted, thousands } from '../../text/numbers.ts';

/** Weights that their new types could not hold, as sentences that name the tensors; [] where all were held. */
export function lossNotes(model: OnnxModel, loss: ConversionLoss): Pick<Problem, 'severity' | 'code' | 'message'>[] {
  const names = loss.where && loss.where.length > 0 ? namesOfPlaces(model.graph) : new Map<string, string>();
  const named = (kind: 'clamped' | 'vanished'): string => {
    const found = (loss.where ?? []).filter((place) => place[kind] > 0);
    const first = found.slice(0, 3).map(({ file, offset }) => names.get(placeKey(file, offset)));
    const known = first.filter((name) => name !== undefined).map((name) => JSON.stringify(name));
    const more = found.length - known.length;
    // A number that is in an attribute has no place of its own.
    if (known.length === 0) return counted(more, 'constant');
    return `${known.join(', ')}${more > 0 ? ` and ${thousands(more)} more` : ''}`;
  };
  const weights = (count: number) => counted(count, 'weight');
  const notes: ReturnType<typeof lossNotes> = [];
  if (loss.clamped > 0) {
    const message = `${weights(loss.clamped)} exceeded the range of the new type and became its largest finite value: in ${named('clamped')}.`;
    notes.push({ severity: 'warning', code: 'weights-clamped', message });
  }
  if (loss.vanished > 0) {
    const message = `${weights(loss.vanished)} ${loss.vanished === 1 ? 'was' : 'were'} too small for the new type and became zero: in ${named('vanished')}.`;
    notes.push({ severity: 'info', code: 'weights-vanished', message });
  }
  return notes;
}

const placeKey = (file: string | undefined, offset: number): string => JSON.stringify([file ?? null, offset]);

/** Initializers by the place of their elements; a Constant has its node's name. */
function namesOfPlaces(graph: OnnxGraph, names = new Map<string, string>()): Map<string, string> {
  const note = ({ data }: OnnxTensor, name: string): void => {
    if (!data) return;
    const key =
      'inline' in data
        ? placeKey(undefined, data.inline.offset)
        : placeKey(data.external['location'], Number(data.external['offset'] ?? 0));
    if (!names.has(key)) names.set(key, name);
  };
  for (const tensor of graph.initializers) note(tensor, tensor.name);
  for (const { name, outputs, attributes, subgraphs } of graph.nodes) {
    for (const { kind, value } of attributes)
      if (kind === 'tensor' && value !== null) note(value as OnnxTensor, name || (outputs[0] ?? ''));
    for (const { graph: body } of subgraphs) namesOfPlaces(body, names);
  }
  return names;
}
