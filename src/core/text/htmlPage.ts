/** A text as HTML, in elements and in quoted attributes. */
export const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** The style of pages without scripts, with the editor's colours where they are shown there. */
export const pageStyle = `
body { font: 14px/1.5 var(--vscode-font-family, system-ui, sans-serif); color: var(--vscode-foreground, #222); background: var(--vscode-editor-background, #fff); margin: 1.5em auto; max-width: 64em; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 1.8em; }
table { border-collapse: collapse; } th, td { text-align: left; padding: 0.15em 1.2em 0.15em 0; vertical-align: top; } th { font-weight: 600; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bad td, .bad, .root { color: var(--vscode-errorForeground, #c22); }
.note { color: var(--vscode-descriptionForeground, #666); } .warning { color: var(--vscode-editorWarning-foreground, #8a6100); }
pre { padding: 0.8em; background: var(--vscode-textCodeBlock-background, #f4f4f4); overflow: auto; }
a { color: var(--vscode-textLink-foreground, #0058c4); }
a.action { display: inline-block; padding: 0.3em 0.9em; color: var(--vscode-button-foreground, #fff); background: var(--vscode-button-background, #0058c4); text-decoration: none; }`;
