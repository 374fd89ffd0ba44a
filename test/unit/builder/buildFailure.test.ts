import { expect, test } from 'vitest';
import { explainFailure } from '../../../src/builder/run/internal/buildFailure.ts';
import { readBuildLog } from '../../../src/core/formats/tensorrt/readBuildLog.ts';

const ended = {
  cancelled: false,
  code: 1,
  engine: 0,
  program: '/opt/bin/python3',
  model: 'm.onnx',
  parsed: '/tmp/m.onnx',
};
const said = {
  log: readBuildLog('').value,
  timeLine: { totalMs: 0, stages: [], slowest: [] },
  start: undefined,
  end: undefined,
  lastError: '',
};

test('a driver that names its error is known by the name, and names the model as the user does', async () => {
  const message = '/tmp/m.onnx: the weights file w.bin cannot be opened; put it next to the model';
  const details = [
    { code: 'X', message: '', node: 3, nodeName: 'n', operator: 'Conv', file: null, line: null, function: null },
    { code: 'X', message: '', node: -1, nodeName: null, operator: null, file: null, line: null, function: null },
  ];
  const end = { event: 'error', stage: 'parse', message, details, code: 'weights-missing' } as const;
  const { failure, error } = await explainFailure({ ...said, end: { ...end, details } }, ended);
  expect(failure).toEqual({ code: 'weights-missing', message: error, advice: '', nodes: ['3'], lines: [] });
  expect(error).toBe('m.onnx: the weights file w.bin cannot be opened; put it next to the model');
});

test.each([
  [{ cancelled: true }, 'cancelled', 'cancelled'],
  [{ code: null }, 'killed', 'python3 was killed (possibly out of memory)'],
  [{ code: 0 }, 'no-engine', 'python3 exited with 0 but wrote no engine'],
  [{}, 'exited', 'python3 exited with 1'],
] as const)('without any words it is how the program ended: %o', async (end, code, error) => {
  expect(await explainFailure(said, { ...ended, ...end })).toMatchObject({ failure: { code, message: error }, error });
});
