import type { OnnxNode } from '../../../kernel/read/onnx/onnxModel.ts';

/** What people call a node. */
export const calledName = ({ name, outputs, op }: OnnxNode): string => name || outputs.find(Boolean) || op;
