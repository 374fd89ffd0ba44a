// `node scripts/walkthroughPictures.mjs`: media/walkthrough-*.webp, the pictures of the walkthrough, from those of the
// guides in docs/images, which the UI tests take of a real VS Code. Needs what
// test/host/runtime/install-host.sh installs.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { launchBrowser } from '../test/host/runtime/browser.cjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
/** What is seen of each picture: left, top, width, height. */
const parts = {
  graph: ['foreign-node', 345, 30, 1055, 672],
  build: ['build-running', 0, 30, 1400, 870],
  fusion: ['fusion-page', 345, 30, 1055, 672],
  failed: ['build-failed', 345, 30, 1055, 672],
  precision: ['override-verdicts', 345, 30, 1055, 672],
  changed: ['build-compare', 345, 30, 1055, 672],
  time: ['build-time', 345, 30, 1055, 672],
};
/** In pixels, and in bytes: the package has to stay small. */
const [wide, limit] = [640, 15_000];

const browser = await launchBrowser();
const page = await browser.newPage();
for (const [name, [from, ...part]] of Object.entries(parts)) {
  const picture = readFileSync(`docs/images/${from}.png`).toString('base64');
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  const bytes = await page.evaluate(draw, { picture, part, wide, limit });
  const file = Buffer.from(bytes, 'base64');
  writeFileSync(`media/walkthrough-${name}.webp`, file);
  console.log(`media/walkthrough-${name}.webp: ${file.length.toLocaleString('en')} bytes`);
}
await browser.close();

/** Runs in the browser: the part as WebP, in the best quality that fits the limit. */
async function draw({ picture, part: [left, top, width, height], wide: to, limit: most }) {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [to, Math.round((to * height) / width)];
  const context = canvas.getContext('2d');
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, left, top, width, height, 0, 0, canvas.width, canvas.height);
  for (let quality = 0.9; ; quality -= 0.05) {
    const text = canvas.toDataURL('image/webp', quality).replace(/^.*,/, '');
    if ((text.length * 3) / 4 <= most || quality < 0.1) return text;
  }
}
