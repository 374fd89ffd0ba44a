import { addProblem } from './checkContext.ts';
import type { CheckContext } from './checkContext.ts';
import { changeTo } from '../language/changeType.ts';
import type { TypeWord } from '../language/overrideFile.ts';
import { hasLayerFlags, targetName } from '../plan/tensorrtTarget.ts';

/** Types that are nothing without scales: int8, fp8, int4. */
export function checkQuantised(context: CheckContext, word: TypeWord): void {
  const { target } = context;
  if (word.type === 'int8' && hasLayerFlags(target) !== false) {
    const message =
      'INT8 also needs scales from calibration, dynamic ranges or Q/DQ nodes. Without them TensorRT keeps the layer in floating point.';
    addProblem(context, word.range, 'info', 'type-needs-scales', message, changeTo(word));
    return;
  }
  const message = `${targetName(target)} uses ${word.type} only between Q/DQ nodes of the model, so a rule cannot set it. Quantize the model first.`;
  addProblem(context, word.range, 'error', 'type-needs-qdq', message, changeTo(word));
}
