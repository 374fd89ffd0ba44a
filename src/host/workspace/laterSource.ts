import type { SessionSource } from './sessions.ts';

/** A source whose code is loaded when something is read for the first time. */
export function laterSource(load: () => Promise<SessionSource>): SessionSource {
  let loaded: Promise<SessionSource> | undefined;
  const source = () => (loaded ??= load());
  return {
    readModel: async (uri) => (await source()).readModel(uri),
    readNewestBuild: async (uri, id) => (await source()).readNewestBuild(uri, id),
    readQuantisation: async (uri, known) => (await source()).readQuantisation(uri, known),
  };
}
