import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import { modelPath } from '../support/fixtures.ts';
import { rtxForTests, temporaryFolder } from '../support/rtx.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = temporaryFolder();
/** A copy of what it builds: other test files run the command line in `dist` of this checkout meanwhile. */
const checkout = join(folder, 'checkout');
const start = join(checkout, 'scripts/start.mjs');

beforeAll(async () => {
  mkdirSync(checkout);
  for (const name of ['src', 'webview', 'scripts', 'examples', 'esbuild.mjs', 'package.json', 'package-lock.json'])
    cpSync(join(root, name), join(checkout, name), { recursive: true });
  for (const name of ['node_modules', 'test']) symlinkSync(join(root, name), join(checkout, name));
  await rtxForTests();
});

const run = (args: string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, [start, ...args], {
    encoding: 'utf8',
    cwd: folder,
    env: { ...process.env, INIT_CWD: folder, ...env },
  });

test("builds the user's model, found from where the person stands", () => {
  mkdirSync(join(folder, 'sub'), { recursive: true });
  copyFileSync(modelPath('fp16_overflow'), join(folder, 'sub', 'my.onnx'));
  const { status, stdout, stderr } = run(['sub/my.onnx', '--no-serve']);
  expect(status, stderr).toBe(0);
  expect(stdout).toContain('my.onnx · TensorRT-RTX');
  expect(run(['sub/none.onnx', '--no-serve'])).toMatchObject({ status: 2, stdout: '' });
});

test('a model that cannot be built is an error, never the recorded build', () => {
  copyFileSync(modelPath('resnet18'), join(folder, 'bare.onnx'));
  const { status, stdout, stderr } = run(['bare.onnx', '--no-serve']);
  expect(status).toBe(2);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/bare\.onnx: The weights file .*weights\.bin.*--random-weights/);
});

test('where the wheels cannot be had it shows the recorded build and says so', () => {
  const env = {
    TENSORRT_LENS_CACHE: join(folder, 'empty'),
    PIP_INDEX_URL: 'http://127.0.0.1:9/',
    PIP_RETRIES: '0',
    PIP_NO_CACHE_DIR: '1',
  };
  const { status, stdout, stderr } = run(['--no-serve'], env);
  expect(status, stderr).toBe(0);
  expect(stderr).toContain('Could not install the wheels');
  expect(stderr).toContain('RECORDED');
  expect(stdout).toContain('Of 636 nodes, 453 are in the ForeignNode');
  // Without Python it fails as well, and at once.
  const without = { ...env, PATH: join(folder, 'empty') };
  expect(run(['sub/my.onnx', '--no-serve'], without)).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('This model cannot be built without TensorRT-RTX.') as string,
  });
});

describe('the example, built for real and served', () => {
  let url: URL;
  let out = '';
  let err = '';
  let stop: () => Promise<number | null>;

  beforeAll(async () => {
    const child = spawn(process.execPath, [start], { cwd: folder, env: { ...process.env, INIT_CWD: folder } });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    stop = () => {
      child.kill('SIGTERM');
      return ended;
    };
    url = await new Promise<URL>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        out += text;
        const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(out);
        if (found) resolve(new URL(found[0]));
      });
      void ended.then(() => reject(new Error(`ended early: ${out}`)));
    });
    return async () => {
      await stop();
    };
  });

  const get = (path: string, { host = url.host, method = 'GET' } = {}) =>
    new Promise<{ status: number; body: string; policy: string }>((resolve, reject) => {
      request({ hostname: url.hostname, port: url.port, path, method, headers: { Host: host } }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => (body += text));
        response.on('end', () =>
          resolve({ status: response.statusCode!, body, policy: String(response.headers['content-security-policy']) }),
        );
      })
        .on('error', reject)
        .end();
    });

  test('prints the summary', () => {
    expect(out).toContain('vit_tiny.onnx · TensorRT-RTX 1.7.1');
    expect(out).toContain('Of 636 nodes, 453 are in the ForeignNode');
    expect(out).toContain('897 → 1');
    expect(err).toContain('with random weights');
    expect(out).not.toContain('RECORDED');
  });

  test('serves the report of this build, and frames of other pages may not show it', async () => {
    const { status, body, policy } = await get('/');
    expect(status).toBe(200);
    expect(policy).toBe("frame-ancestors 'none'");
    const [, json] = /id="view-data">(.*)<\/script>/.exec(body) ?? [];
    const data = JSON.parse(json!) as ViewData;
    expect(data).toMatchObject({
      title: 'vit_tiny.onnx',
      build: { origin: 'built', result: 'passed', backend: 'rtx' },
    });
    expect(data.report!.accounting.total).toBe(636);
  });

  test.each(['/../package.json', '/package.json', '/%2e%2e/package.json', '//etc/passwd', '/report.js'])(
    'gives no other file: %s',
    async (path) => {
      expect(await get(path)).toMatchObject({ status: 404, body: 'No such page.' });
    },
  );

  test('answers to this machine alone, and to reading alone', async () => {
    expect((await get('/', { host: 'evil.example' })).status).toBe(403);
    expect((await get('/', { host: `evil.example:${url.port}` })).status).toBe(403);
    expect((await get('/', { host: `localhost:${url.port}` })).status).toBe(200);
    expect((await get('/', { method: 'POST' })).status).toBe(405);
    expect(await get('/', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
  });

  test('ends with Ctrl+C or SIGTERM', async () => {
    expect([143, null]).toContain(await stop());
  });
});

test('needs no package before it has run: only modules of Node itself', () => {
  const importsOf = (path: string) =>
    [...readFileSync(path, 'utf8').matchAll(/from '([^']+)'/g)].map(([, name]) => name!);
  const own = importsOf(start).filter((name) => name.startsWith('./'));
  const all = [start, ...own.map((name) => join(dirname(start), name))].flatMap(importsOf);
  expect(all.length).toBeGreaterThan(5);
  expect(all.filter((name) => !name.startsWith('node:') && !own.includes(name))).toEqual([]);
});
