// Five questions about a model and its build, answered in the views as a user does: clicks, keys and seconds. The same in
// Netron and Model Explorer where NETRON_URL and MODEL_EXPLORER_URL say where they show vit_tiny.onnx; bench/five-tasks.md
// has the comparison. The built views are needed (`npm run build`).
import type { Browser, Locator, Page } from 'playwright-core';
import type { ViewData } from '../src/kernel/picture/graph/viewData.ts';
import { openBrowser, openPage } from '../test/webview/support/browserPage.ts';
import { captureData } from '../test/webview/support/captureData.ts';
import { startViewServer, type ViewServer } from '../test/webview/support/viewServer.ts';

/** Seconds of the keystroke-level model (Card, Moran, Newell 1980): a key, pointing, a click, one decision per task. */
const [perKey, perPointing, perClick, perTask] = [0.28, 1.1, 0.2, 1.35];

/** Counts what a user does; waiting is measured, the rest is from the model. */
class User {
  readonly page: Page;
  #clicks = 0;
  #keys = 0;
  #waited = 0;

  constructor(page: Page) {
    this.page = page;
  }

  async click(target: Locator, modifiers: 'Alt'[] = []): Promise<void> {
    await this.sees(target);
    await target.click({ modifiers });
    this.#clicks += 1;
    this.#keys += modifiers.length;
  }

  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text);
    this.#keys += text.length;
  }

  async press(key: string): Promise<void> {
    await this.page.keyboard.press(key);
    this.#keys += 1;
  }

  /** Waits for what is to be seen. */
  async sees(target: Locator): Promise<void> {
    const start = performance.now();
    await target.waitFor();
    this.#waited += (performance.now() - start) / 1000;
  }

  get cost(): string {
    const seconds = perTask + this.#keys * perKey + this.#clicks * (perPointing + perClick) + this.#waited;
    return `${this.#clicks} clicks, ${this.#keys} keys, ${seconds.toFixed(1)} s`;
  }
}

const tasks = {
  widest: 'find the widest tensor',
  softmax: 'find all Softmax nodes of one block',
  group: 'which group takes most time, and which nodes are in it',
  shape: 'the shape on an edge (into the Softmax of blocks.3)',
  border: 'why a border is where it is',
} as const;
type Task = keyof typeof tasks;

async function shown(browser: Browser, server: ViewServer, view: 'graph' | 'fusion', data: ViewData): Promise<User> {
  const opened = await openPage(browser, `${server.url}/editor/${view}?theme=vscode-light`);
  await opened.post('show', data, '');
  await opened.still();
  return new User(opened.page);
}

async function here(browser: Browser, server: ViewServer): Promise<Record<Task, string>> {
  const vit = await captureData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16');
  const zoo = await captureData('fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32');

  const widest = await shown(browser, server, 'fusion', vit);
  await widest.click(widest.page.locator('#tab-table'));
  await widest.click(widest.page.locator('.table-sort', { hasText: 'Largest Tensor' }));
  await widest.click(widest.page.locator('.table-row').first());
  await widest.sees(widest.page.getByText(/\d+×\d+×\d+/).first());

  const softmax = await shown(browser, server, 'graph', vit);
  await softmax.click(softmax.page.locator('input[type=search]'));
  await softmax.type('op:Softmax blocks.3');
  await softmax.sees(softmax.page.getByText('1 result', { exact: true }));

  const shape = await shown(browser, server, 'graph', vit);
  await shape.click(shape.page.locator('input[type=search]'));
  await shape.type('op:Softmax blocks.3');
  await shape.press('Enter');
  await shape.sees(shape.page.locator('.graph-inspector', { hasText: 'float 1×3×197×197' }));

  const largestGroup = async (): Promise<User> => {
    const user = await shown(browser, server, 'graph', zoo);
    await user.click(user.page.locator('.legend-groups > summary'));
    await user.click(user.page.locator('.legend-entries .legend-line').first());
    return user;
  };
  const group = await largestGroup();
  await group.sees(group.page.locator('.graph-inspector', { hasText: /ForeignNode 0.*36 nodes/s }));
  const border = await largestGroup();
  await border.sees(border.page.locator('.graph-inspector', { hasText: /Boundary.*ForeignNode 0 ends at/s }));
  const all = { widest, softmax, group, shape, border };
  const costs = Object.entries(all).map(([task, user]) => [task, user.cost]);
  await Promise.all(Object.values(all).map((user) => user.page.context().close()));
  return Object.fromEntries(costs) as Record<Task, string>;
}

async function opened(browser: Browser, url: string, ready: (page: Page) => Promise<void>): Promise<User> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(url);
  await ready(page);
  return new User(page);
}

/** Has neither types that a file does not declare nor builds. */
async function inNetron(browser: Browser, url: string): Promise<Partial<Record<Task, string>>> {
  const user = await opened(browser, url, async (page) => {
    await page.getByText('Accept').click();
    await page.locator('body.default .node-item').first().waitFor();
  });
  await user.press('Control+f');
  await user.sees(user.page.locator('.sidebar-find-query'));
  await user.type('blocks.3/attn/Softmax');
  await user.sees(user.page.locator('.sidebar-find-content li', { hasText: /attn\/Softmax$/ }));
  return { softmax: user.cost };
}

/** Infers types; what it colors by are files that the user writes. */
async function inModelExplorer(browser: Browser, url: string): Promise<Partial<Record<Task, string>>> {
  const found = async (): Promise<[User, Locator]> => {
    const user = await opened(browser, url, async (page) => {
      await page.locator('input[placeholder^="Search nodes"]').waitFor();
      await page.getByText('op node count').waitFor();
    });
    await user.click(user.page.locator('input[placeholder^="Search nodes"]'));
    await user.type('blocks.3/attn/Softmax');
    const result = user.page.getByText('Softmax', { exact: true }).first();
    await user.sees(result);
    return [user, result];
  };
  const [softmax] = await found();
  const [shape, result] = await found();
  await shape.click(result, ['Alt']);
  await shape.sees(shape.page.getByText('FLOAT[1,3,197,197]').locator('visible=true').first());
  return { softmax: softmax.cost, shape: shape.cost };
}

const [browser, server] = [await openBrowser(), await startViewServer()];
try {
  const { NETRON_URL, MODEL_EXPLORER_URL } = process.env;
  const ours = await here(browser, server);
  const netron = NETRON_URL === undefined ? null : await inNetron(browser, NETRON_URL);
  const explorer = MODEL_EXPLORER_URL === undefined ? null : await inModelExplorer(browser, MODEL_EXPLORER_URL);
  const rows = (Object.keys(tasks) as Task[]).map((task) => ({
    what: tasks[task],
    ours: ours[task],
    peer: [
      ...(netron === null ? [] : [`Netron: ${netron[task] ?? 'no answer'}`]),
      ...(explorer === null ? [] : [`Model Explorer: ${explorer[task] ?? 'no answer'}`]),
    ].join('; '),
  }));
  process.stdout.write(
    `${JSON.stringify({
      title: 'Five tasks',
      rows,
      notes: [
        'Clicks and keys of a script that does each task; seconds by the keystroke-level model (0.28 s per key, 1.3 s per click with pointing, 1.35 s per task), plus the measured waiting. From an open view; vit_tiny and fusion_zoo with their TensorRT 10.6 builds.',
      ],
    })}\n`,
  );
} finally {
  await browser.close();
  await server.close();
}
