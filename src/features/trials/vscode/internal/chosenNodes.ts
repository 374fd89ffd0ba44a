import type * as vscode from 'vscode';
import { selectedNodes } from '../../../../kernel/picture/page/selectionText.ts';
import { pointedAt } from '../../../../kernel/vscode/graph/pointedAt.ts';
import { pickModel } from '../../../../kernel/vscode/workspace/pickModel.ts';
import type { ComparisonPages } from '../../../diff/vscode/comparisonPages.ts';
import type { Sessions } from '../../../../kernel/vscode/workspace/sessions.ts';

/** What the feature needs of the extension. */
export interface SurgeryParts {
  context: vscode.ExtensionContext;
  sessions: Sessions;
  log: vscode.LogOutputChannel;
  comparisons: ComparisonPages;
}

/** A model and some of its nodes. */
export interface ChosenNodes {
  model: vscode.Uri;
  /** Ids; those of nodes inside an If, Loop or Scan stand for that node. */
  nodes: string[];
  /** Name of the tensor that the user points at, whose producer is the node. */
  tensor?: string;
}

/**
 * What a command is about: the nodes that a view or a context menu gives along, otherwise those that are selected in the
 * views of the model. undefined: the user picked no model.
 */
export async function chosenNodes(
  argument: unknown,
  ids: unknown,
  sessions: Sessions,
): Promise<ChosenNodes | undefined> {
  const model = await pickModel(argument, sessions);
  if (model === undefined) return undefined;
  const session = sessions.find(model);
  const subject = session && pointedAt(session, argument);
  const producer = producerOf(argument);
  const pointed = producer === undefined ? (subject ? selectedNodes(subject) : []) : [producer];
  const given = Array.isArray(ids) ? ids.map(String) : pointed;
  const nodes = [...new Set(given.map((id) => id.split('/')[0]!))];
  return { model, nodes, ...(subject?.tensor !== undefined && { tensor: subject.tensor }) };
}

/** Id of the node that makes the tensor that a context menu is about; undefined: it is about none, or about an input. */
function producerOf(argument: unknown): string | undefined {
  const { tensor } = (argument ?? {}) as { tensor?: { producer?: unknown } };
  return typeof tensor?.producer === 'string' && tensor.producer !== '' ? tensor.producer : undefined;
}
