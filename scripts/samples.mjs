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

/** By the name of the model: where it is, and where the files of its build are, by the names that they ship under. */
const sources = {
  vit_tiny: {
    model: 'models/vit_tiny.onnx',
    'layers.json': capture('vit_tiny.fp16/layers.json'),
    'profile.json': capture('vit_tiny.fp16/profile.json'),
  },
  convnext_tiny: {
    model: 'convnext_tiny/model.onnx',
    'layers.json': 'convnext_tiny/layers.json.gz',
    'profile.json': 'convnext_tiny/profile.json',
  },
  yolo_like: { model: 'models/yolo_like.onnx', 'build.log': 'samples/yolo_like.log.gz' },
  resnet_int8: { model: 'samples/resnet_int8.onnx', 'build.log': 'samples/resnet_int8.log.gz' },
  unsupported_op: { model: 'models/unsupported_op.onnx', 'build.log': capture('unsupported_op.fp32/log.txt') },
  fusion_zoo: { model: 'models/fusion_zoo.onnx' },
};

/** Writes each sample into a folder of its name. */
export async function writeSamples(to) {
  const { readModel } = await loadSource('src/kernel/read/onnx/readModel.ts');
  for (const [name, { model, ...files }] of Object.entries(sources)) {
    mkdirSync(join(to, name), { recursive: true });
    // oxlint-disable-next-line no-await-in-loop -- a few small files
    writeFileSync(join(to, name, `${name}.onnx`), await withEqualWeights(readModel, bytesOf(model)));
    for (const [file, from] of Object.entries(files)) writeFileSync(join(to, name, file), bytesOf(from));
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
      /^(?:float|u?int8)$/.test(type) &&
      !scales.has(name) &&
      data &&
      'inline' in data &&
      data.inline.field === undefined &&
      !data.inline.scattered
    )
      repeatFirst(
        bytes.subarray(data.inline.offset, data.inline.offset + data.inline.length),
        type === 'float' ? 4 : 1,
      );
  return bytes;
}

/** Repeats the first element of a tensor, in the raw data of an ONNX file. */
function repeatFirst(raw, size) {
  if (raw.length > 4 * size) for (let at = size; at < raw.length; at += size) raw.copyWithin(at, 0, size);
}
