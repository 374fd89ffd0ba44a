/** What the text of a layer's or tensor's name says by itself; `parseLayerName` reads a whole one against a model. */

/** `{ForeignNode[a...b]}`, with or without what follows it. */
export const isForeignNodeName = (name: string): boolean => name.startsWith('{ForeignNode[');

/** The whole text is the name of a ForeignNode, its braces or not. */
export const looksLikeForeignNode = (text: string): boolean => /^\{?ForeignNode\[.*\]\}?$/.test(text);

/** The name of a ForeignNode from its first layer on: `a...b]}`. */
export const fromFirstLayer = (name: string): string => name.replace(/^\{ForeignNode\[/, '');

/** The ForeignNode for which a tensor was reformatted: `X` of `Reformatted Input Tensor 0 to X`. */
export const reformattedFor = (tensor: string): string | undefined =>
  /^Reformatted (?:Input|Output) Tensor \d+ to (\{ForeignNode\[[^]*\]\}(?: \[profile \d+\])?)$/.exec(tensor)?.[1];

/** The optimization profile in a name: ` [profile 1]` at its end, or before `_myl…` in a kernel's name; 0 without. */
export function profileOf(name: string): number {
  if (!name.includes(' [profile ')) return 0;
  const match = / \[profile (\d+)\](?:_myl\d+(?:_\d+)?)?$/.exec(name);
  return match ? Number(match[1]) : 0;
}

/** The name of which this is the copy for a further optimization profile: without ` [profile 1]` at its end. */
export const withoutProfile = (name: string): string => name.replace(/ \[profile \d+\]$/, '');

/** Place of a kernel's ForeignNode among the engine's layers: 2 of `_myl2_14` and `_myl2`; undefined: not a kernel. */
export function kernelRegion(name: string): number | undefined {
  const region = /_myl(\d+)(?:_\d+)?$/.exec(name)?.[1];
  return region === undefined ? undefined : Number(region);
}

/** A kernel with its number in the region, `_myl2_14`: the form in layer information. */
export const isNumberedKernel = (name: string): boolean => /_myl\d+_\d+$/.test(name);

/** A kernel's name without its place: `__myl_Add` of `__myl_Add_myl2_14`. */
export const withoutKernelPlace = (name: string): string => name.replace(/_myl\d+_\d+$/, '');

/** A kernel's name without its number in the region: `__myl_Add_myl2` of `__myl_Add_myl2_14`. */
export const withoutKernelNumber = (name: string): string => name.replace(/(_myl\d+)_\d+$/, '$1');

/** A name without what Myelin numbers again in every build: `_myl7_12`, `__mye141996_0`, `hvar^65561i64`. */
export const withoutMyelinNumbers = (name: string): string =>
  name
    .replace(/_myl\d+(?:_\d+)?$/, '')
    .replaceAll(/__mye\d+(?:_\d+)?/g, '__mye')
    .replaceAll(/hvar\^\d+/g, 'hvar');

/** A kernel that Myelin made up: its name carries operations, no node. */
export const isMadeUpKernel = (name: string): boolean => name.startsWith('__myl_');

/** A part of a layer's name that TensorRT or Myelin made up, so that no node of a model is called so. */
export const isMadeUpWord = (word: string): boolean =>
  /^(?:__|_gem[mv]_|\$\$|\[)|\(Unnamed |^ONNXTRT_|_myl\d/.test(word);

/** A tensor with the factor alpha or beta of a matrix product, which FP16 kernels take in FP32. */
export const isProductFactor = (tensor: string): boolean => /_(?:alpha|beta)(?:_myl\d+)?$/.test(tensor);

/** A name that no node of a model has, only a layer of an engine. */
export const isEngineLayerName = (name: string): boolean =>
  /^Reformatting CopyNode for |\{ForeignNode\[|^__my/.test(name) || isNumberedKernel(name);
