import { mountComparison } from '../compare/mountComparison.ts';
import { mountFusion } from '../fusion/mountFusion.ts';
import { mountGraph } from '../graph/view/mountGraph.ts';
import { connect } from '../shared/connect.ts';

/** All views of the editor in one bundle: most of their code is common. The page says which of them it is. */
const views = new Map(Object.entries({ graph: mountGraph, fusion: mountFusion, compare: mountComparison }));

const mount = views.get(document.body.dataset['view'] ?? '');
if (mount === undefined) throw new Error('The page does not say which view it is.');
connect((root, host) => mount(root, host));
