import { oneLine, productName, timeText } from '../../../../kernel/base/text.ts';
import { basename, dirname } from 'node:path';
import { withFile } from '../../../../kernel/node/files/fileSource.ts';
import type { EngineContext, EngineTarget, Inspection } from '../../../../kernel/inspect/inspection.ts';
import { inspectFile } from '../../../../kernel/inspect/inspectFile.ts';
import { readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { printJson } from '../../../../kernel/node/cli/terminal.ts';
import { inspectOptions, inspectTarget } from './inspectOptions.ts';

export const inspect: Command = {
  help: `trtlens inspect FILE [--tensorrt VERSION] [--compute-capability 8.9] [--runtime lean] [--platform linux]
                     [--read] [--json]

Identifies a file by its content, whatever its name: a model, layer info, a build log, a profile, a trace of
Nsight Systems, counters of Nsight Compute, times, a tactic replay, recorded choices, a calibration or timing cache, an
engine, precision overrides.
For an engine it also reports the header, and whether another version, GPU or runtime can load it, also for the engines in
an EPContext model of ONNX Runtime or next to it. Exit status 1: it cannot.

  --tensorrt VERSION        the version that will load the engine: 10.6.0, or rtx-1.7.1
  --compute-capability N    the GPU that will run it
  --runtime NAME            the library that will load it: full, lean or dispatch
  --platform NAME           its operating system: linux or windows
  --force                   overwrite F even if it has other content
  --json                    the result as one JSON document

For a calibration cache, it lists the tensors with their scales.

With --read, TensorRT's Python module also loads the engine, on a GPU, and describes it: inputs and outputs with their
formats and optimization profiles, memory, layers. Exit status 1: TensorRT cannot load it. For a timing cache, it lists
the entries (TensorRT 10.8 and later).

  --read                    load the engine or timing cache with TensorRT
  --layers FILE             write the layer info of TensorRT's inspector; implies --read
  --plugin FILE             a library with plugins, loaded first; may be repeated
  --allow-host-code         run code that the engine contains, as version-compatible ones do; only for engines you trust
  --python PROGRAM          the Python interpreter that has TensorRT of the engine's version
  --launcher FILE           run it in a container, over ssh or on a cluster, as for trtlens build
`,
  options: inspectOptions,
  keepsLittle: true,
  // What writes files, reads the history and runs TensorRT is loaded only where it is needed.
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, inspectOptions, ['FILE'], {
      needs: Object.fromEntries(
        ['plugin', 'allow-host-code', 'python', 'launcher'].map((name) => [name, ['read', 'layers']]),
      ),
    });
    const target = await inspectTarget(values);
    const path = positionals[0]!;
    const name = basename(path);
    if (values.layers !== undefined)
      await (await import('../../../../kernel/node/files/writeResult.ts')).checkOutput(values.layers, [path], 'new');
    const found = await inspectPath(path, target);
    const print = async (judged: Inspection, { fields, lines }: { fields: object; lines: string[] }) => {
      if (values.json) await printJson(terminal, { ...judged, ...fields });
      else await terminal.out([text(name, judged, target), ...lines, ''].join('\n'));
    };
    if (found.engine !== undefined) {
      const { inspectEngine, endReading } = await import('./inspectEngine.ts');
      const engine = await inspectEngine(path, found, target, values, terminal);
      await print(engine.found, engine);
      return endReading(name, engine, values.layers, terminal);
    }
    if (values.layers !== undefined) throw new Usage(`--layers: ${name} is not an engine: ${found.summary}`);
    if (values.read && found.kind !== 'timing-cache')
      throw new Usage(`--read: ${name} is not an engine or a timing cache: ${found.summary}`);
    let more: { fields: object; lines: string[] } = { fields: {}, lines: [] };
    if (values.read) more = await (await import('./inspectCache.ts')).inspectTimingCache(path, values, terminal);
    else if (found.kind === 'calibration-cache')
      more = await (await import('./inspectCache.ts')).inspectCalibrationCache(path);
    await print(found, more);
    const unfit = found.contexts?.some(
      ({ engine }) => engine?.engine?.portability.some(({ verdict }) => verdict === 'no') ?? true,
    );
    return unfit ? exitCodes.checkFailed : exitCodes.done;
  },
};

async function inspectPath(path: string, target: EngineTarget): Promise<Inspection> {
  return withFile(path, (source) =>
    inspectFile(source, {
      name: basename(path),
      target,
      openBeside: async (name, use) => {
        const { openExternal } = await import('../../../../kernel/node/files/externalFile.ts');
        const file = await openExternal(dirname(path), name);
        try {
          return await use(file);
        } finally {
          await file.close();
        }
      },
    }),
  );
}

/** What a reader wants to know first. */
function verdictOf({ engine, summary, tensorrt }: Inspection, target: EngineTarget): string {
  const checks = engine?.portability ?? [];
  const failed = checks.find(({ verdict }) => verdict === 'no');
  const made = `an engine of ${productName(tensorrt.product ?? 'tensorrt')}${tensorrt.version === null ? '' : ` ${tensorrt.version}`}`;
  if (failed) return `✗ ${made}, which cannot be loaded: ${failed.message}`;
  if (engine === undefined || Object.values(target).every((value) => value === null)) return summary;
  const open = checks.filter(({ verdict }) => verdict === 'unknown').map(({ check }) => check);
  return open.length === 0
    ? `✓ ${made}, which can be loaded`
    : `${made}; whether it can be loaded depends on: ${open.join(', ')}`;
}

function text(name: string, found: Inspection, target: EngineTarget): string {
  const { kind, tensorrt, counts, engine, times, problems } = found;
  const made = tensorrt?.version ? `, ${tensorrt.product ?? 'tensorrt'} ${tensorrt.version}` : '';
  const lines = Object.entries(counts).map(([what, count]) => `  ${what}: ${String(count)}`);
  const parts = Object.entries(times ?? {}).map(
    ([part, { averageMs, p50, p90, p99 }]) =>
      `  ${part.slice(0, -2)}: ${timeText(averageMs)} on average, p50 ${timeText(p50)}, p90 ${timeText(p90)}, p99 ${timeText(p99)}`,
  );
  const trouble = problems.map(
    ({ severity, line, message }) => `  ${severity}${line ? ` on line ${line}` : ''}: ${message}`,
  );
  const checks = (engine?.portability ?? []).map(({ check, verdict, message }) => `  ${check}: ${verdict}: ${message}`);
  const contexts = (found.contexts ?? []).flatMap((context) => contextLines(context, target));
  return [
    `${name}: ${verdictOf(found, target)}`,
    `  kind: ${kind}${made}`,
    ...lines,
    ...parts,
    ...checks,
    ...contexts,
    ...trouble,
  ].join('\n');
}

/** An engine inside a model of ONNX Runtime, with its checks. */
function contextLines(
  { partition, source, sdk, hardware, file, engine, problem }: EngineContext,
  target: EngineTarget,
) {
  const where = file === null ? 'in the model' : file;
  const noted = [source, sdk && `version ${sdk}`, hardware && `compute capability ${hardware}`].filter(Boolean);
  return [
    `  engine of ${oneLine(partition) || 'a part without a name'} (${oneLine(where)}): ${engine === null ? oneLine(problem ?? '') : verdictOf(engine, target)}`,
    ...(noted.length > 0 ? [`    as ONNX Runtime noted: ${oneLine(noted.join(', '))}`] : []),
    ...(engine?.engine?.portability ?? []).map(({ check, verdict, message }) => `    ${check}: ${verdict}: ${message}`),
  ];
}
