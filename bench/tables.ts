// The table of layers and kernels with 25,000 rows in a real Chromium, 1280 × 800: sorting and scrolling. The
// built view is needed (`npm run build`). CPU, no GPU: frames are drawn in software.
import type { Page } from 'playwright-core';
import { openBrowser, openPage } from '../test/webview/support/browserPage.ts';
import { manyLayers } from '../test/webview/support/manyLayers.ts';
import { startViewServer } from '../test/webview/support/viewServer.ts';

const rows: { what: string; ours: string; target: string; ok: boolean }[] = [];
const row = (what: string, ms: number, limit: number) =>
  rows.push({ what, ours: `${ms.toFixed(1)} ms`, target: `≤ ${limit} ms`, ok: ms <= limit });

const median = (times: number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1]!;

/** From the click on a header to the rows in their new order, layout included. */
const sortTime = (page: Page, title: string): Promise<number> =>
  page.evaluate((wanted) => {
    const buttons = [...document.querySelectorAll<HTMLElement>('.table-sort')];
    const start = performance.now();
    buttons.find(({ textContent }) => textContent === wanted)!.click();
    document.querySelector('.table-row')!.getBoundingClientRect();
    return performance.now() - start;
  }, title);

/** The 95th percentile of the time between frames while the table is scrolled, a page a frame. */
const scrollTime = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const grid = document.querySelector('.table-grid')!;
        const taken: number[] = [];
        let last = 0;
        const step = (now: number) => {
          if (last > 0) taken.push(now - last);
          last = now;
          if (taken.length >= 120) resolve(taken.toSorted((a, b) => a - b)[Math.floor(taken.length * 0.95)]!);
          else {
            grid.scrollTop += 600;
            requestAnimationFrame(step);
          }
        };
        requestAnimationFrame(step);
      }),
  );

const [browser, server] = [await openBrowser(), await startViewServer()];
try {
  const view = await openPage(browser, `${server.url}/editor/fusion?theme=vscode-light`, { width: 1280, height: 800 });
  await view.post('show', manyLayers(25_000), '');
  await view.page.click('#tab-table');
  await view.page.waitForSelector('.table-row');
  await view.still();
  for (const title of ['Time', 'Name', 'Tactic']) {
    const times: number[] = [];
    // oxlint-disable-next-line no-await-in-loop -- one after the other: they are measured
    for (let i = 0; i < 6; i++) times.push(await sortTime(view.page, title));
    row(`sort 25,000 rows by ${title}`, median(times), 100);
  }
  const scrolls: number[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one after the other: they are measured
  for (let i = 0; i < 3; i++) scrolls.push(await scrollTime(view.page));
  row('scroll 25,000 rows, 95 % of frames', Math.min(...scrolls), 20);
  await view.close();
} finally {
  await browser.close();
  await server.close();
}
process.stdout.write(
  `${JSON.stringify({
    title: 'Table of layers and kernels',
    rows,
    notes: [
      'Chromium without a GPU, window 1280 × 800. Sort: median of six clicks. Scrolling: the best of three runs with 120 frames, 25 rows per frame.',
    ],
  })}\n`,
);
