import { beforeAll, describe, expect, test } from 'vitest';
import { engineMs } from '../../src/kernel/report/words.ts';
import type { ViewData } from '../../src/kernel/picture/graph/viewData.ts';
import type { OpenPage } from './support/browserPage.ts';
import { captureData } from './support/captureData.ts';
import { manyLayers } from './support/manyLayers.ts';
import { openInEditor, useViews } from './support/useViews.ts';

const views = useViews();
let vit: ViewData;

beforeAll(async () => {
  vit = await captureData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16');
});

/** The table of a fusion page in an editor; checked at the end for faults. */
async function openTable(data: ViewData, theme = 'vscode-light', width = 1200, height = 800): Promise<OpenPage> {
  const opened = await openInEditor(views, 'fusion', theme, { width, height });
  await opened.post('show', data, '');
  await opened.page.click('#tab-table');
  await opened.page.waitForSelector('.table-row');
  await opened.still();
  return opened;
}

const selections = async (opened: OpenPage): Promise<unknown[]> =>
  (await opened.sent()).filter(({ method }) => method === 'selected').map(({ args }) => args[0]);

/** Texts of one column, of the rows in the document, top to bottom. */
const columnOf = ({ page }: OpenPage, title: string): Promise<string[]> =>
  page.evaluate((wanted) => {
    const heads = [...document.querySelectorAll('.table-head .table-sort')].map(({ textContent }) => textContent);
    const rows = [...document.querySelectorAll<HTMLElement>('.table-row')];
    rows.sort((a, b) => Number(a.dataset['index']) - Number(b.dataset['index']));
    return rows.map((row) => row.children[heads.indexOf(wanted)]!.textContent);
  }, title);

const headed = (title: string) => `.table-head .table-sort:text-is("${title}")`;

/** The rows in the order of execution. */
const inOrder = ({ page }: OpenPage) => page.click(headed('Order')).then(() => page.click(headed('Order')));

