import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProcess } from '../../../../src/kernel/node/tools/runProcess.ts';
import { fakeTool } from '../../../support/fakeTool.ts';
import { isRunning } from '../../../support/runningWith.ts';
import { temporaryFolder } from '../../../support/rtx.ts';
import { findPython } from '../../../../src/kernel/node/tools/findPython.ts';

const folder = temporaryFolder();

test('gives arguments as they are: no shell', async () => {
  const lines: string[] = [];
  const tool = fakeTool(folder, 'echo', 'for (const one of args) console.log(JSON.stringify(one));');
  const args = ['$(touch x)', '; rm -rf /', '"quoted"', "it's", '*', '', 'two\nlines', '--flag=ä'];
  const end = await runProcess({ program: tool, args, stdout: (line) => lines.push(line) });
  expect(end).toEqual({ code: 0, signal: null, cancelled: false });
  expect(lines.map((line) => JSON.parse(line) as string)).toEqual(args);
});

test('reads both outputs to their end, and adds and removes variables', async () => {
  const out: string[] = [];
  const err: string[] = [];
  const tool = fakeTool(
    folder,
    'both',
    'console.log("x".repeat(300000)); console.error(process.env.A, process.env.HOME); process.exitCode = 7;',
  );
  const end = await runProcess({
    program: tool,
    args: [],
    environment: { A: 'b', HOME: undefined },
    stdout: (line) => out.push(line),
    stderr: (line) => err.push(line),
  });
  expect(end.code).toBe(7);
  expect(out).toEqual(['x'.repeat(300_000)]);
  expect(err).toEqual(['b undefined']);
});

test('says when a program cannot be started', async () => {
  await expect(runProcess({ program: join(folder, 'none'), args: [] })).rejects.toThrow(
    /none cannot be started: program not found/,
  );
});

test('does not begin when it is cancelled already', async () => {
  const tool = fakeTool(folder, 'mark', `require('fs').writeFileSync(${JSON.stringify(join(folder, 'begun'))}, '')`);
  const end = await runProcess({ program: tool, args: [], signal: AbortSignal.abort() });
  expect(end.cancelled).toBe(true);
  expect(existsSync(join(folder, 'begun'))).toBe(false);
});

// It forks, ignores every polite signal and writes forever.
const hostile = `
const { spawn } = require('child_process');
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => {});
if (args[0] !== 'child') {
  const child = spawn(process.execPath, [__filename, 'child'], { stdio: 'inherit' });
  require('fs').writeFileSync(args[0], process.pid + ' ' + child.pid);
}
setInterval(() => process.stdout.write('[V] [TRT] still here\\n'.repeat(100)), 1);
`;

test.runIf(process.platform !== 'win32')('a cancel ends the whole process group, however it resists', async () => {
  const tool = fakeTool(folder, 'hostile', hostile);
  const pids = join(folder, 'pids');
  const abort = new AbortController();
  const running = runProcess({ program: tool, args: [pids], signal: abort.signal, graceMs: 100 });
  await expect.poll(() => existsSync(pids) && readFileSync(pids, 'utf8')).toContain(' ');
  abort.abort();
  expect(await running).toEqual({ code: null, signal: 'SIGKILL', cancelled: true });
  const left = readFileSync(pids, 'utf8').split(' ').map(Number);
  expect(left).toHaveLength(2);
  // The kernel takes a moment to bury what was killed with its parent.
  await expect.poll(() => left.filter(isRunning)).toEqual([]);
});

test.runIf(process.platform === 'linux')('a cancel also ends what left the group', async () => {
  const body = `
    const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: true });
    child.unref(); console.log(child.pid); setInterval(() => {}, 1000);`;
  const abort = new AbortController();
  let child = 0;
  await runProcess({
    program: fakeTool(folder, 'escape', body),
    args: [],
    stdout: (line) => {
      child = Number(line);
      abort.abort();
    },
    signal: abort.signal,
  });
  expect(child).toBeGreaterThan(0);
  await expect.poll(() => isRunning(child)).toBe(false);
});

test.runIf(process.platform !== 'win32')('a killed supervisor takes the program with it', async () => {
  const body = `console.log(process.pid, process.ppid); setInterval(() => {}, 1000);`;
  let tool = 0;
  const end = await runProcess({
    program: fakeTool(folder, 'bereft', body),
    args: [],
    stdout: (line) => {
      const [own, supervisor] = line.split(' ').map(Number);
      tool = own!;
      process.kill(supervisor!, 'SIGKILL');
    },
  });
  expect(end).toEqual({ code: null, signal: 'SIGKILL', cancelled: false });
  await expect.poll(() => isRunning(tool)).toBe(false);
});

test.runIf(process.platform !== 'win32')('what a program leaves running ends with it', async () => {
  const body = `
    const child = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
    console.log(child.pid); process.exit(0);`;
  const lines: string[] = [];
  const end = await runProcess({
    program: fakeTool(folder, 'leaver', body),
    args: [],
    stdout: (line) => lines.push(line),
  });
  expect(end.code).toBe(0);
  const child = Number(lines[0]);
  expect(child).toBeGreaterThan(0);
  await expect.poll(() => isRunning(child)).toBe(false);
});

test('an interpreter on the PATH that suited is not asked again for a while, one that did not suit or was chosen is', async () => {
  const folder = temporaryFolder();
  const calls = join(folder, 'calls');
  const python = fakeTool(
    folder,
    'python3',
    `require('fs').appendFileSync(${JSON.stringify(calls)}, '.');
console.log(JSON.stringify({ path: __filename, version: [3, 11, 2], tag: 'cp311', platform: 'linux-x86_64', libc: '', modules: [] }));`,
  );
  const { PATH } = process.env;
  process.env['PATH'] = folder;
  try {
    let suits = true;
    const find = (chosen?: string) =>
      findPython({ chosen, reject: ({ path }) => (suits && path === python ? undefined : 'no'), advice: 'None.' });
    const first = await find();
    expect(first).toMatchObject({ program: 'python3', path: python });
    expect(await find()).toEqual(first);
    expect(readFileSync(calls, 'utf8')).toBe('.');
    await find(python);
    expect(readFileSync(calls, 'utf8')).toBe('..');
    suits = false;
    await expect(find()).rejects.toThrow(`${python} (Python 3.11.2): no`);
    expect(readFileSync(calls, 'utf8')).toBe('...');
  } finally {
    process.env['PATH'] = PATH;
  }
});
