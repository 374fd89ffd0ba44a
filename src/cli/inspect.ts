import { basename } from 'node:path';
import { openFile } from '../builder/files/fileSource.ts';
import { inspectFile } from '../core/inspect/inspectFile.ts';
import { readArguments } from './arguments.ts';
import { type Command, exitCodes, Usage } from './command.ts';
import { printJson } from './terminal.ts';

export const inspect: Command = {
  name: 'inspect',
  summary: 'identify a file by its content',
  help: `trtlens inspect FILE [--tensorrt VERSION] [--compute-capability 8.9] [--json]

Identifies a file by its content, whatever its name: a model, layer info, a build log, a profile, a trace of
Nsight Systems, times, a tactic replay, recorded choices, a calibration or timing cache, an engine, precision overrides.
For an engine it also reports the header, and whether another version or GPU can load it.

  --tensorrt VERSION        the version that will load the engine: 10.6.0, or rtx-1.7.1
  --compute-capability N    the GPU that will run it
  --json                    the result as one JSON document
`,
  run: async (args, terminal) => {
    const options = {
      json: { type: 'boolean' },
      tensorrt: { type: 'string' },
      'compute-capability': { type: 'string' },
    } as const;
    const { values, positionals } = readArguments(args, options, ['FILE']);
    const computeCapability = values['compute-capability'] ?? null;
    if (computeCapability !== null && !/^\d+\.\d$/.test(computeCapability))
      throw new Usage(`--compute-capability: '${computeCapability}' does not have the form 8.9`);
    const product = values.tensorrt === undefined ? null : (await targetOf(values.tensorrt)).product;
    const version = /\d+(?:\.\d+)*$/.exec(values.tensorrt ?? '')?.[0] ?? null;
    const target = { product, version, computeCapability };
    const path = positionals[0]!;
    const source = await openFile(path);
    try {
      const found = await inspectFile(source, { name: basename(path), target });
      const build = found.kind === 'engine' ? await buildOf(path) : null;
      const engine = found.engine && { ...found.engine, build: build?.manifest.id ?? null };
      if (values.json) await printJson(terminal, engine ? { ...found, engine } : found);
      else {
        await terminal.out(text(basename(path), found));
        if (build !== null) await terminal.out(`  build: ${build.manifest.id} of ${build.manifest.model.file}\n`);
      }
    } finally {
      await source.close();
    }
    return exitCodes.done;
  },
};

/** Loaded only for a comparison. */
const targetOf = async (version: string) => (await import('./readTarget.ts')).readTarget(version);

/** What reads the history is loaded only for engines. */
const buildOf = async (path: string) => (await import('../builder/store/buildOfEngine.ts')).buildOfEngine(path);

function text(
  name: string,
  { kind, tensorrt, counts, engine, problems }: Awaited<ReturnType<typeof inspectFile>>,
): string {
  const made = tensorrt?.version ? `, ${tensorrt.product ?? 'tensorrt'} ${tensorrt.version}` : '';
  const lines = Object.entries(counts).map(([what, count]) => `  ${what}: ${String(count)}`);
  const trouble = problems.map(
    ({ severity, line, message }) => `  ${severity}${line ? ` on line ${line}` : ''}: ${message}`,
  );
  const checks = (engine?.portability ?? []).map(({ check, verdict, message }) => `  ${check}: ${verdict}: ${message}`);
  return [`${name}: ${kind}${made}`, ...lines, ...checks, ...trouble, ''].join('\n');
}
