import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { onnx } from 'onnx-proto';
import { expect, test } from 'vitest';
import { reduceModel } from '../../../../src/features/trials/node/reduceModel.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { failingTrtexec } from '../../../support/failingTrtexec.ts';
import { plantedChain } from '../../../support/plantedChain.ts';
import { temporaryFolder } from '../../../support/rtx.ts';
import { randomFrom } from '../../kernel/fusion/randomEngine.ts';

const folder = temporaryFolder();
const random = randomFrom(17);

interface Planted {
  op: onnx.INodeProto;
  /** What TensorRT's builder says of it. */
  says: string;
  code: string;
}

/** TensorRT's builder fails in these ways only with a GPU, or with plugins that TensorRT-RTX cannot load. */
const planted: Planted[] = [
  {
    op: { opType: 'Erf' },
    says: 'Could not find any implementation for node planted.',
    code: 'no-implementation',
  },
  {
    op: { opType: 'Erf' },
    says: 'Could not find any implementation for node {ForeignNode[planted...planted]}.',
    code: 'no-implementation',
  },
  {
    op: { opType: 'RotatedNMS', domain: 'com.acme' },
    says: 'planted: could not find any supported formats consistent with input/output data types',
    // No rule knows it: kept by its own words.
    code: 'internal',
  },
  {
    op: { opType: 'Erf' },
    says: 'planted: last dimension of input0 = 8 and second to last dimension of input1 = 7 but must match',
    code: 'shape-mismatch',
  },
];

test('failures of the builder in random places, each kind twice, are reduced to the planted node', async () => {
  for (let round = 0; round < 2 * planted.length; round += 1) {
    const { op, says, code } = planted[round % planted.length]!;
    const why = `has(0x22, ${JSON.stringify(op.opType)}) ? ${JSON.stringify(says)} : ''`;
    const model = plantedChain(folder, `chain-${round}`, 60, Math.floor(random() * 60), op, []);
    const before = readFileSync(model);
    // oxlint-disable-next-line no-await-in-loop -- each search builds two at a time
    const found = await reduceModel({
      options: {
        model,
        backend: 'trtexec',
        trtexec: failingTrtexec(folder, `trtexec-${round}`, why),
        driver: 'unused',
        cache: join(folder, 'cache'),
        profiles: [{ t0: { min: '1x8', opt: '4x8', max: '8x8' } }],
        confirm: () => Promise.reject(new Error('asked')),
      },
      out: join(folder, `reduced-${round}`),
    });
    expect(found, `round ${round}`).toMatchObject({ from: 60, to: 1, code });
    expect(found.builds).toBeLessThanOrEqual(30);
    // oxlint-disable-next-line no-await-in-loop -- as above
    const { value } = await readModel(bytesOf(readFileSync(found.model)));
    expect(value!.nodes.map((node) => node.op)).toEqual([op.opType]);
    expect(before.equals(readFileSync(model))).toBe(true);
  }
});
