import type { BuildManifest } from '../../src/kernel/build/buildManifest.ts';

/** The manifest of a build by TensorRT 10.6 that passed, without files, with what a test says of it. */
export const buildManifest = (more: Partial<BuildManifest> = {}): BuildManifest => ({
  schema: 1,
  id: 'one',
  model: { file: 'model.onnx', sha256: null, bytes: 0 },
  backend: 'trtexec',
  origin: 'built',
  tensorrt: { product: 'tensorrt', version: '10.6.0' },
  gpu: null,
  driver: null,
  command: [],
  options: {},
  started: '2026-01-15T10:00:00Z',
  seconds: null,
  result: 'passed',
  error: null,
  files: { log: null, layers: null, profile: null, engine: null },
  ...more,
});
