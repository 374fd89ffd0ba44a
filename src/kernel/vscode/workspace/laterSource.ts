import { setTimeout } from 'node:timers/promises';
import type { SessionSource } from './sessions.ts';

/** How long the editor may take to send what it was just given, in ms: to a remote window it does so some turns later. */
const sending = 5;

/**
 * A source whose code is loaded when something is read for the first time. It begins when what its caller has given to the
 * editor, such as a page, is on its way: that loads meanwhile.
 */
export function laterSource(load: () => Promise<SessionSource>): SessionSource {
  let loaded: Promise<SessionSource> | undefined;
  const source = async () => {
    await setTimeout(sending);
    return (loaded ??= load());
  };
  return {
    readModel: async (...given) => (await source()).readModel(...given),
    readNewestBuild: async (...given) => (await source()).readNewestBuild(...given),
    readNear: async (uri) => (await (await source()).readNear?.(uri)) ?? [],
    readQuantization: async (...given) => (await source()).readQuantization(...given),
  };
}
