import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { openBrowser, openPage } from './browserPage.ts';
import type { OpenPage } from './browserPage.ts';
import { startViewServer } from './viewServer.ts';
import type { ViewServer } from './viewServer.ts';

/** What the tests of one file share; there from their first hook on. */
export interface Views {
  browser: Browser;
  /** Serves the built views. */
  server: ViewServer;
}

/** Starts a browser and a server for the tests of a file, and ends them after the last one. */
export function useViews(): Views {
  const views = {} as Views;
  beforeAll(async () => {
    [views.browser, views.server] = await Promise.all([openBrowser(), startViewServer()]);
  });
  afterAll(async () => {
    await views.browser.close();
    await views.server.close();
  });
  return views;
}

/** Opens a view as an editor does, in a theme of the editor; when the test ends, it must have had no faults. */
export async function openInEditor(
  { browser, server }: Views,
  view: 'fusion' | 'compare',
  theme: string,
  size: { width: number; height: number },
): Promise<OpenPage> {
  const isDark = theme.includes('dark') || theme === 'vscode-high-contrast';
  const opened = await openPage(browser, `${server.url}/editor/${view}?theme=${encodeURIComponent(theme)}`, {
    theme: isDark ? 'dark' : 'light',
    ...size,
  });
  onTestFinished(async () => {
    expect(await opened.faults()).toEqual([]);
    await opened.close();
  });
  return opened;
}
