import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';

const kept = (name: string): string => fileURLToPath(new URL(`../pictures/${name}.png`, import.meta.url));
const out = (name: string): string => fileURLToPath(new URL(`../../../out/pictures/${name}.png`, import.meta.url));

/** How far a channel of a pixel may be from what it was, of 255: edges of letters differ a little between machines. */
const tolerance = 48;

/** Names the browser that the pictures are of: another one may draw them differently. */
const keptBrowser = fileURLToPath(new URL('../pictures/browser.txt', import.meta.url));

/**
 * The share of pixels of a picture that differ from the kept one of that name, and with which browsers both were taken,
 * in a sentence. `UPDATE_PICTURES=1` in the environment keeps the new one instead. Where pixels differ, writes the new
 * picture and one that marks them to out/pictures.
 */
export async function differenceFrom(
  browser: Browser,
  name: string,
  picture: Buffer,
): Promise<{ share: number; browsers: string }> {
  if (process.env['UPDATE_PICTURES'] === '1') {
    await mkdir(dirname(kept(name)), { recursive: true });
    await writeFile(kept(name), picture);
    await writeFile(keptBrowser, `Chromium ${browser.version()}\n`);
  }
  if (!existsSync(kept(name))) throw new Error(`No picture ${kept(name)}: run once with UPDATE_PICTURES=1.`);
  const share = await differingShare(browser, name, await readFile(kept(name)), picture);
  const before = (await readFile(keptBrowser, 'utf8')).trim();
  return { share, browsers: `The kept picture is of ${before}, this one of Chromium ${browser.version()}.` };
}

/** The share of pixels in which two pictures differ. If any, writes the second one and one that marks them, as above. */
export async function differingShare(browser: Browser, name: string, before: Buffer, after: Buffer): Promise<number> {
  const page = await browser.newPage();
  const [one, other] = [before.toString('base64'), after.toString('base64')];
  const { share, marked } = await page.evaluate(compare, { before: one, after: other, tolerance });
  await page.close();
  if (share > 0) {
    await mkdir(dirname(out(name)), { recursive: true });
    await writeFile(out(name), after);
    await writeFile(out(`${name}-difference`), Buffer.from(marked, 'base64'));
  }
  return share;
}

/** Runs in the browser, which can read pictures. */
async function compare(given: {
  before: string;
  after: string;
  tolerance: number;
}): Promise<{ share: number; marked: string }> {
  const read = async (base64: string): Promise<ImageData> => {
    const image = new Image();
    image.src = `data:image/png;base64,${base64}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext('2d')!;
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [before, after] = await Promise.all([read(given.before), read(given.after)]);
  if (before.width !== after.width || before.height !== after.height) return { share: 1, marked: given.after };
  let count = 0;
  for (let i = 0; i < after.data.length; i += 4) {
    let most = 0;
    for (let c = 0; c < 3; c++) most = Math.max(most, Math.abs(before.data[i + c]! - after.data[i + c]!));
    const differs = most > given.tolerance;
    if (differs) count += 1;
    // What is the same is pale, what differs is red.
    for (let c = 0; c < 3; c++)
      after.data[i + c] = differs ? (c === 0 ? 255 : 0) : 255 - (255 - after.data[i + c]!) * 0.25;
  }
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [after.width, after.height];
  canvas.getContext('2d')!.putImageData(after, 0, 0);
  const marked = canvas.toDataURL('image/png').replace(/^.*,/, '');
  return { share: (4 * count) / after.data.length, marked };
}
