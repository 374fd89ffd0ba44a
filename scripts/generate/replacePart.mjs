/**
 * Replaces the text between `<!-- generated: NAME -->` and `<!-- end of generated: NAME -->` in a Markdown file.
 * @param {string} text
 * @param {string} name
 * @param {string} part
 */
export function replacePart(text, name, part) {
  const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end of generated: ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`no part ${begin} … ${end}`);
  return `${text.slice(0, from + begin.length)}\n\n${part.trim()}\n\n${text.slice(to)}`;
}
