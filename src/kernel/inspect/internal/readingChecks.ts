import {
  type EngineKnowledge,
  type EngineReading,
  missingPlugins,
  type PortabilityCheck,
  whereRead,
} from '../inspection.ts';

/** What TensorRT-RTX's flags mean, and what to do; NVIDIA's "Engine Compatibility", tables 3 and 4. */
const reasons: Readonly<Record<string, string>> = {
  VERSION_MISMATCH: 'another version built it: build it with this one',
  UNSUPPORTED_CC: 'it was built for other GPUs: build it for this compute capability',
  OLD_CUDA_DRIVER: 'the driver is too old: update it, or build the engine for it',
  OLD_CUDA_RUNTIME: 'the CUDA runtime is too old: update it, or build the engine for it',
  INSUFFICIENT_GPU_MEMORY: 'the GPU has too little memory for the weights: build it with weight streaming',
  MALFORMED_ENGINE: 'the header is damaged or of another product: build or copy the engine again',
  CUDA_ERROR: 'CUDA does not work there: repair the driver',
};

const asRead = 'Read the engine with TensorRT on the computer that will run it.';

export function driverCheck({ reading }: EngineKnowledge): PortabilityCheck {
  const check = 'driver';
  const old = reading?.validity?.reasons.find((reason) => /^(?:OLD_CUDA|CUDA_ERROR)/.test(reason));
  if (old !== undefined) return { check, verdict: 'no', message: sentence(reasons[old]!) };
  if (reading?.engine && reading.gpu)
    return {
      check,
      verdict: 'fits',
      message: `The driver of ${reading.gpu.name} (CUDA ${reading.gpu.cuda}) loads it.`,
    };
  if (reading !== null && reading.gpu === null)
    return { check, verdict: 'unknown', message: `No driver where it was read. ${asRead}` };
  return {
    check,
    verdict: 'unknown',
    message: `The header does not name a driver. ${asRead}`,
  };
}

export function pluginCheck({ reading }: EngineKnowledge): PortabilityCheck {
  const check = 'plugins';
  if (reading?.engine)
    return { check, verdict: 'fits', message: 'All plugins that it needs were there when TensorRT loaded it.' };
  const missing = reading === null ? [] : missingPlugins(reading);
  if (missing.length > 0)
    return {
      check,
      verdict: 'no',
      message: `Missing: ${missing.join('; ')}. Load the library that has them first (--plugin, --dynamicPlugins).`,
    };
  return { check, verdict: 'unknown', message: `The header does not list plugins. ${asRead}` };
}

/** TensorRT's own verdict. That it loaded an engine outweighs its check of the header. */
export function loadCheck({ reading, version }: EngineKnowledge): PortabilityCheck {
  const check = 'load';
  if (reading === null) return { check, verdict: 'unknown', message: `Not tried. ${asRead}` };
  const { engine, validity } = reading;
  const where = whereRead(reading);
  if (engine !== null)
    return validity?.verdict === 'SUBOPTIMAL'
      ? {
          check,
          verdict: 'slower',
          message: `${where} loads it, but not with its best kernels. Build it with a newer version.`,
        }
      : { check, verdict: 'fits', message: `${where} loads it.` };
  if (validity?.verdict === 'INVALID') return { check, verdict: 'no', message: `${where}: ${validityText(reading)}` };
  if (reading.gpu === null) return { check, verdict: 'unknown', message: `Unknown without a driver. ${asRead}` };
  if (version !== null && !`${reading.version}.`.startsWith(`${version}.`))
    return {
      check,
      verdict: 'no',
      message: `${where} does not load it: version ${version} built it. Read it with a Python that has TensorRT ${version}.`,
    };
  return { check, verdict: 'no', message: `${where}: ${sentence(reading.error ?? 'it does not load')}` };
}

const validityText = ({ validity }: EngineReading): string =>
  (validity?.reasons ?? []).map((reason) => sentence(reasons[reason] ?? reason)).join(' ') || 'It does not load.';

function sentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
