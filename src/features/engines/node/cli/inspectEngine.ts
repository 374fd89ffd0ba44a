import { writeResult } from '../../../../kernel/node/files/writeResult.ts';
import { readEngine } from '../../../../kernel/node/run/readEngine.ts';
import { buildOfEngine } from '../../../../kernel/node/store/buildOfEngine.ts';
import {
  detailsOf,
  engineOriginOf,
  type EngineReading,
  type EngineTarget,
  type Inspection,
  profilesOf,
  whereRead,
} from '../../../../kernel/inspect/inspection.ts';
import { judgeEngine } from '../../../../kernel/inspect/inspectFile.ts';
import { shapeText } from '../../../../kernel/base/text.ts';
import { exitCodes } from '../../../../kernel/node/cli/command.ts';
import type { Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { type InspectValues, tensorrtPlace } from './inspectOptions.ts';

/** What `inspect` finds out about an engine besides its header. */
export interface InspectedEngine {
  found: Inspection;
  reading: EngineReading | null;
  fields: object;
  lines: string[];
}

/** Judges an engine with its build in the history and, with --read, with TensorRT. */
export async function inspectEngine(
  path: string,
  header: Inspection,
  target: EngineTarget,
  values: InspectValues,
  terminal: Terminal,
): Promise<InspectedEngine> {
  const build = await buildOfEngine(path);
  const reading =
    values.read === true || values.layers !== undefined
      ? await readEngine({
          path,
          product: header.tensorrt.product,
          plugins: values.plugin,
          allowHostCode: values['allow-host-code'],
          ...(await tensorrtPlace(values, terminal)),
        })
      : null;
  const found = judgeEngine(header, target, { origin: build && engineOriginOf(build.manifest), reading });
  const engine = { ...found.engine!, build: build?.manifest.id ?? null };
  return {
    found,
    reading,
    fields: { engine: reading ? { ...engine, reading } : engine },
    lines: [
      ...(build === null ? [] : [`  build: ${build.manifest.id} of ${build.manifest.model.file}`]),
      ...(reading === null ? [] : readingLines(reading)),
    ],
  };
}

/** Ends the command: TensorRT's refusal in one line, or the file of layers. */
export async function endReading(
  name: string,
  { found, reading }: InspectedEngine,
  layers: string | undefined,
  terminal: Terminal,
): Promise<number> {
  const cannotLoad = found.engine!.portability.some(({ verdict }) => verdict === 'no');
  if (reading === null) return cannotLoad ? exitCodes.checkFailed : exitCodes.done;
  if (reading.engine === null) {
    const { verdict, message } = found.engine!.portability.find(({ check }) => check === 'load')!;
    terminal.note(`trtlens inspect: ${name} was not loaded: ${verdict === 'no' ? message : `${reading.error!}.`}`);
    return exitCodes.checkFailed;
  }
  if (layers === undefined) return exitCodes.done;
  if (reading.layers === null) {
    terminal.note(
      `trtlens inspect: ${layers} was not written: TensorRT's inspector lists no layers. Build the engine with --profilingVerbosity=detailed.`,
    );
    return exitCodes.checkFailed;
  }
  await writeResult(layers, reading.layers, 'new');
  terminal.note(`written to ${layers}`);
  return exitCodes.done;
}

function readingLines(reading: EngineReading): string[] {
  const { engine, messages } = reading;
  const warnings = messages.map(({ message }) => `  TensorRT: ${message}`);
  if (engine === null) return warnings;
  const tensors = engine.tensors.flatMap((tensor) => {
    const { name, mode, type, shape, format, location } = tensor;
    const details = [`${type} ${shapeText(shape)}`, format, location === 'HOST' ? 'on the host' : null];
    return [
      `  ${mode} ${name}: ${details.filter((one) => one !== null).join(', ')}`,
      ...profilesOf(tensor).map((range, index) => `    profile ${index}: ${range}`),
    ];
  });
  const facts = detailsOf(engine).map(([label, value]) => `  ${label.toLowerCase()}: ${value}`);
  return [`read by ${whereRead(reading)}`, ...tensors, ...facts, ...warnings];
}
