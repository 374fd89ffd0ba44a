import type * as vscode from 'vscode';

/** Whether a file is a model by its name; any other file that a view is opened on is what a build left. */
export const isModelFile = (uri: vscode.Uri): boolean => uri.path.toLowerCase().endsWith('.onnx');

/** A file next to a model, named like it: `net.trtprec` next to `net.onnx` and `net.onnx.gz`. */
export const besideModel = (model: vscode.Uri, ending: string): vscode.Uri =>
  model.with({ path: `${model.path.replace(/\.onnx(?:\.gz)?$/i, '')}${ending}` });
