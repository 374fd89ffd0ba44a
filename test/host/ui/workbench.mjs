// Handles of the VS Code window for tests of the user interface, by what a person sees.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Time for one step: generous, because a loaded machine is many times slower. */
export const STEP = 60_000;
/** The same for what downloads TensorRT-RTX first. */
export const DOWNLOAD = 4 * STEP;

/** Closes editors, notifications, terminals and the panel, and shows the explorer: see runtime/keybindings.json. */
const TIDY_KEY = 'Control+Alt+Shift+F12';

const images = fileURLToPath(new URL('../../../docs/images', import.meta.url));
const shots = process.env.SHOTS ?? fileURLToPath(new URL('../../shots', import.meta.url));

/** Pages of windows that know the extension. */
const known = new WeakSet();

/** One window of VS Code. */
export class Workbench {
  /** Violations of a content policy that any page reported. */
  violations = [];
  /** What went wrong on any page, told when a test fails. */
  errors = [];

  constructor(page) {
    this.page = page;
    page.setDefaultTimeout(STEP);
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(`${message.text()} (${message.location().url})`);
      if (/Content Security Policy/i.test(message.text()) && !/frame-ancestors|report-only/i.test(message.text()))
        this.violations.push(`${message.text()} (${message.location().url})`);
    });
  }

  async open(server, folder) {
    await this.page.goto(folder === undefined ? `${server.origin}/?ew=true` : `${server.origin}/?folder=${folder}`);
  }

  /** Leaves nothing open but the explorer, as in a new window: what an earlier test showed is no answer to the next one. */
  async tidyUp() {
    this.page.removeAllListeners('pageerror');
    this.page.removeAllListeners('console');
    await this.closeMenu();
    await this.#closeBox();
    for (let tries = 0; !(await this.page.evaluate(isTidy)); tries += 1) {
      assert.ok(tries < 12, `The window did not become tidy; ${await this.situation()}`);
      // oxlint-disable-next-line no-await-in-loop -- again only where what closes took the key with it
      await this.page.keyboard.press(TIDY_KEY);
      const tidy = this.page.waitForFunction(isTidy, undefined, { timeout: STEP / 12 });
      // oxlint-disable-next-line no-await-in-loop -- as above
      await tidy.catch(() => {});
    }
  }

  /** A file in the explorer. */
  row(name) {
    return this.page.locator(`.explorer-folders-view .monaco-list-row[aria-label^="${name}"]`);
  }

  /** Opens a file by a double click; again, where the explorer was filled anew between its two clicks and lost them. */
  async openFile(name) {
    const opened = await this.#again(() => this.row(name).dblclick(), this.tab(name));
    assert.ok(opened, `A double click on ${name} opened no tab`);
  }

  /** Opens a model, once the extension is known by an item of its menu, until its graph is on the screen. */
  async openGraph(name, item) {
    await this.untilExtensionKnown(name, item);
    await this.openFile(name);
    await this.view.locator('canvas').first().waitFor();
  }

  menuItem(text) {
    return this.page.locator('.monaco-menu .action-item:not(:has(.action-item))', { hasText: text }).first();
  }

  /** Again, where an editor that has just opened took the focus and with it the menu away. */
  async openContextMenu(name) {
    const deadline = Date.now() + STEP;
    for (;;) {
      await this.row(name).click({ button: 'right' });
      const open = this.menuItem('Copy Path').waitFor({ timeout: 5000 });
      if (await open.then(() => true).catch(() => false)) return;
      assert.ok(Date.now() < deadline, `The menu of ${name} did not open`);
      await this.page.keyboard.press('Escape');
    }
  }

  /** Picks from a file's menu. */
  async pickInMenu(name, text) {
    await this.#pick(text, name, async () => {
      await this.openContextMenu(name);
      await this.openSubmenu(text);
    });
  }

  /** Picks from the menu of a line of the side bar, which goes away when the tree is filled anew. */
  async pickInRow(row, text) {
    await this.#pick(text, 'the line', async () => {
      await row.click({ button: 'right' });
      await this.openSubmenu(text);
    });
  }

  /** Picks from a menu; opens it again, where it went away before. */
  async #pick(text, what, openMenu) {
    for (let tries = 0; tries < 4; tries += 1) {
      // oxlint-disable no-await-in-loop -- again only when it did not help
      await openMenu();
      const picked = this.pickMenuItem(text, STEP / 12);
      if (await picked.then(() => true).catch(() => false)) return;
      await this.closeMenu();
      // oxlint-enable no-await-in-loop
    }
    assert.fail(`The menu of ${what} never stayed open for "${text}"`);
  }

  /** Opens the extension's parts of an open menu, unless the item is in the menu itself; whether it is there then. */
  async openSubmenu(text) {
    await this.page
      .locator('.monaco-menu .action-item')
      .first()
      .waitFor({ timeout: STEP / 12 })
      .catch(() => {});
    if (await this.menuItem(text).isVisible()) return true;
    // oxlint-disable no-await-in-loop -- one menu after the other
    for (const label of ['TensorRT', 'Keep in', 'Copy', 'Go to']) {
      const part = this.page
        .locator('.monaco-menu .action-item:has(.submenu-indicator)', { hasText: new RegExp(`^${label}$`) })
        .first();
      if (!(await part.isVisible())) continue;
      await part.hover({ timeout: STEP / 12 }).catch(() => {});
      // The menu of the part before stays until this one has opened.
      await part
        .locator('[aria-expanded="true"]')
        .waitFor({ timeout: STEP / 12 })
        .catch(() => {});
      const isThere = this.menuItem(text).waitFor({ timeout: STEP / 120 });
      if (await isThere.then(() => true).catch(() => false)) return true;
    }
    // oxlint-enable no-await-in-loop
    return false;
  }

  /** Picks a change of the model or of the selected nodes. */
  async changeModel(text) {
    await this.runCommand('TensorRT: Change the Model');
    await this.quickPick(text).first().click();
  }

  /** One Escape closes the innermost menu only, and does nothing where the menu does not have the focus yet. */
  async closeMenu() {
    const menus = this.page.locator('.monaco-menu');
    const deadline = Date.now() + STEP;
    for (let open = await menus.count(); open > 0; open = await menus.count()) {
      assert.ok(Date.now() < deadline, 'The menu stayed open');
      // oxlint-disable no-await-in-loop -- one menu after the other
      await this.page.keyboard.press('Escape');
      const closed = menus.nth(open - 1).waitFor({ state: 'detached', timeout: STEP / 60 });
      await closed.catch(() => {});
      // oxlint-enable no-await-in-loop
    }
  }

  /** By key, because VS Code ignores a click on a menu item in the first 100 ms after the menu has opened. */
  async pickMenuItem(text, timeout = STEP) {
    await this.menuItem(text).hover({ timeout });
    await this.page.keyboard.press('Enter');
  }

  /** A file opened before the extension is known would open as text, and stay so. */
  async untilExtensionKnown(file, item = 'Open Build Log or Layer Info') {
    if (known.has(this.page)) return;
    // It appears with the extension's menus, which take longer to ask for.
    await this.page.locator('.activitybar .action-label[aria-label^="TensorRT"]').waitFor();
    const deadline = Date.now() + STEP;
    for (let isThere = false; !isThere;) {
      assert.ok(Date.now() < deadline, `The menu of ${file} never had "${item}"`);
      await this.openContextMenu(file);
      isThere = await this.openSubmenu(item);
      await this.closeMenu();
    }
    // VS Code takes the extension's editors in when it is idle for the first time, which may be after its menus.
    await this.page.evaluate(untilIdle);
    known.add(this.page);
  }

  async runCommand(name) {
    await this.openQuickly(`> ${name}`);
    // The next key must not come while the list still closes; a command may show another one in its place.
    await this.page.waitForFunction(() => {
      const widget = document.querySelector('.quick-input-widget');
      return widget?.checkVisibility() !== true || !widget.querySelector('input').value.startsWith('>');
    });
  }

  /** Picks what the box for files, commands and tasks finds first: `task build`. */
  async openQuickly(text) {
    const hasText = text.slice(text.indexOf(' ') + 1);
    await this.findQuickly(text, this.page.locator('.quick-input-list .monaco-list-row.focused', { hasText }));
    await this.enter();
  }

  /**
   * Types into the box for files, commands and tasks, until it finds a line. The box searches when its text changes: one that
   * is open already never finds a command that the extension makes available a moment later.
   */
  async findQuickly(text, line) {
    const box = this.box().locator('input.input');
    const search = async () => {
      await this.#closeBox();
      await this.page.keyboard.press('F1');
      await box.fill(text, { timeout: STEP / 4 }).catch(() => {});
    };
    const found = await this.#again(search, line, 8);
    if (!found) assert.fail(`VS Code's box does not find "${text}"; ${await this.#boxState()}`);
  }

  /** One Escape closes one question: another one may follow. */
  async #closeBox() {
    for (let tries = 0; await this.box().isVisible(); tries += 1) {
      assert.ok(tries < 8, `VS Code's box stayed open; ${await this.#boxState()}`);
      // oxlint-disable-next-line no-await-in-loop -- one question after the other
      await this.box().locator('input.input').press('Escape');
    }
  }

  /** What VS Code's box shows and what has the focus, for a message. */
  async #boxState() {
    return this.page.evaluate(() => {
      const { activeElement: focused } = document;
      const focus = `the focus is on ${focused?.tagName} "${focused?.className}"`;
      const widget = document.querySelector('.quick-input-widget');
      if (widget?.checkVisibility() !== true) return `it is closed, ${focus}`;
      const rows = [...widget.querySelectorAll('.monaco-list-row')].map(
        (row) => `${row.classList.contains('focused') ? '> ' : ''}${row.innerText.replaceAll('\n', ' ')}`,
      );
      return `it shows "${widget.querySelector('input').value}" and ${JSON.stringify(rows.slice(0, 12))}, ${focus}`;
    });
  }

  /** VS Code's box for texts and choices, by what it shows. */
  box(hasText = '') {
    return this.page.locator('.quick-input-widget', { hasText });
  }

  /** Presses Enter in VS Code's box; a key that is sent to the page goes to what has the focus, which may be another. */
  async enter(hasText) {
    await this.box(hasText).locator('input.input').press('Enter');
  }

  /** Searches the graph and presses Enter, which selects what is found. */
  async searchGraph(text) {
    const field = this.view.getByLabel('Search nodes');
    await field.fill(text);
    await field.press('Enter');
  }

  /** Until it is gone, a menu would be closed by what gets the focus then. */
  async hidePanel() {
    await this.runCommand('View: Hide Panel');
    await this.page.locator('.part.panel').waitFor({ state: 'hidden' });
  }

  /** Brings up the extension's side bar. */
  async showSideBar() {
    await this.page.locator('.activitybar .action-label[aria-label^="TensorRT"]').click();
  }

  dialog(text) {
    return this.page.locator('.monaco-dialog-box', { hasText: text });
  }

  toast(text) {
    return this.page.locator('.notification-toast', { hasText: text });
  }

  /** What the status bar says. */
  status(text) {
    return this.page.locator('.statusbar .statusbar-item', { hasText: text });
  }

  /** A line of a list to choose from. */
  quickPick(text) {
    return this.page.locator('.quick-input-list .monaco-list-row', { hasText: text });
  }

  /** What the active terminal shows. */
  terminal(text) {
    return this.page.locator('.terminal-wrapper.active .xterm-rows', { hasText: text });
  }

  /** A line of the side bar's tree, by the beginning of what is read aloud. */
  group(label) {
    // A ForeignNode has its number at the end, behind what it is called.
    const named = `:is([aria-label^="${label}"], [aria-label*=" · ${label}"], [aria-label*=", ${label}"])`;
    return this.page.locator(`.sidebar .monaco-list-row[role="treeitem"]${named}`);
  }

  /** The line of the tree that is selected, by the beginning of what is read aloud. */
  selectedRow(label) {
    return this.group(label).and(this.page.locator('.selected'));
  }

  /** A click that comes while the tree is filled anew is lost, as it would be for a person, who clicks again. */
  async expand(row) {
    const expanded = row.and(this.page.locator('[aria-expanded="true"]'));
    for (let tries = 0; !(await expanded.isVisible()); tries += 1) {
      assert.ok(tries < 5, 'The line does not expand');
      // oxlint-disable-next-line no-await-in-loop -- again only when it did not help
      await row.locator('.monaco-tl-twistie').click();
      // oxlint-disable-next-line no-await-in-loop -- as above
      await expanded.waitFor({ timeout: STEP / 10 }).catch(() => {});
    }
  }

  /**
   * Scrolls the upper tree of the side bar down to a line, which is not on the page before it is in sight. All of it: what
   * is cut off would be moved into sight for a click, and the tree moves back under the pointer.
   */
  async scrollTo(row) {
    const tree = this.page.locator('.sidebar .tree-explorer-viewlet-tree-view .monaco-list').first();
    await tree.hover();
    const { y, height } = await tree.boundingBox();
    const inSight = async () => {
      const box = await row.boundingBox({ timeout: 500 }).catch(() => null);
      return box !== null && box.y + box.height <= y + height;
    };
    for (let tries = 0; !(await inSight()); tries += 1) {
      assert.ok(tries < 40, 'The line is nowhere in the tree');
      // oxlint-disable-next-line no-await-in-loop -- one turn of the wheel after the other
      await this.page.mouse.wheel(0, 100);
    }
    return row;
  }

  /**
   * Resolves when the graph is painted and nothing of it has moved for some frames: what is clicked then is hit. Again
   * where VS Code replaced the frame of the view meanwhile, as it may while it starts.
   */
  async graphAtRest() {
    for (let tries = 0; ; tries += 1) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- again only when the frame is gone
        return await this.view.locator('.graph-tree').evaluate(untilAtRest);
      } catch (error) {
        if (tries === 3 || !/Frame was detached|context was destroyed/.test(error.message)) throw error;
      }
    }
  }

  /**
   * Opens the menu of a place in the graph, given by a box and the place in it, and picks from it. Again where the menu went
   * away before, as in the explorer.
   */
  async pickInGraph(box, text, { x = 0.5, y = 0.5, below = 0 } = {}) {
    await this.#pick(text, 'the graph', async () => {
      await this.graphAtRest();
      const place = await box.boundingBox();
      const at = [place.x + place.width * x, place.y + place.height * y + below];
      await this.page.mouse.move(...at);
      await this.page.mouse.click(...at, { button: 'right' });
      await this.openSubmenu(text);
    });
  }

  /** What was copied last, once it is what is meant. */
  async copied(pattern) {
    await this.page.waitForFunction(
      async ({ source }) => new RegExp(source).test(await navigator.clipboard.readText()),
      { source: pattern.source },
    );
  }

  /** The sentences above the side bar's tree. */
  get message() {
    return this.page.locator('.sidebar .tree-explorer-viewlet-tree-view .message');
  }

  tab(name) {
    return this.page.locator('.tabs-container .tab', { hasText: name });
  }

  /** A line of the text editor. VS Code draws blanks as no-break spaces; one in the pattern stands for any number. */
  line({ source }) {
    const hasText = new RegExp(source.replaceAll(' ', String.raw`\s+`));
    return this.page.locator('.editor-instance .view-line').filter({ hasText });
  }

  lens(text) {
    return this.page.locator('.editor-instance .codelens-decoration a', { hasText: text });
  }

  /**
   * Clicks a code lens until something appears. The editor replaces lenses after every change: a click on one that is
   * just being replaced does nothing, and a person clicks again.
   */
  async clickLens(text, result) {
    const clicked = await this.#again(() => this.lens(text).first().click(), result);
    assert.ok(clicked, `The code lens "${text}" did nothing`);
  }

  /** Acts until something appears; resolves to whether it did. */
  async #again(act, result, most = 4) {
    for (let tries = 0; tries < most; tries += 1) {
      // oxlint-disable-next-line no-await-in-loop -- again only when it did not help
      await act();
      const appears = result.first().waitFor({ timeout: STEP / most });
      // oxlint-disable-next-line no-await-in-loop -- as above
      if (await appears.then(() => true).catch(() => false)) return true;
    }
    return false;
  }

  /** Types a line as a person does who takes no suggestion. */
  async typeLine(text) {
    await this.page.keyboard.type(text);
    await this.page.keyboard.press('Escape');
    await this.page.keyboard.press('Enter');
  }

  /**
   * Picks a quick fix at the cursor. When the editor asks for fixes on its own, a moment after the cursor has moved or a
   * problem has come, it drops what was asked for by key just before, and a person presses it again.
   */
  async quickFix(text, { shot, docs } = {}) {
    const item = this.page.locator('.action-widget .monaco-list-row', { hasText: text }).first();
    const offered = await this.#again(() => this.page.keyboard.press('Control+.'), item);
    assert.ok(offered, `No quick fix "${text}" was offered`);
    if (shot) await this.shot(shot, { docs });
    await item.click();
  }

  /** Waits until a decoration behind some line shows a text. */
  async behind(pattern) {
    await this.page.waitForFunction(
      ({ source }) =>
        [...document.querySelectorAll('.view-line span')].some((span) =>
          new RegExp(source).test(getComputedStyle(span, '::after').content),
        ),
      { source: pattern.source },
    );
  }

  /** The document inside of the visible webview, which VS Code wraps in two frames. */
  get view() {
    return this.page
      .frameLocator('.editor-instance iframe.webview.ready, iframe.webview.ready')
      .frameLocator('iframe#active-frame');
  }

  /** The document of the webview that shows an element, where several webviews are open. */
  async viewWith(selector) {
    const shown = (frame) => frame.waitForSelector(selector).then(() => frame);
    const open = this.page.frames().map(shown);
    const next = this.page.waitForEvent('framenavigated', {
      predicate: async (frame) => (await shown(frame).catch(() => null)) !== null,
    });
    return Promise.any([...open, next]);
  }

  /**
   * What is open, for the account of a test that failed: tabs, notifications, and of each webview whether its page has
   * loaded and which service worker it loads from. VS Code's page waits for that worker before it shows anything.
   */
  async situation() {
    const texts = async (selector) =>
      (await this.page.locator(selector).allInnerTexts()).join(' | ').replaceAll('\n', '');
    const outer = this.page.frames().filter((frame) => frame.url().includes('/webview/browser/pre/index.html'));
    const webviews = outer.map(async (frame) => {
      const state = await frame.waitForFunction(webviewState, undefined, { timeout: STEP / 12 }).catch(String);
      return `Webview: ${typeof state === 'string' ? state : await state.jsonValue()}`;
    });
    return [
      `Tabs: ${await texts('.tabs-container .tab')}`,
      `Notifications: ${await texts('.notification-toast, .monaco-dialog-box')}`,
      ...(await Promise.all(webviews)),
    ].join('\n');
  }

  /**
   * Saves a picture to test/shots; with `docs`, and UPDATE_DOCS set, it also becomes docs/images/<docs>.png, where no
   * notification covers what the picture is about, except with `toasts`.
   */
  async shot(name, { docs, toasts = !docs } = {}) {
    mkdirSync(shots, { recursive: true });
    // In the window alone: the screenshot's own `style` goes into the webviews, too, whose policy refuses it.
    const content = '.notifications-toasts { display: none !important }';
    const hidden = toasts ? null : await this.page.addStyleTag({ content });
    await this.page.screenshot({ path: `${shots}/${name}.png`, animations: 'disabled' });
    await hidden?.evaluate((tag) => tag.remove());
    if (!docs || !process.env.UPDATE_DOCS) return;
    mkdirSync(images, { recursive: true });
    copyFileSync(`${shots}/${name}.png`, `${images}/${docs}.png`);
  }
}

