import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BuildManifest, BuildProgress } from '../../../../src/kernel/build/buildManifest.ts';
import { listAllBuilds } from '../../../../src/kernel/node/store/buildHistory.ts';
import { type BuildEvents, type BuildOptions, runBuild } from '../../../../src/kernel/node/run/runBuild.ts';
import { captureText, fixturePath, modelPath } from '../../../support/fixtures.ts';
import { type Played, playerTool } from '../../../support/playerTool.ts';
import { temporaryFolder } from '../../../support/rtx.ts';
import { runningWith } from '../../../support/runningWith.ts';

const folder = temporaryFolder();
let number = 0;

/** A build by a player, each with programs and folders of its own. */
function played(what: Played, more: Partial<BuildOptions> = {}, events: BuildEvents = {}, signal?: AbortSignal) {
  const own = join(folder, String((number += 1)));
  mkdirSync(own);
  const as = what.as ?? 'trtexec';
  const model = what.capture.split('/')[1]!.split('.')[0]!;
  const options: BuildOptions = {
    model: existsSync(modelPath(model)) ? modelPath(model) : modelPath('unnamed'),
    backend: as,
    [as]: playerTool(own, as, what),
    driver: 'unused',
    cache: join(own, 'cache'),
    confirm: () => Promise.reject(new Error('asked')),
    ...more,
  };
  return { own, build: runBuild(options, events, signal) };
}

/** Only a timing cache is replaced by one. */
const recordedCache = readFileSync(fixturePath('captures/tensorrt-10.6.0/vit_tiny.timingcache/tc.bin'));

describe('trtexec, as recorded', () => {
  test('a build leaves what the views need, and says where the time went', async () => {
    const engine = join(folder, 'resnet.plan');
    const timingCache = join(folder, 'timing.cache');
    writeFileSync(timingCache, recordedCache);
    let last: BuildProgress | undefined;
    const { build } = played(
      { capture: 'tensorrt-10.6.0/resnet18.fp32' },
      { profileRun: true, engine, timingCache },
      { changed: (progress) => (last = progress) },
    );
    const { folder: made, manifest } = await build;
    expect(manifest).toMatchObject({
      result: 'passed',
      error: null,
      tensorrt: { product: 'tensorrt', version: '10.6.0' },
      gpu: 'NVIDIA H200',
      options: { timingCache, engine, profileRun: true },
      files: { layers: 'layers.json', profile: 'profile.json', engine },
    });
    expect(readFileSync(join(made, 'build.log'), 'utf8')).toBe(captureText('tensorrt-10.6.0/resnet18.fp32/log.txt'));
    expect(readFileSync(engine, 'utf8')).toMatch(/whole of resnet18\.fp32>$/);
    // The program wrote into a copy, which took the file's place in the end.
    const written = Buffer.concat([recordedCache, Buffer.from('<half whole of resnet18.fp32>')]);
    expect(readFileSync(timingCache).equals(written)).toBe(true);
    expect(manifest.command.join(' ')).not.toContain(timingCache);
    expect(readdirSync(made).sort()).toEqual(['build.log', 'layers.json', 'manifest.json', 'profile.json']);
    expect(last!.state(0)).toMatchObject({ layersTimed: 23, layersToTime: 23, cacheHits: 172, outcome: 'passed' });
    expect(manifest.timeLine!.totalMs).toBeGreaterThan(0);
  });

  test('the second build knows how long the first one took', async () => {
    const own = { cache: join(folder, 'twice') };
    const what = { capture: 'tensorrt-10.6.0/vit_tiny.fp16', seconds: 0.5 };
    const first = (await played(what, own).build).manifest;
    const estimates = new Set<string | null>();
    const look = (progress: BuildProgress) => estimates.add(progress.state(1).estimate);
    await played(what, own, { changed: look }).build;
    expect(first.seconds).toBeGreaterThan(0.4);
    expect(estimates).toContain('earlier build');
    const others = new Set<string | null>();
    await played(what, { ...own, workspace: 64 }, { changed: (t) => others.add(t.state(1).estimate) }).build;
    expect(others).not.toContain('earlier build');
  });

  test.each([
    ['tensorrt-10.6.0/unsupported_op.fp32', /no importer for the operator MyCustomOp/],
    ['tensorrt-8.6.1/unsupported_op.fp32', /MyCustomOp/],
    ['tensorrt-10.6.0/bert_base.badprofile', /min.*max|profile/i],
    ['tensorrt-10.6.0/bert_base.wrongname', /input/i],
    ['tensorrt-10.6.0/resnet18.prec_badtype', /type/i],
    ['tensorrt-10.6.0/vit_tiny.vc', /libnvinfer_lean|version.compatible|library/i],
    ['tensorrt-8.6.1/vit_tiny.workspace_1k', /workspace/i],
    ['tensorrt-10.6.0/cli.missing_file', /none\.onnx/],
    ['tensorrt-8.6.1/cli.truncated_onnx', /model|parse/i],
  ])('%s fails with its diagnosis', async (capture, cause) => {
    const { manifest, folder: made } = await played({ capture, code: 1 }).build;
    expect(manifest.result).toBe('failed');
    expect(manifest.error).toMatch(cause);
    expect(manifest.error).toMatch(/ \(trtexec exited with 1\)$/);
    expect(manifest.error).not.toMatch(/[\r\n]|\[E\]/);
    expect(manifest.files.engine).toBeNull();
    expect(readdirSync(made).filter((name) => /engine|tmp/.test(name))).toEqual([]);
  });

  test('a build that was killed from outside says so, and where it was', async () => {
    const { manifest } = await played({ capture: 'tensorrt-10.6.0/resnet18.fp16' }).build;
    expect(manifest.result).toBe('failed');
    expect(manifest.error).toMatch(/trtexec was killed/);
  });

  test('a flag that this version does not know is refused before anything runs', async () => {
    const { own, build } = played({ capture: 'tensorrt-10.6.0/vit_tiny.fp16' }, { extraArguments: ['--disableMHA'] });
    await expect(build).rejects.toThrow(/--disableMHA: no version of trtexec has it/);
    expect(await listAllBuilds(join(own, 'cache'))).toEqual([]);
  });

  test('a program that is no trtexec is told apart before it builds', async () => {
    await expect(played({ capture: 'tensorrt-10.6.0/vit_tiny.fp16' }, { trtexec: '/bin/true' }).build).rejects.toThrow(
      '/bin/true is not a trtexec that can build from ONNX',
    );
  });
});

