// `node:timers/promises`.
const later = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    globalThis.setTimeout(resolve, ms);
  });
export { later as setTimeout };
