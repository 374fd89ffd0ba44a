import type * as vscode from 'vscode';
import { pickModel } from '../workspace/pickModel.ts';
import type { Session } from '../workspace/session.ts';
import type { Sessions } from '../workspace/sessions.ts';

/** A model and some of its nodes. */
export interface ChosenNodes {
  model: vscode.Uri;
  /** Ids; those of nodes inside an If, Loop or Scan stand for that node. */
  nodes: string[];
}

/**
 * What a command is about: the nodes that a view gives along, otherwise those that are selected in the views of the
 * model. undefined: the user picked no model.
 */
export async function chosenNodes(
  argument: unknown,
  ids: unknown,
  sessions: Sessions,
): Promise<ChosenNodes | undefined> {
  const model = await pickModel(argument, sessions);
  if (model === undefined) return undefined;
  const session = sessions.find(model);
  const given = Array.isArray(ids) ? ids.map(String) : session ? selectedNodes(session) : [];
  return { model, nodes: [...new Set(given.map((id) => id.split('/')[0]!))] };
}

function selectedNodes({ selection, state }: Session): string[] {
  const report = state.newest?.report;
  switch (selection.kind) {
    case 'nodes':
      return selection.ids;
    case 'layers':
      return selection.ids.flatMap((id) => report?.layers[id]?.nodes ?? []);
    case 'foreignNode':
      return report?.foreignNodes.find(({ id }) => id === selection.id)?.nodes ?? [];
    default:
      return [];
  }
}
