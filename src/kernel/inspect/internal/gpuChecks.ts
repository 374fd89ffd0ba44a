import type {
  EngineKnowledge,
  EngineReading,
  EngineTarget,
  HardwareCompatibility,
  PortabilityCheck,
} from '../inspection.ts';

const levels: Readonly<Record<string, HardwareCompatibility>> = {
  NONE: 'none',
  AMPERE_PLUS: 'ampere+',
  SAME_COMPUTE_CAPABILITY: 'sameComputeCapability',
};

/** For which GPUs an engine of TensorRT was built, and what says so; null: not known. */
function levelOf({ reading, origin }: EngineKnowledge): { level: HardwareCompatibility; source: string } | null {
  const read = levels[reading?.engine?.hardwareCompatibility ?? ''];
  if (read !== undefined) return { level: read, source: `TensorRT ${reading!.version}` };
  const built = origin?.hardwareCompatibility ?? null;
  return built === null ? null : { level: built, source: `build ${origin!.build}` };
}

/** What TensorRT logs when it loads an engine on another model of GPU than the one that built it. */
const anotherModel = ({ messages }: EngineReading): boolean =>
  messages.some(({ message }) => /different models of devices/.test(message));

const gpuResult = (verdict: PortabilityCheck['verdict'], message: string): PortabilityCheck => ({
  check: 'gpu',
  verdict,
  message,
});

export function gpuCheck(engine: EngineKnowledge, target: EngineTarget): PortabilityCheck {
  const { product, reading } = engine;
  const wanted = target.computeCapability;
  const here = reading?.engine ? reading.gpu : null;
  if (reading && here && (wanted === null || wanted === here.computeCapability))
    return anotherModel(reading)
      ? gpuResult(
          'slower',
          `It loads on ${here.name}, but was built on another model of GPU: TensorRT warns of lower performance. Build it there.`,
        )
      : gpuResult('fits', `It loads on ${here.name} (compute capability ${here.computeCapability}).`);
  return product === 'tensorrt-rtx' ? listedCheck(engine, wanted) : levelCheck(engine, wanted, here);
}

/** The header of TensorRT-RTX lists compute capabilities. */
function listedCheck({ computeCapabilities: listed }: EngineKnowledge, wanted: string | null): PortabilityCheck {
  if (listed === null) return gpuResult('unknown', 'The header does not name a compute capability.');
  const built = `Built for compute capability ${listed.join(', ')}.`;
  if (wanted === null)
    return gpuResult('unknown', `${built} To compare, name the compute capability of the GPU that will run it.`);
  if (listed.includes(wanted)) return gpuResult('fits', built);
  return listed.some((one) => one.startsWith('bit '))
    ? gpuResult('unknown', `${built} The meaning of the unnamed bit is unknown.`)
    : gpuResult('no', `${built} Build it with --compute-capability ${wanted}.`);
}

/** An engine of TensorRT has a level; `here` is a GPU that loads it. */
function levelCheck(engine: EngineKnowledge, wanted: string | null, here: EngineReading['gpu']): PortabilityCheck {
  const known = levelOf(engine);
  if (known?.level === 'ampere+' && wanted !== null)
    return Number(wanted) >= 8
      ? gpuResult('slower', 'Built for Ampere and later GPUs; it can be slower than one built for this GPU alone.')
      : gpuResult('no', `Built for Ampere and later GPUs (compute capability 8.0). Build it on a GPU of ${wanted}.`);
  // Without a level for other GPUs, the compute capability must be the same.
  if (known !== null && wanted !== null && here !== null)
    return gpuResult(
      'no',
      `It loads on compute capability ${here.computeCapability} (${here.name}), and it was built for one only. Build it on a GPU of ${wanted}.`,
    );
  const on = engine.origin?.gpu ? ` It was built on ${engine.origin.gpu}.` : '';
  return gpuResult(
    'unknown',
    `The header does not name the GPU.${on} Without --hardwareCompatibilityLevel an engine is for the GPU model that built it.`,
  );
}

export function hardwareCheck(engine: EngineKnowledge, target: EngineTarget): PortabilityCheck {
  const check = 'hardware-compatibility';
  if (engine.product === 'tensorrt-rtx')
    return {
      check,
      verdict: engine.computeCapabilities === null ? 'unknown' : 'fits',
      message: 'TensorRT-RTX has no levels: an engine is for the compute capabilities in its header.',
    };
  const known = levelOf(engine);
  if (known === null)
    return {
      check,
      verdict: 'unknown',
      message: 'The header does not name the level. Unknown without its build or TensorRT.',
    };
  const by = `(${known.source})`;
  switch (known.level) {
    case 'ampere+':
      return target.computeCapability !== null && Number(target.computeCapability) < 8
        ? {
            check,
            verdict: 'no',
            message: `Ampere and later ${by}. Build it on a GPU of compute capability ${target.computeCapability}.`,
          }
        : {
            check,
            verdict: 'slower',
            message: `Ampere and later ${by}; fewer tactics and fusions, so it can be slower.`,
          };
    case 'sameComputeCapability':
      return { check, verdict: 'slower', message: `GPUs of the same compute capability ${by}; it can be slower.` };
    case 'none':
      return engine.reading?.engine && engine.reading.gpu?.computeCapability === target.computeCapability
        ? { check, verdict: 'fits', message: `Not needed: it loads on this compute capability ${by}.` }
        : {
            check,
            verdict: 'unknown',
            message: `None ${by}: it is for the GPU model that built it. For others, build it with --hardwareCompatibilityLevel.`,
          };
  }
}
