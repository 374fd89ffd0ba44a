import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import type { FusionReport } from '../../../../src/kernel/fusion/fusionReport.ts';
import { gate } from '../../../../src/features/gate/node/cli/gate.ts';
import { fusion } from '../../../../src/kernel/node/cli/fusion.ts';
import { findSources } from '../../../../src/kernel/node/files/findSources.ts';
import {
  matchingFiles,
  readSource,
  shortSource,
  sourceFrom,
  sourceRanges,
} from '../../../../src/kernel/network/sourceLines.ts';
import { codeLines } from '../../../../src/kernel/picture/page/selectionText.ts';
import { fixturePath } from '../../../support/fixtures.ts';
import { runCommand } from '../../shell/cli/runCommand.ts';

const folder = fixturePath('torch/vision');
const stack = (text: string) => sourceFrom({ metadata: [{ key: 'pkg.torch.onnx.stack_trace', value: text }] }).source;

describe('the line of Python of a node', () => {
  it('is the innermost one outside of PyTorch', () => {
    const own =
      'File "/home/ann/a.py", line 3, in forward\n    x = f(x)\n  File "/home/ann/b c.py", line 14, in forward';
    expect(stack(own)).toBe('/home/ann/b c.py:14');
    const inside = '/opt/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py';
    expect(stack(`${own}\n    y\n  File "${inside}", line 134, in forward\n    return F.linear(`)).toBe(
      '/home/ann/b c.py:14',
    );
    expect(stack(`File "${inside}", line 134, in forward`)).toBeUndefined();
    expect(stack('File "/src/pytorch/torch/_refs/__init__.py", line 1, in f\n  File "C:\\m\\net.py", line 9')).toBe(
      'C:\\m\\net.py:9',
    );
  });

  it('is in a library of models, too, and in a folder that is called torch', () => {
    expect(stack('File "/v/lib/site-packages/transformers/models/vit/modeling_vit.py", line 218, in forward')).toMatch(
      /modeling_vit\.py:218$/,
    );
    expect(stack('File "/home/ann/torch/models/net.py", line 2, in forward')).toBe('/home/ann/torch/models/net.py:2');
  });

  it('is not taken from a line of code that looks like one', () => {
    expect(stack('File "/a.py", line 3, in f\n    print(\' File "/b.py", line 4, in g\')')).toBe('/a.py:3');
  });

  it('is nowhere in other metadata', () => {
    expect(sourceFrom({ metadata: [{ key: 'namespace', value: 'File "/a.py", line 3, in f' }] })).toEqual({});
    expect(sourceFrom({ metadata: [], doc: 'A layer (2): of mine' })).toEqual({});
  });
});

test.each(['tiny_vit.onnx', 'torchscript.onnx'])('%s has the lines of its program', async (file) => {
  const { value } = await readModel(bytesOf(readFileSync(`${folder}/${file}`)));
  const { nodes } = value!;
  const lines = new Map(
    ['blocks.py', 'tiny_vit.py'].map((name) => [name, readFileSync(`${folder}/${name}`, 'utf8').split('\n')]),
  );
  const code: Record<string, RegExp> = {
    Softmax: /softmax/,
    LayerNormalization: /norm/,
    Conv: /patch_embed/,
    Gelu: /act/,
  };
  let checked = 0;
  for (const node of nodes) {
    const { op } = node;
    const { source } = sourceFrom(node);
    const read = source === undefined ? null : readSource(source);
    if (read === null || code[op] === undefined) continue;
    checked++;
    expect(lines.get(read.path.replace('/home/ann/vision/', ''))![read.line - 1]).toMatch(code[op]);
  }
  expect(checked).toBeGreaterThan(7);
});

