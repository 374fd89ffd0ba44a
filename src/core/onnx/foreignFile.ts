/** What a file that is not an ONNX model seems to be, and what to do about it: one or two sentences for the user. */
export function describeForeignFile(head: Uint8Array): string {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'it is compressed with gzip. Unpack it first (gunzip).';
  const begin = Array.from(head.subarray(0, 512), (byte) => String.fromCharCode(byte)).join('');
  if (begin.startsWith('PK\x03\x04')) {
    return 'it is a ZIP archive, possibly a PyTorch checkpoint. Unpack it, or export the checkpoint to ONNX first.';
  }
  if (begin.startsWith('version https://git-lfs.github.com')) {
    return 'it is a Git LFS pointer to the model. Run "git lfs pull" to get the model.';
  }
  if (begin.startsWith('ftrt') || begin.startsWith('ptrt'))
    return 'it is a TensorRT engine. Open the model that it was built from.';
  if (/^\s*<(!doctype|html|\?xml)/i.test(begin)) {
    return 'it is a web page, probably from a failed download. Download the model again.';
  }
  if (/^\s*[{[]/.test(begin) && isText(head)) return 'it is JSON text.';
  if (isText(head)) return 'it is a text file.';
  return 'the content is not ONNX, or it is damaged at the start.';
}

function isText(head: Uint8Array): boolean {
  return head.length > 0 && head.every((byte) => byte >= 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d);
}
