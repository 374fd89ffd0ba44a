const ONNX_TYPES =
  'undefined,FP32,UINT8,INT8,UINT16,INT16,INT32,INT64,a string,BOOL,FP16,FP64,UINT32,UINT64,COMPLEX64,COMPLEX128,BF16,FP8 (E4M3FN),FP8 (E4M3FNUZ),FP8 (E5M2),FP8 (E5M2FNUZ),UINT4,INT4,FP4'.split(
    ',',
  );

/** An element type by its number in ONNX. */
export const onnxType = (type: number): string => ONNX_TYPES[type] ?? `type ${type}`;

/** A text without full stops, and brackets that none opens, at its end. */
export function bareText(text: string): string {
  const bare = text.replace(/[.\s]+$/, '');
  return bare.endsWith(')') && bare.split(')').length > bare.split('(').length ? bareText(bare.slice(0, -1)) : bare;
}
