/** One `[ONNX Layer: …]` of a layer's metadata. */
export interface MetadataToken {
  /** Everything between `[ONNX Layer: ` and `]`. */
  text: string;
  /**
   * The parts between ` | `: the node, then for a node inside a branch its graph and attribute (`then_branch (then_branch)`)
   * and the owner (`if (If)`), for one inside a function `Local Function: name`. A node's name may itself contain ` | `.
   */
  parts: string[];
}

/** What a layer's metadata says. */
export interface LayerMetadata {
  tokens: MetadataToken[];
  /** True where a token lost its beginning or end: the parser cuts metadata over 4000 characters to `first ... last`. */
  cut: boolean;
  /** Text that is no token: metadata of another writer (Torch-TensorRT), or the remains of a cut. */
  rest: string;
}

const opening = '[ONNX Layer: ';
const adjacent = `]${opening}`;

/**
 * Splits metadata into its tokens. U+001E separates layers that TensorRT fused, U+001F nodes inside a Myelin kernel;
 * in some logs the tokens are adjacent.
 */
export function parseMetadata(text: string): LayerMetadata {
  const tokens: MetadataToken[] = [];
  const rest: string[] = [];
  let cut = false;
  // A name may contain a separator: one that separates has a token after it, or nothing.
  for (const piece of text.split(/[\u001e\u001f](?=[\u001e\u001f]|\[ONNX Layer: |$)|(?<=\])[\u001e\u001f]/)) {
    if (piece === '') continue;
    const start = piece.indexOf(opening);
    if (start !== 0) rest.push(start < 0 ? piece : piece.slice(0, start));
    if (start < 0) continue;
    let from = start + opening.length;
    for (;;) {
      const next = piece.indexOf(adjacent, from);
      if (next < 0) break;
      tokens.push(tokenOf(piece.slice(from, next)));
      from = next + adjacent.length;
    }
    if (piece.endsWith(']') && piece.length > from) tokens.push(tokenOf(piece.slice(from, -1)));
    else if (/^\s*$/.test(piece.slice(from))) cut = true;
    else {
      // A last token may be followed by text of another kind (`…] something`); without a bracket it was cut off.
      const end = piece.lastIndexOf(']');
      if (end > from) tokens.push(tokenOf(piece.slice(from, end)));
      else cut = true;
      rest.push(piece.slice(Math.max(end + 1, from)));
    }
  }
  return { tokens, cut, rest: rest.join(' ').trim() };
}

/** Metadata as TensorRT writes it for tokens of a fused layer (U+001E) or a kernel (U+001F). */
export function printMetadata(names: string[], separator = '\u001e'): string {
  return names.map((name) => `${opening}${name}]`).join(separator);
}

const tokenOf = (text: string): MetadataToken => ({ text, parts: text.split(' | ') });
