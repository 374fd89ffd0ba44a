// Launches Chromium by the playwright-core of the installed host.
const { execFileSync } = require('node:child_process');
const { createRequire } = require('node:module');
const path = require('node:path');
const FLAGS = require('./flags.cjs');
const { hostModules } = require('./server.cjs');

/** The one without windows first: it takes less time for the same pages. */
const BROWSERS = [
  process.env.CHROMIUM,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];

/** The browser that install-host.sh found or installed; undefined stands for playwright's own. */
function browserProgram() {
  return BROWSERS.find((program) => {
    if (!program) return false;
    try {
      execFileSync(program, ['--version'], { stdio: 'ignore' }); // Ubuntu's /usr/bin/chromium-browser may only be a hint.
      return true;
    } catch {
      return false;
    }
  });
}

/** Resolves to a running browser, shown on no screen. */
function launchBrowser() {
  const { chromium } = createRequire(path.join(hostModules(), 'x'))('playwright-core');
  // On a signal Playwright would end this process at once, and the VS Code server would be left running.
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  const executablePath = browserProgram();
  return chromium.launch({ ...(executablePath ? { executablePath } : {}), args: FLAGS, ...signals });
}

/** Resolves to a page that remembers nothing of earlier ones, large enough to show the whole workbench. */
async function newPage(browser, options = {}) {
  return (await newContext(browser, options)).newPage();
}

/** Resolves to a profile of the browser without a page: cookies, storage, cache and service workers of its own. */
async function newContext(browser, options = {}) {
  // The server is on this machine: to compress the workbench's 20 MB anew for every window takes longer than to send them.
  const extraHTTPHeaders = { 'accept-encoding': 'identity' };
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, extraHTTPHeaders, ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  return context;
}

/**
 * Resolves to a page that remembers nothing that a user did in earlier ones of the same profile. The cache and the service
 * worker of VS Code's webviews stay, which a new profile loads and registers for several seconds.
 */
async function nextPage(context, origin) {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const storageTypes = 'cookies,local_storage,indexeddb';
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes });
  await session.detach();
  return page;
}

module.exports = { browserProgram, launchBrowser, newContext, newPage, nextPage };
