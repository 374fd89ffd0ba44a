import { describe, expect, test } from 'vitest';
import {
  type EngineDetails,
  type EngineKnowledge,
  type EngineOrigin,
  engineOriginOf,
  type EngineReading,
  type EngineTarget,
  unknownTarget,
} from '../../../../src/kernel/inspect/inspection.ts';
import { portabilityOf } from '../../../../src/kernel/inspect/inspectFile.ts';
import { buildManifest } from '../../../support/buildManifest.ts';

/** Where each rule is from, and when that was read. */
const sources = {
  compatible: 'TensorRT 11.1 and 10.16.1, "Engine Compatibility" / "Version Compatibility", read 2026-11-22',
  matrix: 'TensorRT 11.4.1, Support Matrix, read 2026-11-20',
  hardware: 'NvInfer.h of TensorRT 10.6, HardwareCompatibilityLevel; docs.rs of 11 and RTX 1.5, read 2026-11-22',
  device: 'NVIDIA/TensorRT#2176, "expecting compute 8.6 got compute 7.5", read 2026-11-22',
  runtimes: 'NVIDIA blog "TensorRT hardware version compatibility" and NvInferRuntime.h of 10.6, read 2026-11-22',
  rtx: 'TensorRT-RTX latest, "Engine Compatibility", tables 3 and 4, read 2026-11-22',
  cpu: 'TensorRT-RTX latest, "CPU-Only AOT and TensorRT-RTX Engines", read 2026-11-22',
  platform:
    'NvInfer.h of TensorRT 10.6, RuntimePlatform (system and CPU architecture), and the help of trtexec 10.6, read 2026-11-22',
  seen: 'TensorRT-RTX 1.7.1 without a GPU, and errors of TensorRT 10.6 and 11.2.1, seen 2026-11',
} as const;

const origin = (more: Partial<EngineOrigin> = {}): EngineOrigin => ({
  build: '20260101',
  versionCompatible: false,
  leanRuntimeExcluded: false,
  hardwareCompatibility: 'none',
  gpu: 'NVIDIA H100',
  platform: null,
  ...more,
});
const details: EngineDetails = {
  name: '',
  tensors: [],
  profiles: 1,
  layers: 1,
  auxStreams: 0,
  deviceMemory: 0,
  streamableWeights: 0,
  refittable: false,
  hardwareCompatibility: 'NONE',
  capability: 'STANDARD',
  profilingVerbosity: 'DETAILED',
};
const reading = (more: Partial<EngineReading> = {}): EngineReading => ({
  module: 'tensorrt',
  version: '10.6.0',
  gpu: { name: 'NVIDIA H100', computeCapability: '9.0', cuda: '12.8' },
  validity: null,
  engine: details,
  error: null,
  layers: null,
  messages: [],
  ...more,
});
const failed = (message: string, more: Partial<EngineReading> = {}): EngineReading =>
  reading({ engine: null, error: message, messages: [{ severity: 'E', message }], ...more });
const level = (hardwareCompatibility: string) => reading({ engine: { ...details, hardwareCompatibility } });
const rtxReading = (verdict: 'VALID' | 'SUBOPTIMAL' | 'INVALID', ...reasons: string[]): EngineReading =>
  reading({
    module: 'tensorrt_rtx',
    version: '1.7.1.116',
    validity: { verdict, reasons },
    ...(verdict === 'INVALID' && { engine: null, error: 'failed' }),
  });

type Known = Partial<EngineKnowledge>;
type Target = Partial<EngineTarget>;

const plan = (version: string, more: Known = {}): EngineKnowledge => ({
  product: 'tensorrt',
  version,
  buildNumber: null,
  computeCapabilities: null,
  isWhole: true,
  origin: null,
  reading: null,
  ...more,
});
const rtx = (more: Known = {}): EngineKnowledge =>
  plan('1.7.1', { product: 'tensorrt-rtx', computeCapabilities: ['8.9'], ...more });
const on = (version: string | null, more: Target = {}): EngineTarget => ({
  ...unknownTarget,
  product: 'tensorrt',
  version,
  ...more,
});
const onRtx = (version: string | null, more: Target = {}) => on(version, { product: 'tensorrt-rtx', ...more });

