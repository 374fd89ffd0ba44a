import { receive, sender } from '../../src/kernel/protocol/rpc.ts';
import type { Message } from '../../src/kernel/protocol/rpc.ts';
import type { PostedView, View, ViewHost } from '../../src/kernel/protocol/views.ts';

interface EditorApi {
  postMessage(message: Message): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare const acquireVsCodeApi: (() => EditorApi) | undefined;

let editor: EditorApi | null | undefined;

/** The editor may be asked for its interface only once a page. null outside an editor. */
function editorApi(): EditorApi | null {
  editor ??= typeof acquireVsCodeApi === 'function' ? acquireVsCodeApi() : null;
  return editor;
}

/**
 * Runs one view in an editor's webview: mounts the view in `#root` (the body, if there is none), passes the host's
 * messages to it, and says `ready`. Errors that no one caught reach the host's log. On a plain page there
 * is no host to connect to: call the view's own mount function there.
 */
export function connect(mount: (root: HTMLElement, host: ViewHost) => View): void {
  const api = editorApi();
  if (api === null) throw new Error('connect() works inside an editor only; on a plain page, mount the view directly.');
  const host = sender<ViewHost & Record<string, (...args: unknown[]) => void>>((message) => api.postMessage(message));
  window.addEventListener('error', (event) => host.failed(describe(event.error ?? event.message)));
  window.addEventListener('unhandledrejection', (event) => host.failed(describe(event.reason)));
  const view = mount(document.getElementById('root') ?? document.body, host);
  const handlers = {
    show: (...args: Parameters<View['show']>) => view.show(...args),
    select: (...args: Parameters<View['select']>) => view.select(...args),
    building: (...args: Parameters<NonNullable<View['building']>>) => view.building?.(...args),
    perform: (...args: Parameters<NonNullable<View['perform']>>) => view.perform?.(...args),
    showPart: (...args: Parameters<NonNullable<View['showPart']>>) => view.showPart?.(...args),
  };
  // The editor itself and extensions of the browser post messages too: what is not ours is not an error.
  const take = (message: unknown) => receive(handlers, message, () => {});
  let shown = false;
  /** What was posted last, as long as it waits for data to be unpacked, its own or those before it. */
  let last: Promise<void> | null = null;
  window.addEventListener('message', ({ data: message }: MessageEvent<unknown>) => {
    shown ||= argsOfShow(message) !== null;
    const unpacked = unpackedShow(message);
    if (unpacked === null && last === null) {
      take(message);
      return;
    }
    const own = Promise.all([unpacked ?? message, last])
      .then(([ready]) => take(ready))
      .catch(reportError)
      .finally(() => {
        if (last === own) last = null;
      });
    last = own;
  });
  void passedOn().then(() => host.ready(shown));
}

/** Resolves when all that was posted while the page loaded has arrived: the editor passes it on at the event `load`. */
async function passedOn(): Promise<void> {
  if (document.readyState !== 'complete')
    await new Promise((loaded) => {
      window.addEventListener('load', loaded, { once: true });
    });
  // By the first turn the editor has posted it, by the second it is here.
  await turn();
  await turn();
}

/** Resolves after what was posted before. Not by a timer: those of pages that are not in view run late. */
const turn = (): Promise<unknown> =>
  new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(null);
  });

/** What a message shows; null: it is another one. */
function argsOfShow(message: unknown): Parameters<PostedView['show']> | null {
  const { method, args } = (message ?? {}) as Partial<Message>;
  return method === 'show' && Array.isArray(args) ? (args as Parameters<PostedView['show']>) : null;
}

/** A message that shows packed data, with the data themselves; null: it is another one. */
function unpackedShow(message: unknown): Promise<Message> | null {
  const [data, text] = argsOfShow(message) ?? [];
  if (!(data instanceof Uint8Array)) return null;
  const json = new Blob([data as BlobPart]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(json).json().then((unpacked: unknown) => ({ method: 'show', args: [unpacked, text] }));
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * What a view remembers while it is hidden or reloaded (position, expansion, overlay). In an editor it is the
 * webview's own state, otherwise the browser tab's session; where neither is allowed, it lasts as long as the page.
 * `key` tells the views of one page apart; values must be plain JSON. `get` gives null if nothing was kept.
 */
export function viewState<T>(key: string): { get(): T | null; set(value: T): void } {
  const api = editorApi();
  let kept: T | null = null;
  if (api !== null) {
    const all = () => (api.getState() ?? {}) as Record<string, T | undefined>;
    return { get: () => all()[key] ?? null, set: (value) => api.setState({ ...all(), [key]: value }) };
  }
  const name = `tensorrt-lens.${key}`;
  return {
    get: () => {
      try {
        const text = sessionStorage.getItem(name);
        return text === null ? kept : (JSON.parse(text) as T);
      } catch {
        return kept;
      }
    },
    set: (value) => {
      kept = value;
      try {
        sessionStorage.setItem(name, JSON.stringify(value));
      } catch {
        // Storage is full or forbidden (a file opened from disk): `kept` still holds it.
      }
    },
  };
}
