import type * as vscode from 'vscode';

/** Whether a file is a model by its name; any other file that a view is opened on is what a build left. */
export const isModelFile = (uri: vscode.Uri): boolean => uri.path.toLowerCase().endsWith('.onnx');
