// The gallery of samples: models and recorded builds of the tests, as they ship in dist/samples. Their weights are random
// anyway, and fusion depends on structure, shapes and types: all elements of a large tensor are made equal, so that a
// sample takes a tenth of the package that it took with them.
// The two logs in test/fixtures/samples are of builds with TensorRT-RTX on a CPU. Lines that change nothing in the report
// were removed.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { loadSource } from './generate/loadSource.mjs';

const fixtures = fileURLToPath(new URL('../test/fixtures', import.meta.url));
const capture = (name) => `captures/tensorrt-10.6.0/${name}`;

/**
 * By the name of the folder, and of its model: where the model is, and where its other files are, by the names that they
 * ship under. `weights`: they stay as they are. `.vscodeignore` says which of them the extension has.
 */
const sources = {
  vit_tiny: {
    model: 'models/vit_tiny.onnx',
    'layers.json': capture('vit_tiny.fp16/layers.json'),
    'profile.json': capture('vit_tiny.fp16/profile.json'),
    'build.log.gz': capture('vit_tiny.fp16/log.txt.gz'),
  },
  convnext_tiny: {
    model: 'convnext_tiny/model.onnx',
    'layers.json': 'convnext_tiny/layers.json.gz',
    'profile.json': 'convnext_tiny/profile.json',
  },
  yolo_like: { model: 'models/yolo_like.onnx', 'build.log': 'samples/yolo_like.log.gz' },
  resnet_int8: { model: 'samples/resnet_int8.onnx', 'build.log': 'samples/resnet_int8.log.gz' },
  unsupported_op: {
    model: 'models/unsupported_op.onnx',
    'build.log': capture('unsupported_op.fp32/log.txt'),
  },
  fusion_zoo: { model: 'models/fusion_zoo.onnx' },
  // An encoder whose squares overflow in FP16, with what engines on an H200 gave for the samples.
  overflow: {
    weights: true,
    model: 'faults/ln_pow_outlier/model.onnx',
    'samples.npz': 'faults/ln_pow_outlier/inputs.npz',
    'fp32.npz': 'faults/ln_pow_outlier/h200.fp32.npz',
    'fp16.npz': 'faults/ln_pow_outlier/h200.fp16_all.npz',
    'fixed.npz': 'faults/ln_pow_outlier/h200.fixed.npz',
  },
  // With dynamic dimensions.
  decoder: { model: 'builds/gpt_kv/model.onnx' },
  // Two exports of one encoder, each with its build on an H200.
  encoder: {
    model: 'models/fp16_overflow.onnx',
    'build.log.gz': capture('fp16_overflow.fp16/log.txt.gz'),
    'layers.json': capture('fp16_overflow.fp16/layers.json'),
    'profile.json': capture('fp16_overflow.fp16/profile.json'),
  },
  encoder_mixed: {
    model: 'models/fp16_overflow_mixed.onnx',
    'build.log.gz': capture('fp16_overflow_mixed.typed/log.txt.gz'),
    'layers.json': capture('fp16_overflow_mixed.typed/layers.json'),
    'profile.json': capture('fp16_overflow_mixed.typed/profile.json'),
  },
  cnn_int8: {
    weights: true,
    model: 'int8/model.onnx.gz',
    'calibration.cache': 'int8/calibration.cache',
    'layers.json': 'int8/layers.json',
  },
  tiny_vit: {
    model: 'torch/vision/tiny_vit.onnx',
    'build.log.gz': 'torch/vision/build.log.gz',
    'tiny_vit.py': 'torch/vision/tiny_vit.py',
    'blocks.py': 'torch/vision/blocks.py',
  },
  attention: {
    model: 'builds/new_layers/attention.onnx',
    'build.log.gz': 'builds/new_layers/attention.log.gz',
  },
  onnxruntime: { weights: true, model: 'ort/model_ctx.onnx' },
  // A tactic replay of vit_tiny, the same with an edit, and the log of the build that rejected it.
  replay: {
    'replay.json': capture('vit_tiny.poly_replay/replay.json'),
    'edited.json': capture('vit_tiny.poly_replay/edited.json'),
    'failed.log': capture('vit_tiny.poly_replay/log2.txt'),
  },
  // A program for TensorRT 8.
  tensorrt8: {
    'build.py': '../../examples/for-tensorrt-8/build.py',
    'build.sh': '../../examples/for-tensorrt-8/build.sh',
  },
};

/** Writes each sample into a folder of its name. */
export async function writeSamples(to) {
  const { readModel } = await loadSource('src/kernel/read/onnx/readModel.ts');
  for (const [name, { weights, model, ...files }] of Object.entries(sources)) {
    mkdirSync(join(to, name), { recursive: true });
    // oxlint-disable-next-line no-await-in-loop -- a few small files
    const bytes = model && (weights ? bytesOf(model) : await withEqualWeights(readModel, bytesOf(model)));
    if (bytes) writeFileSync(join(to, name, `${name}.onnx`), bytes);
    // What the name says: compressed for the command line, text for the extension.
    for (const [file, from] of Object.entries(files))
      writeFileSync(join(to, name, file), file.endsWith('.gz') ? readFileSync(join(fixtures, from)) : bytesOf(from));
  }
}

function bytesOf(path) {
  const bytes = readFileSync(join(fixtures, path));
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes;
}

async function withEqualWeights(readModel, bytes) {
  const source = { size: bytes.length, read: (at, length) => Promise.resolve(bytes.subarray(at, at + length)) };
  const { value, problems } = await readModel(source, { spans: true });
  if (value === undefined) throw new Error(problems[0].message);
  const scales = new Set(
    value.graph.nodes.flatMap(({ op, inputs }) => (op.endsWith('QuantizeLinear') ? inputs.slice(1) : [])),
  );
  for (const { name, type, data } of value.graph.initializers)
    if (
      /^(?:float|float16|u?int8)$/.test(type) &&
      !scales.has(name) &&
      data &&
      'inline' in data &&
      data.inline.field === undefined &&
      !data.inline.scattered
    )
      repeatFirst(
        bytes.subarray(data.inline.offset, data.inline.offset + data.inline.length),
        type === 'float' ? 4 : type === 'float16' ? 2 : 1,
      );
  return bytes;
}

/** Repeats the first element of a tensor, in the raw data of an ONNX file. */
function repeatFirst(raw, size) {
  if (raw.length > 4 * size) for (let at = size; at < raw.length; at += size) raw.copyWithin(at, 0, size);
}
