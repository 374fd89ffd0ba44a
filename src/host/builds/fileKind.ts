import { readLayerInfo } from '../../core/engine/readLayerInfo.ts';
import { readProfile } from '../../core/engine/readProfile.ts';
import { readBuildLog } from '../../core/engine/readBuildLog.ts';
import type { BuildLog } from '../../core/engine/buildLog.ts';

/** What a file of a build elsewhere is, by its content. */
export type FileKind = { kind: 'layers' } | { kind: 'profile' } | { kind: 'log'; log: BuildLog } | { kind: 'unknown' };

/** Tells layer info, profile and build log apart. Names say little: people save all three as they like. */
export function fileKind(text: string): FileKind {
  if (/^\s*[[{]/.test(text)) {
    const layers = readLayerInfo(text).value;
    if (layers !== undefined && layers.layers.length > 0 && !looksLikeProfile(text)) return { kind: 'layers' };
    const profile = readProfile(text).value;
    if (profile !== undefined && profile.rows.length > 0) return { kind: 'profile' };
  }
  const log = readBuildLog(text).value;
  const says = log.phases.length + log.parsedNodes.length + log.engineLayers.length + log.messages.length;
  return says > 0 || log.version !== null ? { kind: 'log', log } : { kind: 'unknown' };
}

/** A row of a profile has a time; a layer of layer info never has. */
const looksLikeProfile = (text: string): boolean => /"averageMs"|"timeMs"/.test(text.slice(0, 20_000));
