import { basename } from 'node:path';
import { checkOutput } from '../builder/files/checkOutput.ts';
import { openFile } from '../builder/files/fileSource.ts';
import { writeWhole } from '../builder/files/writeWhole.ts';
import { inspectFile } from '../core/inspect/inspectFile.ts';
import type { Inspection } from '../core/inspect/inspection.ts';
import { type EngineRuntime, engineRuntimes, type EngineTarget } from '../core/inspect/engineKnowledge.ts';
import { detailsOf, type EngineReading, profilesOf, shapeText, whereRead } from '../core/inspect/engineReading.ts';
import { readArguments } from './arguments.ts';
import { type Command, exitCodes, Usage } from './command.ts';
import { printJson, type Terminal } from './terminal.ts';
import { readLauncherFile } from './yamlFile.ts';

const options = {
  json: { type: 'boolean' },
  tensorrt: { type: 'string' },
  'compute-capability': { type: 'string' },
  runtime: { type: 'string' },
  read: { type: 'boolean' },
  layers: { type: 'string' },
  plugin: { type: 'string', multiple: true },
  'allow-host-code': { type: 'boolean' },
  python: { type: 'string' },
  launcher: { type: 'string' },
} as const;

export const inspect: Command = {
  name: 'inspect',
  summary: 'identify a file by its content',
  help: `trtlens inspect FILE [--tensorrt VERSION] [--compute-capability 8.9] [--runtime lean] [--read] [--json]

Identifies a file by its content, whatever its name: a model, layer info, a build log, a profile, a trace of
Nsight Systems, times, a tactic replay, recorded choices, a calibration or timing cache, an engine, precision overrides.
For an engine it also reports the header, and whether another version, GPU or runtime can load it.

  --tensorrt VERSION        the version that will load the engine: 10.6.0, or rtx-1.7.1
  --compute-capability N    the GPU that will run it
  --runtime NAME            the library that will load it: full, lean or dispatch
  --json                    the result as one JSON document

With --read, TensorRT's Python module also loads the engine, on a GPU, and describes it: inputs and outputs with their
formats and optimization profiles, memory, layers. Exit status 1: TensorRT cannot load it.

  --read                    load the engine with TensorRT
  --layers FILE             write the layer info of TensorRT's inspector, as trtexec --exportLayerInfo does; implies --read
  --plugin FILE             a library with plugins, loaded first; may be repeated
  --allow-host-code         run code that the engine contains, as version-compatible ones do; only for engines you trust
  --python PROGRAM          the Python interpreter that has TensorRT of the engine's version
  --launcher FILE           run it in a container, over ssh or on a cluster, as for trtlens build
`,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['FILE']);
    const target = await targetOf(values);
    const path = positionals[0]!;
    const name = basename(path);
    const wantsReading = values.read === true || values.layers !== undefined;
    if (values.layers !== undefined) await checkOutput(values.layers, [path]);
    const found = await inspectPath(path, target);
    if (found.engine === undefined) {
      if (wantsReading) throw new Usage(`--read: ${name} is not an engine: ${found.summary}`);
      if (values.json) await printJson(terminal, found);
      else await terminal.out(text(name, found));
      return exitCodes.done;
    }
    // What reads the history, and what runs TensorRT, is loaded only for engines.
    const { buildOfEngine } = await import('../builder/store/buildOfEngine.ts');
    const build = await buildOfEngine(path);
    const reading = wantsReading ? await read(path, found, values, terminal) : null;
    const [{ judgeEngine }, { engineOriginOf }] = await Promise.all([
      import('../core/inspect/portability.ts'),
      import('../core/inspect/engineOrigin.ts'),
    ]);
    const judged = judgeEngine(found, target, { origin: build && engineOriginOf(build.manifest), reading });
    const engine = { ...judged.engine!, build: build?.manifest.id ?? null };
    if (values.json) await printJson(terminal, { ...judged, engine: reading ? { ...engine, reading } : engine });
    else {
      await terminal.out(text(name, judged));
      if (build !== null) await terminal.out(`  build: ${build.manifest.id} of ${build.manifest.model.file}\n`);
      if (reading !== null) await terminal.out(readingText(reading));
    }
    if (reading === null) return exitCodes.done;
    if (reading.engine === null) {
      const { verdict, message } = engine.portability.find(({ check }) => check === 'load')!;
      terminal.note(`trtlens inspect: ${name} was not loaded: ${verdict === 'no' ? message : `${reading.error!}.`}`);
      return exitCodes.checkFailed;
    }
    return values.layers === undefined ? exitCodes.done : writeLayers(reading, values.layers, terminal);
  },
};

