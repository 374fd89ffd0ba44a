import { readTextBytes } from '../files/readTextBytes.ts';
import { UserError } from '../files/userError.ts';
import { isRecord } from '../../base/json.ts';
import { errorText } from '../../base/problem.ts';
import { decodeUtf8 } from '../../base/text.ts';
import { fromProviderOptions } from '../../build/buildCommand.ts';
import type { EngineOptions } from '../../build/buildOptions.ts';
import type { BuildOptions } from '../run/runBuild.ts';
import { confirmDownload, type Terminal } from './terminal.ts';
import { driverScript } from './driverScript.ts';
import { readLauncherFile } from './launcherFile.ts';
import { type BuildValues, readBuildOptions, textOf } from './buildOptions.ts';

/**
 * The build that the flags of `trtlens build` describe, and where it runs.
 * @throws {Usage} where a value is not what its option takes
 * @throws {UserError} if the launcher's file cannot be read
 */
export async function buildRequest(model: string, values: BuildValues, terminal: Terminal): Promise<BuildOptions> {
  const places = ['python', 'trtexec', 'polygraphy', 'folder'].flatMap((name) => {
    const value = textOf(values, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const launcher = textOf(values, 'launcher');
  return {
    backend: 'auto',
    ...(await providerBuild(values, terminal)),
    ...readBuildOptions(values),
    ...Object.fromEntries(places),
    ...(launcher !== undefined && { launcher: await readLauncherFile(launcher) }),
    model,
    driver: driverScript('build_engine.py'),
    confirm: (text) => confirmDownload(terminal, values['yes'] === true, text),
    setUpProgress: (line) => terminal.note(line),
  };
}

/** What `--provider-options` asks for. */
export async function providerBuild(values: BuildValues, terminal: Terminal): Promise<Partial<EngineOptions>> {
  const file = textOf(values, 'provider-options');
  if (file === undefined) return {};
  let given: unknown;
  try {
    given = JSON.parse(decodeUtf8(await readTextBytes(file, 'options of ONNX Runtime')));
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`${file} is not JSON: ${errorText(error)}. Save the provider's options as one object`);
  }
  if (!isRecord(given)) throw new UserError(`${file} is not an object of options, such as { "trt_fp16_enable": "1" }`);
  const { options, notes } = fromProviderOptions(given);
  for (const note of notes) terminal.note(`note: ${note}`);
  return options;
}
