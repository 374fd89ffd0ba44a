/**
 * Text from files, safe for a terminal: control characters, which could move the cursor or set colors and title, are
 * written as escapes. The escapes are valid in JSON, too.
 */
export const visibleText = (text: string): string =>
  text.replaceAll(
    /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
