/**
 * Typed one-way messages over any postMessage pair. A contract is an interface whose methods return nothing:
 * `host.selectNodes(['12'])` posts `{ method: 'selectNodes', args: [['12']] }`. A push is a whole snapshot, never a
 * difference, so a lost or repeated message does no harm.
 */
export interface Message {
  method: string;
  args: unknown[];
}

// oxlint-disable-next-line typescript/no-explicit-any -- a contract's methods take what they take
export type Contract<T> = { [K in keyof T]: (...args: any[]) => void };

/** An object whose methods post messages. */
export function sender<T extends Contract<T>>(post: (message: Message) => void): T {
  return new Proxy({} as T, {
    get:
      (_, method) =>
      (...args: unknown[]) =>
        post({ method: String(method), args }),
  });
}

/** Calls the method that a message names. Anything else (another program's message, an unknown method) goes to `unknown`. */
export function receive<T extends Contract<T>>(
  handlers: T,
  message: unknown,
  unknown: (message: unknown) => void,
): void {
  if (typeof message === 'object' && message !== null && 'method' in message && 'args' in message) {
    const { method, args } = message as Message;
    if (Object.hasOwn(handlers, method) && Array.isArray(args)) {
      handlers[method as keyof T](...args);
      return;
    }
  }
  unknown(message);
}
