/**
 * Text from files as a terminal may show it: what would move its cursor, set its colours or its title is written out.
 * In JSON it means the same.
 */
export const visibleText = (text: string): string =>
  text.replaceAll(
    /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
