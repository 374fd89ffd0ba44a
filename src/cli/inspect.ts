import { basename } from 'node:path';
import { openFile } from '../builder/files/fileSource.ts';
import { inspectFile } from '../core/inspect/inspectFile.ts';
import { readArguments } from './arguments.ts';
import { type Command, exitCodes } from './command.ts';
import { printJson } from './terminal.ts';

export const inspect: Command = {
  name: 'inspect',
  summary: 'identify a file by its content',
  help: `trtlens inspect FILE [--json]

Identifies a file by its content, whatever its name: a model, layer info, a build log, a profile, a trace of
Nsight Systems, times, a tactic replay, recorded choices, a calibration or timing cache, an engine, precision overrides.
`,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, { json: { type: 'boolean' } }, ['FILE']);
    const path = positionals[0]!;
    const source = await openFile(path);
    try {
      const found = await inspectFile(source, { name: basename(path) });
      if (values.json) await printJson(terminal, found);
      else await terminal.out(text(basename(path), found));
    } finally {
      await source.close();
    }
    return exitCodes.done;
  },
};

function text(name: string, { kind, tensorrt, counts, problems }: Awaited<ReturnType<typeof inspectFile>>): string {
  const made = tensorrt?.version ? `, ${tensorrt.product ?? 'tensorrt'} ${tensorrt.version}` : '';
  const lines = Object.entries(counts).map(([what, count]) => `  ${what}: ${String(count)}`);
  const trouble = problems.map(
    ({ severity, line, message }) => `  ${severity}${line ? ` on line ${line}` : ''}: ${message}`,
  );
  return [`${name}: ${kind}${made}`, ...lines, ...trouble, ''].join('\n');
}
