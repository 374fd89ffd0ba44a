import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fillWeights } from '../../src/kernel/node/files/fillWeights.ts';
import { loadBuild } from '../../src/kernel/node/store/loadBuild.ts';
import { type BuildEvents, type BuildOptions, runBuild } from '../../src/kernel/node/run/runBuild.ts';
import { type Launcher, readLauncher } from '../../src/kernel/build/launcher.ts';
import { fixturePath, modelPath } from '../support/fixtures.ts';
import { playerTool, type Played } from '../support/playerTool.ts';
import { driverPath, rtxForTests, temporaryFolder } from '../support/rtx.ts';
import { runningWith } from '../support/runningWith.ts';
import { sshServer, type SshServer } from '../support/sshServer.ts';

const folder = temporaryFolder();
let server: SshServer;
let number = 0;

beforeAll(async () => {
  server = await sshServer(folder);
  if (!server.real) console.log('No ssh server can be had here: a stand-in takes its place.');
});
afterAll(() => {
  for (const pid of runningWith(folder)) process.kill(pid, 'SIGKILL');
  server.stop();
});

const played = (what: Partial<Played> = {}) =>
  playerTool(folder, `tool-${(number += 1)}`, { capture: 'tensorrt-10.6.0/vit_tiny.fp16', ...what });

const build = (launcher: Launcher, more: Partial<BuildOptions> = {}, events: BuildEvents = {}, signal?: AbortSignal) =>
  runBuild(
    {
      model: modelPath('vit_tiny'),
      backend: 'trtexec',
      driver: driverPath,
      cache: join(folder, `cache-${(number += 1)}`),
      confirm: () => Promise.resolve(false),
      launcher,
      ...more,
    },
    events,
    signal,
  );

/** Files go by scp to a folder of the build's own. */
const bySsh = (program: string): Launcher => ({
  command: [...server.ssh, 'here', '{shell}'],
  folder: join(folder, 'there', '{id}'),
  copyTo: [...server.scp, '{here}', 'here:{there}'],
  copyBack: [...server.scp, 'here:{there}', '{here}'],
  program,
});

