import { dirname, isAbsolute, join } from 'node:path';

/** A path that a file contains: absolute, or relative to the file's folder. */
export const pathBeside = (file: string, path: string): string => (isAbsolute(path) ? path : join(dirname(file), path));
