import { expect, it } from 'vitest';
import type { Document } from '../../src/kernel/document/document.ts';
import { renderHtml } from '../../src/kernel/document/render.ts';
import { useViews } from './support/useViews.ts';

const views = useViews();

const charts: Document = {
  title: 'Charts',
  blocks: [
    {
      kind: 'chart',
      chart: {
        label: 'Error over depth',
        legend: 'From left to right.',
        points: Array.from({ length: 40 }, (_, i) => ({ bar: 1e-4, line: 1e-3, marked: i === 7, title: `node ${i}` })),
        limit: 0.01,
        bands: [{ name: 'layers.0', short: 'layers.0', from: 0, to: 40 }],
      },
    },
    {
      kind: 'curve',
      curve: {
        label: 'Error over nodes',
        legend: 'From left to right.',
        points: [0, 3, 6].map((x) => ({ x, y: 1 / (1 + x), marked: x === 3, title: `${x} nodes in FP32: 0.25` })),
        limit: 0.2,
      },
    },
  ],
};

it.each([1500, 1000, 640])('the letters of charts are readable and whole in a page of %i pixels', async (width) => {
  const page = await views.browser.newPage({ viewport: { width, height: 800 } });
  await page.setContent(renderHtml(charts));
  const texts = await page.locator('svg text').evaluateAll((all) =>
    all.map((text) => {
      const scale = (text as unknown as SVGGraphicsElement).getScreenCTM()!.a;
      const [own, chart] = [text, text.closest('svg')!].map((one) => one.getBoundingClientRect());
      const isWhole = own!.left >= chart!.left - 1 && own!.right <= chart!.right + 1;
      return { text: text.textContent, size: scale * Number.parseFloat(getComputedStyle(text).fontSize), isWhole };
    }),
  );
  expect(texts.length).toBeGreaterThan(6);
  expect(texts.filter(({ size, isWhole }) => size < 11 || !isWhole)).toEqual([]);
  // What is wider than the page is scrolled within it.
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await page.close();
});