describe('ssh', () => {
  test('a build there leaves its files here, and nothing there', async () => {
    const timingCache = join(folder, 'timing.cache');
    // Only a timing cache is replaced by one.
    const before = readFileSync(fixturePath('captures/tensorrt-10.6.0/vit_tiny.timingcache/tc.bin'));
    writeFileSync(timingCache, before);
    const model = await fillWeights(modelPath('vit_tiny'), join(folder, 'weights'));
    const { manifest, folder: made } = await build(bySsh(played()), {
      model,
      precision: 'fp16',
      timingCache,
      environment: { SPACED: "it's a value" },
    });
    expect(manifest).toMatchObject({
      result: 'passed',
      tensorrt: { version: '10.6.0' },
      files: { engine: 'model.engine', layers: 'layers.json' },
    });
    expect(readFileSync(join(made, 'model.engine'), 'utf8')).toContain('whole of vit_tiny.fp16');
    const after = Buffer.concat([before, Buffer.from('<half whole of vit_tiny.fp16>')]);
    expect(readFileSync(timingCache).equals(after)).toBe(true);
    expect(readdirSync(join(folder, 'there'))).toEqual([]);
    expect((await loadBuild({ folder: made, manifest })).report.accounting.total).toBe(636);
  });

  test('a cancel ends the program there, and removes what was copied', async () => {
    const tool = played({ hostile: true });
    const abort = new AbortController();
    const { manifest, folder: made } = await build(bySsh(tool), {}, { log: () => abort.abort() }, abort.signal);
    expect(manifest.result).toBe('cancelled');
    // The children of the tool name the model there, not the tool.
    const left = () => [...runningWith(tool), ...runningWith(join(folder, 'there'))];
    await expect.poll(left).toEqual([]);
    expect(readdirSync(made).sort()).toEqual(['build.log', 'manifest.json']);
    expect(readdirSync(join(folder, 'there'))).toEqual([]);
  });

  test.each([
    ['an obstinate', { hostile: true }],
    ['a polite', { seconds: 60 }],
  ])('so does the end of the program here by SIGKILL, with %s tool there', async (_, what) => {
    const tool = played(what);
    const file = join(folder, 'killed.yaml');
    writeFileSync(file, JSON.stringify(bySsh(tool)));
    const args = [join(import.meta.dirname, '../../dist/cli.js'), 'build', modelPath('vit_tiny'), '--launcher', file];
    args.push('--backend', 'trtexec', '--verbose', '--folder', join(folder, 'killed'));
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    await new Promise((resolve) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => text.includes('[TRT]') && child.kill('SIGKILL'));
      child.once('close', resolve);
    });
    const left = () => [...runningWith(tool), ...readdirSync(join(folder, 'there'))];
    await expect.poll(left).toEqual([]);
  });

  test.each(['a cancel', 'SIGHUP', 'SIGKILL'])('%s leaves no typed copy of the model, here or there', async (how) => {
    const own = join(folder, `typed-${how.replace(' ', '-')}`);
    mkdirSync(own);
    const overrides = join(own, 'rules.trtprec');
    writeFileSync(overrides, 'base fp16\n');
    const model = fixturePath('builds/qdq/model.onnx');
    const launcher = bySsh(played({ seconds: 60 }));
    if (how === 'a cancel') {
      const abort = new AbortController();
      const more = { model, overrides, stronglyTyped: true, folder: join(own, 'builds') };
      await build(launcher, more, { log: () => abort.abort() }, abort.signal);
    } else {
      const file = join(own, 'launcher.yaml');
      writeFileSync(file, JSON.stringify(launcher));
      const args = [join(import.meta.dirname, '../../dist/cli.js'), 'build', model, '--launcher', file, '--verbose'];
      args.push('--backend', 'trtexec', '--strongly-typed', '--rules', overrides, '--folder', join(own, 'builds'));
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
      let again: NodeJS.Timeout | undefined;
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        // A terminal that is closed says so more than once: at any time, also while a cancel is under way.
        if (text.includes('[TRT]')) again ??= setInterval(() => child.kill(how as NodeJS.Signals), 10);
      });
      await once(child, 'close');
      clearInterval(again);
    }
    const [made] = readdirSync(join(own, 'builds'));
    const left = () => [
      ...readdirSync(join(folder, 'there')),
      ...readdirSync(join(own, 'builds', made!)).filter((name) => !/^(?:build\.log|\w+\.json)$/.test(name)),
    ];
    await expect.poll(left).toEqual([]);
  });

  test('the Python driver runs there for real', async () => {
    const rtx = await rtxForTests();
    const { manifest, folder: made } = await build(bySsh(rtx.python), {
      backend: 'rtx',
      model: modelPath('fp16_overflow'),
      environment: rtx.environment,
    });
    expect(manifest).toMatchObject({ result: 'passed', error: null, tensorrt: { product: 'tensorrt-rtx' } });
    expect(readFileSync(join(made, 'model.engine')).length).toBeGreaterThan(1000);
    expect(manifest.command.join(' ')).not.toContain(driverPath);
  });

  test('a host that cannot be reached is told by its own words', async () => {
    const launcher = {
      ...bySsh('trtexec'),
      command: ['ssh', '-o', 'BatchMode=yes', 'no-such-host.invalid', '{shell}'],
    };
    await expect(build(launcher)).rejects.toThrow(/trtexec \(through the launcher\) .*(no-such-host|resolve)/i);
  });
});

