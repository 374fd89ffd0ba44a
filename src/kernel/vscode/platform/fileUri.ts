import * as vscode from 'vscode';

/** The URI of a path on this computer's disk. */
export const fileUri = (path: string): vscode.Uri => vscode.Uri.file(path);

/** Whether a URI is of a file on this computer's disk, so that its path can be read. */
export const isFileUri = ({ scheme }: vscode.Uri): boolean => scheme === 'file';
