import { describe, expect, it } from 'vitest';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import {
  type EngineReading,
  type EngineTarget,
  readCachedEngineName,
} from '../../../../src/kernel/inspect/inspection.ts';
import { inspectFile } from '../../../../src/kernel/inspect/inspectFile.ts';
import { renderHtml } from '../../../../src/kernel/document/render.ts';
import { engineDocument, type EnginePage } from '../../../../src/features/engines/vscode/internal/enginePage.ts';
import { buildManifest } from '../../../support/buildManifest.ts';

function header(): Uint8Array {
  const bytes = new Uint8Array(64);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode('vtrt'));
  view.setUint32(8, 2, true);
  view.setBigUint64(16, 64n, true);
  bytes.set([1, 7, 1, 116], 24);
  bytes.set(new TextEncoder().encode('vtrt'), 28);
  view.setUint32(32, 0x0a, true);
  return bytes;
}
const target: EngineTarget = {
  product: 'tensorrt-rtx',
  version: '1.7.1',
  computeCapability: '12.0',
  runtime: null,
  platform: null,
};
const enginePage = (page: EnginePage, href = 'command:x?[]') =>
  renderHtml(engineDocument(page), { hrefOf: () => href });
/** What TensorRT may say of an engine: names are of the model, messages may contain them. */
const evilReading = (text: string): EngineReading => ({
  module: 'tensorrt',
  version: '10.6.0',
  gpu: { name: text, computeCapability: '9.0', cuda: '12.8' },
  validity: null,
  engine: {
    name: text,
    tensors: [
      {
        name: text,
        mode: 'input',
        type: text,
        shape: [-1, 3],
        format: text,
        location: text,
        profiles: [
          { min: [1, 3], opt: [4, 3], max: [8, 3] },
          { min: [16, 3], opt: [16, 3], max: [16, 3] },
        ],
        values: null,
      },
    ],
    profiles: 2,
    layers: 12,
    auxStreams: 2,
    deviceMemory: 12_582_912,
    streamableWeights: null,
    refittable: true,
    hardwareCompatibility: text,
    capability: text,
    profilingVerbosity: text,
  },
  error: null,
  layers: '{}',
  messages: [{ severity: 'W', message: text }],
});
const textOf = (html: string) =>
  html
    .replace(/<style[^]*?<\/style>/, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

describe('the page of an engine', () => {
  it('has what the header says, a verdict for each condition, and the build', async () => {
    const found = await inspectFile(bytesOf(header()), { target });
    const build = buildManifest({
      id: '20260101',
      model: { file: '/models/vit.onnx', sha256: null, bytes: 0 },
      options: { precision: 'fp16' },
    });
    const text = textOf(enginePage({ name: 'vit.engine', found, build, stale: null, reading: null }));
    expect(text).toContain('Product TensorRT-RTX Version 1.7.1, build 116 Size 64 bytes Compute capabilities 8.0, 8.9');
    expect(text).toContain('✓ File Fits The file has all bytes that its header specifies.');
    expect(text).toContain('✓ Version Fits');
    expect(text).toContain('✗ GPU Does not load Built for compute capability 8.0, 8.9.');
    expect(text).toContain('✓ Platform Fits');
    expect(text).toContain('Build 20260101 Model vit.onnx (/models/vit.onnx)');
    expect(text).toContain('Options precision: fp16');
  });

  it('says that an engine is stale, or that no build is known', async () => {
    const found = await inspectFile(bytesOf(header()));
    const html = enginePage({ name: 'a.engine', found, build: null, stale: 'a.onnx was changed.', reading: null });
    expect(textOf(html)).toContain('a.onnx was changed.');
    expect(textOf(html)).toContain('No build in the history has this engine.');
  });

  it('shows a file that is no engine as what it is', async () => {
    const found = await inspectFile(bytesOf(new Uint8Array([0, 1, 2, 3, 255])));
    const text = textOf(enginePage({ name: 'x.plan', found, build: null, stale: null, reading: null }));
    expect(text).toContain('are not an ONNX model, a TensorRT engine or a timing cache');
    expect(text).not.toContain('Will It Load?');
  });

  it('has what TensorRT says of inputs, profiles, memory and layers', async () => {
    const found = await inspectFile(bytesOf(header()));
    const page = { name: 'a.engine', found, build: null, stale: null };
    expect(textOf(enginePage({ ...page, reading: null }))).toContain('Read with TensorRT');
    const html = enginePage({ ...page, reading: evilReading('some') });
    const text = textOf(html);
    expect(text).toContain('some input some ?×3 0: 1×3 to 8×3, optimum 4×3 1: 16×3 some some');
    expect(text).toContain('Auxiliary streams 2 Device memory of a context 12.0 MiB Refittable yes');
    expect(text).toContain('Open Layers as a Graph');
    expect(text).toContain('Read by TensorRT 10.6.0 on some (compute capability 9.0, CUDA 12.8).');
    const failed = { ...evilReading('some'), engine: null, layers: null, error: 'the version differs' };
    expect(textOf(enginePage({ ...page, reading: failed }))).toContain('It was not loaded: the version differs.');
  });

  it('takes text only as text, and runs no script', async () => {
    const found = await inspectFile(bytesOf(header()));
    const evil = '<img src=x onerror=alert(1)>"\'';
    const build = buildManifest({ model: { file: evil, sha256: null, bytes: 0 }, options: { [evil]: evil } });
    const html = enginePage({ name: evil, found, build, stale: evil, reading: evilReading(evil) }, evil);
    expect(html).not.toContain('<img');
    expect(html.replaceAll(/="[^"]*"/g, '')).not.toMatch(/<script|<[^>]*\son\w+/);
  });
});

describe('names of engines that ONNX Runtime caches', () => {
  it('have the graph, the part, the precisions and the compute capability', () => {
    const name = 'TensorrtExecutionProvider_TRTKernel_graph_main_graph_2697494743358455023_0_0_fp16_int8_sm86.engine';
    expect(readCachedEngineName(name)).toEqual({
      graph: 'main_graph',
      part: '0_0',
      precisions: ['fp16', 'int8'],
      computeCapability: '8.6',
    });
    expect(
      readCachedEngineName(
        'TensorrtExecutionProvider_TRTKernel_graph_torch-jit-export_11340214133003188726_252_46_sm120.engine',
      ),
    ).toMatchObject({ graph: 'torch-jit-export', part: '252_46', precisions: [], computeCapability: '12.0' });
    expect(readCachedEngineName('model.engine')).toBeNull();
  });
});
