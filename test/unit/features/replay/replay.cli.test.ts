import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { replay } from '../../../../src/features/replay/node/cli/replay.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';
import { runCommand } from '../../shell/cli/runCommand.ts';

const folder = temporaryFolder();
const capture = (name: string) => fixturePath(`captures/${name}`);

/** Writes a file of a test's own. */
function written(name: string, text: string): string {
  const path = join(mkdtempSync(join(folder, 'replay-')), name);
  writeFileSync(path, text);
  return path;
}

const run = (...args: string[]) => runCommand(replay, ...args);

describe('replay', () => {
  const good = capture('tensorrt-10.6.0/vit_tiny.poly_replay/replay.json');
  const edited = () => written('edited.json', readFileSync(good, 'utf8').replaceAll('DataType.HALF', 'DataType.FLOAT'));
  const choices = capture('tensorrt-10.6.0/vit_tiny.algolog/choices.jsonl');

  test('check: the edit of the article fails, with what TensorRT did offer', async () => {
    expect(await run('check', good, '--choices', choices)).toMatchObject({ code: 0 });
    const { code, out } = await run('check', edited(), '--choices', choices, '--json');
    expect(code).toBe(1);
    const { diagnostics, entries } = JSON.parse(out) as {
      entries: number;
      diagnostics: { code: string; layer: string; fixes: string[] }[];
    };
    expect(entries).toBe(2);
    const refused = diagnostics.filter((one) => one.code === 'not-offered');
    expect(refused.map(({ layer }) => layer.slice(0, 12))).toEqual(['/patch_embed', '{ForeignNode']);
    for (const { fixes } of refused) expect(fixes[0]).toMatch(/^Change the whole entry to FP32 → FP32, .* [mµ]s$/);
  });

  test('diff: by meaning', async () => {
    expect(await run('diff', good, good)).toMatchObject({ code: 0, out: '2 layers are the same\n' });
    const { out } = await run('diff', good, edited());
    expect(out).toContain('changed: /patch_embed/proj/Conv\n    Input 0: FP16, vectors of 4');
    expect(JSON.parse((await run('diff', good, edited(), '--json')).out)).toMatchObject({
      same: 0,
      differences: [{ kind: 'changed' }, { kind: 'changed' }],
    });
  });

  test('check: a log alone says what was offered and which TensorRT it was', async () => {
    const log = capture('tensorrt-10.6.0/vit_tiny.fp16/log.txt.gz');
    const { code, out } = await run('check', edited(), '--log', log);
    expect(code).toBe(0);
    expect(out).toMatch(/:3:9: warning not-offered: .* offered 168 choices for this layer in the last build,/);
    expect(out).toMatch(/Change the whole entry to FP32 → FP32, CaskConvolution .* \d+\.\d µs\n/);
    const rtx = await run('check', good, '--log', capture('tensorrt-rtx-1.7.1/vit_tiny/log.txt.gz'));
    expect(rtx.out).toContain('error no-replay-support: TensorRT-RTX');
    await expect(run('check', good, '--layers', log)).rejects.toThrow(/--onnx MODEL.onnx is missing/);
  });

  test('check: what is not known to be offered is not passed over in silence', async () => {
    const model = ['--onnx', modelPath('vit_tiny')];
    expect((await run('check', good)).err).toBe(
      'note: Not checked: what TensorRT offers for these layers. Pass --choices, a verbose log, or the log of the build that rejected the replay.\n',
    );
    const failed = await run(
      'check',
      edited(),
      ...model,
      '--log',
      capture('tensorrt-10.6.0/vit_tiny.poly_replay/log2.txt'),
    );
    expect(failed.code).toBe(1);
    expect(failed.err).toMatch(/^note: Not checked: what TensorRT offers for 1 layer of 2\.[^\n]*\n$/);
    const whole = await run('check', good, ...model, '--choices', choices);
    expect(whole).toMatchObject({ code: 0, err: '' });
  });

  test('check: a byte order mark, which Python does not take', async () => {
    const marked = written('replay.json', `\uFEFF${readFileSync(good, 'utf8')}`);
    const { code, out } = await run('check', marked);
    expect(code).toBe(1);
    expect(out).toContain(`${marked}:1:1: error json-bom: `);
    const single = await run('check', capture('tensorrt-10.6.0/fp16_overflow.poly_replay/replay.json'));
    expect(single).toMatchObject({ code: 0, out: expect.stringMatching(/\n1 layer: no errors or warnings\n$/) });
    expect(await run('diff', good, marked)).toMatchObject({ code: 0, out: '2 layers are the same\n' });
  });

  test('diff: what cannot be read of a file is said on stderr', async () => {
    const cut = written('cut.json', readFileSync(good, 'utf8').slice(0, 900));
    const { code, out, err } = await run('diff', good, cut);
    expect([code, out.split('\n').filter((line) => line.startsWith('removed: ')).length]).toEqual([0, 1]);
    expect(err).toContain(`${cut}:`);
    expect(err).toContain('error json-end: ');
    expect((await run('diff', good, good)).err).toBe('');
  });

  test('what is no replay is refused', async () => {
    const rules = written('net.trtprec', 'op:Softmax fp32');
    expect(await run('check', rules)).toMatchObject({ code: 1 });
    const debug = capture('tensorrt-10.6.0/fp16_overflow.poly_debug_precision/polygraphy_debug_replay.json');
    expect(await run('check', debug)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/debug-replay[^]*\nno replay: /),
    });
    await expect(run('diff', good, rules)).rejects.toThrow(/net.trtprec: Not a tactic replay/);
    await expect(run('diff', debug, good)).rejects.toThrow(/contains no tactics/);
    expect(await run('check', good, '--tensorrt', '11')).toMatchObject({ code: 1 });
    await expect(run('check', `${rules}.gone`)).rejects.toThrow(/no such file/);
    await expect(run('check', good, '--choices', rules)).rejects.toThrow(/no recorded choices/);
    for (const args of [
      ['check', modelPath('vit_tiny')],
      ['diff', good, modelPath('vit_tiny')],
    ])
      await expect(run(...args)).rejects.toThrow(/vit_tiny.onnx is not UTF-8 text. Pass a tactic replay$/);
  });

  test('what is given beside it and is something else is said, once', async () => {
    const log = await run('check', good, '--log', good);
    expect(log.err).toMatch(/^warning: replay.json: Not a TensorRT build log\./);
    const choices = replay.run(['check', good, '--choices', good], {
      out: () => Promise.resolve(),
      note: (line) => expect.fail(line),
      status: () => undefined,
      ask: () => Promise.resolve(undefined),
      signal: new AbortController().signal,
    });
    await expect(choices).rejects.toThrow(/no recorded choices/);
  });
});
