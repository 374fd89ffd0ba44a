/** Paths of input files that a task, a keybinding or a test gives a command; none: random values. */
export const isPaths = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
