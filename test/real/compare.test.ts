import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { runProcess } from '../../src/kernel/node/tools/runProcess.ts';
import { runPythonJob } from '../../src/kernel/node/tools/runPythonJob.ts';
import {
  type ComparedRuns,
  comparedDocument,
  type ComparedTensor,
  compareRuns,
} from '../../src/features/accuracy/precisionSweep.ts';
import { renderText } from '../../src/kernel/document/render.ts';
import { fixturePath } from '../support/fixtures.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { runtimeForTests } from '../support/runtime.ts';

const folder = temporaryFolder();
const path = (name: string) => join(folder, name);

/** The same two tensors as every tool writes them; `y` of the second run is off by 0.5, of the third it has NaN and inf. */
const write = String.raw`
import base64, io, json, os, sys
import numpy as np
folder = sys.argv[1]
x = np.float32([[1, -2, 4]])
runs = {"a": x, "b": x + np.float32([[0, 0.5, 0]]), "c": np.float32([[np.nan, -2, np.inf]])}
def npy(array):
    file = io.BytesIO(); np.save(file, array); return base64.b64encode(file.getvalue()).decode()
def polygraphy(array):
    return {"values": {"array": npy(array), "polygraphy_class": "ndarray"}, "polygraphy_class": "LazyArray"}
def results(*runners):
    lst = [[name, [{"outputs": {"/net/y:0": polygraphy(y), "n": polygraphy(np.int64([1, 2, 3, 4]))}, "runtime": 0.1, "polygraphy_class": "IterationResult"}]] for name, y in runners]
    return {"lst": lst, "polygraphy_class": "RunResults"}
def bare(value):
    return "nan" if np.isnan(value) else ("-inf" if value < 0 else "inf") if np.isinf(value) else repr(float(value))
for name, y in runs.items():
    np.savez(f"{folder}/{name}.npz", **{"/net/y:0": y, "n": np.int64([1, 2, 3, 4])})
    json.dump(results((name, y)), open(f"{folder}/{name}.polygraphy.json", "w"))
    os.makedirs(f"{folder}/{name}.polygraphy"); json.dump(results((name, y))["lst"][0][1][0], open(f"{folder}/{name}.polygraphy/0000000000.json", "w"))
    values = ", ".join(map(bare, y.ravel()))
    open(f"{folder}/{name}.trtexec.json", "w").write('[\n  { "name" : "/net/y:0"\n  , "dimensions" : "1x3"\n  , "values" : [ ' + values + ' ]\n  },\n  { "name" : "n", "dimensions" : "4", "values" : [ 1, 2, 3, 4 ] }\n]\n')
    os.makedirs(f"{folder}/{name}.raw"); y.tofile(f"{folder}/{name}.raw/_net_y_0.output.1x3.Float.raw"); np.int64([1, 2, 3, 4]).tofile(f"{folder}/{name}.raw/n.output.4.int64.raw"); np.zeros(2, np.float32).tofile(f"{folder}/{name}.raw/q.input.2.Float.raw")
    os.makedirs(f"{folder}/{name}.npy"); np.save(f"{folder}/{name}.npy/_net_y_0.npy", y); np.save(f"{folder}/{name}.npy/n.npy", np.int64([1, 2, 3, 4]))
    os.makedirs(f"{folder}/{name}.debug"); np.save(f"{folder}/{name}.debug/0.npy", y)
    number = lambda v: float(v) if np.isfinite(v) else str(v)
    tensors = [{"name": "/net/y:0", "shape": [1, 3], "type": "Float", "statistics": {"min": number(y.min()), "max": number(y.max()), "avg": 0, "elements": 3}, "files": {"numpy": "somewhere/0.npy"}},
               {"name": "n", "shape": [4], "type": "Int64", "statistics": {"min": 1, "max": 4, "avg": 2.5, "elements": 4}, "files": {}}]
    json.dump({"metadata": {"title": "t"}, "tensors": tensors}, open(f"{folder}/{name}.debug/tensor_summary.json", "w"))
    tensors[0]["files"] = {}
    json.dump({"metadata": {"title": "t"}, "tensors": tensors}, open(f"{folder}/{name}.summary.json", "w"))
json.dump(results(("onnxrt", runs["a"]), ("trt", runs["b"])), open(f"{folder}/two.json", "w"))
json.dump({"polygraphy_class": "AccuracyResults", "lst": []}, open(f"{folder}/accuracy.json", "w"))
json.dump({"polygraphy_class": "AccuracyResults", "lst": 7}, open(f"{folder}/accuracy.odd.json", "w"))
np.savez(f"{folder}/nan.npz", **{"/net/y:0": runs["c"], "n": np.int64([1, 2, 3, 5])})
open(f"{folder}/odd.json", "w").write('{"lst": 7')
open(f"{folder}/odd.npz", "w").write("no archive")
whole = bytearray(open(f"{folder}/a.npz", "rb").read())
open(f"{folder}/cut.npz", "wb").write(whole[:200])
whole[192] ^= 255
open(f"{folder}/damaged.npz", "wb").write(whole)
open(f"{folder}/deep.json", "w").write("[" * 100000)
np.save(f"{folder}/object.npy", np.array([{}], object))
`;

