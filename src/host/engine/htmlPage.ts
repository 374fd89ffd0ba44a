import { escaped } from '../../core/text/htmlPage.ts';

/** A page without a script: HTML of which all text is escaped, and whose only links run commands. */
export function htmlPage(title: string, content: readonly string[], nonce: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'">
  <title>${escaped(title)}</title>
  <style nonce="${nonce}">${style}</style>
</head>
<body>
  <main>
    <h1>${escaped(title)}</h1>
    ${content.join('\n    ')}
  </main>
</body>
</html>`;
}

export const pageSection = (title: string, content: string): string => `<section><h2>${title}</h2>${content}</section>`;

export const factList = (rows: readonly [string, string][]): string =>
  `<dl>${rows.map(([name, value]) => `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`).join('')}</dl>`;

/** @param command a `command:` URI */
export const link = (command: string, label: string): string => `<a href="${escaped(command)}">${escaped(label)}</a>`;

export const warning = (text: string): string => `<p class="warning" role="note">${escaped(text)}</p>`;
export const muted = (text: string): string => `<p class="muted">${escaped(text)}</p>`;

/** Rows whose first cell is their title; lines of a cell stay lines. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = titles.map((title) => `<th scope="col">${escaped(title)}</th>`).join('');
  const body = rows.map(([first = '', ...cells]) => {
    const rest = cells.map((cell) => `<td>${escaped(cell)}</td>`).join('');
    return `<tr><th scope="row">${escaped(first)}</th>${rest}</tr>`;
  });
  return `<table class="lines"><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table>`;
}

const style = `
body { font: var(--vscode-font-size) var(--vscode-font-family); color: var(--vscode-foreground); padding: 0 2em 2em; }
main { max-width: 72em; }
h1 { font-size: 1.5em; overflow-wrap: anywhere; }
h2 { font-size: 1.1em; margin-top: 1.6em; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.3em 1.5em; }
dt, .muted { color: var(--vscode-descriptionForeground); }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: 0.35em 1em 0.35em 0; border-bottom: 1px solid var(--vscode-widget-border, transparent); }
tbody th { font-weight: 400; }
.verdicts tbody th, .verdicts td:nth-child(2) { white-space: nowrap; }
.no td:nth-child(2), .warning { font-weight: 600; }
.unknown { color: var(--vscode-descriptionForeground); }
.lines td { white-space: pre-line; }
.lines tbody th { min-width: 6em; overflow-wrap: anywhere; }
.warning { border-left: 3px solid var(--vscode-editorWarning-foreground); padding-left: 0.8em; }
a { color: var(--vscode-textLink-foreground); }
`;
