import { basename } from 'node:path';
import { describe, it } from 'vitest';
import { diagnoseLog } from '../../../src/core/diagnose/diagnoseLog.ts';
import { readBuildLog } from '../../../src/core/engine/readBuildLog.ts';
import { readLayerInfo } from '../../../src/core/engine/readLayerInfo.ts';
import { readProfile } from '../../../src/core/engine/readProfile.ts';
import { readTiming } from '../../../src/core/engine/readTiming.ts';
import { inspectFile } from '../../../src/core/inspect/inspectFile.ts';
import { readModel } from '../../../src/core/onnx/readModel.ts';
import { readChoices } from '../../../src/core/replay/readChoices.ts';
import { readReplay } from '../../../src/core/replay/readReplay.ts';
import { bytesOf } from '../../../src/core/text/byteSource.ts';
import { filesBelow, readFixture } from '../../support/fixtures.ts';
import { expectGolden, expectNoOtherGolden } from '../../support/golden.ts';

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
const goldenOf = (path: string): string => `readers/${path.replace(/\.gz$/, '').replaceAll('/', '.')}`;

describe('readers', () => {
  it.each(read)('%s', async (path) => {
    expectGolden(goldenOf(path), await readerOf(path)!(readFixture(path)));
  });

  it('no golden file is left over', () => {
    expectNoOtherGolden('readers', read.map(goldenOf));
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

it('every log is diagnosed', () => {
  const logs = files.filter((path) => /(?:^|\/)(?:log\d*\.txt|errors\.txt|build\.log)(?:\.gz)?$/.test(path));
  expectGolden(
    'diagnoses',
    Object.fromEntries(logs.map((path) => [path, diagnoseLog(readBuildLog(text(readFixture(path))).value)])),
  );
});
