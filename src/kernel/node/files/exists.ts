import { access, stat } from 'node:fs/promises';

/** Whether something has this path; what a broken link names does not exist. */
export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Whether a path is that of a regular file. */
export const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (status) => status.isFile(),
    () => false,
  );

/** Whether a path is that of a folder. */
export const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (status) => status.isDirectory(),
    () => false,
  );