const rows: [check: string, source: keyof typeof sources, EngineKnowledge, EngineTarget, verdict: string, words: RegExp][] = [
  // Versions
  ['version', 'compatible', plan('10.6.0'), on('10.6.0'), 'fits', /the version that is to run it/],
  ['version', 'compatible', plan('10.6.0', { origin: origin() }), on('10.8.0'), 'no', /without --versionCompatible\. Build it with TensorRT 10\.8\.0/],
  ['version', 'compatible', plan('10.6.0', { origin: origin({ versionCompatible: true }) }), on('10.8.0'), 'slower', /can be slower/],
  ['version', 'compatible', plan('10.6.0'), on('10.8.0'), 'unknown', /only if it was built with --versionCompatible/],
  ['version', 'compatible', plan('10.6.0', { origin: origin({ versionCompatible: true }) }), on('11.2.1'), 'slower', /TensorRT 11\.2\.1 loads it/],
  ['version', 'compatible', plan('8.5.3', { origin: origin({ versionCompatible: true }) }), on('10.6.0'), 'no', /cannot load/],
  ['version', 'matrix', plan('8.6.1', { origin: origin({ versionCompatible: true }) }), on('10.6.0'), 'slower', /TensorRT 10\.6\.0 loads it/],
  ['version', 'compatible', plan('11.2.1', { origin: origin({ versionCompatible: true }) }), on('10.6.0'), 'no', /10\.6\.0/],
  ['version', 'matrix', plan('8.6.1', { origin: origin({ versionCompatible: true }) }), on('11.2.1'), 'no', /version-compatible or not/],
  ['version', 'rtx', rtx(), onRtx('1.8.0'), 'no', /only in the release that built them/],
  // The flag
  ['version-compatible', 'compatible', plan('10.6.0'), on('10.6.0'), 'fits', /Not needed/],
  ['version-compatible', 'compatible', plan('10.6.0', { origin: origin({ versionCompatible: true }) }), on('10.6.0'), 'slower', /can be slower \(build 20260101\)/],
  ['version-compatible', 'compatible', plan('10.6.0', { origin: origin() }), on('10.8.0'), 'no', /Build it with that/],
  ['version-compatible', 'compatible', plan('10.6.0'), on('10.8.0'), 'unknown', /without its build/],
  ['version-compatible', 'compatible', plan('8.5.3'), on('8.6.1'), 'no', /since 8\.6/],
  ['version-compatible', 'rtx', rtx(), onRtx('1.8.0'), 'no', /has no version-compatible engines/],
  // GPUs
  ['gpu', 'hardware', plan('10.6.0'), on(null, { computeCapability: '8.9' }), 'unknown', /does not name the GPU/],
  ['gpu', 'hardware', plan('10.6.0', { origin: origin({ hardwareCompatibility: 'ampere+' }) }), on(null, { computeCapability: '8.9' }), 'slower', /Ampere and later/],
  ['gpu', 'hardware', plan('10.6.0', { origin: origin({ hardwareCompatibility: 'ampere+' }) }), on(null, { computeCapability: '7.5' }), 'no', /Build it on a GPU of 7\.5/],
  ['gpu', 'device', plan('10.6.0', { reading: reading() }), on(null, { computeCapability: '8.9' }), 'no', /built for one only/],
  ['gpu', 'hardware', plan('10.6.0', { reading: reading() }), on(null, { computeCapability: '9.0' }), 'fits', /loads on NVIDIA H100/],
  ['gpu', 'hardware', plan('10.6.0', { reading: level('SAME_COMPUTE_CAPABILITY') }), on(null, { computeCapability: '8.9' }), 'no', /9\.0/],
  ['gpu', 'cpu', rtx(), onRtx('1.7.1', { computeCapability: '8.9' }), 'fits', /8\.9/],
  ['gpu', 'cpu', rtx(), onRtx('1.7.1', { computeCapability: '12.0' }), 'no', /Build it with --compute-capability 12\.0/],
  ['hardware-compatibility', 'hardware', plan('10.6.0'), on(null), 'unknown', /without its build or TensorRT/],
  ['hardware-compatibility', 'hardware', plan('10.6.0', { origin: origin() }), on(null), 'unknown', /None \(build 20260101\)/],
  ['hardware-compatibility', 'hardware', plan('10.6.0', { reading: level('AMPERE_PLUS') }), on(null), 'slower', /fewer tactics and fusions/],
  ['hardware-compatibility', 'hardware', plan('10.6.0', { reading: level('AMPERE_PLUS') }), on(null, { computeCapability: '7.5' }), 'no', /7\.5/],
  ['hardware-compatibility', 'hardware', plan('10.6.0', { reading: level('SAME_COMPUTE_CAPABILITY') }), on(null), 'slower', /same compute capability/],
  ['hardware-compatibility', 'hardware', plan('10.6.0', { reading: reading() }), on(null, { computeCapability: '9.0' }), 'fits', /Not needed/],
  ['hardware-compatibility', 'cpu', rtx(), onRtx(null), 'fits', /has no levels/],
  // Platforms
  ['platform', 'compatible', plan('10.6.0'), on('10.6.0'), 'unknown', /does not name the operating system/],
  ['platform', 'compatible', plan('10.6.0', { origin: origin() }), on('10.6.0', { platform: 'linux' }), 'unknown', /its build \(20260101\) does not/],
  ['platform', 'matrix', plan('10.6.0', { reading: reading() }), on('10.6.0'), 'fits', /where TensorRT read it/],
  ['platform', 'matrix', plan('10.6.0', { reading: reading() }), on('10.6.0', { platform: 'linux' }), 'unknown', /does not name the operating system/],
  ['platform', 'matrix', plan('10.6.0', { origin: origin({ platform: { name: 'linux', exact: false } }) }), on('10.6.0'), 'unknown', /Linux \(build 20260101, derived.*name the operating system/],
  ['platform', 'matrix', plan('10.6.0', { origin: origin({ platform: { name: 'linux', exact: false } }) }), on('10.6.0', { platform: 'linux' }), 'fits', /derived.*same architecture/],
  ['platform', 'platform', plan('10.6.0', { origin: origin({ platform: { name: 'linux', exact: false } }) }), on('10.6.0', { platform: 'windows' }), 'no', /--runtimePlatform=WindowsAMD64/],
  ['platform', 'platform', plan('10.6.0', { origin: origin({ platform: { name: 'windows', exact: true } }) }), on('10.6.0', { platform: 'windows' }), 'fits', /by --runtimePlatform/],
  ['platform', 'platform', plan('10.6.0', { origin: origin({ platform: { name: 'windows', exact: true } }) }), on('10.6.0', { platform: 'linux' }), 'no', /Build it on Linux/],
  ['platform', 'cpu', rtx(), onRtx('1.7.1'), 'fits', /Linux and on Windows/],
  // Runtime libraries
  ['runtime', 'runtimes', plan('10.6.0'), on('10.6.0'), 'fits', /full runtime/],
  ['runtime', 'runtimes', plan('10.6.0'), on('10.6.0', { runtime: 'lean' }), 'unknown', /without its build/],
  ['runtime', 'runtimes', plan('10.6.0', { origin: origin() }), on('10.6.0', { runtime: 'lean' }), 'no', /Build it with --versionCompatible/],
  ['runtime', 'runtimes', plan('10.6.0', { origin: origin({ versionCompatible: true }) }), on('10.6.0', { runtime: 'lean' }), 'slower', /lean runtime of the same version/],
  ['runtime', 'runtimes', plan('10.6.0', { origin: origin({ versionCompatible: true }) }), on('10.8.0', { runtime: 'dispatch' }), 'fits', /that the engine contains/],
  ['runtime', 'runtimes', plan('10.6.0', { origin: origin({ versionCompatible: true, leanRuntimeExcluded: true }) }), on('10.6.0', { runtime: 'dispatch' }), 'unknown', /needs that file/],
  ['runtime', 'rtx', rtx(), onRtx('1.7.1', { runtime: 'lean' }), 'no', /no lean runtime/],
  // What only TensorRT can say
  ['driver', 'rtx', rtx(), onRtx('1.7.1'), 'unknown', /does not name a driver/],
  ['driver', 'rtx', rtx({ reading: rtxReading('INVALID', 'OLD_CUDA_DRIVER') }), onRtx('1.7.1'), 'no', /update it, or build the engine for it/],
  ['driver', 'rtx', rtx({ reading: rtxReading('INVALID', 'CUDA_ERROR') }), onRtx('1.7.1'), 'no', /Repair|repair the driver/],
  ['driver', 'seen', plan('10.6.0', { reading: reading({ gpu: null, engine: null, error: 'no NVIDIA driver' }) }), on('10.6.0'), 'unknown', /No driver where it was read/],
  ['driver', 'seen', plan('10.6.0', { reading: reading() }), on('10.6.0'), 'fits', /CUDA 12\.8/],
  ['driver', 'rtx', rtx({ reading: rtxReading('INVALID', 'OLD_CUDA_RUNTIME') }), onRtx('1.7.1'), 'no', /CUDA runtime is too old/],
  ['plugins', 'seen', plan('10.6.0'), on('10.6.0'), 'unknown', /does not list plugins/],
  ['plugins', 'seen', plan('10.6.0', { reading: reading() }), on('10.6.0'), 'fits', /All plugins/],
  ['plugins', 'seen', plan('10.6.0', { reading: failed('IPluginRegistry::getCreator: Error Code 4: API Usage Error (Cannot find plugin: MyCustomOp, version: 1, namespace:.)') }), on('10.6.0'), 'no', /Missing: MyCustomOp, version 1\./],
  ['plugins', 'seen', plan('8.6.1', { reading: failed('3: getPluginCreator could not find plugin: MyCustomOp version: 1', { version: '8.6.1' }) }), on('8.6.1'), 'no', /Missing: MyCustomOp, version 1\./],
  ['load', 'matrix', plan('10.6.0'), on('10.6.0'), 'unknown', /Not tried\. Read the engine with TensorRT/],
  ['load', 'rtx', rtx({ reading: rtxReading('INVALID', 'MALFORMED_ENGINE') }), onRtx('1.7.1'), 'no', /header is damaged/],
  ['load', 'rtx', rtx({ reading: rtxReading('VALID') }), onRtx('1.7.1'), 'fits', /TensorRT-RTX 1\.7\.1\.116 on NVIDIA H100/],
  ['load', 'rtx', rtx({ reading: rtxReading('SUBOPTIMAL') }), onRtx('1.7.1'), 'slower', /newer version/],
  ['load', 'rtx', rtx({ reading: rtxReading('INVALID', 'VERSION_MISMATCH', 'UNSUPPORTED_CC') }), onRtx('1.7.1'), 'no', /Another version built it.*other GPUs/],
  ['load', 'rtx', rtx({ reading: { ...rtxReading('INVALID', 'INSUFFICIENT_GPU_MEMORY'), gpu: null } }), onRtx('1.7.1'), 'no', /weight streaming/],
  ['load', 'seen', rtx({ reading: { ...rtxReading('INVALID'), validity: null, gpu: null } }), onRtx('1.7.1'), 'unknown', /without a driver/],
  ['load', 'compatible', plan('10.6.0', { reading: failed('not compatible with this version', { version: '10.8.0' }) }), on('10.8.0'), 'no', /Python that has TensorRT 10\.6\.0/],
  ['load', 'seen', plan('10.6.0', { reading: failed('Serialization assertion failed') }), on('10.6.0'), 'no', /Serialization assertion failed\./],
]; // oxfmt-ignore

describe('every row of the table, by NVIDIA’s rules', () => {
  test.each(rows)('%s (%s) of %o for %o is %s', (check, source, engine, target, verdict, words) => {
    const found = portabilityOf(engine, target).find((row) => row.check === check)!;
    expect([sources[source], found.verdict]).toEqual([sources[source], verdict]);
    expect(found.message).toMatch(words);
  });

  test('every check has rows here', () => {
    const checks = portabilityOf(rtx(), unknownTarget).map(({ check }) => check);
    expect(checks.filter((check) => check !== 'file' && !rows.some(([one]) => one === check))).toEqual([]);
  });

  test('a verdict other than "fits" says what to do or what it depends on, in sentences', () => {
    for (const [, , engine, target] of rows)
      for (const { message } of portabilityOf(engine, target)) expect(message).toMatch(/^[A-Z0-9].*\.$/);
  });
});

describe('what a build says of its engine', () => {
  test('an option that is missing means "no" only where the build was made here', () => {
    const made = buildManifest({ options: { versionCompatible: true, hardwareCompatibility: 'ampere+' } });
    expect(engineOriginOf(made)).toMatchObject({ versionCompatible: true, hardwareCompatibility: 'ampere+' });
    expect(engineOriginOf(buildManifest())).toMatchObject({ versionCompatible: false, hardwareCompatibility: 'none' });
    expect(engineOriginOf(buildManifest({ origin: 'imported' }))).toMatchObject({
      versionCompatible: null,
      hardwareCompatibility: null,
    });
    expect(engineOriginOf(buildManifest({ options: { extraArguments: ['--vc'] } })).versionCompatible).toBeNull();
  });

  test('its operating system is in the options, or in the paths of the command; of two systems neither is known', () => {
    const platform = (...command: string[]) => engineOriginOf(buildManifest({ command })).platform;
    expect(platform('trtexec', '--onnx=/models/net.onnx')).toEqual({ name: 'linux', exact: false });
    expect(platform('ssh', 'gpu', "trtexec '--onnx=/tmp/1/net.onnx'")).toEqual({ name: 'linux', exact: false });
    expect(platform('C:\\TensorRT\\trtexec.exe', '--onnx=net.onnx')).toEqual({ name: 'windows', exact: false });
    expect(
      platform('docker', 'run', '-v', 'C:\\models:/models', 'image', 'trtexec', '--onnx=/models/net.onnx'),
    ).toBeNull();
    expect(platform('trtexec', '--onnx=net.onnx', '--shapes=x:1x3')).toBeNull();
    const cross = buildManifest({ command: ['/usr/bin/trtexec'], options: { extraArguments: ['--runtimePlatform=WindowsAMD64'] } }); // oxfmt-ignore
    expect(engineOriginOf(cross).platform).toEqual({ name: 'windows', exact: true });
  });
});
