import { thousands } from '../base/text.ts';

/** Names come from models and logs: as inline code they are never read as Markdown. Control characters become visible. */
export function code(text: string): string {
  const shown = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '\u2423');
  const runs = shown.match(/`+/g) ?? [];
  const fence = '`'.repeat(Math.max(0, ...runs.map((run) => run.length)) + 1);
  const pad = shown.startsWith('`') || shown.endsWith('`') || shown.trim() === '' ? ' ' : '';
  return `${fence}${pad}${shown}${pad}${fence}`;
}

/** Plain sentences with names in them, with Markdown's own characters escaped. */
export function escapeHover(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-.!|<>~]/g, '\\$&').replace(/[\u0000-\u0009\u000b-\u001f]/g, ' ');
}

/** A list of names, at most `limit`. */
export function codeList(names: readonly string[], limit = 8): string {
  const rest = names.length - limit;
  const lines = names.slice(0, limit).map((name) => `- ${code(name)}`);
  return (rest > 0 ? [...lines, `- and ${thousands(rest)} more`] : lines).join('\n');
}
