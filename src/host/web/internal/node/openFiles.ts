const files = new Map<number, Uint8Array>();
let last = 0;

/** The open files, by descriptor. */
export const opened = {
  add: (bytes: Uint8Array): number => {
    last += 1;
    files.set(last, bytes);
    return last;
  },
  remove: (fd: number): void => void files.delete(fd),
};

/** The bytes of an open file. */
export const openBytes = (fd: number): Uint8Array => files.get(fd)!;
