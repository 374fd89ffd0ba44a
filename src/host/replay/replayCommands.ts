import { commands } from '../ids.ts';
import type { LanguageFeatures } from '../language/languageFeatures.ts';
import type { CommandHandlers } from '../platform/registerCommands.ts';
import type { BuildParts } from '../tasks/startBuild.ts';
import { buildWithReplay } from './buildWithReplay.ts';
import { compareReplays } from './compareReplays.ts';
import { freeLayer } from './freeLayer.ts';
import { pinLayer } from './pinLayer.ts';
import { recordReplay } from './recordReplay.ts';

/** What the commands for tactic replays do. */
export const replayCommands = (
  { feed, served }: LanguageFeatures,
  building: Pick<BuildParts, 'sessions' | 'builds' | 'tasks'>,
): CommandHandlers => ({
  [commands.buildWithReplay]: served((target) => buildWithReplay(building, feed, target)),
  [commands.recordReplay]: (argument) => recordReplay(building, argument),
  [commands.pinLayer]: served((target) => pinLayer(feed, target)),
  [commands.freeLayer]: (target) => freeLayer(target),
  [commands.compareReplays]: compareReplays,
});
