import type { OnnxNode } from '../onnx/onnxModel.ts';

const valueOf = (node: OnnxNode, name: string) => node.attributes.find((attribute) => attribute.name === name)?.value;

/** An integer or float attribute; undefined if it is absent. */
export function intAttribute(node: OnnxNode, name: string): number | undefined {
  const value = valueOf(node, name);
  return typeof value === 'number' ? value : undefined;
}

/** A whole list of integers; null if it is absent or only its beginning was kept. */
export function intsAttribute(node: OnnxNode, name: string): number[] | null {
  const attribute = node.attributes.find((one) => one.name === name);
  if (!Array.isArray(attribute?.value) || attribute.count !== undefined) return null;
  const numbers = attribute.value.filter((value) => typeof value === 'number');
  return numbers.length === attribute.value.length ? numbers : null;
}

/** A text attribute; undefined if it is absent. */
export function textAttribute(node: OnnxNode, name: string): string | undefined {
  const value = valueOf(node, name);
  return typeof value === 'string' ? value : undefined;
}
