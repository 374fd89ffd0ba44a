import { connect } from '../shared/connect.ts';
import { mountComparison } from './mountComparison.ts';

connect(mountComparison);
