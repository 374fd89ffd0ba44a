import { resolve } from 'node:path';

/** `NAME:` of raw input values; on Windows one letter before `:\\` or `:/` is a drive. */
export function prefixOf(input: string, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'win32' && /^[a-z]:[/\\]/i.test(input)) return '';
  return /^[^/\\]+?:(?![/\\]{2})(?=.)/.exec(input)?.[0] ?? '';
}

/** The file of an input, without the name of the input before it. */
export const fileOf = (input: string): string => input.slice(prefixOf(input).length);

/** The same input, by the absolute path of its file: scripts run in another folder. */
export const absoluteInput = (input: string): string => prefixOf(input) + resolve(fileOf(input));
