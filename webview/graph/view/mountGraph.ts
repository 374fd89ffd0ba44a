import '../../shared/base.css';
import './internal/graph.css';
import { actionOfKey } from '../../../src/kernel/protocol/graphActions.ts';
import type { View, ViewHost } from '../../../src/kernel/protocol/views.ts';
import { GraphView } from './internal/graphView.ts';

/**
 * The graph of a model with TensorRT's fusion drawn on it, in `root`. Sends the host what the user selects, asks it to
 * save pictures and to open text. `ownKeys`: acts on the keys that an editor contributes. Call `ready` yourself (or use shared/connect.ts) once messages can be received.
 */
export function mountGraph(root: HTMLElement, host: ViewHost, { ownKeys = false } = {}): View {
  const view = new GraphView(root, host);
  if (ownKeys)
    document.addEventListener('keydown', (event) => {
      const action = root.offsetParent === null ? null : actionOfKey(event);
      if (action === null) return;
      event.preventDefault();
      view.perform(action);
    });
  return {
    perform: (action) => view.perform(action),
    show: (data, message) => view.show(data, message),
    select: (selection) => view.selecting.follow(selection),
    building: (building) => view.building(building),
  };
}
