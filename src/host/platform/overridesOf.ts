import type { Uri } from 'vscode';

/** The override file of a model: `model.trtprec` next to `model.onnx`. */
export const overridesOf = (model: Uri): Uri =>
  model.with({ path: `${model.path.replace(/\.onnx(?:\.gz)?$/i, '')}.trtprec` });
