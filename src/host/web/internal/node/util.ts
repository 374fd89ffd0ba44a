// What the viewing path uses of `node:util`.
type Callback = (error: Error | null, result?: unknown) => void;

export const promisify =
  (call: (...args: [...unknown[], Callback]) => void) =>
  (...args: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      call(...args, (error, result) => (error ? reject(error) : resolve(result)));
    });
