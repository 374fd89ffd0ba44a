/**
 * A Markdown table; bars in its cells are escaped, and a cell without text gets a dash.
 * @param {string[]} head
 * @param {string[][]} rows
 */
export function table(head, rows) {
  const cell = (text) => text.replaceAll('|', '\\|').replaceAll(/\n+/g, '<br>') || '–';
  const line = (cells) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
