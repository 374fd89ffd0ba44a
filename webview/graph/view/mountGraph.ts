import '../../shared/base.css';
import './graph.css';
import type { View, ViewHost } from '../../../src/protocol/views.ts';
import { GraphView } from './graphView.ts';

/**
 * The graph of a model with TensorRT's fusion drawn on it, in `root`. Sends the host what the user selects, asks it to
 * save pictures and to open text. Call `ready` yourself (or use shared/connect.ts) once messages can be received.
 */
export function mountGraph(root: HTMLElement, host: ViewHost): View {
  const view = new GraphView(root, host);
  return {
    show: (data, message) => view.show(data, message),
    select: (selection) => view.selecting.follow(selection),
    building: (building) => view.building(building),
  };
}
