import { accuracyEvidence } from '../../../src/kernel/simulation/nodeEvidence.ts';
import { errorFigure } from '../../../src/kernel/simulation/simulated.ts';
import type { TensorOrigin } from '../../../src/kernel/picture/graph/graphIndex.ts';
import type { NodeAccuracy } from '../../../src/kernel/picture/graph/viewData.ts';
import type { GraphModel } from '../view/graphModel.ts';
import { factList, detailSection } from './details.ts';
import { element } from '../../shared/element.ts';
import { graphStrings } from './graphStrings.ts';

const words = graphStrings.facts;

/** What is known of the error of a point's results; null: not judged, or no judgment at all. */
export function judgedPoint({ graph, judged }: GraphModel, point: number): NodeAccuracy | null {
  const node = judged.get(graph.data.nodes[point]?.id ?? '');
  return node === undefined || node.notJudged !== undefined ? null : node;
}

/** The error of a tensor in the low-precision run. */
export function errorFacts(model: GraphModel, { producer }: TensorOrigin): [string, string][] {
  const node = judgedPoint(model, producer);
  return node === null ? [] : [[words.propagatedError(node.type), errorFigure(node.propagatedError)]];
}

/** `error 0.32`, where the colors show errors. */
export function errorLabel(model: GraphModel, { producer }: TensorOrigin): string {
  const node = model.overlay.kind === 'accuracy' ? judgedPoint(model, producer) : null;
  return node === null ? '' : `${words.error} ${errorFigure(node.propagatedError)}`;
}

/** What low precision does to a node, and why it is to blame. */
export function nodeAccuracy({ judged }: GraphModel, id: string): Node[] {
  const node = judged.get(id);
  if (node === undefined) return [];
  const rows: [string, string][] = [
    [words.localError, errorFigure(node.localError)],
    [words.propagatedError(node.type), errorFigure(node.propagatedError)],
  ];
  const isFine = node.role === 'fine' && !node.overflow && !node.underflow && node.notJudged === undefined;
  const role = node.role === 'fine' ? '' : `${words.roles[node.role]}: `;
  const sentence = isFine ? null : element('p', { class: 'wrap' }, `${role}${accuracyEvidence(node)}.`);
  const known = node.notJudged === undefined ? factList(rows) : null;
  return [detailSection(words.accuracy, element('div', {}, sentence, known))];
}
