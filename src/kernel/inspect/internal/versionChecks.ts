import type { EngineFacts, EngineKnowledge, EngineTarget, PortabilityCheck } from '../inspection.ts';
import { productName } from '../../base/text.ts';

/** How the version that is to run an engine relates to the one that built it. */
type Relation = 'same' | 'beginning' | 'compatible' | 'never' | 'unknown';

/** The first version with `--versionCompatible`. */
const FIRST_COMPATIBLE = ['8', '6'];

/**
 * An engine loads in the version that built it; a version-compatible one also in later versions of the same major
 * version, one of 8 in 10, and one of 10 in 11; one of TensorRT-RTX in no other release.
 */
function relationOf({ product, version }: EngineFacts, target: EngineTarget): Relation {
  if (version === null || target.version === null) return 'unknown';
  if (product !== target.product) return 'never';
  const [mine, theirs] = [version.split('.'), target.version.split('.')];
  if (theirs.every((part, index) => index > 2 || part === mine[index]))
    return theirs.length >= 3 ? 'same' : 'beginning';
  if (product === 'tensorrt-rtx' || isLater(FIRST_COMPATIBLE, mine)) return 'never';
  const [from, to] = [Number(mine[0]), Number(theirs[0])];
  const isForward = from === to ? isLater(theirs, mine) : (from === 8 && to === 10) || (from === 10 && to === 11);
  return isForward ? 'compatible' : 'never';
}

function isLater(version: readonly string[], than: readonly string[]): boolean {
  const index = version.findIndex((part, at) => part !== than[at]);
  return index >= 0 && Number(version[index]) > Number(than[index] ?? 0);
}

const runtimeName = (target: EngineTarget): string => `${productName(target.product)} ${target.version ?? ''}`;

export function versionCheck(engine: EngineKnowledge, target: EngineTarget): PortabilityCheck {
  const { product, version, origin } = engine;
  const result = (verdict: PortabilityCheck['verdict'], message: string): PortabilityCheck => ({
    check: 'version',
    verdict,
    message,
  });
  if (version === null) return result('unknown', 'The header does not have the version of TensorRT that built it.');
  const built = `Built by ${productName(product)} ${version}`;
  const runs = runtimeName(target);
  switch (relationOf(engine, target)) {
    case 'unknown':
      return result('unknown', `${built}. To compare, name the version that will run it.`);
    case 'same':
      return result('fits', `${built}, the version that is to run it.`);
    case 'beginning':
      return result('unknown', `${built}. Name all three parts of the version that is to run it.`);
    case 'compatible':
      if (origin?.versionCompatible === true)
        return result('slower', `${built}. ${runs} loads it because it is version-compatible; it can be slower.`);
      return origin?.versionCompatible === false
        ? result('no', `${built} without --versionCompatible. Build it with ${runs}.`)
        : result('unknown', `${built}. ${runs} loads it only if it was built with --versionCompatible.`);
    case 'never':
      return product === 'tensorrt-rtx' && product === target.product
        ? result(
            'no',
            `${built}. Engines of TensorRT-RTX load only in the release that built them. Build it with ${runs}.`,
          )
        : result('no', `${built}, which ${runs} cannot load, version-compatible or not. Build it with ${runs}.`);
  }
}

export function compatibleCheck(engine: EngineKnowledge, target: EngineTarget): PortabilityCheck {
  const { product, version, origin } = engine;
  const check = 'version-compatible';
  if (product === 'tensorrt-rtx' || (version !== null && isLater(FIRST_COMPATIBLE, version.split('.')))) {
    const message =
      product === 'tensorrt-rtx'
        ? 'TensorRT-RTX has no version-compatible engines.'
        : 'TensorRT has version-compatible engines since 8.6.';
    const relation = relationOf(engine, target);
    if (relation === 'same') return { check, verdict: 'fits', message: 'Not needed: the version is the same.' };
    return { check, verdict: relation === 'never' ? 'no' : 'unknown', message };
  }
  const known = origin?.versionCompatible ?? null;
  const says = origin === null ? '' : ` (build ${origin.build})`;
  switch (relationOf(engine, target)) {
    case 'same':
      return known === true
        ? { check, verdict: 'slower', message: `Not needed, and version-compatible engines can be slower${says}.` }
        : { check, verdict: 'fits', message: 'Not needed: the version is the same.' };
    case 'never':
      return { check, verdict: 'no', message: 'Version-compatible engines of this version do not load there either.' };
    default:
      if (known === true) return { check, verdict: 'fits', message: `Built with --versionCompatible${says}.` };
      return known === false
        ? {
            check,
            verdict: 'no',
            message: `Built without --versionCompatible${says}. Build it with that to load it in later versions.`,
          }
        : {
            check,
            verdict: 'unknown',
            message:
              'Unknown without its build: neither the header nor TensorRT says whether it was built with --versionCompatible.',
          };
  }
}

/** Of the three libraries that load engines, lean and dispatch load only version-compatible ones. */
export function runtimeCheck(engine: EngineKnowledge, target: EngineTarget): PortabilityCheck {
  const result = (verdict: PortabilityCheck['verdict'], message: string): PortabilityCheck => ({
    check: 'runtime',
    verdict,
    message,
  });
  if (engine.product === 'tensorrt-rtx')
    return target.runtime === null || target.runtime === 'full'
      ? result('fits', 'TensorRT-RTX has one runtime library.')
      : result('no', `TensorRT-RTX has no ${target.runtime} runtime. Use its runtime library.`);
  if (target.runtime === null || target.runtime === 'full')
    return result(
      'fits',
      'The full runtime (libnvinfer) loads every engine. Lean and dispatch need --versionCompatible.',
    );
  const known = engine.origin?.versionCompatible ?? null;
  if (known === null)
    return result(
      'unknown',
      `The ${target.runtime} runtime loads only version-compatible engines. Whether it is one is unknown without its build.`,
    );
  if (!known)
    return result(
      'no',
      `The ${target.runtime} runtime loads only version-compatible engines. Build it with --versionCompatible.`,
    );
  if (target.runtime === 'dispatch' && engine.origin?.leanRuntimeExcluded)
    return result(
      'unknown',
      'The engine was built without a lean runtime. The dispatch runtime needs that file (loadRuntime).',
    );
  if (target.runtime === 'dispatch')
    return result('fits', 'The dispatch runtime loads it with the lean runtime that the engine contains.');
  return relationOf(engine, target) === 'same'
    ? result('slower', 'The lean runtime of the same version loads it; it lacks some kernels, so it can be slower.')
    : result('unknown', 'The lean runtime loads engines of its own version. Name that version, with all three parts.');
}
