/** Resolves when the work that was begun last is done: what begins meanwhile is waited for, too. */
export async function latestTask(begunLast: () => Promise<void> | undefined): Promise<void> {
  for (let work; work !== begunLast();) {
    work = begunLast();
    // oxlint-disable-next-line no-await-in-loop -- until none has begun meanwhile
    await work;
  }
}
