import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { diagnoseLog } from '../../../../src/features/diagnose/diagnoseLog.ts';
import { BuildLogReader, readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { readLayerInfo, readProfile, readTiming } from '../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { inspectFile } from '../../../../src/kernel/inspect/inspectFile.ts';
import { inspectLog } from '../../../../src/kernel/inspect/inspection.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { readChoices } from '../../../../src/kernel/read/replay/readChoices.ts';
import { readReplay } from '../../../../src/kernel/read/replay/readReplay.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { filesBelow, readFixture } from '../../../support/fixtures.ts';
import { expectGolden, expectNoOtherGolden } from '../../../support/golden.ts';

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const files = [...filesBelow('captures'), ...filesBelow('models'), ...filesBelow('builds')];
/** Every kind of log and layer information, at a size that suits a repository: logs of large models say little else. */
const small =
  /\/(?:cli|fusion_zoo|keep|loop_if|lstm_gru|poly\.(?!int8)|two_inputs|unnamed|unsupported_op)|vit_tiny\.fp16\/|^builds\//;
const large = /deep_encoder_11k\.onnx|fusion_zoo\.n.*log/;

/** The reader of a file, by its name in the captures; undefined: only inspected. */
function readerOf(path: string): ((bytes: Uint8Array) => unknown) | undefined {
  const name = basename(path).replace(/\.gz$/, '');
  if (large.test(path)) return undefined;
  if (name.endsWith('.onnx')) return (bytes) => readModel(bytesOf(bytes));
  if (/^(?:replay|edited|polygraphy_debug_replay).*\.json$/.test(name)) return (bytes) => readReplay(text(bytes));
  if (name === 'choices.jsonl') return (bytes) => readChoices(text(bytes));
  if (name === 'times.json') return (bytes) => readTiming(text(bytes));
  if (!small.test(path)) return undefined;
  if (name === 'layers.json') return (bytes) => readLayerInfo(text(bytes));
  if (name === 'profile.json') return (bytes) => readProfile(text(bytes));
  return /^(?:log\d*\.txt|build\.log)$/.test(name) ? (bytes) => readBuildLog(text(bytes)) : undefined;
}

const read = files.filter((path) => readerOf(path));
/** One golden file for all models, for all builds, and for the captures of each version. */
const goldens: Record<string, string[]> = {};
for (const path of read) {
  const suite = path.startsWith('captures/') ? path.split('/').slice(0, 2) : path.split('/').slice(0, 1);
  (goldens[`readers/${suite.join('.')}`] ??= []).push(path);
}

describe('readers', () => {
  it.each(Object.entries(goldens))('%s', async (golden, paths) => {
    const values: Record<string, unknown> = {};
    // oxlint-disable-next-line no-await-in-loop -- one after the other keeps memory low
    for (const path of paths) values[path] = await readerOf(path)!(readFixture(path));
    expectGolden(golden, values);
  });

  it('no golden file is left over', () => {
    expectNoOtherGolden('readers', Object.keys(goldens));
  });
});

it('every file is inspected', async () => {
  const found: Record<string, unknown> = {};
  for (const path of files) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other keeps memory low
    found[path] = await inspectFile(bytesOf(readFixture(path)), { name: basename(path).replace(/\.gz$/, '') });
  }
  expectGolden('inspections', found);
});

const logs = files.filter((path) => /(?:^|\/)(?:log\d*\.txt|errors\.txt|build\.log)(?:\.gz)?$/.test(path));

it('every log is diagnosed', () => {
  expectGolden(
    'diagnoses',
    Object.fromEntries(logs.map((path) => [path, diagnoseLog(readBuildLog(text(readFixture(path))).value)])),
  );
});

it('every log has the same diagnosis where quiet lines are passed over, and where everything is kept', () => {
  for (const path of logs) {
    const bytes = readFixture(path);
    // Those of the largest model say little else than others, several thousand times.
    if (bytes.length > 4_000_000) continue;
    const read = (options: object) => {
      const reader = new BuildLogReader({ times: false, registered: false, ...options });
      reader.pushBytes(bytes);
      const { value, problems } = reader.end();
      return { found: diagnoseLog(value), log: inspectLog(value, problems) };
    };
    // A listener gets every line.
    const passed = read({});
    expect(passed, path).toEqual(read({ onEvent: () => undefined }));
    expect(passed.found, path).toEqual(diagnoseLog(readBuildLog(text(bytes)).value));
  }
});
