// Which files the user agreed to have replaced, whatever they are.
import { pathKey } from './pathKey.ts';

let replacesAll = false;
const replaced = new Set<string>();

/** From now on any file may be replaced (`--force`), or none but those that trtlens made. */
export const allowReplacingAll = (allowed: boolean): void => void (replacesAll = allowed);

/** The user agreed that this file is replaced, whatever it is: a dialog of the editor asked. */
export const allowReplacing = (path: string): void => void replaced.add(pathKey(path));

/** Whether the user agreed that a file is replaced, whatever it is. */
export const mayReplace = (path: string): boolean => replacesAll || replaced.has(pathKey(path));
