import type * as vscode from 'vscode';

/** The last part of a URI's path, whatever its scheme: `net.onnx`. */
export const nameOf = ({ path }: vscode.Uri): string => path.slice(path.lastIndexOf('/') + 1);
