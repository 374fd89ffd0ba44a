import { expect, it } from 'vitest';
import { refusals } from '../../../../src/kernel/node/run/buildPlan.ts';
import { driverCommand, trtexecCommand } from '../../../../src/kernel/build/buildCommand.ts';
import { readTrtexecHelp } from '../../../../src/kernel/build/trtexecFlags.ts';
import { offeredPresets, presets } from '../../../../src/kernel/vscode/builds/presets.ts';
import type { TaskOptions } from '../../../../src/kernel/vscode/builds/taskProperties.ts';
import { captureText } from '../../../support/fixtures.ts';

const files = { engine: 'e', layers: 'l', profile: 'p', times: 't', precisions: 'q' };
const offered = (refuses: (options: Partial<TaskOptions>) => string[]) =>
  offeredPresets(refuses).map(({ preset, way }) => (way === 'options' ? preset.id : `${preset.id} by a copy`));

it('offers what TensorRT-RTX builds, and typed copies for the rest', () => {
  const rtx = (options: Partial<TaskOptions>) =>
    refusals(driverCommand({ model: 'm', ...options }, { ...files, model: 'm' }, { product: 'tensorrt-rtx' }).notes);
  expect(offered(rtx)).toEqual(['default', 'fp16 by a copy', 'bf16 by a copy', 'fp32', 'unfused', 'typed', 'shapes']);
});

it('offers what a version of trtexec builds', () => {
  const help = readTrtexecHelp(captureText('tensorrt-10.6.0/cli.help/log.txt')!);
  const trtexec = (options: Partial<TaskOptions>) =>
    refusals(trtexecCommand({ model: 'm', ...options }, files, help).notes);
  expect(offered(trtexec)).toEqual(['default', 'fp16', 'bf16', 'fp32', 'int8', 'typed', 'shapes']);
});

it('offers everything where nothing is refused', () => {
  expect(offered(() => [])).toEqual(presets.map(({ id }) => id));
});