describe('the table of the fusion page', () => {
  test('lists every layer, the slowest first, and sorts by a click on the header', async () => {
    const opened = await openTable(vit, 'vscode-light', 1200, 3000);
    const { page } = opened;
    const { layers } = vit.report!;
    expect(await page.getAttribute('[role=grid]', 'aria-rowcount')).toBe(String(layers.length + 1));
    expect(await page.locator('[aria-sort="descending"]').textContent()).toBe('Time');
    const byTime = layers.toSorted((a, b) => b.averageMs! - a.averageMs!).map(({ id }) => String(id));
    expect(await columnOf(opened, 'Order')).toEqual(byTime);
    await page.click(headed('Time'));
    expect(await page.locator('[aria-sort="ascending"]').count()).toBe(1);
    expect((await columnOf(opened, 'Order'))[0]).toBe(byTime.at(-1));
    await page.click(headed('Time'));
    expect(await page.locator('[aria-sort="none"]').count()).toBe(12);
    expect(await columnOf(opened, 'Order')).toEqual(layers.map((_, index) => String(index)));
  });

  test('says what each layer computes, in the words of the model, and gives the room to the table', async () => {
    const opened = await openTable(vit);
    const { page } = opened;
    const computes = await columnOf(opened, 'Computes');
    expect(
      computes.some((text) => /blocks\.\d+\/attn: .*MatMul.*Softmax/.test(text)),
      computes.join('; '),
    ).toBe(true);
    // Nothing is selected: there is nothing to tell next to the table.
    expect(await page.locator('aside.details').isVisible()).toBe(false);
    await page.locator('.table-row').first().click();
    expect(await page.locator('aside.details').isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    await page.locator('aside.details').waitFor({ state: 'hidden' });
  });

  test('columns are made wider and narrower by mouse and keyboard, and stay so', async () => {
    const opened = await openTable(vit);
    const { page } = opened;
    const cell = page.locator('.table-head .table-cell', { has: page.locator('.table-sort:text-is("Type")') });
    const before = (await cell.boundingBox())!;
    const grip = (await cell.locator('.table-grip').boundingBox())!;
    await page.mouse.move(grip.x + 3, grip.y + 8);
    await page.mouse.down();
    await page.mouse.move(grip.x + 63, grip.y + 8, { steps: 4 });
    await page.mouse.up();
    const wider = (await cell.boundingBox())!.width;
    expect(wider).toBeCloseTo(before.width + 60, 0);
    await page.focus(headed('Type'));
    await page.keyboard.press('Alt+ArrowLeft');
    expect((await cell.boundingBox())!.width).toBeCloseTo(wider - 16, 0);
    // Rows follow, and other data keep the widths.
    await opened.post('show', vit, '');
    await opened.still();
    const at = await page.locator('.table-head .table-sort').allTextContents();
    const first = page.locator('.table-row').first().locator('.table-cell').nth(at.indexOf('Type'));
    expect((await first.boundingBox())!.width).toBeCloseTo(wider - 16, 0);
    await cell.locator('.table-grip').dblclick();
    expect((await cell.boundingBox())!.width).toBeCloseTo(before.width, 0);
  });

  test('a name that does not fit keeps its end, where names differ', async () => {
    const { page } = await openTable(vit, 'vscode-light', 800);
    const cut = await page.locator('.table-row .keeps-end').evaluateAll((cells) =>
      cells
        .filter((cell) => cell.scrollWidth > cell.clientWidth)
        .map((cell) => {
          const text = cell.querySelector('bdi')!.firstChild as Text;
          const last = document.createRange();
          last.setStart(text, text.length - 1);
          last.setEnd(text, text.length);
          const [letter, box] = [last.getBoundingClientRect(), cell.getBoundingClientRect()];
          return letter.left >= box.left && letter.right <= box.right;
        }),
    );
    expect(cut.length).toBeGreaterThan(5);
    expect(cut).not.toContain(false);
  });

  test('filters as the graph’s search does, and names a bad expression', async () => {
    const opened = await openTable(vit);
    const { page } = opened;
    await page.fill('.table-filter', 'op:Softmax');
    expect(await page.textContent('.table-count')).toBe('12 of 90 layers');
    expect(await page.getAttribute('[role=grid]', 'aria-rowcount')).toBe('13');
    await page.fill('.table-filter', 'name:/(/');
    expect(await page.textContent('.table-count')).toBe('/(/ is not a regular expression');
    expect(await page.getAttribute('.table-filter', 'aria-invalid')).toBe('true');
  });

  test('selects the same as the charts, both ways', async () => {
    const opened = await openTable(vit);
    const { page } = opened;
    await inOrder(opened);
    await page.locator('.table-row[data-index="3"]').click();
    expect(await selections(opened)).toEqual([{ kind: 'layers', ids: [3] }]);
    await page.locator('.table-row[data-index="6"]').click({ modifiers: ['Shift'] });
    expect((await selections(opened)).at(-1)).toEqual({ kind: 'layers', ids: [3, 4, 5, 6] });
    await page.locator('.table-row[data-index="4"]').click({ modifiers: ['Control'] });
    expect((await selections(opened)).at(-1)).toEqual({ kind: 'layers', ids: [3, 5, 6] });
    expect(await page.textContent('.details h2')).toBe('3 layers of the engine');
    await page.click('#tab-charts');
    expect(await page.locator('.timeline .bar.on').count()).toBe(3);
    await opened.post('select', { kind: 'layers', ids: [88] });
    await page.click('#tab-table');
    await page.waitForSelector('.table-row[data-index="88"][aria-selected="true"]');
    await opened.still();
    const box = (await page.locator('.table-row[data-index="88"]').boundingBox())!;
    expect(box.y).toBeLessThan(800);
    await page.locator('.table-row[data-index="88"]').click();
    expect((await selections(opened)).at(-1)).toEqual({ kind: 'none' });
  });

  test('the keyboard alone: move, extend, add, all, copy', async () => {
    const opened = await openTable(vit);
    const { page } = opened;
    await inOrder(opened);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.focus('[role=grid]');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    expect((await selections(opened)).at(-1)).toEqual({ kind: 'layers', ids: [1, 2] });
    await page.keyboard.press('End');
    expect((await selections(opened)).at(-1)).toEqual({ kind: 'layers', ids: [89] });
    const active = () => page.getAttribute('[role=grid]', 'aria-activedescendant');
    expect(await page.getAttribute(`#${await active()}`, 'aria-rowindex')).toBe('91');
    await page.keyboard.press('PageUp');
    await page.keyboard.press('Home');
    await page.keyboard.press('Control+ArrowDown');
    await page.keyboard.press(' ');
    expect((await selections(opened)).at(-1)).toEqual({ kind: 'layers', ids: [0, 1] });
    await page.keyboard.press('Control+c');
    await page.waitForFunction(() => document.querySelector('.table-count')?.textContent === '2 layers copied');
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const [head, ...lines] = copied.trimEnd().split(/\r?\n/);
    expect(head).toBe(
      'Order,Name,Computes,Time (ms),Share (%),Nodes,Type,Precision,Tactic,Formats,Bytes,Largest Tensor',
    );
    expect(lines.map((line) => line.split(',')[0])).toEqual(['0', '1']);
    await page.keyboard.press('Control+a');
    expect(((await selections(opened)).at(-1) as { ids: number[] }).ids).toHaveLength(90);
    await page.click('.table-copy');
    await page.waitForFunction(() => document.querySelector('.table-count')?.textContent === '90 layers copied');
    const all = await page.evaluate(() => navigator.clipboard.readText());
    const times = all
      .trimEnd()
      .split(/\r?\n/)
      .slice(1)
      .map((line) => Number(line.split(',')[3]));
    expect(times.reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(engineMs(vit.report!)!, 6);
    await page.keyboard.press('Escape');
    expect((await selections(opened)).at(-1)).toEqual({ kind: 'none' });
  });

  test('remembers the choice of columns, the order, the filter and the tab', async () => {
    const opened = await openTable(vit);
    const { page } = opened;
    await page.click('.table-columns > summary');
    await page.uncheck('.table-columns input[value="tactic"]');
    expect(await page.locator('.table-head .table-cell').count()).toBe(11);
    expect(await page.isDisabled('.table-columns input[value="name"]')).toBe(true);
    // What only a trace has is no choice without one.
    expect(await page.locator('.table-columns label:visible').count()).toBe(12);
    await page.keyboard.press('Escape');
    expect(await page.locator('.table-columns[open]').count()).toBe(0);
    await page.click(headed('Bytes'));
    await page.fill('.table-filter', 'gemm');
    const kept = await page.evaluate(() => (window as unknown as { kept: unknown }).kept);
    expect(kept).toMatchObject({
      fusion: {
        tab: 'table',
        table: { hidden: ['tactic'], sort: { column: 'bytes', descending: true }, filter: 'gemm' },
      },
    });
  });

  test('of 25,000 rows, only those in view are in the document', async () => {
    const opened = await openTable(manyLayers(25_000));
    const { page } = opened;
    expect(await page.getAttribute('[role=grid]', 'aria-rowcount')).toBe('25001');
    const drawn = () => page.locator('.table-row').count();
    expect(await drawn()).toBeLessThan(60);
    await page.focus('[role=grid]');
    await page.keyboard.press('End');
    await page.waitForSelector('.table-row[data-index="24999"]');
    expect(await drawn()).toBeLessThan(60);
    await page.click(headed('Order'));
    await page.click(headed('Time'));
    const times = (await columnOf(opened, 'Time')).map(Number.parseFloat);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  test.each([
    ['vscode-light', 1200, 800],
    ['vscode-dark', 2560, 1440],
    ['vscode-high-contrast', 800, 600],
    ['vscode-high-contrast-light vscode-high-contrast', 800, 600],
  ])('axe finds nothing in %s at %i × %i', async (theme, width, height) => {
    const opened = await openTable(vit, theme, width, height);
    expect(await opened.axe()).toEqual([]);
    await opened.page.locator('.table-row').nth(2).click();
    await opened.page.click('.table-columns > summary');
    expect(await opened.axe()).toEqual([]);
    await opened.shot(`table-vit_tiny-${theme.split(' ')[0]!}-${width}`);
  });
});
