import { errorText } from '../../base/problem.ts';
/**
 * A request cannot be fulfilled. The message is for the user: what is wrong, where, and what to do next.
 * A handler shows only the message; any other error is a bug and keeps its stack.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/** The user cancelled before there was a result. */
export class Cancelled extends UserError {
  constructor() {
    super('cancelled');
  }
}

/** @throws {Cancelled} once the signal is aborted, whatever its reason */
export function stopIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Cancelled();
}

/** The message of a failed file operation as text: `model.onnx: no such file`. */
export function fileTrouble(path: string, error: unknown): UserError {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const text: Record<string, string> = {
    ENOENT: 'no such file or folder',
    EACCES: 'permission denied',
    EPERM: 'operation not permitted',
    EISDIR: 'is a folder, not a file',
    ENOTDIR: 'a component of the path is not a folder',
    ENOSPC: 'the disk is full',
    EROFS: 'the file system is read-only',
    ENAMETOOLONG: 'the name is too long',
    ELOOP: 'its symbolic links form a loop',
    EMFILE: 'too many open files',
  };
  return new UserError(`${path || "''"}: ${text[code] ?? errorText(error)}`);
}
