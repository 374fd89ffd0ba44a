/** The editor's colors where a page is shown there, otherwise those of the theme that the system prefers. */
export const pageStyle = `
:root { color-scheme: light dark; --text: #222; --page: #fff; --soft: #666; --bad: #c22; --good: #1a7f37; --warn: #8a6100; --code: #f4f4f4; --link: #0058c4; --bar: #5aa7f5; --line: #b36b00; }
@media (prefers-color-scheme: dark) { :root { --text: #ddd; --page: #1e1e1e; --soft: #a0a0a0; --bad: #f48771; --good: #73c991; --warn: #cca700; --code: #2a2a2a; --link: #4daafc; --bar: #2f74b5; --line: #e8a33d; } }
body { font: 14px/1.5 var(--vscode-font-family, system-ui, sans-serif); font-size: var(--vscode-font-size, 14px); color: var(--vscode-foreground, var(--text)); background: var(--vscode-editor-background, var(--page)); margin: 1.5em auto; max-width: 72em; padding: 0 1em 2em; }
h1 { font-size: 1.5em; overflow-wrap: anywhere; } h2 { font-size: 1.15em; margin-top: 1.8em; } h3 { font-size: 1em; margin-top: 1.4em; }
.wide { overflow-x: auto; } table { border-collapse: collapse; }
th, td { text-align: left; padding: 0.2em 1.2em 0.2em 0; vertical-align: top; white-space: pre-line; }
tbody th, td:last-child { overflow-wrap: anywhere; }
thead th { font-weight: 600; overflow-wrap: normal; } tbody th { font-weight: 400; min-width: 13em; } td { min-width: 5.5em; } tbody tr + tr > * { border-top: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
.s { min-width: 0; padding-right: 0.5em; } .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; min-width: 0; }
.sign { font-weight: 600; } .good .sign, .sign.good { color: var(--vscode-testing-iconPassed, var(--good)); } tr.bad > *, .bad, li.error b { color: var(--vscode-errorForeground, var(--bad)); }
.sign.warning, li.warning b { color: var(--vscode-editorWarning-foreground, var(--warn)); } .note, .sign.unknown, .sign.skipped, dt, small { color: var(--vscode-descriptionForeground, var(--soft)); }
.verdict { font-size: 1.1em; font-weight: 600; } p.verdict.good { color: var(--vscode-testing-iconPassed, var(--good)); }
p.warning { border-left: 3px solid var(--vscode-editorWarning-foreground, var(--warn)); padding-left: 0.8em; font-weight: 600; }
dl { margin: 0.6em 0; } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-line; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 0.3em 1.5em; } .facts > div { display: contents; }
.figures { display: flex; flex-wrap: wrap; gap: 0.8em 2.2em; } .figures > div { display: flex; flex-direction: column-reverse; } .figures dd { font-size: 1.4em; font-variant-numeric: tabular-nums; }
.findings { padding-left: 0; list-style: none; } .findings li { margin: 0.9em 0; } .findings p { margin: 0.2em 0; } ul { padding-left: 1.4em; }
pre { padding: 0.8em; background: var(--vscode-textCodeBlock-background, var(--code)); overflow: auto; } summary { cursor: pointer; margin-top: 1em; }
a { color: var(--vscode-textLink-foreground, var(--link)); }
a.action { display: inline-block; padding: 0.3em 0.9em; color: var(--vscode-button-foreground, #fff); background: var(--vscode-button-background, #0058c4); text-decoration: none; }
svg { width: 100%; min-width: 64em; height: auto; } rect { fill: var(--vscode-charts-blue, var(--bar)); } rect.marked { fill: var(--vscode-errorForeground, var(--bad)); }
circle { fill: var(--vscode-errorForeground, var(--bad)); stroke: var(--vscode-editor-background, var(--page)); } polyline { fill: none; stroke: var(--vscode-charts-orange, var(--line)); stroke-width: 1.5; }
line { stroke: var(--vscode-foreground, var(--text)); stroke-dasharray: 6 4; } path { fill: none; stroke: var(--vscode-descriptionForeground, var(--soft)); stroke-width: 0.7; }
text { font-size: 13px; text-anchor: middle; fill: var(--vscode-descriptionForeground, var(--soft)); } text.scale { text-anchor: end; } text.point { text-anchor: start; } circle.knee { fill: none; stroke: var(--vscode-charts-orange, var(--line)); stroke-width: 2.5; }
`;

/** Nothing runs and nothing is loaded; only the style above applies, known by its hash (a unit test computes it). */
export const pagePolicy = `default-src 'none'; style-src 'sha256-a38Q/zKs3X0JtzVz5D2YiPG954DsM56Toqks8+0hvDU='`;
