/** Where an engine is to run; null: not known. */
export interface EngineTarget {
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  /** `10.6.0`, or its beginning. */
  version: string | null;
  /** `8.9` */
  computeCapability: string | null;
}

/** What the header of an engine file says. */
export interface EngineFacts {
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  version: string | null;
  /** The fourth part of the version; null: the format of the file does not have it. */
  buildNumber: number | null;
  /** TensorRT-RTX only: the compute capabilities that it was built for. null: the header does not say. */
  computeCapabilities: string[] | null;
}

/** One condition for an engine to load. */
export interface PortabilityCheck {
  check: 'file' | 'version' | 'gpu' | 'platform';
  verdict: 'fits' | 'slower' | 'no' | 'unknown';
  message: string;
}

/** Bits of the mask in a header of TensorRT-RTX, as 1.7.1 writes them for each `ComputeCapability` of its API. */
const CAPABILITIES = ['7.5', '8.0', '8.6', '8.9', '12.0', '12.1'];

/** The compute capabilities of a mask; null if it is empty. A bit that is not known is named by its number. */
export function capabilitiesOf(mask: number): string[] | null {
  if (mask === 0) return null;
  const bits = Array.from({ length: 32 }, (_, bit) => bit).filter((bit) => Math.floor(mask / 2 ** bit) % 2 === 1);
  return bits.map((bit) => CAPABILITIES[bit] ?? `bit ${bit}`);
}

/**
 * Will an engine load there? By NVIDIA's rules (TensorRT 11.4 Support Matrix, TensorRT-RTX 1.7): an engine loads in the
 * version that built it; a version-compatible one of 8 also in 10, and one of 10 also in 11; one of TensorRT-RTX in no
 * other release. Linux and Windows do not share engines.
 */
export function portabilityOf(facts: EngineFacts, isWhole: boolean, target: EngineTarget): PortabilityCheck[] {
  return [
    isWhole
      ? { check: 'file', verdict: 'fits', message: 'The file has the length that its header specifies.' }
      : { check: 'file', verdict: 'no', message: 'The file is truncated. Build or copy the engine again.' },
    versionCheck(facts, target),
    gpuCheck(facts, target),
    {
      check: 'platform',
      verdict: 'unknown',
      message:
        'The header does not name the operating system. An engine that was built on Linux does not load on Windows, nor the other way round.',
    },
  ];
}

const nameOf = (product: EngineFacts['product']): string => (product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'TensorRT');

function versionCheck({ product, version }: EngineFacts, target: EngineTarget): PortabilityCheck {
  const result = (verdict: PortabilityCheck['verdict'], message: string): PortabilityCheck => ({
    check: 'version',
    verdict,
    message,
  });
  if (version === null) return result('unknown', 'The header does not have the version of TensorRT that built it.');
  const built = `${nameOf(product)} ${version}`;
  if (target.version === null)
    return result('unknown', `Built by ${built}. To compare, name the version that will run it.`);
  const runs = `${nameOf(target.product)} ${target.version}`;
  const rebuild = `Build it with ${runs}.`;
  if (product !== target.product) return result('no', `Built by ${built}, which ${runs} cannot load. ${rebuild}`);
  const [mine, theirs] = [version.split('.'), target.version.split('.')];
  if (theirs.every((part, index) => index > 2 || part === mine[index]))
    return theirs.length >= 3
      ? result('fits', `Built by ${built}, the version that is to run it.`)
      : result('unknown', `Built by ${built}. Name all three parts of the version that is to run it.`);
  if (product === 'tensorrt-rtx')
    return result(
      'no',
      `Built by ${built}. Engines of TensorRT-RTX load only in the release that built them. ${rebuild}`,
    );
  const [from, to] = [Number(mine[0]), Number(theirs[0])];
  const isBackward = from === to ? isLater(theirs, mine) : (from === 8 && to === 10) || (from === 10 && to === 11);
  return isBackward
    ? result(
        'unknown',
        `Built by ${built}. ${runs} loads it only if it was built with --versionCompatible, which the header does not say.`,
      )
    : result('no', `Built by ${built}, which ${runs} cannot load, version-compatible or not. ${rebuild}`);
}

function isLater(version: readonly string[], than: readonly string[]): boolean {
  const index = version.findIndex((part, at) => part !== than[at]);
  return Number(version[index]) > Number(than[index] ?? 0);
}

function gpuCheck({ product, computeCapabilities }: EngineFacts, target: EngineTarget): PortabilityCheck {
  if (computeCapabilities === null)
    return {
      check: 'gpu',
      verdict: 'unknown',
      message:
        product === 'tensorrt-rtx'
          ? 'The header does not name a compute capability.'
          : 'The header does not name the GPU. Without --hardwareCompatibilityLevel an engine is for the GPU model that built it.',
    };
  const built = `Built for compute capability ${computeCapabilities.join(', ')}.`;
  const wanted = target.computeCapability;
  if (wanted === null)
    return {
      check: 'gpu',
      verdict: 'unknown',
      message: `${built} To compare, name the compute capability of the GPU that will run it.`,
    };
  if (computeCapabilities.includes(wanted)) return { check: 'gpu', verdict: 'fits', message: built };
  if (computeCapabilities.some((one) => one.startsWith('bit ')))
    return { check: 'gpu', verdict: 'unknown', message: `${built} The meaning of the unnamed bit is unknown.` };
  return { check: 'gpu', verdict: 'no', message: `${built} Build it with --compute-capability ${wanted}.` };
}
