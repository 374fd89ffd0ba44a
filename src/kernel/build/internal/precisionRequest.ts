import type { CommandNote, EngineOptions } from '../buildOptions.ts';
import { precisionModes, type TypeSwitch } from './optionValues.ts';

/** What a build asks of TensorRT's types, the same for every program. */
export interface PrecisionRequest {
  /** The types that TensorRT may use in addition to FP32: those of the mode, then those that single layers request. */
  types: TypeSwitch[];
  constraints: 'none' | 'prefer' | 'obey';
  notes: CommandNote[];
}

/**
 * What the precision options of a build ask for. The type of a single layer must be allowed for the whole network, or
 * TensorRT ignores the request.
 * @param typedOnly why the network is strongly typed in any case; null: it is not, or not known to be
 */
export function precisionRequest(options: EngineOptions, typedOnly: string | null = null): PrecisionRequest {
  const { precision = 'fp32', layerPrecisions = [], layerOutputTypes = [], calibrationCache } = options;
  const notes: CommandNote[] = [];
  const refuse = (flag: string, message: string) => notes.push({ kind: 'refused', flag, message });
  const ignore = (message: string) => notes.push({ kind: 'ignored', flag: 'precisionConstraints', message });
  const layers = layerPrecisions.length + layerOutputTypes.length > 0;
  const constraints = options.precisionConstraints ?? (layers ? 'obey' : 'none');
  const none = { types: [], constraints: 'none' as const, notes };
  if (typedOnly !== null) {
    if (precision !== 'fp32') refuse('precision', `${typedOnly}, so the precision ${precision} ${cannot}.`);
    if (layers) refuse('layerPrecisions', `${typedOnly}, so layer precisions ${cannot}.`);
    else if (constraints !== 'none') ignore(`${typedOnly} and has no precision constraints.`);
    if (calibrationCache)
      refuse('calibrationCache', `${typedOnly} and has no calibration. Quantize the model with Q/DQ nodes.`);
    return none;
  }
  if (options.stronglyTyped) {
    const fixed = 'in a strongly typed build, which takes all types from the model';
    if (precision !== 'fp32') refuse('precision', `The precision ${precision} cannot be set ${fixed}.`);
    if (layers) refuse('layerPrecisions', `Layer precisions cannot be set ${fixed}.`);
    if (precision !== 'fp32' || layers) return none;
  }
  if (constraints === 'none' && layers)
    ignore('With precisionConstraints none, TensorRT ignores all layer precisions.');
  const requested = [...layerPrecisions.map(({ type }) => type), ...layerOutputTypes.flatMap(({ types }) => types)];
  const types = [...new Set<string>([...precisionModes[precision], ...requested])];
  return { types: types.filter(isSwitch), constraints, notes };
}

const cannot = 'cannot be set. Build a typed copy of the model';

const switches: Readonly<Record<TypeSwitch, true>> = { fp16: true, bf16: true, int8: true, fp8: true, int4: true };
const isSwitch = (type: string): type is TypeSwitch => Object.hasOwn(switches, type);
