import type { PanelSort } from '../../core/scene/panel/fusionPanel.ts';
import { pickItem } from '../platform/askUser.ts';
import type { FusionTree } from './fusionTree.ts';

/** Asks how the groups of the tree should be sorted. */
export async function sortPanel(tree: FusionTree): Promise<void> {
  const orders: { sort: PanelSort; label: string; description: string }[] = [
    { sort: 'time', label: 'Time', description: 'slowest first; needs a profile' },
    { sort: 'size', label: 'Size', description: 'most nodes first' },
    { sort: 'order', label: 'Order', description: 'execution order' },
  ];
  const items = orders.map((order) => ({ ...order, picked: order.sort === tree.sort }));
  const picked = await pickItem(items, { placeHolder: 'Select how to sort fusion groups' });
  if (picked !== undefined) tree.setSort(picked.sort);
}
