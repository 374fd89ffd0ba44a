import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, posix, win32 } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prefixOf } from '../../../../src/kernel/node/files/inputFile.ts';
import { isStillAlive, withFolderLock } from '../../../../src/kernel/node/files/folderLock.ts';
import { isSamePath, pathKey, plainPath } from '../../../../src/kernel/node/files/pathKey.ts';
import { linkOrCopy, realFolder, renamePersistently } from '../../../../src/kernel/node/files/persist.ts';
import { processStart, readStart } from '../../../../src/kernel/node/files/internal/processStart.ts';
import { findProgram, usualFolders, windowsProgram } from '../../../../src/kernel/node/tools/findProgram.ts';
import { chosenPython, pythonCandidates } from '../../../../src/kernel/node/tools/findPython.ts';
import { howToGetPython, packageSets } from '../../../../src/kernel/node/tools/packageSets.ts';
import { safeEnvironment } from '../../../../src/kernel/node/tools/internal/safeEnvironment.ts';
import { runProcess, withChanges } from '../../../../src/kernel/node/tools/runProcess.ts';
import { modelLine } from '../../../../src/features/accuracy/node/cli/accuracy.ts';

// W1 to W11 are the numbers of the faults that running under Windows showed; see also test/windows/onWindows.test.ts.

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tensorrt-lens-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('paths', () => {
  test.each([
    ['c:\\models\\m.onnx', 'C:\\Models\\M.onnx'],
    ['C:/models/m.onnx', 'c:\\models\\m.onnx'],
    ['\\\\?\\C:\\models\\m.onnx', 'C:\\models\\m.onnx'],
    ['\\\\?\\UNC\\server\\share\\m.onnx', '\\\\server\\share\\m.onnx'],
    ['C:\\models\\..\\models\\m.onnx', 'C:\\models\\m.onnx'],
  ])('W1: on Windows, %s is %s', (a, b) => expect(isSamePath(a, b, 'win32')).toBe(true));

  test.each([
    ['C:\\m.onnx', 'D:\\m.onnx'],
    ['C:\\m.onnx', 'C:\\n.onnx'],
  ])('W1: on Windows, %s is not %s', (a, b) => expect(isSamePath(a, b, 'win32')).toBe(false));

  test('Linux distinguishes case and forms of letters, macOS only case', () => {
    expect(isSamePath('/M.onnx', '/m.onnx', 'linux')).toBe(false);
    expect(isSamePath('/M.onnx', '/m.onnx', 'darwin')).toBe(false);
    expect(isSamePath('/u\u0308.onnx', '/\u00fc.onnx', 'linux')).toBe(false);
    expect(isSamePath('/u\u0308.onnx', '/\u00fc.onnx', 'darwin')).toBe(true);
  });

  test('keys of the history on Linux stay what they were', () =>
    expect(pathKey('/a/../m.onnx', 'linux')).toBe('/m.onnx'));

  test('W6: what mkdir gives back on Windows loses its prefix', () => {
    expect(plainPath('\\\\?\\C:\\a')).toBe('C:\\a');
    expect(plainPath('/a/b')).toBe('/a/b');
  });

  test('W8: a folder that the system cannot resolve is taken as it is', async () => {
    const deep = join(folder, 'x'.repeat(300));
    await expect(realFolder(deep)).resolves.toBe(deep);
  });

  test('W10: a model on another drive is written in full', () => {
    expect(modelLine('D:\\nets\\m.onnx', 'C:\\rules\\m.trtprec', win32)).toBe('D:/nets/m.onnx');
    expect(modelLine('C:\\nets\\m.onnx', 'C:\\rules\\m.trtprec', win32)).toBe('../nets/m.onnx');
    expect(modelLine('C:\\rules\\m.onnx', 'C:\\rules\\m.trtprec', win32)).toBe('./m.onnx');
    expect(modelLine('/rules/a\\b.onnx', '/rules/m.trtprec', posix)).toBe('./a\\b.onnx');
  });

  test('W3: a drive is not the name of a tensor', () => {
    expect(prefixOf('C:\\d\\in.npz', 'win32')).toBe('');
    expect(prefixOf('C:/d/in.npz', 'win32')).toBe('');
    expect(prefixOf('x:C:\\d\\in.raw', 'win32')).toBe('x:');
    expect(prefixOf('input:in.raw', 'win32')).toBe('input:');
    expect(prefixOf('x:/d/in.raw', 'linux')).toBe('x:');
  });
});

