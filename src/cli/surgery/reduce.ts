import { join } from 'node:path';
import { reduceModel } from '../../builder/run/reduceModel.ts';
import { counted } from '../../core/text/numbers.ts';
import { readArguments, wholeNumber } from '../arguments.ts';
import { buildArguments, type BuildValues, readBuildOptions, textOf } from '../build/buildOptions.ts';
import { type Command, exitCodes, Usage } from '../command.ts';
import { confirmDownload } from '../confirmDownload.ts';
import { printJson } from '../terminal.ts';

// Nothing is left of the engines that are built.
const { engine: _, ...build } = buildArguments;
const options = {
  ...build,
  out: { type: 'string', short: 'o' },
  code: { type: 'string' },
  'max-minutes': { type: 'string' },
} as const;

export const reduce: Command = {
  name: 'reduce',
  summary: 'make a failing model the smallest one that fails alike',
  help: `trtlens reduce MODEL.onnx -o DIR [--code CODE] [--max-minutes N] [build options] [--json]

Builds the model, which fails, and then parts of it, two at a time, until every node that is left is needed for the same
failure: the same code of 'trtlens diagnose' at the same operator. No part is run. DIR gets model.onnx with the weights
that it uses, build.log, and command.txt, the command that was run.

  -o DIR            folder for the result
  --code CODE       the failure to keep, where the build has several (default: the first)
  --max-minutes N   stop after N minutes with the smallest part so far
  --json            { "from", "to", "builds", "seconds", "code", "operator", "model", "assumed", "stopped" }

Other options are those of trtlens build.
`,
  run: async (args, terminal) => {
    const read = readArguments(args, options, ['MODEL.onnx']);
    const values: BuildValues = read.values;
    const model = read.positionals[0]!;
    const out = textOf(values, 'out');
    if (out === undefined) throw new Usage('-o DIR is missing');
    const maxMinutes = wholeNumber('--max-minutes', textOf(values, 'max-minutes'));
    const steps: number[] = [];
    const result = await reduceModel(
      {
        options: {
          backend: 'auto',
          ...readBuildOptions(values),
          ...Object.fromEntries(
            ['python', 'trtexec', 'polygraphy'].flatMap((name) => {
              const value = textOf(values, name);
              return value === undefined ? [] : [[name, value]];
            }),
          ),
          model,
          driver: join(import.meta.dirname, 'driver', 'build_engine.py'),
          confirm: (text) => confirmDownload(terminal, values['yes'] === true, text),
          setUpProgress: (line) => terminal.note(line),
        },
        out,
        code: textOf(values, 'code'),
        maxMinutes,
      },
      (nodes) => {
        steps.push(nodes);
        terminal.status(`${steps.join(' → ')} nodes`);
      },
      terminal.signal,
    ).finally(() => terminal.status(null));
    const { from, builds, code, operator, assumed, stopped } = result;
    if (values['json']) await printJson(terminal, result);
    else {
      const where = operator === null ? '' : ` at ${operator}`;
      await terminal.out(
        `${[from, ...steps].join(' → ')} nodes in ${counted(builds, 'build')}: ${code}${where}\nWritten: ${result.model}\n`,
      );
    }
    if (stopped) terminal.note(`note: stopped after ${maxMinutes} minutes; a smaller part may fail alike`);
    if (assumed.length > 0) terminal.note(`note: the type of ${assumed.join(', ')} is not known; declared as float`);
    return exitCodes.done;
  },
};
