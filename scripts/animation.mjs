// `node scripts/animation.mjs`: docs/images/build-to-graph.png, the short animation of the Marketplace's page, from
// pictures next to it, which the UI tests take of a real VS Code. An animated PNG: the compressed pictures go into one file
// as they are.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const target = 'docs/images/build-to-graph.png';
/** In bytes: the page has to load. */
const limit = 2 ** 20;
const secondsEach = 2;

const names = ['build-menu', 'build-running', 'foreign-node', 'fusion-page'];
const pictures = names.map((name) => chunksOf(readFileSync(`docs/images/${name}.png`)));
const header = pictures[0].find(({ type }) => type === 'IHDR').data;
if (pictures.some((chunks) => !chunks.find(({ type }) => type === 'IHDR').data.equals(header)))
  throw new Error('The pictures differ in size or in their kind of colors.');

let sequence = 0;
const frames = pictures.flatMap((chunks, index) => {
  const data = chunks.filter(({ type }) => type === 'IDAT').map((chunk) => chunk.data);
  const control = Buffer.alloc(26);
  control.writeUInt32BE(sequence++, 0);
  header.copy(control, 4, 0, 8);
  control.writeUInt16BE(index === pictures.length - 1 ? 2 * secondsEach : secondsEach, 20);
  control.writeUInt16BE(1, 22);
  const pieces = data.map((piece) => (index === 0 ? chunk('IDAT', piece) : chunk('fdAT', numbered(piece))));
  return [chunk('fcTL', control), ...pieces];
});
const animation = Buffer.alloc(8);
animation.writeUInt32BE(pictures.length, 0);
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
writeFileSync(
  target,
  Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('acTL', animation),
    ...frames,
    chunk('IEND', Buffer.alloc(0)),
  ]),
);
const { size } = statSync(target);
console.log(`${target}: ${pictures.length} pictures, ${size.toLocaleString('en')} bytes`);
if (size > limit) throw new Error(`${target} must not exceed ${limit.toLocaleString('en')} bytes.`);

/** @returns the parts of a PNG file */
function chunksOf(file) {
  const chunks = [];
  for (let at = 8; at < file.length;) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    chunks.push({ type, data: file.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function chunk(type, data) {
  const part = Buffer.alloc(data.length + 12);
  part.writeUInt32BE(data.length, 0);
  part.write(type, 4, 'latin1');
  data.copy(part, 8);
  part.writeUInt32BE(crc32(part.subarray(4, data.length + 8)), data.length + 8);
  return part;
}

function numbered(data) {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(sequence++);
  return Buffer.concat([number, data]);
}
