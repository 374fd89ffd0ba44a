import type { Selection } from './views.ts';

/** What a context menu of the graph is about: the commands in it get this as their argument. */
export interface GraphMenuContext {
  /** For `when` clauses. */
  webviewSection: 'node' | 'module' | 'group' | 'tensor' | 'output' | 'canvas';
  /** Cut, copy and paste of the page's text are of no use here. */
  preventDefaultContextMenuItems: true;
  selection: Selection;
  /** For `when` clauses: something of it can be kept in a type. */
  takesType: boolean;
  /** Of a tensor or an output its name and the id of the node that produces it; the id is '' for a graph input. */
  tensor?: { name: string; producer: string };
  /** Of a module its path. */
  module?: string;
}