test('the report lists the code of each group, of each member and of a line', async () => {
  const given = ['--onnx', `${folder}/tiny_vit.onnx`, '--log', `${folder}/build.log.gz`];
  expect((await runCommand(fusion, ...given)).out).toContain('blocks.py:14–43, tiny_vit.py:19–24');
  expect((await runCommand(fusion, ...given, '--group', '0')).out).toContain('Softmax node_softmax @ blocks.py:30');
  const report = JSON.parse((await runCommand(fusion, ...given, '--json')).out) as FusionReport;
  const timed = { ...report, layers: report.layers.map((layer) => ({ ...layer, averageMs: 0.001 })) };
  const lines = codeLines(timed, '/home/ann/vision/blocks.py');
  expect(lines.map(({ line }) => line)).toEqual([14, 15, 27, 28, 29, 30, 31, 32, 42, 43]);
  const softmax = lines.find(({ line }) => line === 30)!;
  expect(softmax).toMatchObject({ nodes: ['19', '47'], groups: [expect.stringContaining('ForeignNode 0')] });
  expect(softmax.kernels).toBeGreaterThan(1);
  expect(softmax.ms).toBeCloseTo(
    report.nodes
      .filter(({ id }) => softmax.nodes.includes(id))
      .flatMap(({ layers }) => layers)
      .reduce((sum, id) => sum + 0.001 / report.layers[id]!.nodes.length, 0),
    9,
  );
  expect(codeLines(report, '/home/ann/vision/other.py')).toEqual([]);
});

test('SARIF points a code host to the line of Python, then to the rule', async () => {
  const out = await mkdtemp(join(tmpdir(), 'source-'));
  const [file, sarif] = [join(out, 'a.gate.yaml'), join(out, 'a.sarif')];
  await writeFile(file, 'rules:\n  attention: fused\n  kernels: { max: 10 }\n');
  const report = join(out, 'report.json');
  const given = ['--onnx', `${folder}/tiny_vit.onnx`];
  const { out: text } = await runCommand(fusion, ...given, '--log', `${folder}/build.log.gz`, '--json');
  await writeFile(report, text);
  const { err } = await runCommand(gate, file, '--report', report, ...given, '--sarif', sarif);
  expect(err).toMatch(/\/home\/ann\/vision\/blocks\.py is taken to be test\/fixtures\/torch\/vision\/blocks\.py/);
  const [log] = (JSON.parse(await readFile(sarif, 'utf8')) as { runs: { results: object[] }[] }).runs;
  const place = (uri: string, startLine: number) => ({
    physicalLocation: {
      artifactLocation: { uri: expect.stringContaining(uri) },
      region: expect.objectContaining({ startLine }),
    },
  });
  expect(log!.results).toMatchObject([
    { ruleId: 'attention', locations: [place('vision/blocks.py', 30)], relatedLocations: [place('a.gate.yaml', 2)] },
    { ruleId: 'kernels', locations: [place('a.gate.yaml', 3)] },
  ]);
});

describe('places of code', () => {
  it('are ranges, the file with the most nodes first', () => {
    expect(sourceRanges(['/m/a.py:9', '/m/b.py:3', '/m/b.py:7', undefined, '/m/b.py:5'])).toBe('b.py:3–7, a.py:9');
    expect(sourceRanges(['/a.py:1', '/b.py:1', '/c.py:1', '/d.py:1', '/e.py:1'])).toBe(
      'a.py:1, b.py:1, c.py:1, 2 more files',
    );
    expect(sourceRanges([undefined])).toBe('');
    expect(shortSource('C:\\models\\net.py:12')).toBe('net.py:12');
    expect(shortSource('net.py')).toBe('net.py');
  });

  it('are matched to files of another machine by their end', () => {
    const here = ['/w/a/model.py', '/w/b/vision/model.py', '/w/vision.old/model.py'];
    expect(matchingFiles('/home/ann/vision/model.py', here)).toEqual({ files: ['/w/b/vision/model.py'], parts: 2 });
    expect(matchingFiles('C:\\x\\model.py', here).files).toHaveLength(3);
    expect(matchingFiles('/home/other.py', here)).toEqual({ files: [], parts: 0 });
  });

  it('are found below a folder, where one file fits', async () => {
    const found = await findSources(folder, ['/home/ann/vision/blocks.py:14', '/x/missing.py:1', 'tiny_vit.py:2']);
    expect(Object.fromEntries(found)).toEqual({
      '/home/ann/vision/blocks.py': 'blocks.py',
      'tiny_vit.py': 'tiny_vit.py',
    });
  });
});
