import type { Browser } from 'playwright-core';

/** How large pictures are on a sheet. */
const scale = 1 / 3;

/** Pictures of windows in these sizes, again and again, as one picture: a column for each size. */
export async function contactSheet(
  browser: Browser,
  pictures: readonly Buffer[],
  sizes: readonly { width: number; height: number }[],
): Promise<Buffer> {
  const page = await browser.newPage();
  const sheet = await page.evaluate(
    async ({ all, columns, by }) => {
      const rows = all.length / columns.length;
      const [width, height] = [
        columns.reduce((sum, one) => sum + one.width, 0),
        rows * Math.max(...columns.map((one) => one.height)),
      ];
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [Math.round(width * by), Math.round(height * by)];
      const context = canvas.getContext('2d')!;
      context.fillStyle = 'gray';
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.imageSmoothingQuality = 'high';
      for (const [i, base64] of all.entries()) {
        const image = new Image();
        image.src = `data:image/png;base64,${base64}`;
        await image.decode();
        const before = columns.slice(0, i % columns.length).reduce((sum, one) => sum + one.width, 0);
        const row = Math.floor(i / columns.length);
        const top = row * Math.max(...columns.map((one) => one.height));
        context.drawImage(image, before * by, top * by, image.width * by, image.height * by);
      }
      return canvas.toDataURL('image/png').replace(/^.*,/, '');
    },
    { all: pictures.map((one) => one.toString('base64')), columns: [...sizes], by: scale },
  );
  await page.close();
  return Buffer.from(sheet, 'base64');
}
