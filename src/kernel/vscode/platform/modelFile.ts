import type * as vscode from 'vscode';

/**
 * Whether a file is a model by its name: ONNX, or the graph that the hook for Torch-TensorRT writes. Any other file that a
 * view is opened on is what a build left.
 */
export const isModelFile = (uri: vscode.Uri): boolean => /\.(?:onnx|fx\.json)$/i.test(uri.path);

/** A file next to a model, named like it: `net.trtprec` next to `net.onnx` and `net.onnx.gz`. */
export const besideModel = (model: vscode.Uri, ending: string): vscode.Uri =>
  model.with({ path: `${model.path.replace(/\.onnx(?:\.gz)?$|\.fx\.json$/i, '')}${ending}` });

/** The override file of a model: `model.trtprec` next to `model.onnx`. */
export const overridesOf = (model: vscode.Uri): vscode.Uri => besideModel(model, '.trtprec');
