/** What the editor's commands let the graph do; the graph acts on what is selected in it. */
export const graphActions = [
  'find',
  'findNext',
  'findPrevious',
  'back',
  'forward',
  'selectAll',
  'selectGroup',
  'isolate',
  'isolatePaths',
  'showAll',
  'expandAll',
] as const;
export type GraphAction = (typeof graphActions)[number];

/** The command of each action. */
export const graphCommands = Object.fromEntries(
  graphActions.map((action) => [`graph.${action}`, `tensorrtLens.graph.${action}`]),
) as { readonly [K in GraphAction as `graph.${K}`]: `tensorrtLens.graph.${K}` };

/** A key of the graph. */
export interface GraphKey {
  /** As package.json writes it, and on a Mac. */
  key: string;
  mac: string;
  action: GraphAction;
  /** What it does, for the list of keys. */
  meaning: string;
}

/**
 * Keys that package.json contributes for the graph, so that users can change them. In an editor the commands come from
 * the editor; a plain page acts on the keys itself. Keys without Ctrl, Alt or F are the page's own everywhere.
 */
export const graphKeys: readonly GraphKey[] = [
  { key: 'ctrl+f', mac: 'cmd+f', action: 'find', meaning: 'search' },
  { key: 'f3', mac: 'f3', action: 'findNext', meaning: 'next result' },
  { key: 'shift+f3', mac: 'shift+f3', action: 'findPrevious', meaning: 'previous result' },
  { key: 'alt+left', mac: 'alt+left', action: 'back', meaning: 'back to what was selected before' },
  { key: 'alt+right', mac: 'alt+right', action: 'forward', meaning: 'forward again' },
  { key: 'ctrl+a', mac: 'cmd+a', action: 'selectAll', meaning: 'select all nodes that are shown' },
  { key: 'alt+i', mac: 'alt+i', action: 'isolate', meaning: 'show only the selection and its neighbors' },
  { key: 'alt+p', mac: 'alt+p', action: 'isolatePaths', meaning: 'show only the paths between two selected nodes' },
  { key: 'alt+a', mac: 'alt+a', action: 'showAll', meaning: 'show the whole graph again' },
  { key: 'alt+x', mac: 'alt+x', action: 'expandAll', meaning: 'expand the selected module with all in it' },
];

/** The action of a key as a keyboard event gives it; null for none. */
export function actionOfKey(event: {
  key: string;
  code: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}): GraphAction | null {
  // With Alt, a Mac types another letter: the key itself has the name that counts.
  const letter = /^Key([A-Z])$/.exec(event.code)?.[1];
  const name = (letter ?? event.key.replace('Arrow', '')).toLowerCase();
  const held = [event.ctrlKey && 'ctrl', event.metaKey && 'cmd', event.altKey && 'alt', event.shiftKey && 'shift'];
  const pressed = [...held.filter((part) => part !== false), name].join('+');
  return graphKeys.find(({ key, mac }) => pressed === key || pressed === mac)?.action ?? null;
}

/** A key for people: `Ctrl+F`, `Alt+Left`. */
export const keyText = (key: string): string => key.replaceAll(/(^|\+)\w/g, (part) => part.toUpperCase());
