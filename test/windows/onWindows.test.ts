// What only Windows shows; `run.mjs` runs it under Wine.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { makeFolder, realFolder, removeTree } from '../../src/kernel/node/files/persist.ts';
import { isSamePath } from '../../src/kernel/node/files/pathKey.ts';
import { buildsFolder } from '../../src/kernel/node/store/buildFolder.ts';
import { findProgram } from '../../src/kernel/node/tools/findProgram.ts';
import { runProcess } from '../../src/kernel/node/tools/runProcess.ts';

const out = process.env['TRTLENS_WINDOWS']!;
const folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-'));
afterAll(() => removeTree(folder));
const system = (name: string): string => join(process.env['SystemRoot']!, 'System32', name);

describe('the command line prints what it prints on Linux', () => {
  const commands = JSON.parse(readFileSync(join(out, 'commands.json'), 'utf8')) as {
    args: string[];
    status: number;
    stdout: string;
    stderr: string;
  }[];
  test.each(commands.map((command) => [command.args.join(' '), command] as const))('%s', (_, command) => {
    const files = ['stdout', 'stderr'].map((name) => join(folder, name));
    const [stdout, stderr] = files.map((file) => openSync(file, 'w'));
    const { status } = spawnSync(process.execPath, [join(out, 'cli', 'cli.js'), ...command.args], {
      stdio: ['ignore', stdout!, stderr!],
      env: { ...process.env, TENSORRT_LENS_CACHE: join(out, 'cache'), NO_COLOR: '1' },
    });
    closeSync(stdout!);
    closeSync(stderr!);
    const [said, complained] = files.map((file) => readFileSync(file, 'utf8'));
    expect(said).toBe(command.stdout);
    expect(complained).toBe(command.stderr);
    expect(status).toBe(command.status);
  });
});

describe('paths', () => {
  test('W1: C: and c: have one history', () => {
    const [one, other] = ['c:\\Models\\m.onnx', 'C:\\models\\M.onnx'].map((path) => buildsFolder(path, folder));
    // The names of files have no case there.
    expect(one!.toLowerCase()).toBe(other!.toLowerCase());
    expect(isSamePath('C:/a/m.onnx', '\\\\?\\c:\\a\\m.onnx')).toBe(true);
  });

  test('W6, W8: folders are made and removed, and a path beyond 260 characters is taken as it is', async () => {
    const made = await makeFolder(join(folder, 'a', 'b'));
    expect(made).toBe(join(folder, 'a'));
    await removeTree(made!);
    expect(existsSync(made!)).toBe(false);
    const deep = join(folder, ...Array.from({ length: 30 }, () => 'x'.repeat(12)));
    await expect(realFolder(deep)).resolves.toBe(deep);
  });
});

describe('programs', () => {
  test('W2: one that lies in the current folder does not run by its name', async () => {
    copyFileSync(system('hostname.exe'), join(folder, 'py.exe'));
    const before = process.cwd();
    process.chdir(folder);
    try {
      await expect(runProcess({ program: 'py', args: [] })).rejects.toThrow('py cannot be started: program not found');
    } finally {
      process.chdir(before);
    }
    await expect(findProgram('py', folder)).resolves.toBe(join(folder, 'py.exe'));
  });

  test('a batch file is refused, with what to do', async () => {
    writeFileSync(join(folder, 'tool.cmd'), '@echo off\r\n');
    await expect(runProcess({ program: 'tool', args: [], environment: { Path: folder } })).rejects.toThrow(
      'is a batch file, which only a shell can run. Name the .exe that it starts',
    );
  });

  const script = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test('gets its arguments and variables as they are', async () => {
    const lines: string[] = [];
    const echo = script('echo.cjs', 'console.log(JSON.stringify([process.argv.slice(2), process.env.A]))');
    const args = ['C:\\with space\\', 'a "quoted" one', '%PATH%', '& del x', 'ü', ''];
    const stdout = (line: string): number => lines.push(line);
    const end = await runProcess({ program: process.execPath, args: [echo, ...args], environment: { A: 'b' }, stdout });
    expect(end).toEqual({ code: 0, signal: null, cancelled: false });
    expect(JSON.parse(lines.join(''))).toEqual([args, 'b']);
  });

  test.each([
    ['works', null],
    // It wants other arguments and fails.
    ['is refused', 'find.exe'],
    ['is not there', ''],
  ])('W7: a cancel comes back where taskkill %s', async (_, instead) => {
    const root = process.env['SystemRoot'];
    const fake = mkdtempSync(join(folder, 'windows-'));
    mkdirSync(join(fake, 'System32'));
    if (instead) copyFileSync(system(instead), join(fake, 'System32', 'taskkill.exe'));
    if (instead !== null) process.env['SystemRoot'] = fake;
    const abort = new AbortController();
    const stubborn = script('stubborn.cjs', "setInterval(() => {}, 1000); console.log('runs');");
    try {
      const { cancelled } = await runProcess({
        program: process.execPath,
        args: [stubborn],
        signal: abort.signal,
        graceMs: 50,
        stdout: () => abort.abort(),
      });
      expect(cancelled).toBe(true);
    } finally {
      process.env['SystemRoot'] = root;
    }
  });
});
