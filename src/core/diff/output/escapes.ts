// XML 1.0 has no way to write most control characters.
// oxlint-disable-next-line no-control-regex -- these are what is to go
const notXml =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A text as XML or HTML content or attribute value. */
export const escapeXml = (text: string): string =>
  text
    .replaceAll(notXml, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(/[\r\n\t]/g, (character) => `&#${character.charCodeAt(0)};`);

/** A text inside a cell of a Markdown table: one line, nothing in it is markup. */
export const escapeCell = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex -- names may hold any
    .replaceAll(/[\u0000-\u001f\u007f]+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]|~#@$]/g, '\\$&');