describe('programs', () => {
  test.skipIf(process.platform === 'win32')(
    'W2: a program of the current folder does not run by its name',
    async () => {
      const program = join(folder, 'only-here');
      await writeFile(program, '#!/bin/sh\nexit 0\n');
      await chmod(program, 0o755);
      const before = process.cwd();
      process.chdir(folder);
      try {
        for (const PATH of ['.', '', `:${process.env['PATH']}`])
          // oxlint-disable-next-line no-await-in-loop -- one current folder
          await expect(runProcess({ program: 'only-here', args: [], environment: { PATH } })).rejects.toThrow(
            'only-here cannot be started: program not found',
          );
        await expect(
          runProcess({ program: 'only-here', args: [], environment: { PATH: folder } }),
        ).resolves.toMatchObject({
          code: 0,
        });
      } finally {
        process.chdir(before);
      }
    },
  );

  test("W2: Windows' own programs come from its folder", () =>
    expect(windowsProgram('taskkill.exe', { SystemRoot: 'D:\\Windows' })).toBe('D:\\Windows\\System32\\taskkill.exe'));

  test('a changed PATH replaces Path on Windows', () => {
    expect(withChanges({ Path: 'a', X: '1' }, { PATH: 'b' }, 'win32')).toEqual({ PATH: 'b', X: '1' });
    expect(withChanges({ Path: 'a' }, {}, 'win32')).toEqual({ PATH: 'a' });
    expect(withChanges({ Path: 'a', PATH: 'b' }, { x: 'y' }, 'linux')).toEqual({ Path: 'a', PATH: 'b', x: 'y' });
    expect(withChanges({ A: '1' }, { A: undefined }, 'linux')).toEqual({});
  });

  test.each<[string, NodeJS.Platform, Record<string, string>, Record<string, string>]>([
    ['empty entries', 'linux', { PYTHONPATH: ':/x::' }, { PYTHONPATH: '/x' }],
    ['the current folder', 'linux', { PYTHONPATH: '.:./:a/..:/x' }, { PYTHONPATH: '/x' }],
    ['nothing else', 'linux', { PYTHONPATH: '', LD_LIBRARY_PATH: '.', PATH: '.:bin' }, { PATH: '' }],
    [
      'relative folders',
      'linux',
      { PYTHONPATH: 'a:../b', LD_LIBRARY_PATH: 'lib' },
      { PYTHONPATH: '/here/a:/b', LD_LIBRARY_PATH: '/here/lib' },
    ],
    ['its full path stays', 'linux', { PYTHONPATH: '/here:.' }, { PYTHONPATH: '/here' }],
    ['programs', 'linux', { PATH: ':/bin:bin:.' }, { PATH: '/bin' }],
    [
      'homes',
      'linux',
      { PYTHONHOME: 'h', PYTHONUSERBASE: '../u', HOME: 'h' },
      { PYTHONHOME: '/here/h', PYTHONUSERBASE: '/u', HOME: 'h' },
    ],
    [
      'what pip reads',
      'linux',
      { PIP_FIND_LINKS: 'wheels https://x/y /w ./v', PIP_CERT: 'a b.pem' },
      { PIP_FIND_LINKS: '/here/wheels https://x/y /w /here/v', PIP_CERT: '/here/a b.pem' },
    ],
    ['macOS', 'darwin', { DYLD_LIBRARY_PATH: ':lib' }, { DYLD_LIBRARY_PATH: '/here/lib' }],
    ['Windows', 'win32', { Path: '.;C:\\bin;', PythonPath: 'a;' }, { Path: 'C:\\bin', PythonPath: 'C:\\here\\a' }],
  ])('no program starts with the current folder in a path: %s', (_, platform, environment, safe) =>
    expect(safeEnvironment(environment, platform === 'win32' ? 'C:\\here' : '/here', platform)).toEqual(safe),
  );

  test('W9: each installed Python of Windows is tried', () => {
    expect(pythonCandidates('win32')).toContainEqual(['py', '-3.12']);
    expect(pythonCandidates('darwin')).toContainEqual(['/opt/homebrew/bin/python3']);
  });

  test('W9: Windows’ launcher of Python can be chosen with its version', () => {
    expect(chosenPython('py -3.12')).toEqual(['py', '-3.12']);
    expect(chosenPython('C:\\Program Files\\Python312\\python.exe')).toEqual([
      'C:\\Program Files\\Python312\\python.exe',
    ]);
  });

  test('on Windows a name is that of an .exe, and a batch file is found to be refused', async () => {
    const path = join(folder, 'bin');
    await mkdir(path);
    for (const name of ['tool.bat', 'both.bat', 'both.exe'])
      // oxlint-disable-next-line no-await-in-loop
      await writeFile(join(path, name), '', { mode: 0o755 });
    await expect(findProgram('tool', `.;${path}`, 'win32')).resolves.toBe(join(path, 'tool.bat'));
    await expect(findProgram('both', path, 'win32')).resolves.toBe(join(path, 'both.exe'));
    await expect(findProgram('both.exe', path, 'win32')).resolves.toBe(join(path, 'both.exe'));
    await expect(findProgram('tool', path, 'linux')).resolves.toBeUndefined();
  });

  test('nsys and trtexec are found where their installers put them, the newest first', async () => {
    const parent = join(folder, 'NVIDIA Corporation');
    for (const version of ['Nsight Systems 2024.5.1', 'Nsight Systems 2024.11.1', 'Nsight Compute 2024.3.0'])
      // oxlint-disable-next-line no-await-in-loop
      await mkdir(join(parent, version), { recursive: true });
    const at = (version: string) => join(parent, `Nsight Systems ${version}`, 'target-windows-x64');
    await expect(usualFolders('nsys', 'win32', folder)).resolves.toBe(`${at('2024.11.1')};${at('2024.5.1')}`);
    await expect(usualFolders('trtexec', 'linux', '/')).resolves.toBe(join('/', 'usr/src/tensorrt/bin'));
    await expect(usualFolders('python', 'linux')).resolves.toBe('');
  });

  test('W9: advice is for the system at hand', () => {
    expect(howToGetPython('win32')).not.toContain('apt-get');
    expect(howToGetPython('darwin')).not.toContain('apt-get');
    expect(howToGetPython('linux')).toContain('apt-get');
  });

  const python = { program: 'python', args: [], path: 'python', libc: '', modules: [], tag: 'cp312' };
  const on = (platform: string) => ({ ...python, version: [3, 12, 4] as [number, number, number], platform });
  test('W9: wheels are there for Windows on Arm, and not for macOS', () => {
    expect(packageSets['tensorrt-rtx'].reject(on('win-arm64'))).toBeUndefined();
    expect(packageSets['tensorrt-rtx'].reject(on('macosx-14.0-arm64'))).toContain('--launcher');
    expect(packageSets['tensorrt-rtx'].reject(on('linux-aarch64'))).toContain('--backend trtexec');
    expect(packageSets.onnxruntime.reject(on('macosx-13.0-x86_64'))).toContain('Intel');
    expect(packageSets.onnxruntime.reject(on('macosx-14.0-arm64'))).toBeUndefined();
  });
});

