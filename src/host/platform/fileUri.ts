import * as vscode from 'vscode';

// In a browser, where other file systems stand in for the disk, `host/web/internal/fileUri.ts` is in its place.

/** The URI of a path on this computer's disk. */
export const fileUri = (path: string): vscode.Uri => vscode.Uri.file(path);

/** Whether a URI is of a file on this computer's disk, so that its path can be read. */
export const isFileUri = ({ scheme }: vscode.Uri): boolean => scheme === 'file';
