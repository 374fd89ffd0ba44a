import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { repairModel } from '../../src/builder/repair/repairModel.ts';
import type { RepairRequest } from '../../src/builder/repair/repairRequest.ts';
import { readModel } from '../../src/core/formats/onnx/readModel.ts';
import { catalogue } from '../../src/core/repair/planRepair.ts';
import { readMap } from '../../src/core/network/repairMap.ts';
import type { RepairResult } from '../../src/core/repair/repairResult.ts';
import { bytesOf } from '../../src/core/base/problem.ts';
import { pythonForTests, type RepairCase } from '../support/python.ts';
import { driverPath, rtxForTests, temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();
let runtime: Awaited<ReturnType<RepairRequest['runtime']>>;
let cases: RepairCase[];

beforeAll(async () => {
  await rtxForTests();
  const python = await pythonForTests();
  ({ runtime } = python);
  cases = await python.repairModels(folder);
});

const repaired = (
  name: string,
  allow: readonly string[],
  out = `${name}.repaired`,
  only?: string[],
): Promise<RepairResult> =>
  repairModel({
    options: {
      model: join(folder, `${name}.onnx`),
      backend: 'rtx',
      driver: driverPath,
      confirm: () => Promise.reject(new Error('asked')),
    },
    out: join(folder, `${out}.onnx`),
    allow: new Set(allow),
    only,
    samples: [],
    runtime: () => Promise.resolve(runtime),
    script: join(driverPath, '../repair_model.py'),
  });

const modelOf = async (path: string) => (await readModel(bytesOf(readFileSync(path)))).value!;

test('each model builds with its repairs, and its outputs are as they promise', { timeout: 1_500_000 }, async () => {
  const found: object[] = [];
  for (const one of cases) {
    // oxlint-disable-next-line no-await-in-loop -- each build takes the whole machine
    const result = await repaired(one.name, one.allow);
    const ids = result.repairs.map(({ id }) => id);
    found.push({ name: one.name, status: result.status, repairs: ids, shown: one.shown && result.verdict?.shown });
    // What claims to be exact is.
    const claims = ids.map((id) => catalogue.find((repair) => repair.id === id)!.class);
    if (result.status === 'repaired' && claims.every((claim) => claim === 'exact') && !one.allow.includes('unproved'))
      expect(result.verdict, one.name).toMatchObject({ holds: true, shown: 'exact' });
  }
  const expected = cases.map(({ name, status, repairs, shown }) => ({ name, status, repairs, shown }));
  expect(found).toEqual(expected);
});

test('a repaired model needs no repair, keeps its metadata and says what was made of its nodes', async () => {
  const first = await repaired('two_repairs', [], 'once');
  const again = await repairModel({
    options: { model: first.written!, backend: 'rtx', driver: driverPath, confirm: () => Promise.resolve(false) },
    out: join(folder, 'twice.onnx'),
    allow: new Set(),
    samples: [],
    runtime: () => Promise.resolve(runtime),
    script: join(driverPath, '../repair_model.py'),
  });
  expect(again).toMatchObject({ status: 'builds', repairs: [], written: null });
  const model = await modelOf(first.written!);
  expect(model.metadata).toContainEqual({ key: 'author', value: 'someone' });
  expect(readMap(model)).toMatchObject({
    original: expect.stringMatching(/^[0-9a-f]{64}$/),
    repairs: [
      { id: 'dequantize-constants', class: 'exact', places: [{ from: 'd', operator: 'DequantizeLinear', to: ['d'] }] },
      { id: 'unwrap-optionals', class: 'exact', places: [{ from: 'get' }] },
    ],
  });
});

test('no repair of several can be left out', async () => {
  for (const name of ['two_repairs', 'qlinear_matmul', 'function']) {
    const { repairs, allow } = cases.find((one) => one.name === name)!;
    for (const left of repairs) {
      const only = repairs.filter((id) => id !== left);
      // oxlint-disable-next-line no-await-in-loop -- each build takes the whole machine
      const status = await repaired(name, allow, `${name}-less`, only).then(
        (result) => result.status,
        // A repair that needs the other one does not even apply.
        () => 'failed',
      );
      expect(status, `${name} without ${left}`).toBe('failed');
    }
  }
});

test('what is not exact is not written without a yes', async () => {
  const result = await repaired('det', [], 'never');
  expect(result).toMatchObject({ status: 'not-allowed', notAllowed: ['expand-determinant'], written: null });
});