describe('processes', () => {
  test('W4: an id that is used again is another process', async () => {
    const since = new Date('2026-01-01T10:00:00Z');
    const other = process.ppid;
    await expect(isStillAlive(other, since, () => Promise.resolve(new Date('2026-01-01T10:00:05Z')))).resolves.toBe(
      false,
    );
    await expect(isStillAlive(other, since, () => Promise.resolve(new Date('2026-01-01T09:00:00Z')))).resolves.toBe(
      true,
    );
    await expect(isStillAlive(other, since, () => Promise.resolve(undefined))).resolves.toBe(true);
  });

  test('W4: start times are read as ps and PowerShell print them', () => {
    expect(readStart('Mon Nov 23 16:10:01 2026\n')?.getTime()).toBe(new Date(2026, 10, 23, 16, 10, 1).getTime());
    expect(readStart('2026-11-23T16:10:01.1234567Z\r\n')?.toISOString()).toBe('2026-11-23T16:10:01.123Z');
    expect(readStart('')).toBeUndefined();
    expect(readStart('Get-Process: no such process')).toBeUndefined();
  });

  // Wine's PowerShell says nothing.
  test.skipIf('WINEPREFIX' in process.env)('this process began before now', async () => {
    const start = await processStart(process.pid);
    expect(start!.getTime()).toBeLessThanOrEqual(Date.now());
  });
});

test('W5: a rename that is refused for a moment is tried again, on Windows only', async () => {
  for (const code of ['EPERM', 'EACCES', 'EBUSY']) {
    let tries = 0;
    const busy = () =>
      (tries += 1) < 3 ? Promise.reject(Object.assign(new Error(code), { code })) : Promise.resolve();
    // oxlint-disable-next-line no-await-in-loop -- one counter
    await renamePersistently('a', 'b', 'win32', busy);
    expect(tries).toBe(3);
    tries = 0;
    // oxlint-disable-next-line no-await-in-loop -- as above
    await expect(renamePersistently('a', 'b', 'linux', busy)).rejects.toThrow(code);
  }
});

