import { connect } from '../shared/connect.ts';
import { mountGraph } from './mountGraph.ts';

connect(mountGraph);