describe('containers and clusters: stand-ins for their programs, which keep to the documented examples', () => {
  const bin = join(folder, 'bin');
  /** Mounts become links; what docker, srun and kubectl do to a command is no more than to start it. */
  const standIn = (name: string, body: string) => {
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >> '${bin}/calls'\n${body}\n`, { mode: 0o755 });
  };
  const container = `while [ $# -gt 0 ]; do
      case $1 in
        -v) rm -f "\${2#*:}"; to=\${2#*:}; ln -sfn "\${2%%:*}" "\${to%:ro}"; shift 2;;
        --gpus | --device | --name | --user) shift 2;;
        -* | run) shift;;
        *) break;;
      esac
    done
    shift; exec "$@"`;
  const there = join(folder, 'container');

  beforeAll(() => {
    mkdirSync(there);
    standIn('docker', container);
    standIn('podman', container);
    standIn('srun', `while [ "\${1#-}" != "$1" ]; do shift; done; exec "$@"`);
    standIn(
      'kubectl',
      `case $1 in exec) while [ "$1" != -- ]; do shift; done; shift; exec "$@";; cp) cp "\${2#pod:}" "\${3#pod:}";; esac`,
    );
  });

  test.each(documented().map((one) => [one.name, one.launcher] as const))('%s', async (_, launcher) => {
    const text = JSON.stringify(launcher)
      .replaceAll('"/tmp/', `"${there}/tmp/`)
      .replaceAll('"/build', `"${there}/build`)
      .replaceAll(':/build', `:${there}/build`)
      .replaceAll('"/model', `"${there}/model`)
      .replaceAll(':/model', `:${there}/model`)
      .replaceAll('/shared', folder)
      .replaceAll('gpu-pod:', 'pod:');
    const read = readLauncher(JSON.parse(text));
    expect(typeof read).toBe('object');
    const shared = join(folder, 'vit_tiny.onnx');
    copyFileSync(modelPath('vit_tiny'), shared);
    const [first = '', ...rest] = (read as Launcher).command;
    const standsIn = existsSync(join(bin, first))
      ? { ...(read as Launcher), command: [join(bin, first), ...rest] }
      : null;
    // ssh is tried for real above.
    if (!standsIn) return expect(first).toBe('ssh');
    for (const copy of ['copyTo', 'copyBack'] as const)
      if (standsIn[copy]) standsIn[copy] = [join(bin, standsIn[copy][0]!), ...standsIn[copy].slice(1)];
    const { manifest, folder: made } = await build({ ...standsIn, program: played() }, { model: shared });
    expect(manifest).toMatchObject({ result: 'passed', files: { engine: 'model.engine', layers: 'layers.json' } });
    expect(readFileSync(join(made, 'model.engine'), 'utf8')).toContain('whole');
    expect(readFileSync(join(bin, 'calls'), 'utf8')).toContain(`${first} `);
  });

  test('docker, with a build folder given relative to here, and with random weights', async () => {
    const launcher = {
      command: [
        join(bin, 'docker'),
        'run',
        '-v',
        `{folder}:${there}/b`,
        '-v',
        `{modelFolder}:${there}/m`,
        'image',
        '{command}',
      ],
      paths: [
        { here: '{folder}', there: `${there}/b` },
        { here: '{modelFolder}', there: `${there}/m` },
      ],
      program: played(),
    };
    const relativeFolder = relative(process.cwd(), join(folder, 'relative'));
    const { manifest } = await build(launcher, { folder: relativeFolder, randomWeights: true });
    expect(manifest).toMatchObject({ result: 'passed', files: { engine: 'model.engine' } });
    expect(manifest.command.filter((one) => one.endsWith('/b')).every((one) => one.startsWith('/'))).toBe(true);
  });

  test('a file that no path covers is refused before anything runs', async () => {
    const launcher = { command: ['sh', '-c', 'shift 0; "$@"', 'x', '{command}'], program: played() };
    await expect(build(launcher)).rejects.toThrow(/vit_tiny\.onnx: the launcher has no remote path for this file/);
  });
});

/** Every launcher of the documentation. */
function documented(): { name: string; launcher: unknown }[] {
  const text = readFileSync(join(import.meta.dirname, '../../docs/building.md'), 'utf8');
  return [...text.matchAll(/^```yaml\n# (\S+)\n(command:[^]*?)^```$/gm)].map(([, name, yaml]) => ({
    name: name!,
    launcher: parse(yaml!) as unknown,
  }));
}
