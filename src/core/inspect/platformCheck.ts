import type { EngineKnowledge, EnginePlatform, EngineTarget, PortabilityCheck } from './engineKnowledge.ts';

const names: Readonly<Record<EnginePlatform, string>> = { linux: 'Linux', windows: 'Windows' };

/**
 * An engine of TensorRT loads on the operating system for which it was built: that of the build, or the one of
 * `--runtimePlatform` (10.2 and later, only from Linux to Windows), and then not where it was built.
 */
export function platformCheck(engine: EngineKnowledge, target: EngineTarget): PortabilityCheck {
  const result = (verdict: PortabilityCheck['verdict'], message: string): PortabilityCheck => ({
    check: 'platform',
    verdict,
    message,
  });
  if (engine.product === 'tensorrt-rtx') return result('fits', 'Engines of TensorRT-RTX load on Linux and on Windows.');
  const built = engine.origin?.platform ?? null;
  const wanted = target.platform;
  if (built === null)
    return engine.reading?.engine && wanted === null
      ? result('fits', 'It loads on the operating system where TensorRT read it, and only there.')
      : result(
          'unknown',
          `The header does not name the operating system${engine.origin === null ? '' : `, and its build (${engine.origin.build}) does not either`}. An engine loads only on the one for which it was built.`,
        );
  const source = built.exact ? 'by --runtimePlatform' : 'derived from the paths in the command';
  const known = `Built for ${names[built.name]} (build ${engine.origin!.build}, ${source}).`;
  if (wanted === null) return result('unknown', `${known} To compare, name the operating system that will run it.`);
  // Of Windows, TensorRT knows only AMD64.
  if (wanted === built.name)
    return result('fits', wanted === 'linux' ? `${known} The CPU must have the same architecture, too.` : known);
  return result(
    'no',
    wanted === 'windows'
      ? `${known} Build it on Windows, or with --runtimePlatform=WindowsAMD64 (TensorRT 10.2 or later).`
      : `${known} Build it on Linux, without --runtimePlatform.`,
  );
}
