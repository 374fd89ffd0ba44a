import { fileURLToPath } from 'node:url';
import { fakeTool } from './fakeTool.ts';

/** What a player plays: see the head of player.mjs. */
export interface Played {
  capture: string;
  as?: 'trtexec' | 'polygraphy';
  /** How long the log takes. Default: no time. */
  seconds?: number;
  /** A file: the log stops amid its tactics for as long as it is there. */
  hold?: string;
  log?: string;
  code?: number;
  hostile?: boolean;
}

/**
 * A program that takes the arguments of trtexec or Polygraphy and plays a capture.
 * @returns its path
 */
export function playerTool(folder: string, name: string, played: Played): string {
  const { capture, as = 'trtexec', seconds = 0, hold, log = 'log.txt', code, hostile } = played;
  const environment = {
    PLAYER_CAPTURE: capture,
    PLAYER_AS: as,
    PLAYER_SECONDS: String(seconds),
    PLAYER_LOG: log,
    ...(hold === undefined ? {} : { PLAYER_HOLD: hold }),
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
