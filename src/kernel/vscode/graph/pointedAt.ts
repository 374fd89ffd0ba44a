import { isSelection } from '../../protocol/isViewMessage.ts';
import type { TextSubject } from '../../picture/page/selectionText.ts';
import type { PanelItem } from '../../picture/page/fusionPanel.ts';
import type { GraphMenuContext } from '../../protocol/graphMenu.ts';
import type { Session } from '../workspace/session.ts';

/**
 * What a command is about: a context menu of the graph or a row of the side bar's tree passes it, a key or the command
 * palette means what is selected.
 */
export function pointedAt(session: Session, argument: unknown): TextSubject {
  const known = { graph: session.state.graph, report: session.report };
  const { selection, tensor, module } = isPointed(argument) ? argument : { selection: session.selection };
  return {
    ...known,
    selection,
    ...(tensor !== undefined && { tensor: tensor.name }),
    ...(module !== undefined && { module }),
  };
}

type Pointed = Pick<GraphMenuContext, 'selection' | 'tensor' | 'module'>;

/** The graph's page draws what models say, but the editor hands over what the page says its menu is about. */
function isPointed(argument: unknown): argument is Pointed | (PanelItem & Pick<Pointed, 'tensor' | 'module'>) {
  if (typeof argument !== 'object' || argument === null || !('selection' in argument)) return false;
  const { selection, tensor, module } = argument as Record<string, unknown>;
  return (
    isSelection(selection) &&
    (tensor === undefined || typeof (tensor as { name?: unknown } | null)?.name === 'string') &&
    (module === undefined || typeof module === 'string')
  );
}
