/** `a | if (If)` may be the node `a`, or the node `a | if (If)`. */
export function prefixesOf(token: string): string[] {
  const parts = token.split(' | ');
  return parts.map((_, index) => parts.slice(0, index + 1).join(' | '));
}

/** `{ForeignNode[a...b]}` is named after a and b. */
export const endsOf = (region: string, name: string): boolean =>
  region.startsWith(`{ForeignNode[${name}...`) ||
  region.endsWith(`...${name}]}`) ||
  region === `{ForeignNode[${name}]}`;

/** Whether a name stands in a text as a whole; a kernel's ends in `_myl0_3`. */
export function isSaid(name: string, text: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const after = text.slice(at + name.length, at + name.length + 5);
    const before = text.slice(Math.max(0, at - 3), at);
    if ((before === '...' || !/[\w/.]$/.test(before)) && (!/^[\w/.]/.test(after) || /^(?:_myl\d|\.\.\.)/.test(after)))
      return true;
  }
  return false;
}

/** The parts of a fused name; nothing of a kernel's, a reformat's or a ForeignNode's. */
export function piecesOf(name: string): string[] {
  if (/^(?:Reformatting CopyNode|\{ForeignNode\[|__my)|_myl\d+_\d+$| copy$/.test(name)) return [];
  return name.split(/ \+ | \|\| |PWN\(|, |\)+(?= |$|,)/).filter((piece) => piece !== '');
}
