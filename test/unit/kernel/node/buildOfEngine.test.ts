import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BuildManifest } from '../../../../src/kernel/build/buildManifest.ts';
import { fingerprint } from '../../../../src/kernel/node/files/fingerprint.ts';
import { ParsedFiles } from '../../../../src/kernel/node/files/parsedFiles.ts';
import { buildOfEngine, whyStale } from '../../../../src/kernel/node/store/buildOfEngine.ts';
import { buildManifest } from '../../../support/buildManifest.ts';

let cache: string;
beforeEach(async () => (cache = await mkdtemp(join(tmpdir(), 'lens-'))));
afterEach(() => rm(cache, { recursive: true }));

async function addBuild(id: string, more: Partial<BuildManifest>): Promise<string> {
  const folder = join(cache, 'builds', 'model', id);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(buildManifest({ id, ...more })));
  return folder;
}
async function put(name: string, text: string): Promise<string> {
  const path = join(cache, name);
  await writeFile(path, text);
  return path;
}
const idOf = async (path: string) => (await buildOfEngine(path, { cache }))?.manifest.id ?? null;

describe('the build that an engine came from', () => {
  it('is known by the hash of its content, wherever the file is', async () => {
    const engine = await put('moved.engine', 'plan one');
    const other = await put('other.engine', 'plan two');
    await addBuild('20260101', { engine: await fingerprint(engine) });
    expect(await idOf(engine)).toBe('20260101');
    // The same size.
    expect(await idOf(other)).toBeNull();
    expect(await idOf(join(cache, 'missing.engine'))).toBeNull();
  });

  it('is known by its own engine where the hash was not recorded, and never by a build that failed', async () => {
    const engine = await put('copy.engine', 'plan one');
    const failed = await addBuild('20260102', {
      result: 'failed',
      files: { log: null, layers: null, profile: null, engine: 'model.engine' },
    });
    await writeFile(join(failed, 'model.engine'), 'plan one');
    expect(await idOf(engine)).toBeNull();
    const folder = await addBuild('20260103', {
      files: { log: null, layers: null, profile: null, engine: 'model.engine' },
    });
    expect(await idOf(engine)).toBeNull();
    await writeFile(join(folder, 'model.engine'), 'plan one');
    expect(await idOf(engine)).toBe('20260103');
  });

  it('says when the model or the rules were changed since', async () => {
    const model = await put('model.onnx', 'model');
    const rules = await put('model.trtprec', 'fp32 /a\n');
    const built = async (more: Partial<BuildManifest>) => ({
      folder: cache,
      manifest: buildManifest({
        model: { file: model, ...(await fingerprint(model)) },
        started: '2026-01-15T10:00:00Z',
        ...more,
      }),
    });
    const plain = await built({});
    const { sha256: rulesSha256 } = await fingerprint(rules);
    const ruled = await built({ options: { overrides: rules }, rulesSha256 });
    expect(await whyStale(plain, new ParsedFiles())).toBeNull();
    expect(await whyStale(ruled, new ParsedFiles())).toBeNull();
    await put('model.trtprec', 'fp32 /b\n');
    expect(await whyStale(ruled, new ParsedFiles())).toBe(`${rules} was changed after this build.`);
    await put('model.onnx', 'lodem');
    expect(await whyStale(plain, new ParsedFiles())).toBe(`${model} was changed after this build.`);
  });
});
