// Windows for the tests of a file, on a server and in a browser that it shares with the other files of its process.
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { launchBrowser, newContext, nextPage } from '../runtime/browser.cjs';
import { startServer } from '../runtime/server.cjs';
import { Workbench } from './workbench.mjs';

const models = fileURLToPath(new URL('../../fixtures/models/', import.meta.url));

/** The server and the browser, which are slow to start; undefined before the first window and after a test that failed. */
let running;

/** Resolves to a server with these options and a browser: those that run already, where the options are the same. */
async function start(options) {
  if (isDeepStrictEqual(running?.options, options)) return running;
  await stop();
  const parent = mkdtempSync(join(tmpdir(), 'tensorrt-lens-server-'));
  // Leads to the cache of the file whose tests run.
  const cache = join(parent, 'cache');
  const server = await startServer({ ...options, env: { TENSORRT_LENS_CACHE: cache } });
  running = { options, parent, cache, server };
  running.browser = await launchBrowser();
  running.context = await newContext(running.browser);
  return running;
}

/** To call after the last test of a process, and before something that the server uses is removed. */
export async function stop() {
  if (running === undefined) return;
  const { parent, server, browser } = running;
  running = undefined;
  await browser?.close();
  await server.stop();
  rmSync(parent, { recursive: true, force: true });
}

/**
 * Call once at the top of a test file. `options` are those of startServer; `files` are models to copy to the folder that
 * the windows show. Gives `open()`, which resolves to a Workbench, `openEmpty()`, the same without a folder,
 * `install()`, after which TensorRT-RTX and ONNX Runtime are there without a download, and the paths `folder` and `cache`.
 * The first test of a file gets a window that remembers nothing of earlier ones; the next ones get the same, tidied up: to
 * open a window takes as long as a short test. After a test that failed, all is started anew, so that one failure does not
 * bring down the tests after it.
 */
export function windows({ files, settings = {}, extensions = process.env.EXTENSIONS, ...options }) {
  const { EXTENSIONS, PACKAGES: packages } = process.env;
  if (!EXTENSIONS) throw new Error('EXTENSIONS is not set: run these tests by `node test/host/run.mjs ui`');
  const parent = mkdtempSync(join(tmpdir(), 'tensorrt-lens-ui-'));
  const folder = join(parent, 'models');
  mkdirSync(folder);
  for (const file of files) copyFileSync(join(models, file), join(folder, file));
  // Nothing is set up yet in this cache: the first build of a file asks before it downloads, unless `install` was called.
  const cache = join(parent, 'cache');
  mkdirSync(cache);
  const install = () => {
    for (const name of readdirSync(packages))
      if (/^(?:tensorrt-rtx|onnxruntime)-.*(?<!\.lock)$/.test(name))
        symlinkSync(join(packages, name), join(cache, name));
  };
  let workbench;

  const close = async () => {
    await workbench?.page.close();
    workbench = undefined;
  };
  after(async () => {
    await close();
    // The server may still write into its cache.
    rmSync(parent, { recursive: true, force: true, maxRetries: 10 });
  });
  afterEach(async (t) => {
    if (!t.error) return;
    if (workbench) {
      await workbench.shot(`end-${t.name.replaceAll(/\W+/g, '-')}`);
      console.error([extensionLog(), ...workbench.errors, await workbench.situation()].join('\n'));
    }
    await close();
    await stop();
  });
  /** The end of what the extension host of the last window logged. */
  const extensionLog = () => {
    const logs = join(running.server.logs, 'data/logs');
    const all = readdirSync(logs, { recursive: true }).filter((name) => name.endsWith('remoteexthost.log'));
    const last = all.toSorted().at(-1);
    if (last === undefined) return '';
    const lines = readFileSync(join(logs, last), 'utf8').split('\n').slice(-20);
    return lines.map((line) => line.slice(0, 300)).join('\n');
  };
  const show = async (path) => {
    if (workbench !== undefined) {
      await workbench.tidyUp();
      workbench = new Workbench(workbench.page);
      return workbench;
    }
    const { server, context, cache: link } = await start({ extensions, ...options });
    rmSync(link, { force: true });
    symlinkSync(cache, link);
    server.configure(settings);
    workbench = new Workbench(await nextPage(context, server.origin));
    await workbench.open(server, path);
    return workbench;
  };
  const open = () => show(folder);
  const openEmpty = async () => {
    const shown = await show();
    // Without an explorer, this is what shows that the window takes keys and knows the extension.
    await shown.page.locator('.activitybar .action-label[aria-label^="TensorRT"]').waitFor();
    return shown;
  };
  return { open, openEmpty, install, folder, cache };
}
