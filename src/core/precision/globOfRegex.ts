import { writeName } from './quoteName.ts';

/**
 * A selector with the meaning of a regular expression as Python's `re.match` takes it (from the start, open at the
 * end): plain text, escapes, `.`, `.*`, `.+`, `[^/]*`, `[abc]`, `^` and `$`. null for everything else.
 */
export function globOfRegex(regex: string): string | null {
  let rest = regex.startsWith('^') ? regex.slice(1) : regex;
  const closed = /(?:^|[^\\])(?:\\\\)*\$$/.test(rest);
  if (closed) rest = rest.slice(0, -1);
  let glob = '';
  let plain: string | null = '';
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
    glob += piece.glob;
  }
  if (closed && plain !== null) return writeName(plain);
  if (!closed && !glob.endsWith('**')) glob += '**';
  return /[\s,"#]|->/.test(glob) ? null : glob.replace(/\*{3,}/g, '**');
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
