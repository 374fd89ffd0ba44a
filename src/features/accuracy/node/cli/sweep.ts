import { randomWarning } from '../../../../kernel/build/randomInputs.ts';
import { basename } from 'node:path';
import { runPrecisionSweep } from '../runPrecisionSweep.ts';
import type { EngineRequest } from '../measureEngine.ts';
import {
  type PrecisionSweep,
  stepFails,
  sweepDocument,
  type SweepPrecision,
  sweepPrecisions,
} from '../../precisionSweep.ts';
import { isFp32EngineWrong } from '../../precisionSweep.ts';
import { renderText } from '../../../../kernel/document/render.ts';
import { quoteCommand } from '../../../../kernel/base/text.ts';
import { readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { confirmDownload, printJson, type Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { readBuildOptions } from '../../../../kernel/node/cli/buildOptions.ts';
import { readLauncherFile } from '../../../../kernel/node/cli/launcherFile.ts';
import { modelLine } from './accuracy.ts';
import { simulationOptions, simulationRequest, toleranceOf } from '../../../../kernel/node/cli/simulationOptions.ts';
import { driverFolder, driverScript } from '../../../../kernel/node/cli/driverScript.ts';

const options = {
  ...simulationOptions,
  precisions: { type: 'string' },
  int8: { type: 'string' },
  measured: { type: 'string', multiple: true },
  times: { type: 'boolean' },
  build: { type: 'boolean' },
  backend: { type: 'string' },
  launcher: { type: 'string' },
  reference: { type: 'string' },
} as const;

export const sweep: Command = {
  help: `trtlens accuracy MODEL --precisions fp32,fp16,bf16,int8 [--inputs F]... [--int8 QDQ] [--json]

Simulates a model in each precision and compares with FP32: error, nodes to blame, what repairs
it. Exit status 1: a precision misses the tolerance.

  --inputs FILE         input values, as above; may be repeated
  --shapes INPUT:1x128[,…]   shapes of random inputs
  --precisions LIST     the precisions, separated by commas
  --int8 MODEL          a Q/DQ model for INT8 (default: MODEL itself if it has Q/DQ nodes)
  --reference MODEL     the FP32 model that a Q/DQ model was made from: its outputs are the reference
  --measured fp16:FILE  outputs of an engine in this precision, as trtlens run writes them; may be repeated
  --times               time ONNX Runtime with the model and the Q/DQ model on this computer, as the baseline: median,
                        99th percentile, runs per second, memory, error. Rows that need a GPU say so
  --build               build an engine in each precision, run it on the GPU, and give its error and time; needs --inputs.
                        Without a GPU, the table says so
  --backend NAME        what builds: auto, trtexec, polygraphy, python or rtx, as for trtlens build
  --launcher FILE       build and run in a container, over ssh or on a cluster, as for trtlens build
  --tolerance 0.01[,int8=0.05]   largest error of an output that passes, max|difference| / max|reference|, and that of
                        single precisions
  --aim 0.8             the share of the tolerance that a fix has to reach
  --max-runs N          stop each search after N runs (default 1000)
  --max-seconds N       stop each search after N seconds (default 300)
  --json                the result as one JSON document
  --python PROGRAM      the Python interpreter to use
  -y, --yes             download ONNX Runtime without asking
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['MODEL'], {
      needs: { backend: ['build'], launcher: ['build'] },
    });
    const model = positionals[0]!;
    const { general, tolerances } = tolerancesOf(values.tolerance);
    const engines = await enginesOf(values, terminal);
    const result = await runPrecisionSweep({
      engines,
      times: values.times,
      precisions: precisionsOf(values.precisions),
      quantized: values.int8,
      measured: measuredOf(values.measured ?? []),
      modelLine: modelLine(model, undefined),
      reference: values.reference,
      tolerances,
      ...(await simulationRequest(model, { ...values, tolerance: general }, terminal)),
      progress: ({ stage, done }) => terminal.status(`${stage}: ${done}`),
    }).finally(() => terminal.status(null));
    if (!values.inputs?.length) terminal.note(`warning: ${randomWarning([{ name: 'the inputs', source: 'random' }])}`);
    if (values.json) await printJson(terminal, result);
    else await terminal.out(renderText(sweepDocument(result, basename(model))));
    if (isFp32EngineWrong(result)) terminal.note(bisectAdvice(model, values.inputs ?? []));
    return passes(result) ? exitCodes.done : exitCodes.checkFailed;
  },
};

/** What finds the nodes that make an engine wrong in FP32, too. */
const bisectAdvice = (model: string, inputs: readonly string[]): string =>
  `The engine is wrong in FP32, too. What finds the nodes: ${quoteCommand(['trtlens', 'bisect', model, ...inputs.flatMap((file) => ['--inputs', file])])}`;

/** How to build and run engines; undefined: not asked for. */
async function enginesOf(
  values: { build?: boolean; backend?: string; launcher?: string; inputs?: string[]; python?: string; yes?: boolean },
  terminal: Terminal,
): Promise<EngineRequest | undefined> {
  const { build, backend, launcher: file, inputs, python, yes } = values;
  if (!build) return undefined;
  if (!inputs?.length) throw new Usage('--build needs --inputs FILE: engine and simulation must get the same values');
  const launcher = file === undefined ? undefined : await readLauncherFile(file);
  return {
    build: {
      backend: 'auto',
      ...readBuildOptions({ backend }),
      driver: driverScript('build_engine.py'),
      ...(python !== undefined && { python }),
      ...(launcher && { launcher }),
      confirm: (text) => confirmDownload(terminal, yes ?? false, text),
      setUpProgress: (line) => terminal.note(line),
    },
    run: { scripts: driverFolder, python, launcher },
  };
}

const passes = (sweep: PrecisionSweep): boolean => sweep.rungs.every((step) => !stepFails(step, sweep));

/** `0.01,int8=0.05`: a tolerance for all, and those of single precisions. */
function tolerancesOf(text: string | undefined): {
  general: string | undefined;
  tolerances: Map<SweepPrecision, number>;
} {
  const words = text?.split(',') ?? [];
  const own = words.filter((word) => word.includes('='));
  const others = words.filter((word) => !word.includes('='));
  if (others.length > 1) throw new Usage(`--tolerance: '${text}' has two values for all precisions`);
  const tolerances = own.map((word): [SweepPrecision, number] => {
    const at = word.indexOf('=');
    return [precisionOf('--tolerance', word.slice(0, at)), toleranceOf(word.slice(at + 1))];
  });
  return { general: others[0], tolerances: new Map(tolerances) };
}

function precisionsOf(text: string | undefined): SweepPrecision[] {
  if (text === undefined) return [...sweepPrecisions];
  return text.split(',').map((word) => precisionOf('--precisions', word));
}

function precisionOf(option: string, word: string): SweepPrecision {
  const found = sweepPrecisions.find((one) => one === word);
  if (found === undefined)
    throw new Usage(`${option}: unknown value '${word}'; expected ${sweepPrecisions.join(', ')}`);
  return found;
}

/** `fp16:out.npz`, one each. */
function measuredOf(texts: string[]): Map<SweepPrecision, string> {
  return new Map(
    texts.map((text) => {
      const [word, path] = [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)];
      if (!text.includes(':') || path === '') throw new Usage(`--measured: '${text}' does not have the form fp16:FILE`);
      return [precisionOf('--measured', word), path];
    }),
  );
}
