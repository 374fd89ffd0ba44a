import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A program for tests: a script of this Node with the given body (CommonJS). `args` holds its arguments.
 * @returns its path
 */
export function fakeTool(folder: string, name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!${process.execPath}\nconst args = process.argv.slice(2);\n${body}\n`, { mode: 0o755 });
  return path;
}
