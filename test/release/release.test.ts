import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

// What a release consists of, installed in empty places, does the main job there.
const model = resolve('examples/vit_tiny.onnx');
const log = resolve('examples/recorded/vit_tiny/build.log.gz');
const released = resolve('out/release');
const summary = /1 ForeignNode \(209 kernels\)\. Of 636 nodes, 453 are in the ForeignNode/;

let folder: string;
const run = (program: string, args: string[], environment: Record<string, string> = {}): string =>
  execFileSync(program, args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: folder, ...environment },
  });
const file = (end: string): string =>
  join(
    released,
    readdirSync(released).find((name) => name.endsWith(end))!,
  );

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-'));
  execFileSync(process.execPath, ['scripts/release.mjs', 'wheel', 'npm', '--no-build'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('pip install gives trtlens and a Python module', { timeout: 600_000 }, () => {
  run('python3', ['-m', 'venv', 'venv']);
  const bin = join(folder, 'venv', 'bin');
  run(join(bin, 'python'), ['-m', 'pip', 'install', '--quiet', file('.whl')]);
  // The Node of the PATH runs it, if it is new enough.
  const node = dirname(process.execPath);
  const bare = { PATH: `${node}:/usr/bin:/bin` };
  const old = join(folder, 'old');
  mkdirSync(old);
  writeFileSync(join(old, 'node'), '#!/bin/sh\necho v18.20.0\n', { mode: 0o755 });
  expect(() => run(join(bin, 'trtlens'), ['help'], { PATH: old })).toThrow(/is Node v18\.20\.0; Node 20\.19 or later/);
  const words = run(join(bin, 'trtlens'), ['fusion', '--onnx', model, '--log', log], bare).replaceAll(/\s+/g, ' ');
  expect(words).toMatch(summary);
  writeFileSync(
    join(folder, 'three_lines.py'),
    `import json, sys, tensorrt_lens as lens
report = lens.fusion(${JSON.stringify(model)}, log=${JSON.stringify(log)})
page = lens.show(report)
try:
    lens.explain("no such node", report)
except lens.LensError as error:
    refused = str(error)
print(json.dumps([report["accounting"], page._repr_html_()[:31], refused,
    lens.explain("/blocks/blocks.0/attn/Softmax", ${JSON.stringify(model)}, log=${JSON.stringify(log)})]))
`,
  );
  const [accounting, frame, refused, words2] = JSON.parse(run(join(bin, 'python'), ['three_lines.py'], bare)) as [
    unknown,
    string,
    string,
    string,
  ];
  expect(accounting).toMatchObject({ total: 636, foreign: 453, folded: 183, unknown: 0 });
  expect(frame).toBe('<iframe sandbox="allow-scripts"');
  expect(refused).toContain('no node with the name');
  expect(words2).toContain('Fused into ForeignNode 0');
});

test('the commands in the README of the built wheel run in an empty folder', { timeout: 300_000 }, () => {
  const bin = join(folder, 'venv', 'bin');
  const metadata = run(join(bin, 'python'), ['-c', 'import importlib.metadata as m; print(m.metadata("trtlens"))']);
  for (const field of ['Project-URL: Homepage', 'Project-URL: Documentation', 'Project-URL: Issues'])
    expect(metadata).toContain(field);
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  const env = { HOME: empty, PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin` };
  // Python indents the description of a package.
  const blocks = [...metadata.matchAll(/^ *```(sh|python)\n([^]*?)^ *```$/gm)];
  expect(blocks.map(([, language]) => language)).toEqual(['sh', 'python']);
  for (const [, language, text] of blocks) {
    const script = text!.replaceAll(/^ {8}/gm, '');
    const [program, args] = language === 'sh' ? ['bash', ['-euo', 'pipefail']] : ['python', []];
    expect(() => execFileSync(program!, [...args!, '-c', script], { cwd: empty, env, stdio: 'pipe' })).not.toThrow();
  }
});

test('npx runs the command line', { timeout: 300_000 }, () => {
  const args = ['--yes', `--package=${file('.tgz')}`, 'trtlens', 'fusion', '--onnx', model, '--log', log];
  expect(run('npx', args).replaceAll(/\s+/g, ' ')).toMatch(summary);
});

test('the checksums are those of the files', () => {
  const lines = readFileSync(join(released, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => line.split('  ')[1])).toEqual([
    'sbom.cdx.json',
    expect.stringMatching(/^trtlens-.*\.whl$/),
    expect.stringMatching(/^trtlens-.*\.tgz$/),
  ]);
  for (const line of lines) {
    const [sum, name] = line.split('  ') as [string, string];
    expect(
      createHash('sha256')
        .update(readFileSync(join(released, name)))
        .digest('hex'),
    ).toBe(sum);
  }
});
