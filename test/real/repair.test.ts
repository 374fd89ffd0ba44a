import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { repairModel } from '../../src/features/repair/node/repairModel.ts';
import type { RepairRequest } from '../../src/features/repair/node/repairRequest.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import type { OnnxNode } from '../../src/kernel/read/onnx/onnxModel.ts';
import { catalogue, planRepair } from '../../src/features/repair/planRepair.ts';
import { readMap } from '../../src/kernel/network/repairMap.ts';
import { RepairSubject } from '../../src/features/repair/subject.ts';
import { repairDocument, type RepairResult, repairText } from '../../src/features/repair/repairResult.ts';
import { renderHtml } from '../../src/kernel/document/render.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { forkedScripts } from '../support/forkedScripts.ts';
import { type PythonTools, pythonForTests, type RepairCase } from '../support/python.ts';
import { rtxForTests, temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();
let runtime: Awaited<ReturnType<RepairRequest['runtime']>>;
let cases: RepairCase[];
let check: PythonTools['check'];
let driver: string;
let script: string;

beforeAll(async () => {
  const python = await pythonForTests();
  ({ runtime } = python);
  driver = join(await forkedScripts(await rtxForTests(), ['tensorrt_rtx']), 'build_engine.py');
  script = join(await forkedScripts(runtime, ['onnxruntime']), 'repair_model.py');
  check = (jobs) => python.check(jobs);
  cases = await python.repairModels(folder);
});

const repaired = (
  name: string,
  allow: readonly string[],
  out = `${name}.repaired`,
  only?: string[],
  tensorrt: string | null = null,
): Promise<RepairResult> =>
  repairModel({
    ...(tensorrt !== null && { target: { product: 'tensorrt', version: tensorrt, capability: null } }),
    options: {
      model: join(folder, `${name}.onnx`),
      backend: 'rtx',
      driver,
      confirm: () => Promise.reject(new Error('asked')),
    },
    out: join(folder, `${out}.onnx`),
    allow: new Set(allow),
    only,
    samples: [],
    runtime: () => Promise.resolve(runtime),
    script,
  });

const modelOf = async (path: string) => (await readModel(bytesOf(readFileSync(path)))).value!;

test('each model builds with its repairs, and its outputs are as they promise', { timeout: 1_500_000 }, async () => {
  const found: object[] = [];
  for (const one of cases) {
    // oxlint-disable-next-line no-await-in-loop -- each build takes the whole machine
    const result = await repaired(one.name, one.allow, undefined, undefined, one.tensorrt);
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

const keyOf = ({ name, outputs }: OnnxNode): string => [name, ...outputs].join();

/** The bytes of each node. */
const nodesOf = (bytes: Buffer, nodes: readonly OnnxNode[]) =>
  new Map(nodes.map((node) => [keyOf(node), bytes.subarray(node.span!.offset, node.span!.offset + node.span!.length)]));

test('repaired models are valid, nothing is left to repair in them, and what was not repaired has its bytes', async () => {
  const done = cases.filter(({ status, allow }) => status === 'repaired' && !allow.includes('unproved'));
  const answers = await check(
    done.flatMap(({ name }) => [name, `${name}.repaired`].map((one) => ({ model: join(folder, `${one}.onnx`) }))),
  );
  for (const [index, { name, repairs }] of done.entries()) {
    const [original, result] = answers.slice(2 * index);
    if (original!.checked === true) expect(result!.checked, name).toBe(true);
    const [before, after] = ['', '.repaired'].map((ending) => readFileSync(join(folder, `${name}${ending}.onnx`)));
    const [{ value: old }, { value: model }] = [
      // oxlint-disable-next-line no-await-in-loop
      await readModel(bytesOf(before!), { spans: true }),
      // oxlint-disable-next-line no-await-in-loop
      await readModel(bytesOf(after!), { spans: true }),
    ];
    const subject = new RepairSubject(model!, bytesOf(after!), {
      shapes: [],
      open: () => Promise.reject(new Error('no external data')),
      compute: () => Promise.resolve(new Map()),
    });
    for (const id of repairs) {
      // oxlint-disable-next-line no-await-in-loop
      const { edits } = await planRepair(
        subject,
        catalogue.find((one) => one.id === id)!,
        new Set(),
      );
      expect(edits, `${name}: ${id} again`).toBeNull();
    }
    const places = new Set(readMap(model!)!.repairs.flatMap((one) => one.places.map(({ from }) => from)));
    const now = nodesOf(after!, model!.nodes);
    for (const node of old!.nodes) {
      const own = nodesOf(before!, [node]).get(keyOf(node))!;
      const kept = now.get(keyOf(node));
      // A node that only fed a repaired one is gone; other nodes may write what it wrote.
      if (kept === undefined || places.has(node.name) || node.subgraphs.length > 0) continue;
      expect(own.equals(kept), `${name}: ${node.name}`).toBe(true);
    }
  }
});

test('a repaired model needs no repair, keeps its metadata and says what was made of its nodes', async () => {
  const first = await repaired('two_repairs', [], 'once');
  const again = await repairModel({
    options: { model: first.written!, backend: 'rtx', driver, confirm: () => Promise.resolve(false) },
    out: join(folder, 'twice.onnx'),
    allow: new Set(),
    samples: [],
    runtime: () => Promise.resolve(runtime),
    script,
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

test('for a version that is not installed its tables decide, and nothing is built', async () => {
  const at = (model: string, version: string, out: string): Promise<RepairResult> =>
    repairModel({
      options: { model, backend: 'rtx', driver, confirm: () => Promise.reject(new Error('asked')) },
      target: { product: 'tensorrt', version, capability: null },
      out: join(folder, out),
      allow: new Set(['rounding']),
      samples: [],
      runtime: () => Promise.resolve(runtime),
      script,
    });
  const found = await at(join(folder, 'qlinear_matmul.onnx'), '10.6', 'tables.onnx');
  expect(found).toMatchObject({
    status: 'repaired',
    builds: 0,
    tensorrt: { product: 'tensorrt', version: '10.6' },
    tables: '',
    verdict: { shown: 'exact' },
  });
  expect(repairText(found)).toContain('TensorRT 10.6 accepts the model with');
  expect(renderHtml(repairDocument(found))).toContain('bit-identical');
  expect(await at(found.written!, '10.6', 'again.onnx')).toMatchObject({ status: 'builds', repairs: [] });
  expect(await at(join(folder, 'not_repairable.onnx'), '11.0', 'never.onnx')).toMatchObject({
    status: 'failed',
    tables: expect.stringContaining('interpolated'),
  });
});

test('what is not exact is not written without a yes', async () => {
  const result = await repaired('det', [], 'never');
  expect(result).toMatchObject({ status: 'not-allowed', notAllowed: ['expand-determinant'], written: null });
});
