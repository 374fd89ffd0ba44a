import { writeName } from '../../../kernel/rules/overrideFile.ts';

/**
 * A selector with the meaning of a regular expression as Python's `re.match` takes it (from the start, open at the
 * end): plain text, escapes, `.`, `.*`, `.+`, `[^/]*`, `[abc]`, `^` and `$`. null for everything else. Not `exact`:
 * it differs where a `/` stands for `.` or a class, or if nothing is before a `/`.
 */
export function globOfRegex(regex: string): { selector: string; exact: boolean } | null {
  let rest = regex.startsWith('^') ? regex.slice(1) : regex;
  const closed = /(?:^|[^\\])(?:\\\\)*\$$/.test(rest);
  if (closed) rest = rest.slice(0, -1);
  let glob = '';
  let plain: string | null = '';
  let exact = true;
  const token =
    /\.\*\??|\.\+\??|\[\^\/\]\*|\[\^\/\]\+|\[[\w./-]+\](?![*+?{])|\\[^A-Za-z0-9]|\.(?![*+?{])|[^\\.[\](){}|*+?^$](?![*+?{])/y;
  for (let at = 0; at < rest.length;) {
    token.lastIndex = at;
    const found = token.exec(rest)?.[0];
    if (found === undefined) return null;
    at += found.length;
    const piece = pieceOf(found);
    if (piece.plain === null || plain === null) plain = null;
    else plain += piece.plain;
    // Two of them in a row are one: "**" means more.
    if (piece.glob !== '*' || !glob.endsWith('*')) glob += piece.glob;
    if (/^\.(?!\*)|^\[(?!\^).*\//.test(found)) exact = false;
  }
  if (closed && plain !== null) return { selector: writeName(plain), exact };
  if (!closed && !glob.endsWith('**')) glob += '**';
  if (/[\s,"#]|->/.test(glob)) return null;
  glob = glob.replace(/\*{3,}/g, '**');
  return { selector: bareGlob(glob), exact: exact && !/(?:^|\/)\*\*\//.test(glob) };
}

/** A pattern that begins like `op:` without being meant so. */
export function bareGlob(glob: string): string {
  return glob.replace(/^(op|group|not):/, '$1[:]');
}

function pieceOf(token: string): { glob: string; plain: string | null } {
  if (token.startsWith('.*')) return { glob: '**', plain: null };
  if (token.startsWith('.+')) return { glob: '?**', plain: null };
  if (token === '[^/]*') return { glob: '*', plain: null };
  if (token === '[^/]+') return { glob: '?*', plain: null };
  if (token === '.') return { glob: '?', plain: null };
  if (token.startsWith('[')) return { glob: token, plain: null };
  const character = token.startsWith('\\') ? token.slice(1) : token;
  return { glob: /[*?[]/.test(character) ? `[${character}]` : character, plain: character };
}
