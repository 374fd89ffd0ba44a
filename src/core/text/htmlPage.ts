/** A text as HTML, in elements and in quoted attributes. */
export const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** A page without scripts, which its title heads. @param body HTML */
export const staticPage = (title: string, style: string, body: string): string => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${body}
</body>
</html>
`;

/** Buttons below the heading of a page. */
export const pageActions = (links: readonly { label: string; href: string }[]): string =>
  `<p>${links.map(({ label, href }) => `<a class="action" href="${escaped(href)}">${escaped(label)}</a>`).join(' ')}</p>`;

/** For every page: the editor's colors where it is shown there, otherwise those of the theme that the system prefers. */
export const pageStyle = `
:root { color-scheme: light dark; --text: #222; --page: #fff; --soft: #666; --bad: #c22; --good: #1a7f37; --warn: #8a6100; --code: #f4f4f4; --link: #0058c4; --bar: #5aa7f5; --line: #b36b00; }
@media (prefers-color-scheme: dark) { :root { --text: #ddd; --page: #1e1e1e; --soft: #a0a0a0; --bad: #f48771; --good: #73c991; --warn: #cca700; --code: #2a2a2a; --link: #4daafc; --bar: #2f74b5; --line: #e8a33d; } }
body { font: 14px/1.5 var(--vscode-font-family, system-ui, sans-serif); color: var(--vscode-foreground, var(--text)); background: var(--vscode-editor-background, var(--page)); margin: 1.5em auto; max-width: 64em; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 1.8em; }
table { border-collapse: collapse; } th, td { text-align: left; padding: 0.2em 1.2em 0.2em 0; vertical-align: top; } th { font-weight: 600; } tr + tr td { border-top: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bad td, .bad, .root { color: var(--vscode-errorForeground, var(--bad)); }
.note { color: var(--vscode-descriptionForeground, var(--soft)); } .warning { color: var(--vscode-editorWarning-foreground, var(--warn)); }
pre { padding: 0.8em; background: var(--vscode-textCodeBlock-background, var(--code)); overflow: auto; } summary { cursor: pointer; margin-top: 1em; }
a { color: var(--vscode-textLink-foreground, var(--link)); }
a.action { display: inline-block; padding: 0.3em 0.9em; color: var(--vscode-button-foreground, #fff); background: var(--vscode-button-background, #0058c4); text-decoration: none; }
`;
