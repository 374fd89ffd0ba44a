import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import axe from 'axe-core';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import type { Message } from '../../../src/kernel/protocol/rpc.ts';
// @ts-expect-error -- plain JavaScript, which the host of VS Code runs by any Node
import { browserProgram } from '../../host/runtime/browser.cjs';
// @ts-expect-error -- as above
import flags from '../../host/runtime/flags.cjs';

const shots = fileURLToPath(new URL('../../shots/', import.meta.url));

/** So that letters do not depend on the settings of the system. */
const sameLetters = ['--font-render-hinting=none', '--disable-lcd-text', '--force-color-profile=srgb'];

/** One browser for a test file; close it at the end. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = (browserProgram as () => string | undefined)();
  if (executablePath === undefined)
    throw new Error('No Chromium found: `apt-get install chromium-headless-shell`, or set CHROMIUM to its path.');
  return chromium.launch({ executablePath, args: [...(flags as string[]), ...sameLetters] });
}

export interface OpenPage {
  page: Page;
  /** Violations of the content security policy and errors that nobody caught, in words. Must stay empty. */
  faults(): Promise<string[]>;
  /** Messages that a view posted to the editor (pages under /editor only). */
  sent(): Promise<Message[]>;
  /** Posts a message to the view as an editor does; resolves when the view has taken it. */
  post(method: string, ...args: unknown[]): Promise<void>;
  /** Resolves when the view is done with what it was told: no frame, timer or layout is under way. */
  still(): Promise<void>;
  /** Writes test/shots/<name>.png, and gives its path. */
  shot(name: string): Promise<string>;
  /** What axe finds wrong, one line a fault: rule, element, reason. Must be empty. */
  axe(): Promise<string[]>;
  close(): Promise<void>;
}

interface TestWindow {
  sent?: Message[];
  violations: string[];
  /** Frames and short timers that are to come, and answers that workers owe. */
  underWay: Set<unknown>;
  axe: {
    run(
      context: Document,
      options: object,
    ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>;
  };
}

/**
 * Keeps account in `window.underWay` of what a page still has to do, so that no test need guess how long that takes.
 * Longer timers than a second only clear away what was said or handed out.
 */
function keepAccount(): void {
  const own = window as unknown as TestWindow;
  own.underWay = new Set();
  const frame = window.requestAnimationFrame.bind(window);
  const cancel = window.cancelAnimationFrame.bind(window);
  const later = window.setTimeout.bind(window);
  const clear = window.clearTimeout.bind(window);
  window.requestAnimationFrame = (callback) => {
    const id = frame((time) => {
      own.underWay.delete(`frame ${id}`);
      callback(time);
    });
    own.underWay.add(`frame ${id}`);
    return id;
  };
  window.cancelAnimationFrame = (id) => {
    own.underWay.delete(`frame ${id}`);
    cancel(id);
  };
  const setTimer = (callback: (...args: unknown[]) => void, delay = 0, ...args: unknown[]): number => {
    const id = Number(
      later(() => {
        own.underWay.delete(`timer ${id}`);
        callback(...args);
      }, delay),
    );
    if (delay <= 1000) own.underWay.add(`timer ${id}`);
    return id;
  };
  const clearTimer = (id?: number): void => {
    own.underWay.delete(`timer ${id}`);
    clear(id);
  };
  Object.assign(window, { setTimeout: setTimer, clearTimeout: clearTimer });
  const answers = new Map<Worker, object[]>();
  const ask = Object.getOwnPropertyDescriptor(Worker.prototype, 'postMessage')!.value as (...args: unknown[]) => void;
  Worker.prototype.postMessage = function (...args: unknown[]) {
    const known = answers.get(this);
    const asked = known ?? [];
    answers.set(this, asked);
    // A worker answers one question after the other. After the page's own handler, which was there before the question.
    if (known === undefined)
      for (const kind of ['message', 'error']) this.addEventListener(kind, () => own.underWay.delete(asked.shift()));
    const owed = {};
    own.underWay.add(owed);
    asked.push(owed);
    ask.apply(this, args);
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
  page.setDefaultTimeout(60_000);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.stack ?? error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.addInitScript(keepAccount);
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
  // A canvas measures and draws with another font while its own is on its way.
  await page.evaluate(() => Promise.all([...document.fonts].map((font) => font.load())));
  return {
    page,
    faults: async () => [...errors, ...(await page.evaluate(() => (window as unknown as TestWindow).violations))],
    sent: () => page.evaluate(() => (window as unknown as TestWindow).sent ?? []),
    post: (method, ...args) =>
      // As text, which is what an editor sends, too: an object would be walked value by value on its way to the page.
      page.evaluate(
        (message) =>
          new Promise<void>((resolve) => {
            // The view listened first, so it hears first.
            window.addEventListener('message', () => resolve(), { once: true });
            window.postMessage(JSON.parse(message), '*');
          }),
        JSON.stringify({ method, args }),
      ),
    still: async () => {
      // What has another size is seen in the next frame, and drawn in the one after it.
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      await page.waitForFunction(() => (window as unknown as TestWindow).underWay.size === 0, undefined, {
        polling: 20,
      });
    },
    shot: async (name) => {
      await mkdir(shots, { recursive: true });
      await page.screenshot({ path: `${shots}${name}.png` });
      return `${shots}${name}.png`;
    },
    axe: async () => {
      // Evaluated from outside, so that the page's policy can stay as strict as it ships.
      if (await page.evaluate(() => !('axe' in window))) await page.evaluate(axe.source);
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
