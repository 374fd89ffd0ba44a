import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { lint } from '../../../../src/features/check/node/cli/lint.ts';
import { temporaryFolder } from '../../../support/rtx.ts';
import { runCommand } from '../../shell/cli/runCommand.ts';

const folder = temporaryFolder();
const run = (...args: string[]) => runCommand(lint, ...args);

beforeAll(() => {
  mkdirSync(join(folder, 'sub/.git'), { recursive: true });
  writeFileSync(
    join(folder, 'sub/a.py'),
    'import tensorrt as trt\n\nx = trt.BuilderFlag.FP16; y = trt.BuilderFlag.INT8\n',
  );
  writeFileSync(join(folder, 'sub/run.sh'), 'trtexec --onnx=a.onnx\n');
  writeFileSync(join(folder, 'sub/notes.txt'), 'trtexec --fp16\n');
  writeFileSync(join(folder, 'sub/.git/hook.sh'), 'trtexec --fp16\n');
  writeFileSync(join(folder, 'maybe.py'), 'import tensorrt\nengine.num_bindings\n');
  mkdirSync(join(folder, 'none'));
  // A link back to the folder, which must not be followed.
  symlinkSync('..', join(folder, 'sub/again'));
});

it('says where, as compilers do, and fails', async () => {
  const { out, code } = await run(join(folder, 'sub'));
  const file = join(folder, 'sub/a.py');
  expect(out.split('\n').filter((line) => !line.startsWith(' '))).toEqual([
    `${file}:3:5: error gone: BuilderFlag.FP16 is gone since TensorRT 11.0.`,
    `${file}:3:31: error gone: BuilderFlag.INT8 is gone since TensorRT 11.0.`,
    '2 files: 2 places with what TensorRT 11.4 does not have',
    '',
  ]);
  expect(code).toBe(1);
});

it('passes for a version that has everything, and where nothing is sure', async () => {
  expect(await run(join(folder, 'sub'), '--tensorrt', '10.6')).toEqual({
    code: 0,
    out: '2 files: nothing that TensorRT 10.6 does not have\n',
    err: '',
  });
  const { out, code } = await run(join(folder, 'maybe.py'), '--json');
  expect(JSON.parse(out)).toMatchObject({
    tensorrt: '11.4',
    files: [{ findings: [{ code: 'perhaps-gone', name: 'ICudaEngine.num_bindings', line: 2, column: 8 }] }],
  });
  expect(code).toBe(0);
});

it.each([
  ['a version that is none', ['.', '--tensorrt', 'ten'], /'ten' is not a version/],
  ['a missing file', ['missing.py'], /missing\.py: no such file or folder/],
  ['another kind of file', ['sub/notes.txt'], /neither Python, C\+\+, a shell script nor YAML/],
  ['a folder without code', ['none'], /no Python, C\+\+, shell or YAML file/],
])('refuses %s', async (_, [path, ...rest], message) => {
  await expect(run(join(folder, path!), ...rest)).rejects.toThrow(message);
});
