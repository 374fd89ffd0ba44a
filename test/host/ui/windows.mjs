// A browser, a server and windows for the tests of one file.
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launchBrowser, newContext, nextPage } from '../runtime/browser.cjs';
import { startServer } from '../runtime/server.cjs';
import { Workbench } from './workbench.mjs';

const models = fileURLToPath(new URL('../../fixtures/models/', import.meta.url));

/**
 * Call once at the top of a test file. `options` are those of startServer; `files` are models to copy to the folder that
 * the windows show. Gives `open()`, which resolves to a Workbench, `openEmpty()`, the same without a folder,
 * `install()`, after which TensorRT-RTX and ONNX Runtime are there without a download, and the paths `folder` and `cache`.
 * Each test gets a window of its own, which remembers nothing of earlier ones. With `oneWindow`, it gets that of the test
 * before, tidied up: to open one takes as long as a short test. After a test that failed it gets a new one, so that one
 * failure does not bring down the tests after it.
 */
export function windows({ files, oneWindow = false, ...options }) {
  const { EXTENSIONS: extensions, PACKAGES: packages } = process.env;
  if (!extensions) throw new Error('EXTENSIONS is not set: run these tests by `node test/host/run.mjs ui`');
  const parent = mkdtempSync(join(tmpdir(), 'tensorrt-lens-ui-'));
  const folder = join(parent, 'models');
  mkdirSync(folder);
  for (const file of files) copyFileSync(join(models, file), join(folder, file));
  // Nothing is set up yet in this cache: the first build of a file asks before it downloads, unless `install` was called.
  const cache = join(parent, 'cache');
  const install = () => {
    mkdirSync(cache, { recursive: true });
    for (const name of readdirSync(packages))
      if (/^(?:tensorrt-rtx|onnxruntime)-.*(?<!\.lock)$/.test(name))
        symlinkSync(join(packages, name), join(cache, name));
  };
  let server;
  let browser;
  let context;
  let workbench;

  before(async () => {
    server = await startServer({ extensions, env: { TENSORRT_LENS_CACHE: cache }, ...options });
    browser = await launchBrowser();
    context = await newContext(browser);
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    rmSync(parent, { recursive: true, force: true });
  });
  afterEach(async (t) => {
    if (t.error && workbench) {
      await workbench.shot(`end-${t.name.replaceAll(/\W+/g, '-')}`);
      console.error([extensionLog(), ...workbench.errors, await workbench.situation()].join('\n'));
    }
    if (oneWindow && !t.error) return;
    await workbench?.page.close();
    workbench = undefined;
  });
  /** The end of what the extension host of the last window logged. */
  const extensionLog = () => {
    const logs = join(server.logs, 'data/logs');
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
