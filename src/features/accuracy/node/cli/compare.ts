import type { AccuracyReport } from '../../../../kernel/simulation/simulated.ts';
import { resolve } from 'node:path';
import { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { readTextBytes } from '../../../../kernel/node/files/readTextBytes.ts';
import { runPythonJob } from '../../../../kernel/node/tools/runPythonJob.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import { isWithin } from '../../accuracyReport.ts';
import { quoteCommand } from '../../../../kernel/base/text.ts';
import { comparedDocument, type ComparedRuns, compareRuns } from '../../precisionSweep.ts';
import { renderText } from '../../../../kernel/document/render.ts';
import { readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes } from '../../../../kernel/node/cli/command.ts';
import { printJson } from '../../../../kernel/node/cli/terminal.ts';
import { runtimeFor } from '../../../../kernel/node/cli/runtimeFor.ts';
import { comparisonOptions, toleranceOf } from '../../../../kernel/node/cli/simulationOptions.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';

const options = {
  onnx: { type: 'string' },
  accuracy: { type: 'string' },
  ...comparisonOptions,
} as const;

export const compare: Command = {
  help: `trtlens diff A B [--onnx MODEL] [--accuracy FILE] [--tolerance 0.01] [--json]

Compares tensors; A is the reference. Exit status 1: a tensor misses the tolerance.

A and B are files or folders: Polygraphy's --save-outputs; trtexec's --exportOutput, --dumpRawBindingsToFile and
tensor_summary.json of --saveAllDebugTensors; .npz, .npy. Of several runners in one file, A is the first and B the last.
B may also be Polygraphy's --save-accuracy-results (of --compare simple): the error is its largest difference over the
largest value of A.

  --onnx MODEL       the model: lists tensors in its order, with their nodes
  --accuracy FILE    the output of trtlens accuracy --json, to compare predicted with measured errors
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
    const prediction = values.accuracy === undefined ? null : await readPrediction(values.accuracy);
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
    const comparison = compareRuns({ ...runs, runtime: runtime.used }, tolerance, model, prediction);
    if (values.json) await printJson(terminal, comparison);
    else await terminal.out(renderText(comparedDocument(comparison)));
    // A miss that low precision does not explain.
    const unexplained = comparison.tensors.some(
      ({ passes, predicted }) => !passes && (predicted === undefined || isWithin(predicted, tolerance)),
    );
    if (unexplained && values.onnx !== undefined)
      terminal.note(
        `If B is of an engine in FP32, this finds the nodes: ${quoteCommand(['trtlens', 'bisect', values.onnx])}`,
      );
    return comparison.tensors.every(({ passes }) => passes) ? exitCodes.done : exitCodes.checkFailed;
  },
};

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
