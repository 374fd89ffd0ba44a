import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { reportPage } from '../../../src/kernel/node/cli/report.ts';
import type { ViewData } from '../../../src/kernel/picture/graph/viewData.ts';

const webview = fileURLToPath(new URL('../../../dist/webview/', import.meta.url));
/** The same letters on every machine. */
const fonts = fileURLToPath(new URL('../fonts/', import.meta.url));

/** As strict as an editor's webview: nothing inline, nothing from elsewhere, nothing evaluated. */
export const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  'worker-src blob:',
  'img-src data: blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const types: Record<string, string> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  woff: 'font/woff',
};

/** What an editor gives a webview: messages out are kept in `window.sent`, state in `window.kept`. */
const editorScript = `
  window.sent = [];
  window.acquireVsCodeApi = () => ({
    postMessage: (message) => window.sent.push(JSON.parse(JSON.stringify(message))),
    getState: () => window.kept,
    setState: (state) => { window.kept = JSON.parse(JSON.stringify(state)); },
  });
`;

const editorPage = (view: string, theme: string): string => `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${view}</title><link rel="stylesheet" href="/fonts/fonts.css">
<link rel="stylesheet" href="/editor.css">
<script src="/host.js"></script></head>
<body class="${theme}" data-view="${view}"><main id="root"></main><script src="/editor.js"></script></body></html>`;

export interface ViewServer {
  /** `http://127.0.0.1:<port>`; `/` is the report, `/editor/<view>?theme=vscode-dark` one view as in an editor. */
  url: string;
  /** What the report at `/` shows from now on. */
  setData(data: ViewData): void;
  close(): Promise<void>;
}

/** Serves the built views (`npm run build`) on a free port of this machine, every answer under the strict policy. */
export async function startViewServer(): Promise<ViewServer> {
  if (!existsSync(`${webview}report.js`)) throw new Error('dist/webview is missing or old: run `npm run build` first.');
  let data: ViewData | null = null;

  const answer = async (path: string, theme: string): Promise<{ type: string; body: string | Buffer } | null> => {
    if (path === '/' && data !== null) {
      const [style, script] = ['report.css', 'report.js'].map((name) => readFileSync(webview + name, 'utf8'));
      return { type: 'html', body: reportPage(data, style!, script!) };
    }
    if (path === '/host.js') return { type: 'js', body: editorScript };
    const view = /^\/editor\/(\w+)$/.exec(path)?.[1];
    if (view !== undefined) return { type: 'html', body: editorPage(view, theme.replaceAll(/[^\w -]/g, '')) };
    const font = /^\/fonts\/([\w-]+\.(css|woff))$/.exec(path);
    if (font !== null) return { type: font[2]!, body: await readFile(fonts + font[1]!) };
    const name = /^\/([\w.-]+)$/.exec(path)?.[1] ?? '';
    if (name === '' || !existsSync(webview + name)) return null;
    return { type: name.slice(name.lastIndexOf('.') + 1), body: await readFile(webview + name) };
  };

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    answer(pathname, searchParams.get('theme') ?? 'vscode-light').then(
      (found) => {
        const headers = {
          // The report's page has a policy of its own, by hashes.
          ...(pathname === '/' ? {} : { 'content-security-policy': policy }),
          'content-type': `${types[found?.type ?? ''] ?? 'text/plain'}; charset=utf-8`,
        };
        response.writeHead(found === null ? 404 : 200, headers);
        response.end(found?.body ?? 'not found');
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setData: (value) => {
      data = value;
    },
    close: () =>
      new Promise((resolve, reject) => {
        server.closeAllConnections();
        server.close((error) => (error === undefined ? resolve() : reject(error)));
      }),
  };
}
