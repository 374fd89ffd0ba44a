import type { BuildManifest } from '../build/buildManifest.ts';
import type { EnginePlatform } from './engineKnowledge.ts';

/** How an engine was built, as far as its build in the history says. */
export interface EngineOrigin {
  /** The build's id. */
  build: string;
  /** null: not known. */
  versionCompatible: boolean | null;
  /** The lean runtime that a version-compatible engine contains was left out. */
  leanRuntimeExcluded: boolean;
  hardwareCompatibility: HardwareCompatibility | null;
  /** Name of the GPU that it was built on; null: not known, or built without one. */
  gpu: string | null;
  /** The operating system that it is for: as its options say (exact), or by the paths of its command (derived); null: not known. */
  platform: { name: EnginePlatform; exact: boolean } | null;
}

export type HardwareCompatibility = 'none' | 'ampere+' | 'sameComputeCapability';

/** Options that reach the tool as they are may contain the same requests under any of their names. */
const requests = /version.?compatible|[-=]vc\b|hardware.?compatib/i;

/** What a build's manifest says of its engine. Only for a build that was made here does a missing option mean "no". */
export function engineOriginOf({ id, origin, options, gpu, command }: BuildManifest): EngineOrigin {
  const extra = Array.isArray(options['extraArguments']) ? options['extraArguments'].join(' ') : '';
  const isComplete = origin === 'built' && !requests.test(extra);
  const level = options['hardwareCompatibility'];
  return {
    build: id,
    versionCompatible: options['versionCompatible'] === true ? true : isComplete ? false : null,
    leanRuntimeExcluded: /exclude.?lean/i.test(extra),
    hardwareCompatibility:
      level === 'ampere+' || level === 'sameComputeCapability' ? level : isComplete ? 'none' : null,
    gpu,
    platform: platformOf([...command, extra].join(' ')),
  };
}

/**
 * TensorRT builds for the system that it runs on, unless `--runtimePlatform` says otherwise. A command with paths of both
 * systems went through a launcher: where it ended is not known.
 */
function platformOf(command: string): EngineOrigin['platform'] {
  if (/--runtimePlatform[= ]WindowsAMD64/i.test(command)) return { name: 'windows', exact: true };
  const windows = /(?:^|[\s="'])(?:[A-Za-z]:[\\/]|\\\\\w)/.test(command);
  const posix = /(?:^|[\s="'])\/[\w.]/.test(command);
  return windows === posix ? null : { name: windows ? 'windows' : 'linux', exact: false };
}
