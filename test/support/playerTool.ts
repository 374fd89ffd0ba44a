import { fileURLToPath } from 'node:url';
import { fakeTool } from './fakeTool.ts';

/** What a player plays: see the head of player.mjs. */
export interface Played {
  capture: string;
  as?: 'trtexec' | 'polygraphy';
  /** How long the log takes. Default: no time. */
  seconds?: number;
  log?: string;
  code?: number;
  hostile?: boolean;
}

/**
 * A program that takes the arguments of trtexec or Polygraphy and plays a capture.
 * @returns its path
 */
export function playerTool(folder: string, name: string, played: Played): string {
  const { capture, as = 'trtexec', seconds = 0, log = 'log.txt', code, hostile } = played;
  const environment = {
    PLAYER_CAPTURE: capture,
    PLAYER_AS: as,
    PLAYER_SECONDS: String(seconds),
    PLAYER_LOG: log,
    ...(code === undefined ? {} : { PLAYER_CODE: String(code) }),
    ...(hostile ? { PLAYER_HOSTILE: '1' } : {}),
  };
  const player = new URL('./player.mjs', import.meta.url);
  return fakeTool(
    folder,
    name,
    `Object.assign(process.env, ${JSON.stringify(environment)}); import(${JSON.stringify(fileURLToPath(player))});`,
  );
}
