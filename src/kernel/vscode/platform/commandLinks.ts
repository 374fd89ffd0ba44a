import type { Target } from '../../document/document.ts';

type Link = readonly [command: string, ...args: unknown[]];

/**
 * Where the links of a document lead in the editor: to commands, which its panel must enable.
 * @param actions by their names
 * @param nodes of a link to nodes; none: their names are text
 */
export const commandLinks =
  (actions: Readonly<Record<string, Link>>, nodes?: (ids: readonly string[]) => Link) =>
  (to: Target): string | null => {
    const link = to.kind === 'action' ? actions[to.name] : to.kind === 'nodes' ? nodes?.(to.ids) : undefined;
    if (link === undefined) return null;
    const [command, ...args] = link;
    return `command:${command}?${encodeURIComponent(JSON.stringify(args))}`;
  };
