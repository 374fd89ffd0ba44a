import * as vscode from 'vscode';
import type { BackendCapability } from '../../../../../kernel/node/run/buildPlan.ts';
import type { PrecisionMode } from '../../../../../kernel/build/buildOptions.ts';
import type { TaskOptions } from '../../../../../kernel/vscode/builds/taskProperties.ts';
import { nameOf } from '../../../../../kernel/vscode/platform/nameOf.ts';
import { overridesOf } from '../../../../../kernel/vscode/platform/modelFile.ts';
import { typedRules } from './typedRules.ts';

/** A line of the list of precisions. */
export interface PrecisionItem extends vscode.QuickPickItem {
  choice: Pick<Partial<TaskOptions>, 'precision' | 'stronglyTyped' | 'overrides' | 'noTF32'>;
}

const modes: readonly [mode: PrecisionMode, detail: string][] = [
  ['fp16', 'TensorRT may choose FP16 for each layer'],
  ['bf16', 'TensorRT may choose BF16 for each layer'],
  ['int8', 'TensorRT may choose INT8 where the model has Q/DQ nodes or a calibration cache'],
  ['fp8', 'TensorRT may choose FP8 where the model has Q/DQ nodes'],
  ['best', 'TensorRT may choose FP16 and INT8'],
];

/** The precisions that a back-end can build a model in, each in the way that works there. */
export async function precisionChoices(
  storage: vscode.Uri,
  model: vscode.Uri,
  { product, refuses }: BackendCapability,
): Promise<PrecisionItem[]> {
  const program = product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'This TensorRT';
  const items: PrecisionItem[] = [{ label: 'Default', detail: 'The types of the model', choice: {} }];
  for (const [precision, detail] of modes) {
    const label = precision === 'best' ? 'Best' : precision.toUpperCase();
    if (refuses({ precision }).length === 0) items.push({ label, detail, choice: { precision } });
    else if (precision === 'fp16' || precision === 'bf16')
      items.push({
        label: `${label} by a Typed Copy`,
        detail: `${program} takes types from the model: builds a copy of it in ${label}`,
        // oxlint-disable-next-line no-await-in-loop -- two small files
        choice: { overrides: await typedRules(storage, precision) },
      });
  }
  const exact = { precision: 'fp32', noTF32: true } as const;
  if (refuses(exact).length === 0)
    items.push({ label: 'FP32 Without TF32', detail: 'A baseline for comparison', choice: exact });
  if (product === 'tensorrt' && refuses({ stronglyTyped: true }).length === 0)
    items.push({ label: 'Strongly Typed', detail: 'Takes every type from the model', choice: { stronglyTyped: true } });
  const own = overridesOf(model);
  if (await exists(own))
    items.push({
      label: `Rules of ${nameOf(own)}`,
      detail: 'The precision overrides of this model',
      choice: { overrides: own.fsPath },
    });
  return items;
}

const exists = (uri: vscode.Uri): Promise<boolean> =>
  Promise.resolve(vscode.workspace.fs.stat(uri)).then(
    () => true,
    () => false,
  );
