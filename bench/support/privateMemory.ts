import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';

/** Bytes of memory that a page's process does not share with others, after a collection of garbage. Linux only. */
export async function privateMemory(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.detach();
  const browser = await page.context().browser()!.newBrowserCDPSession();
  const { processInfo } = await browser.send('SystemInfo.getProcessInfo');
  await browser.detach();
  // Spare processes hold next to nothing; the page's is the largest.
  const sizes = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => anonymous(id));
  return Math.max(...(await Promise.all(sizes)));
}

async function anonymous(id: number): Promise<number> {
  const status = await readFile(`/proc/${id}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}