test('W5: a rename that is refused for good fails with the system’s own error', async () => {
  await mkdir(join(folder, 'a'));
  await expect(renamePersistently(join(folder, 'none'), join(folder, 'b'), 'win32')).rejects.toThrow('ENOENT');
  await writeFile(join(folder, 'one'), '1');
  await renamePersistently(join(folder, 'one'), join(folder, 'two'), 'win32');
  await expect(readFile(join(folder, 'two'), 'utf8')).resolves.toBe('1');
});

describe('a file system without links', () => {
  const none = () => Promise.reject(Object.assign(new Error('no links'), { code: 'EPERM' }));

  test('locks folders all the same', async () => {
    const order: number[] = [];
    const target = join(folder, 'locked');
    const work = (index: number) =>
      withFolderLock(
        target,
        async () => {
          order.push(index);
          await expect(readFile(`${target}.lock`, 'utf8')).resolves.toBe(String(process.pid));
          order.push(index);
        },
        { makeLink: none },
      );
    await Promise.all([work(1), work(2), work(3)]);
    expect(order.filter((one, at) => at % 2 === 0)).toEqual(order.filter((_, at) => at % 2 === 1));
    expect((await readdir(folder)).filter((name) => name.startsWith('locked'))).toEqual([]);
  });

  test('copies what it cannot link, over nothing', async () => {
    const [from, to] = [join(folder, 'weights'), join(folder, 'copy')];
    await writeFile(from, 'w');
    await linkOrCopy(from, to, [none]);
    await expect(readFile(to, 'utf8')).resolves.toBe('w');
    expect((await stat(to)).ino).not.toBe((await stat(from)).ino);
    await expect(linkOrCopy(from, to, [none])).rejects.toThrow('EEXIST');
  });
});

/** The sources that are not pure, by path. */
async function sources(): Promise<Map<string, string>> {
  const files = (await readdir('src', { recursive: true }))
    .map((file) => join('src', file))
    .filter((file) => /[\\/](?:cli|node|server|vscode)[\\/].*\.ts$/.test(file));
  expect(files.length).toBeGreaterThan(300);
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const)));
}

test('W1: no path is compared as it is spelled', async () => {
  for (const [file, text] of await sources())
    expect(text.match(/(?:[=!]== [\w.!?]*\bfsPath\b|\bfsPath [=!]==).*/g) ?? [], file).toEqual([]);
});

/** How a module gets at Node's functions that start programs. */
const startsPrograms = (text: string): boolean =>
  /(?:from|import|require)\s*\(?\s*['"`](?:node:)?child_process/.test(text);

test('W2: no other place than `runProcess` starts programs', async () => {
  for (const planted of [
    "import { spawn } from 'node:child_process';",
    'import * as programs from "child_process";',
    "const { exec } = await import('node:child_process');",
    "const { exec } = require('child_process/promises');",
  ])
    expect(startsPrograms(planted), planted).toBe(true);
  // The others name programs of the system by their full paths, and start what `runProcess` found.
  const allowed = ['runProcess.ts', 'processStart.ts', 'supervisor.ts'];
  const found = [...(await sources())].filter(([, text]) => startsPrograms(text)).map(([file]) => basename(file));
  expect(found.toSorted()).toEqual(allowed.toSorted());
});

test('W5: what Windows may refuse for a moment is removed and renamed with patience everywhere', async () => {
  for (const [file, text] of await sources()) {
    const imported = [...text.matchAll(/import \{([^}]*)\} from 'node:fs(?:\/promises)?'/g)];
    const names = imported.flatMap(([, list]) => list!.split(',').map((name) => name.trim()));
    const own = basename(file) === 'persist.ts';
    expect(own ? [] : names.filter((name) => /^(?:rm|rename|unlink)(?:Sync)?$/.test(name)), file).toEqual([]);
  }
});

test('W11: scripts and texts for contributors need no POSIX shell', async () => {
  const read = (file: string): Promise<string> => readFile(file, 'utf8');
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> };
  for (const [name, command] of Object.entries(scripts)) expect(command, name).not.toMatch(/^\w+=|[;|'$]|\.sh\b/);
  // A batch file, such as npm.cmd, needs a shell; with Node's own files none is needed.
  for (const file of await readdir('scripts'))
    if (file.endsWith('.mjs'))
      // oxlint-disable-next-line no-await-in-loop -- a few small files
      expect(
        (await read(join('scripts', file))).match(/(?:spawn|spawnSync|run)\('(?:npm|npx)'.*/g) ?? [],
        file,
      ).toEqual([]);
  // Tests compare bytes, and Git for Windows writes \r\n unless it is told.
  expect(await read('.gitattributes')).toContain('* text=auto eol=lf');
  expect(await read('CONTRIBUTING.md')).toContain('in PowerShell `$env:');
});
