/**
 * A text of a rule with its values: `{name}` becomes the value; a part in double brackets is omitted where one of its
 * values is unknown. Values are not read again: a name in a log may hold braces.
 */
export function fillText(template: string, values: Readonly<Record<string, string | undefined>>): string {
  return template
    .split(/\[\[([\s\S]*?)\]\]/)
    .map((part, index) => {
      const filled = fill(part, values);
      return index % 2 === 0 ? filled.text : filled.whole ? filled.text : '';
    })
    .join('');
}

function fill(part: string, values: Readonly<Record<string, string | undefined>>): { text: string; whole: boolean } {
  let whole = true;
  const text = part.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) whole = false;
    return value ?? '(not named)';
  });
  return { text, whole };
}
