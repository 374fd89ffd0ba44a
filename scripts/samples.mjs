// `node scripts/samples.mjs`: the models of media/sample, from those of the tests. Their weights are random anyway, and
// fusion depends on structure, shapes and types: of each element its sign is kept, with one size for the whole tensor, so
// that a sample takes a fifth of the package that it took with the elements.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadSource } from './generate/loadSource.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { readModel } = await loadSource('src/core/formats/onnx/readModel.ts');
const { bytesOf } = await loadSource('src/core/base/problem.ts');

const names = ['fusion_zoo'];
mkdirSync('media/sample', { recursive: true });
for (const name of names) {
  const bytes = readFileSync(`test/fixtures/models/${name}.onnx`);
  // oxlint-disable-next-line no-await-in-loop -- a few small files
  const { value, problems } = await readModel(bytesOf(bytes), { spans: true });
  if (value === undefined) throw new Error(problems[0].message);
  for (const { type, data } of value.graph.initializers)
    if (type === 'float' && data && 'inline' in data && data.inline.field === undefined && !data.inline.scattered)
      keepSigns(bytes.subarray(data.inline.offset, data.inline.offset + data.inline.length));
  writeFileSync(`media/sample/${name}.onnx`, bytes);
}

/** Gives all elements of a tensor, in the raw data of an ONNX file, the same size. Scalars stay as they are. */
function keepSigns(raw) {
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  const offsets = Array.from({ length: raw.byteLength / 4 }, (_, index) => index * 4);
  const size = offsets.reduce((sum, at) => sum + Math.abs(view.getFloat32(at, true)), 0) / offsets.length;
  if (offsets.length > 16)
    for (const at of offsets) view.setFloat32(at, Math.sign(view.getFloat32(at, true)) * size, true);
}
