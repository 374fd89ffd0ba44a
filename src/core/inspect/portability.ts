import type { EngineKnowledge, EngineTarget, PortabilityCheck } from './engineKnowledge.ts';
import type { EngineReading } from './engineReading.ts';
import { gpuCheck, hardwareCheck } from './gpuChecks.ts';
import { driverCheck, loadCheck, pluginCheck } from './readingChecks.ts';
import type { Inspection } from './inspection.ts';
import { platformCheck } from './platformCheck.ts';
import { compatibleCheck, runtimeCheck, versionCheck } from './versionChecks.ts';

/** Bits of the mask in a header of TensorRT-RTX, as 1.7.1 writes them for each `ComputeCapability` of its API. */
const CAPABILITIES = ['7.5', '8.0', '8.6', '8.9', '12.0', '12.1'];

/** The compute capabilities of a mask; null if it is empty. A bit that is not known is named by its number. */
export function capabilitiesOf(mask: number): string[] | null {
  if (mask === 0) return null;
  const bits = Array.from({ length: 32 }, (_, bit) => bit).filter((bit) => Math.floor(mask / 2 ** bit) % 2 === 1);
  return bits.map((bit) => CAPABILITIES[bit] ?? `bit ${bit}`);
}

/**
 * Will an engine load there? One row for each condition that NVIDIA documents: TensorRT's "Engine Compatibility" and
 * Support Matrix (11.1 and 11.4), the headers of 10.6, and TensorRT-RTX's "Engine Compatibility" and "CPU-Only AOT"
 * (1.7); `portabilityTable.test.ts` cites the source of each row. What neither the header nor the build nor TensorRT says
 * is unknown.
 */
export function portabilityOf(engine: EngineKnowledge, target: EngineTarget): PortabilityCheck[] {
  return [
    engine.isWhole
      ? { check: 'file', verdict: 'fits', message: 'The file has all bytes that its header specifies.' }
      : { check: 'file', verdict: 'no', message: 'The file is truncated. Build or copy the engine again.' },
    versionCheck(engine, target),
    compatibleCheck(engine, target),
    gpuCheck(engine, target),
    hardwareCheck(engine, target),
    platformCheck(engine, target),
    driverCheck(engine),
    runtimeCheck(engine, target),
    pluginCheck(engine),
    loadCheck(engine),
  ];
}

/**
 * The same engine, judged with what its build and TensorRT say of it; what the target leaves open is where TensorRT read
 * it. Other files stay as they are.
 */
export function judgeEngine(
  found: Inspection,
  target: EngineTarget,
  known: Partial<Pick<EngineKnowledge, 'origin' | 'reading'>> = {},
): Inspection {
  if (found.engine === undefined) return found;
  const isWhole = !found.problems.some(({ code }) => code === 'truncated');
  const engine = { ...found.engine, isWhole, origin: null, reading: null, ...known };
  return { ...found, engine: { ...found.engine, portability: portabilityOf(engine, filled(target, engine.reading)) } };
}

function filled(target: EngineTarget, reading: EngineReading | null): EngineTarget {
  if (reading === null) return target;
  const named = target.version !== null;
  return {
    ...target,
    product: named ? target.product : reading.module === 'tensorrt_rtx' ? 'tensorrt-rtx' : 'tensorrt',
    version: target.version ?? reading.version,
    computeCapability: target.computeCapability ?? reading.gpu?.computeCapability ?? null,
  };
}
