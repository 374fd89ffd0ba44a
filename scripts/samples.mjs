// `node scripts/samples.mjs`: the models of media/sample, from those of the tests. Their weights are random anyway, and
// fusion depends on structure, shapes and types: all elements of a tensor are made equal, so that a sample takes a tenth of
// the package that it took with them.
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
    if (
      /^(?:float|u?int8)$/.test(type) &&
      data &&
      'inline' in data &&
      data.inline.field === undefined &&
      !data.inline.scattered
    )
      repeatFirst(
        bytes.subarray(data.inline.offset, data.inline.offset + data.inline.length),
        type === 'float' ? 4 : 1,
      );
  writeFileSync(`media/sample/${name}.onnx`, bytes);
}

/** Repeats the first element of a tensor, in the raw data of an ONNX file. */
function repeatFirst(raw, size) {
  if (raw.length > 4 * size) for (let at = size; at < raw.length; at += size) raw.copyWithin(at, 0, size);
}
