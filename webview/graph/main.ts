import { connect } from '../shared/connect.ts';
import { mountGraph } from './view/mountGraph.ts';

connect(mountGraph);
