import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runBuild } from '../../src/kernel/node/run/runBuild.ts';
import { requireBuild } from '../../src/kernel/node/store/buildFolder.ts';
import { captureText, fixturePath, modelPath } from '../support/fixtures.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { runningWith } from '../support/runningWith.ts';

const folder = temporaryFolder();
const cli = join(import.meta.dirname, '../../dist/cli.js');
/** Most of a repetition is the time that a tool has to end by itself; each keeps half a core busy until then. */
const together = 6;

// It forks, also out of its process group, ignores every polite signal, writes forever, and leaves half an engine.
writeFileSync(join(folder, 'help.txt'), captureText('tensorrt-10.6.0/cli.help/log.txt')!);
const tool = join(folder, 'trtexec');
writeFileSync(
  tool,
  `#!/bin/sh
[ "$1" = --help ] && exec cat '${join(folder, 'help.txt')}'
trap '' INT TERM HUP PIPE
for argument; do
  case $argument in
    --saveEngine=*) own=\${argument#*=}; echo half > "$own";;
    --timingCacheFile=*) echo half > "\${argument#*=}";;
  esac
done
forever='while :; do echo "[V] [TRT] still here"; sleep 0.1; done'
sh -c "trap '' INT TERM HUP PIPE; $forever" "$own child" &
setsid sh -c "$forever" "$own escaped" &
eval "$forever"
`,
  { mode: 0o755 },
);

afterAll(() => {
  for (const pid of runningWith(folder)) process.kill(pid, 'SIGKILL');
});

/** Only a timing cache is replaced by one. */
const cacheBefore = readFileSync(fixturePath('captures/tensorrt-10.6.0/vit_tiny.timingcache/tc.bin'));

const options = (name: string) => {
  const own = join(folder, name);
  mkdirSync(own);
  writeFileSync(join(own, 'timing.cache'), cacheBefore);
  return { model: modelPath('unnamed'), trtexec: tool, folder: join(own, 'builds'), cache: join(own, 'cache') };
};

/** What is left of a build: nothing runs, nothing is half there. */
async function expectClean(name: string): Promise<void> {
  const own = join(folder, name);
  // Signals to what left the process group are sent one by one. The slash: kill-1 is not kill-10.
  await expect.poll(() => runningWith(`${own}/`)).toEqual([]);
  for (const build of readdirSync(join(own, 'builds')))
    expect(readdirSync(join(own, 'builds', build)).sort()).toEqual(['build.log', 'manifest.json']);
}

async function repeat(times: number, one: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: together }, async () => {
      while (next < times) await one(next++);
    }),
  );
}

test.runIf(process.platform === 'linux')('60 cancels of a hostile tool leave no process and no half file', async () => {
  await repeat(60, async (index) => {
    const name = `cancel-${index}`;
    const abort = new AbortController();
    let lines = 0;
    // Now at its first line, now when its children have begun, too.
    const log = () => {
      lines += 1;
      if (lines > index % 3) abort.abort();
    };
    const { manifest } = await runBuild(
      {
        ...options(name),
        backend: 'trtexec',
        driver: 'unused',
        timingCache: join(folder, name, 'timing.cache'),
        confirm: () => Promise.resolve(false),
      },
      { log },
      abort.signal,
    );
    expect(manifest.result).toBe('cancelled');
    await expectClean(name);
  });
  expect(runningWith(folder)).toEqual([]);
});

test.runIf(process.platform === 'linux')('nor do 20 kills of the program that runs it', async () => {
  await repeat(20, async (index) => {
    const name = `kill-${index}`;
    const { model, folder: builds, cache } = options(name);
    const args = ['build', model, '--backend', 'trtexec', '--trtexec', tool, '--folder', builds, '--verbose'];
    args.push('--timing-cache', join(folder, name, 'timing.cache'));
    const child = spawn(process.execPath, [cli, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, TENSORRT_LENS_CACHE: cache },
    });
    let begun = 0;
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        if (!text.includes('[TRT]') || begun > 0) return;
        begun = Date.now();
        child.kill('SIGKILL');
      });
      child.once('close', () => resolve());
    });
    expect(begun).toBeGreaterThan(0);
    const half = () =>
      readdirSync(builds).some((build) => readdirSync(join(builds, build)).some((file) => /partial|tmp/.test(file)));
    await expect.poll(half).toBe(false);
    await expectClean(name);
    expect(existsSync(join(folder, name, 'timing.cache'))).toBe(true);
  });
  expect(runningWith(folder)).toEqual([]);
});

test.runIf(process.platform === 'linux').each([
  ['SIGHUP', 129],
  ['SIGKILL', null],
] as const)('a %s leaves no typed copy, and a manifest that says how the build ended', async (signal, status) => {
  const name = `typed-${signal}`;
  const { folder: builds, cache } = options(name);
  const model = fixturePath('builds/qdq/model.onnx');
  const rules = join(folder, name, 'rules.trtprec');
  writeFileSync(rules, 'base fp16\n');
  const args = ['build', model, '--backend', 'trtexec', '--trtexec', tool, '--folder', builds, '--verbose'];
  args.push('--strongly-typed', '--rules', rules);
  const child = spawn(process.execPath, [cli, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, TENSORRT_LENS_CACHE: cache },
  });
  let begun = 0;
  const code = await new Promise((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (!text.includes('[TRT]') || begun > 0) return;
      begun = Date.now();
      child.kill(signal);
    });
    child.once('close', resolve);
  });
  expect(begun).toBeGreaterThan(0);
  expect(code).toBe(status);
  const [build] = readdirSync(builds);
  const left = () => readdirSync(join(builds, build!)).sort();
  const whole = ['build.log', 'manifest.json', 'overrides.json'];
  await expect.poll(left).toEqual(whole);
  expect((await requireBuild(join(builds, build!))).manifest.result).toBe('cancelled');
});
