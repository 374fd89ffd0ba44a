import { connect } from '../shared/connect.ts';
import { mountFusion } from './mountFusion.ts';

connect(mountFusion);
