import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import type { Message } from '../../../src/protocol/rpc.ts';

const shots = fileURLToPath(new URL('../../shots/', import.meta.url));

/** The browser: `CHROMIUM` in the environment, else where systems install it. */
function chromiumPath(): string {
  const places = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const found = places.find((path) => path !== undefined && existsSync(path));
  if (found === undefined)
    throw new Error('No Chromium found: `apt-get install chromium`, or set CHROMIUM to its path.');
  return found;
}

/** One browser for a test file; close it at the end. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });

export interface OpenPage {
  page: Page;
  /** Violations of the content security policy and errors that nobody caught, in words. Must stay empty. */
  faults(): Promise<string[]>;
  /** Messages that a view posted to the editor (pages under /editor only). */
  sent(): Promise<Message[]>;
  /** Posts a message to the view as an editor does. */
  post(method: string, ...args: unknown[]): Promise<void>;
  /** The same for `show` with what the server's /data.json holds: quicker for large data. */
  showData(message?: string): Promise<void>;
  /** Writes test/shots/<name>.png, and gives its path. */
  shot(name: string): Promise<string>;
  /** What axe finds wrong, one line a fault: rule, element, reason. Must be empty. */
  axe(): Promise<string[]>;
  close(): Promise<void>;
}

interface TestWindow {
  sent?: Message[];
  violations: string[];
  axe: {
    run(
      context: Document,
      options: object,
    ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>;
  };
}

/** Opens a page in its own context (own storage). `theme` is what the system asks for; the size is in CSS pixels. */
export async function openPage(
  browser: Browser,
  url: string,
  { theme = 'light', width = 1440, height = 900 }: { theme?: 'light' | 'dark'; width?: number; height?: number } = {},
): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.stack ?? error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.addInitScript(() => {
    const own = window as unknown as TestWindow;
    own.violations = [];
    document.addEventListener('securitypolicyviolation', (event) => {
      own.violations.push(
        `${event.violatedDirective}: ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`,
      );
    });
  });
  await page.goto(url);
  return {
    page,
    faults: async () => [...errors, ...(await page.evaluate(() => (window as unknown as TestWindow).violations))],
    sent: () => page.evaluate(() => (window as unknown as TestWindow).sent ?? []),
    post: (method, ...args) => page.evaluate((message) => window.postMessage(message, '*'), { method, args }),
    showData: (message = '') =>
      page.evaluate(async (said) => {
        const data: unknown = await (await fetch('/data.json')).json();
        window.postMessage({ method: 'show', args: [data, said] }, '*');
      }, message),
    shot: async (name) => {
      await mkdir(shots, { recursive: true });
      await page.screenshot({ path: `${shots}${name}.png` });
      return `${shots}${name}.png`;
    },
    axe: async () => {
      // Evaluated from outside, so that the page's policy can stay as strict as it ships.
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() =>
        (window as unknown as TestWindow).axe.run(document, { resultTypes: ['violations'] }),
      );
      return violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
      );
    },
    close: () => context.close(),
  };
}