beforeAll(async () => {
  const { python, environment } = await runtimeForTests();
  const lines: string[] = [];
  const stderr = (line: string) => lines.push(line);
  const { code } = await runProcess({ program: python, args: ['-c', write, folder], environment, stderr });
  expect([code, lines]).toEqual([0, []]);
});

const script = fileURLToPath(new URL('../../src/driver/compare_runs.py', import.meta.url));

async function compare(a: string, b: string): Promise<ComparedRuns> {
  return runPythonJob<ComparedRuns>({ ...(await runtimeForTests()), script, request: { a: path(a), b: path(b) } });
}

const named = ({ tensors }: ComparedRuns, name: string): ComparedTensor =>
  tensors.find((tensor) => tensor.name === name || tensor.other === name)!;

describe.each(['.npz', '.polygraphy.json', '.polygraphy', '.trtexec.json', '.raw', '.npy', '.debug'])('%s', (kind) => {
  test('as the reference and as what is compared', async () => {
    for (const [a, b] of [
      ['a.npz', `b${kind}`],
      [`a${kind}`, 'b.npz'],
    ] as const) {
      const y = named(await compare(a, b), '/net/y:0');
      expect({ error: y.error, finite: y.finite, shape: y.shape }).toEqual({
        error: 0.125,
        finite: true,
        shape: [1, 3],
      });
    }
    const broken = await compare('a.npz', `c${kind}`);
    expect(named(broken, '/net/y:0')).toMatchObject({ error: null, finite: false, nan: 1, inf: 1 });
    expect(named(broken, 'n')).toMatchObject({ error: 0, finite: true });
    // What both have not finite is no difference.
    expect(named(await compare('c.npz', `c${kind}`), '/net/y:0')).toMatchObject({ error: 0, finite: true });
  });
});

test('of statistics only minimum and maximum are compared, and that is said', async () => {
  const off = named(await compare('a.npz', 'b.summary.json'), '/net/y:0');
  expect(off).toMatchObject({ range: true, finite: true, error: 0.125 });
  expect(named(await compare('a.npz', 'c.summary.json'), '/net/y:0')).toMatchObject({ range: true, finite: false });
});

test('of several runners in one file the first is the reference of the last', async () => {
  const both = await compare('two.json', 'two.json');
  expect(named(both, '/net/y:0').error).toBe(0.125);
  expect(both.notes).toHaveLength(2);
});

test('tensors that only one side has are named', async () => {
  const { onlyA, onlyB, tensors } = await compare('a.npz', 'b.raw');
  expect([onlyA, onlyB, tensors.length]).toEqual([[], ['q'], 2]);
});

test.each([
  ['missing.npz', 'no such file or folder'],
  ['odd.npz', 'cannot be read'],
  ['odd.json', 'cannot be read'],
  ['cut.npz', /cut\.npz: cannot be read: File is not a zip file/],
  ['damaged.npz', /damaged\.npz: cannot be read: /],
  ['deep.json', /deep\.json: cannot be read: /],
  ['object.npy', 'cannot be read'],
  ['accuracy.odd.json', ': '],
])('%s: one sentence says what is wrong', async (file, words) => {
  await expect(compare('a.npz', file)).rejects.toThrow(words);
  await expect(compare(file, 'a.npz')).rejects.toThrow(words);
});

describe("Polygraphy's accuracy results, which 0.53.6 wrote", () => {
  const compareStored = async (reference: string, name: string): Promise<ComparedRuns> => {
    const request = { a: path(reference), b: fixturePath(`polygraphy/${name}`) };
    return runPythonJob<ComparedRuns>({ ...(await runtimeForTests()), script, request });
  };

  test('the largest difference and the reference give the same error as the tensors', async () => {
    const stored = await compareStored('a.npz', 'accuracy.json');
    const { error, finite } = named(await compare('a.npz', 'b.npz'), '/net/y:0');
    expect(named(stored, '/net/y:0')).toMatchObject({ error, finite, stored: true });
    expect(named(stored, 'n')).toMatchObject({ error: 0, kind: 'other' });
  });

  test('NaN is not finite, and of several comparisons the simple one counts', async () => {
    const stored = await compareStored('a.npz', 'accuracy.nan.json');
    expect(named(stored, '/net/y:0')).toMatchObject({ error: null, finite: false });
    const { tensors } = compareRuns(stored, 0.01, null, null);
    expect(tensors.map(({ passes }) => passes)).toEqual([false, true]);
  });

  test('what does not follow from it is not guessed, and does not pass', async () => {
    // The same NaN as the reference, or another one: both give NaN as a difference.
    const stored = await compareStored('nan.npz', 'accuracy.nan.json');
    expect(named(stored, '/net/y:0')).toMatchObject({ error: null, finite: true });
    const comparison = compareRuns(stored, 0.01, null, null);
    expect(comparison.tensors[0]!.passes).toBe(false);
    expect(renderText(comparedDocument(comparison))).toMatch(/✗ \/net\/y:0 +not stored/);
  });

  test('other comparisons, and a reference that has no tensors, are refused', async () => {
    await expect(compareStored('a.npz', 'accuracy.indices.json')).rejects.toThrow('--compare simple');
    await expect(compare('accuracy.json', 'a.npz')).rejects.toThrow('Pass a file of --save-outputs');
    await expect(compare('a.npz', 'accuracy.json')).rejects.toThrow('--compare simple');
  });
});