describe('Polygraphy, as recorded', () => {
  const what: Played = { capture: 'tensorrt-10.6.0/vit_tiny.poly_replay', as: 'polygraphy', log: 'log0.txt' };

  test('a build leaves log, engine and manifest', async () => {
    const timingCache = join(folder, 'polygraphy.cache');
    const { manifest, folder: made } = await played(what, { precision: 'fp16', timingCache }).build;
    expect(manifest).toMatchObject({ result: 'passed', backend: 'polygraphy', files: { engine: 'model.engine' } });
    expect(manifest.tensorrt.version).toBe('10.6.0');
    expect(manifest.command).toContain('--fp16');
    expect(readFileSync(join(made, 'model.engine'), 'utf8')).toContain('whole');
    expect(readFileSync(timingCache, 'utf8')).toContain('whole');
  });

  test('a failure is the first cause, not the traceback', async () => {
    const { manifest } = await played({ ...what, log: 'log2.txt', code: 1 }).build;
    expect(manifest.result).toBe('failed');
    expect(manifest.error).toMatch(/ \(polygraphy exited with 1\)$/);
    expect(manifest.error).not.toMatch(/Traceback|[\r\n]/);
  });
});

describe('a build that is stopped half-way', () => {
  const what: Played = { capture: 'tensorrt-10.6.0/resnet18.fp32', seconds: 30 };

  test('leaves no process, no engine, and the cache as it was; the next one starts clean', async () => {
    const timingCache = join(folder, 'kept.cache');
    const engine = join(folder, 'never.plan');
    writeFileSync(timingCache, recordedCache);
    const abort = new AbortController();
    const stages: string[] = [];
    const { own, build } = played(
      what,
      { timingCache, engine },
      {
        changed: (progress) => {
          const { stage } = progress.state(0);
          if (stages.at(-1) !== stage) stages.push(stage);
          if (stage === 'tactics') abort.abort();
        },
      },
      abort.signal,
    );
    const { manifest, folder: made } = await build;
    expect(stages).toEqual(['parse', 'optimize', 'tactics']);
    expect(manifest).toMatchObject({ result: 'cancelled', error: 'cancelled', files: { engine: null } });
    expect(readdirSync(made).sort()).toEqual(['build.log', 'manifest.json']);
    expect(existsSync(engine)).toBe(false);
    expect(readFileSync(timingCache).equals(recordedCache)).toBe(true);
    expect(runningWith(own)).toEqual([]);
    const again = await played({ ...what, seconds: 0 }, { timingCache, engine, cache: join(own, 'cache') }).build;
    expect(again.manifest.result).toBe('passed');
  });

  test('what a killed caller left half written goes with the next build', async () => {
    const { own, build } = played({ ...what, seconds: 0 });
    const { folder: made, manifest } = await build;
    const cutOff = { ...manifest, result: 'running', pid: 2 ** 30 } satisfies BuildManifest;
    writeFileSync(join(made, 'manifest.json'), JSON.stringify(cutOff));
    for (const name of ['model.engine.partial', 'timingCache.tmp']) writeFileSync(join(made, name), 'half');
    await played({ ...what, seconds: 0 }, { cache: join(own, 'cache') }).build;
    expect(readdirSync(made)).not.toContain('model.engine.partial');
    expect(readdirSync(made)).not.toContain('timingCache.tmp');
  });
});

test('two builds of one model run one after the other; the second says that it waits', async () => {
  const cache = join(folder, 'queue');
  const order: string[] = [];
  const one = (name: string) =>
    played(
      { capture: 'tensorrt-10.6.0/vit_tiny.fp16', seconds: 0.3 },
      { cache, folder: join(folder, name) },
      { waiting: () => order.push('waits'), started: () => order.push('begins') },
    ).build.then(({ manifest }) => order.push(manifest.result));
  await Promise.all([one('left'), one('right')]);
  expect(order.filter((word) => word !== 'waits')).toEqual(['begins', 'passed', 'begins', 'passed']);
  expect(order.filter((word) => word === 'waits')).toHaveLength(1);
});

test('a build that waits can be cancelled', async () => {
  const cache = join(folder, 'patience');
  const what = { capture: 'tensorrt-10.6.0/vit_tiny.fp16' };
  const first = new AbortController();
  const second = new AbortController();
  const running = played({ ...what, seconds: 30 }, { cache }, { started: () => wait() }, first.signal).build;
  let waiting: Promise<unknown> = Promise.resolve();
  function wait() {
    const cancelled = played(what, { cache }, { waiting: () => second.abort() }, second.signal).build;
    waiting = expect(cancelled)
      .rejects.toThrow('cancelled')
      .finally(() => first.abort());
  }
  expect((await running).manifest.result).toBe('cancelled');
  await waiting;
});
