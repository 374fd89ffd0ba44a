/** Characters that end a bare name or make it a pattern, and the arrow. */
const special = /[\s,#"'*?[\]]|->/;
const prefixed = /^(?:op|group|not):/;

/** Words that begin a directive where a name would begin a rule. */
export const directiveNames: readonly string[] = ['model', 'base', 'require', 'scales'];

/** Whether a name stands for itself when it is written bare at the place of a selector. */
export function isBareName(name: string): boolean {
  return name !== '' && !special.test(name) && !prefixed.test(name) && !directiveNames.includes(name);
}

/** A name as an override file writes it: bare where that is exact, otherwise in double quotes with JSON escapes. */
export function writeName(name: string): string {
  return isBareName(name) ? name : quoteName(name);
}

/** A text in double quotes with JSON escapes; control characters and the line separators U+2028 and U+2029 are escaped, too. */
export function quoteName(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, (c) => {
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** A path as a `model` line writes it: bare to the line's end, in double quotes where that would be read otherwise. */
export function writePath(path: string): string {
  return /\s#|^[#"]|^\s|\s$|^$|[\u0000-\u001f]/.test(path) ? quoteName(path) : path;
}