type Values = ReturnType<typeof readArguments<typeof options>>['values'];

async function targetOf(values: Values): Promise<EngineTarget> {
  const computeCapability = values['compute-capability'] ?? null;
  if (computeCapability !== null && !/^\d+\.\d$/.test(computeCapability))
    throw new Usage(`--compute-capability: '${computeCapability}' does not have the form 8.9`);
  const { runtime } = values;
  if (runtime !== undefined && !isRuntime(runtime))
    throw new Usage(`--runtime: unknown value '${runtime}'; values are ${engineRuntimes.join(', ')}`);
  const product = values.tensorrt === undefined ? null : await productOf(values.tensorrt);
  const version = /\d+(?:\.\d+)*$/.exec(values.tensorrt ?? '')?.[0] ?? null;
  return { product, version, computeCapability, runtime: runtime ?? null };
}

/** Loaded only for a comparison. */
const productOf = async (version: string) => (await import('./readTarget.ts')).readTarget(version).product;

const isRuntime = (text: string): text is EngineRuntime => engineRuntimes.some((one) => one === text);

async function inspectPath(path: string, target: EngineTarget): Promise<Inspection> {
  const source = await openFile(path);
  try {
    return await inspectFile(source, { name: basename(path), target });
  } finally {
    await source.close();
  }
}

async function read(
  path: string,
  { tensorrt }: Inspection,
  values: Values,
  terminal: Terminal,
): Promise<EngineReading> {
  const { readEngine } = await import('../builder/run/readEngine.ts');
  return readEngine({
    path,
    product: tensorrt.product,
    plugins: values.plugin,
    allowHostCode: values['allow-host-code'],
    scripts: `${import.meta.dirname}/driver`,
    python: values.python,
    launcher: values.launcher === undefined ? undefined : await readLauncherFile(values.launcher),
    signal: terminal.signal,
    output: (line) => terminal.note(line),
  });
}

async function writeLayers({ layers }: EngineReading, path: string, terminal: Terminal): Promise<number> {
  if (layers === null) {
    terminal.note(
      `trtlens inspect: ${path} was not written: TensorRT's inspector lists no layers. Build the engine with --profilingVerbosity=detailed.`,
    );
    return exitCodes.checkFailed;
  }
  await writeWhole(path, layers);
  terminal.note(`written to ${path}`);
  return exitCodes.done;
}

function readingText(reading: EngineReading): string {
  const { engine, messages } = reading;
  const warnings = messages.map(({ message }) => `  TensorRT: ${message}`);
  if (engine === null) return [...warnings, ''].join('\n').trimStart();
  const tensors = engine.tensors.flatMap((tensor) => {
    const { name, mode, type, shape, format, location } = tensor;
    const details = [`${type} ${shapeText(shape)}`, format, location === 'HOST' ? 'on the host' : null];
    return [
      `  ${mode} ${name}: ${details.filter((one) => one !== null).join(', ')}`,
      ...profilesOf(tensor).map((range, index) => `    profile ${index}: ${range}`),
    ];
  });
  const facts = detailsOf(engine).map(([label, value]) => `  ${label.toLowerCase()}: ${value}`);
  return [`read by ${whereRead(reading)}`, ...tensors, ...facts, ...warnings, ''].join('\n');
}

function text(name: string, { kind, tensorrt, counts, engine, problems }: Inspection): string {
  const made = tensorrt?.version ? `, ${tensorrt.product ?? 'tensorrt'} ${tensorrt.version}` : '';
  const lines = Object.entries(counts).map(([what, count]) => `  ${what}: ${String(count)}`);
  const trouble = problems.map(
    ({ severity, line, message }) => `  ${severity}${line ? ` on line ${line}` : ''}: ${message}`,
  );
  const checks = (engine?.portability ?? []).map(({ check, verdict, message }) => `  ${check}: ${verdict}: ${message}`);
  return [`${name}: ${kind}${made}`, ...lines, ...checks, ...trouble, ''].join('\n');
}
