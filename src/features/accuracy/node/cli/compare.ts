import type { AccuracyReport } from '../../../../kernel/simulation/simulated.ts';
import { resolve } from 'node:path';
import { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { readTextBytes } from '../../../../kernel/node/files/readTextBytes.ts';
import { readBuildSide } from '../../../../kernel/node/store/buildSide.ts';
import { runPythonJob } from '../../../../kernel/node/tools/runPythonJob.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import { comparedDocument, type ComparedRuns, compareRuns } from '../../precisionSweep.ts';
import { renderText } from '../../../../kernel/document/render.ts';
import { diffReports, markedSentences } from '../../../diff/diffReports.ts';
import { readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { printJson } from '../../../../kernel/node/cli/terminal.ts';
import { runtimeFor } from '../../../../kernel/node/cli/runtimeFor.ts';
import { comparisonOptions, toleranceOf } from '../../../../kernel/node/cli/simulationOptions.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';

const options = {
  onnx: { type: 'string' },
  prediction: { type: 'string' },
  plain: { type: 'string' },
  marked: { type: 'string' },
  ...comparisonOptions,
} as const;

export const compare: Command = {
  help: `trtlens compare A B [--onnx MODEL] [--prediction FILE] [--tolerance 0.01] [--json]

Compares tensors; A is the reference. Exit status 1: a tensor misses the tolerance.

A and B are files or folders: Polygraphy's --save-outputs; trtexec's --exportOutput, --dumpRawBindingsToFile and
tensor_summary.json of --saveAllDebugTensors; .npz, .npy. Of several runners in one file, A is the first and B the last.
B may also be Polygraphy's --save-accuracy-results (of --compare simple): the error is its largest difference over the
largest value of A.

  --onnx MODEL       the model: lists tensors in its order, with their nodes
  --plain FOLDER     the build that you ship, and
  --marked FOLDER    the build with marked or debug tensors that was run: notes what the marks did to the fusion
  --prediction FILE  the output of trtlens accuracy --json, to compare predicted with measured errors
  --tolerance 0.01   largest error that passes: max|difference| / max|reference|
  --json             the result as one JSON document
  --python PROGRAM   the Python interpreter to use
  -y, --yes          download ONNX Runtime, which comes with NumPy, without asking
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['A', 'B']);
    const tolerance = toleranceOf(values.tolerance);
    const model = values.onnx === undefined ? null : (await new ParsedFiles().model(values.onnx)).value;
    const prediction = values.prediction === undefined ? null : await readPrediction(values.prediction);
    const runtime = await runtimeFor(values, terminal);
    const runs = await runPythonJob<ComparedRuns>({
      ...runtime,
      script: driverScript('compare_runs.py'),
      request: { a: resolve(positionals[0]!), b: resolve(positionals[1]!) },
      signal: terminal.signal,
    });
    if (runs.tensors.length === 0)
      throw new UserError(
        `A and B have no tensor in common: A contains ${runs.onlyA.slice(0, 5).join(', ') || 'none'}, B ${runs.onlyB.slice(0, 5).join(', ') || 'none'}`,
      );
    const built = await markedNotes(values.plain, values.marked);
    const comparison = compareRuns(
      { ...runs, notes: [...runs.notes, ...built], runtime: runtime.used },
      tolerance,
      model,
      prediction,
    );
    if (values.json) await printJson(terminal, comparison);
    else await terminal.out(renderText(comparedDocument(comparison)));
    return comparison.tensors.every(({ passes }) => passes) ? exitCodes.done : exitCodes.checkFailed;
  },
};

/** What the marked tensors of the build that was run did to its fusions. */
async function markedNotes(plain: string | undefined, marked: string | undefined): Promise<string[]> {
  if (plain === undefined && marked === undefined) return [];
  if (plain === undefined || marked === undefined) throw new Usage('--plain and --marked need each other');
  const diff = diffReports(await readBuildSide(plain), await readBuildSide(marked));
  return diff.marked ? markedSentences(diff.marked) : ['Neither build, or both, are known to have marked tensors'];
}

async function readPrediction(path: string): Promise<AccuracyReport> {
  const text = new TextDecoder().decode(await readTextBytes(path, 'predictions (of trtlens accuracy --json) are'));
  try {
    const report = JSON.parse(text) as AccuracyReport;
    if (Array.isArray(report.outputs) && Array.isArray(report.nodes)) return report;
  } catch {
    // Said below.
  }
  throw new UserError(`${path} is not the JSON of trtlens accuracy --json`);
}
