import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorText } from '../../../../kernel/base/problem.ts';

/** Why the editor, which does not say, cannot create a file in a folder. */
export function refusal(folder: string): string {
  try {
    // Where there is no such folder, the editor makes it, in the one above.
    const there = existsSync(folder) ? folder : dirname(folder);
    if (!statSync(there).isDirectory()) return `${there} is not a folder`;
    accessSync(there, constants.W_OK);
    return 'the editor refused the edit';
  } catch (error) {
    return errorText(error);
  }
}
