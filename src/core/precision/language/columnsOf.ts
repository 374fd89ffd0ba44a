/** Characters that take two columns of a monospaced font: East Asian wide and full-width ones, emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu;
/** Characters that take none: marks that are on the one before, joiners and variation selectors. */
const narrow = /[\p{M}\u200b-\u200d\u2060\ufeff]/gu;
const ascii = /^[ -~]*$/;

/** How many columns of a monospaced font a text takes. */
export function columnsOf(text: string): number {
  if (ascii.test(text)) return text.length;
  return Array.from(text.replace(narrow, '')).length + (text.match(wide)?.length ?? 0);
}
