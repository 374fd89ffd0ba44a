import { suggestRepairs } from '../../../repair/node/suggestRepairs.ts';
import { reduceModel } from '../reduceModel.ts';
import { suggestionText } from '../../../repair/repairResult.ts';
import { counted } from '../../../../kernel/base/text.ts';
import { forceOption, readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type BuildValues, maxSecondsOf, textOf, trialArguments } from '../../../../kernel/node/cli/buildOptions.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { printJson } from '../../../../kernel/node/cli/terminal.ts';
import { buildRequest } from '../../../../kernel/node/cli/buildRequest.ts';

const options = {
  ...trialArguments,
  out: { type: 'string', short: 'o' },
  code: { type: 'string' },
  until: { type: 'string' },
  anonymize: { type: 'boolean' },
  'without-weights': { type: 'boolean' },
  'max-seconds': { type: 'string' },
  ...forceOption,
} as const;

export const reduce: Command = {
  help: `trtlens cut reduce MODEL.onnx -o DIR|FILE.zip [--code CODE | --until RULE] [--anonymize] [--without-weights]
               [--max-seconds N] [build options] [--json]

Builds the failing model and then parts of it, two at a time, until the same failure needs every node that is left: the
same code of 'trtlens diagnose' at the same operator. No part is run. DIR or the zip file gets model.onnx with the
weights that it uses, build.log, and command.txt, the command that was run. The same command continues an interrupted
search.

  -o DIR|FILE.zip     folder or zip file for the result
  --code CODE         the failure to keep, where the build has several (default: the first)
  --until RULE        look for the smallest part that breaks one rule of a gate file, as the model does, instead of one
                      that fails, for example 'attention: fused' or 'reformats: 0'
  --anonymize         number nodes and tensors, and leave out descriptions and metadata
  --without-weights   leave out large weights; the result is built with random ones
  --max-seconds N     stop after N seconds with the smallest part so far
  --force             overwrite files that trtlens did not write
  --json              { "from", "to", "builds", "seconds", "code", "operator", "until", "model", "assumed", "stopped" }

Other options are those of trtlens build.
`,
  options,
  run: async (args, terminal) => {
    const read = readArguments(args, options, ['MODEL.onnx']);
    const values: BuildValues = read.values;
    const model = read.positionals[0]!;
    const out = textOf(values, 'out');
    if (out === undefined) throw new Usage('-o DIR is missing');
    const [code, until] = [textOf(values, 'code'), textOf(values, 'until')];
    if (code !== undefined && until !== undefined) throw new Usage('--code cannot be combined with --until');
    const maxSeconds = maxSecondsOf(values);
    const steps: number[] = [];
    const result = await reduceModel(
      {
        options: await buildRequest(model, values, terminal),
        out,
        code,
        until,
        maxSeconds,
        anonymize: values['anonymize'] === true,
        withoutWeights: values['without-weights'] === true,
      },
      (nodes) => {
        steps.push(nodes);
        terminal.status(`${progress(steps)} nodes`);
      },
      terminal.signal,
    ).finally(() => terminal.status(null));
    const { builds, operator, assumed, stopped } = result;
    if (values['json']) await printJson(terminal, result);
    else {
      const what = result.until === null ? result.code : `breaks ${result.until}`;
      const where = operator === null ? '' : ` at ${operator}`;
      await terminal.out(
        `${progress(steps)} nodes in ${counted(builds, 'build')}: ${what}${where}\nWritten: ${result.model}\n`,
      );
      // A zip file cannot be read as a model.
      if (result.until === null && !/\.zip$/i.test(result.model)) {
        const repairs = await suggestRepairs(result.model, undefined);
        if (repairs.length > 0)
          await terminal.out(`${suggestionText(repairs)}To repair the whole model: trtlens repair ${model}\n`);
      }
    }
    if (stopped)
      terminal.note(
        `note: stopped after ${maxSeconds} seconds; a smaller part may fail alike. The same command continues the search`,
      );
    if (assumed.length > 0) terminal.note(`note: the type of ${assumed.join(', ')} is not known; declared as float`);
    return exitCodes.done;
  },
};

/** `14,163 → 41 → 1` */
const progress = (steps: readonly number[]): string => steps.map((nodes) => nodes.toLocaleString('en-US')).join(' → ');
