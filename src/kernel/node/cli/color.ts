/** Whether a stream gets colors: https://no-color.org and https://force-color.org, otherwise terminals only. */
export function isColored(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  const { FORCE_COLOR: force, NO_COLOR: no, TERM: term } = env;
  if (force !== undefined && force !== '') return !/^(?:0|false)$/i.test(force);
  return isTerminal && !no && term !== 'dumb';
}

const style = (code: number) => (text: string) => `\x1b[${code}m${text}\x1b[0m`;
const [bold, red, green, yellow, blue] = [1, 31, 32, 33, 34].map(style) as [Style, Style, Style, Style, Style];
type Style = ReturnType<typeof style>;

/** Words that begin a line, or come after a place in a file. */
const words: Readonly<Record<string, Style>> = {
  error: red,
  '✗': red,
  warning: yellow,
  info: blue,
  '✓': green,
};

/** `error code: …`, `FILE:3:1: warning: …`, `✗ 4 of 7 checks failed`. */
const severity = /^(\s*(?:\S.*?:\d+(?::\d+)?: )?)(error|warning|info|✗|✓)(?=[ :])/i;

/** Text for a reader with its severities in color and its headings in bold: the lines that others are indented under. */
export function colored(text: string): string {
  const lines = text.split('\n');
  return lines
    .map((line, at) => {
      const found = severity.exec(line);
      if (found) {
        const [all, before, word] = found as unknown as [string, string, string];
        return `${before}${words[word.toLowerCase()]!(word)}${line.slice(all.length)}`;
      }
      return /^[^\s].*$/.test(line) && /^ {2}\S/.test(lines[at + 1] ?? '') ? bold(line) : line;
    })
    .join('\n');
}
