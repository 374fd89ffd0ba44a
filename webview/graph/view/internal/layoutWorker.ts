import { nestedLayout } from '../../../../src/kernel/picture/layout/nestedLayout.ts';
import { type LayoutInput } from '../../../../src/kernel/picture/layout/layoutTypes.ts';

/** Runs in a worker: one message in, one out, in the same order. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<{ id: number; input: LayoutInput }>) => void) | null;
  postMessage(message: unknown, transfer: Transferable[]): void;
}

const scope = globalThis as unknown as WorkerScope;

scope.onmessage = ({ data: { id, input } }) => {
  try {
    const result = nestedLayout(input);
    const { x, y, width, height, pieces, edgeStart, edgePieces, portal, back, begins } = result;
    const arrays = [x, y, width, height, pieces, edgeStart, edgePieces, portal, back, begins];
    scope.postMessage(
      { id, result },
      arrays.map(({ buffer }) => buffer as ArrayBuffer),
    );
  } catch (error) {
    scope.postMessage({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }, []);
  }
};