/** Runs in the page: whether it shows nothing but the explorer. Terminals count also in a panel that is hidden. */
function isTidy() {
  const isShown = (selector) => [...document.querySelectorAll(selector)].some((one) => one.checkVisibility());
  const isLeft = isShown('.tabs-container .tab, .notification-toast, .part.panel');
  return !isLeft && document.querySelector('.terminal-wrapper') === null && isShown('.explorer-viewlet');
}

/** Runs in the outer frame of a webview. */
async function webviewState() {
  const { controller } = navigator.serviceWorker;
  const own = await navigator.serviceWorker.getRegistration();
  const states = ['installing', 'waiting', 'active'].map((name) => `${name} ${own?.[name]?.state ?? 'none'}`);
  const frames = [...document.querySelectorAll('iframe')].map(({ id }) => id);
  return `controlled by ${controller?.scriptURL ?? 'none'}; ${states.join(', ')}; frames: ${frames.join(', ') || 'none'}`;
}

/** Runs in the page. A page that draws no frames may be idle without being told for minutes: frames are asked for. */
const untilIdle = () =>
  new Promise((resolve) => {
    let idle = false;
    const frame = () => (idle ? resolve() : requestAnimationFrame(frame));
    requestIdleCallback(() => (idle = true));
    frame();
  });

/** Runs in the page. */
const untilAtRest = (tree) =>
  new Promise((resolve) => {
    let [last, frames] = ['', 0];
    const look = () => {
      const items = [...tree.querySelectorAll('[role=treeitem]')];
      const now = items.map(({ dataset, style }) => `${dataset.key} ${style.cssText}`).join('\n');
      frames = now === last && items.length > 0 ? frames + 1 : 0;
      last = now;
      if (frames < 12) requestAnimationFrame(look);
      else resolve();
    };
    look();
  });
