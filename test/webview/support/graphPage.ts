import type { ViewData } from '../../../src/kernel/picture/graph/viewData.ts';
import type { Selection } from '../../../src/kernel/protocol/views.ts';
import { openPage, type OpenPage } from './browserPage.ts';
import type { Views } from './useViews.ts';

/** Opens the graph as an editor does, shows data, and waits for the picture and for the elements over it. */
export async function openGraphPage({ browser, server }: Views, shown: ViewData): Promise<OpenPage> {
  const view = await openPage(browser, `${server.url}/editor/graph?theme=vscode-light`);
  await view.post('show', shown, '');
  await view.page.waitForFunction(() => performance.getEntriesByName('graph-painted').length > 0);
  await view.still();
  return view;
}

/** Selections that the host was told, in order. */
export const selectionsOf = async (view: OpenPage): Promise<Selection[]> =>
  (await view.sent()).filter(({ method }) => method === 'selected').map(({ args }) => args[0] as Selection);

export const boxOf = (view: OpenPage, key: string) => view.page.locator(`[role=treeitem][data-key="${key}"]`);

/** The middle of the line between two boxes, one below the other, which are linked by a straight edge. */
export async function middleBetween(view: OpenPage, upper: string, lower: string): Promise<{ x: number; y: number }> {
  const [above, below] = [(await boxOf(view, upper).boundingBox())!, (await boxOf(view, lower).boundingBox())!];
  return { x: above.x + above.width / 2, y: (above.y + above.height + below.y) / 2 };
}
