import { describe, expect, it } from 'vitest';
import { launchedCommand, type Launcher, pathThere, readLauncher } from '../../../../src/kernel/build/launcher.ts';

const places = { id: 'b1', folder: '/cache/b1', modelFolder: '/home/me/nets', driverFolder: '/opt/lens' };
const docker: Launcher = {
  command: ['docker', 'run', '-i', '-v', '{folder}:/build', '-v', '{modelFolder}:/model:ro', 'trt:25', '{command}'],
  paths: [
    { here: '{folder}', there: '/build' },
    { here: '{modelFolder}/', there: '/model/' },
    { here: '/home', there: '/homes' },
  ],
};

describe('launchedCommand', () => {
  it('puts the command in as many elements as it has, with the folders filled in', () => {
    expect(launchedCommand({ ...docker, guard: false }, places, ['trtexec', '--onnx=/model/a b.onnx'])).toEqual([
      'docker',
      'run',
      '-i',
      '-v',
      '/cache/b1:/build',
      '-v',
      '/home/me/nets:/model:ro',
      'trt:25',
      'trtexec',
      '--onnx=/model/a b.onnx',
    ]);
  });

  it('quotes it for the shell of ssh, and carries variables', () => {
    const ssh = { command: ['ssh', 'gpu', '{shell}'], guard: false };
    expect(launchedCommand(ssh, places, ['trtexec', "--onnx=it's; rm -rf $HOME"], { A: 'b c' })).toEqual([
      'ssh',
      'gpu',
      `env 'A=b c' trtexec '--onnx=it'\\''s; rm -rf $HOME'`,
    ]);
  });

  it('does not read names in what it puts in', () => {
    const ssh = { command: ['ssh', '{shell}'], guard: false };
    expect(launchedCommand(ssh, places, ['a', '{folder}{shell}'])[1]).toBe(`a '{folder}{shell}'`);
  });

  it('guards the program unless told otherwise', () => {
    const [first, second, , name, ...rest] = launchedCommand({ command: ['{command}'] }, places, ['trtexec', '--x']);
    expect([first, second, name, ...rest]).toEqual(['sh', '-c', 'tensorrt-lens', 'trtexec', '--x']);
  });
});

it('names a path there by the longest folder that covers it, and by whole names only', () => {
  expect(pathThere(docker, places, '/cache/b1/build.log')).toBe('/build/build.log');
  expect(pathThere(docker, places, '/home/me/nets/x/y.onnx')).toBe('/model/x/y.onnx');
  expect(pathThere(docker, places, '/home/me/netsother/y.onnx')).toBe('/homes/me/netsother/y.onnx');
  expect(pathThere(docker, places, '/homestead/y')).toBeUndefined();
  expect(
    pathThere({ command: ['{command}'], paths: [{ here: 'C:\\nets', there: '/n' }] }, places, 'C:\\nets\\a\\b'),
  ).toBe('/n/a/b');
});

describe('readLauncher', () => {
  it('takes what is whole', () => {
    expect(readLauncher(docker)).toBe(docker);
  });
  it.each([
    ['ssh', /must be an object/],
    [{}, /has no "command"/],
    [{ command: [] }, /\[\] is not a list of strings/],
    [{ command: ['docker', 'run'] }, /Exactly one element/],
    [{ command: ['{command}', 'x{shell}'] }, /Exactly one element/],
    [{ command: ['{command}'], mounts: {} }, /Unknown launcher key "mounts"; keys are command, paths/],
    [{ command: ['{command}'], paths: [{ here: '/a' }] }, /"paths".* is not a list of/],
    [{ command: ['{command}'], folder: 'tmp' }, /is not an absolute path/],
    [{ command: ['{command}'], folder: '/home/me' }, /last component contains \{id\}/],
    [{ command: ['{command}'], folder: '/tmp/../{id}' }, /last component contains \{id\}/],
    [{ command: ['{command}'], folder: '/tmp/{id}' }, /needs "copyTo" and "copyBack"/],
    [
      { command: ['{command}'], folder: '/t-{id}', copyTo: ['cp', '{here}'], copyBack: ['cp'] },
      /\{here\} and \{there\}/,
    ],
  ])('says what is wrong with %j', (value, message) => {
    expect(readLauncher(value)).toMatch(message);
  });
});
