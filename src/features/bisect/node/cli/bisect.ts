import { absoluteInput } from '../../../../kernel/node/files/inputFile.ts';
import { basename, join, resolve } from 'node:path';
import { bisectModel } from '../bisectModel.ts';
import { checkEachOutput, filesOfModel } from '../../../../kernel/node/files/writeResult.ts';
import { interpreterWith } from '../../../../kernel/node/run/tensorrtJob.ts';
import { packageFiles, patternText } from '../writePackage.ts';
import type { EngineOptions } from '../../../../kernel/build/buildOptions.ts';
import type { BisectResult, CheckedOutput } from '../../bisectReport.ts';
import { counted } from '../../../../kernel/base/text.ts';
import { requireBuild } from '../../../../kernel/node/store/buildFolder.ts';
import { isFolder } from '../../../../kernel/node/files/exists.ts';
import { absoluteOptions } from '../../../../kernel/node/run/absoluteOptions.ts';
import { runtimeFor } from '../../../../kernel/node/cli/runtimeFor.ts';
import { forceOption, readArguments, wholeNumber } from '../../../../kernel/node/cli/arguments.ts';
import { buildRequest } from '../../../../kernel/node/cli/buildRequest.ts';
import { type BuildValues, textOf, trialArguments } from '../../../../kernel/node/cli/buildOptions.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';
import { printJson } from '../../../../kernel/node/cli/terminal.ts';

const options = {
  ...trialArguments,
  inputs: { type: 'string', multiple: true },
  engine: { type: 'string' },
  reference: { type: 'string' },
  out: { type: 'string', short: 'o' },
  tolerance: { type: 'string' },
  atol: { type: 'string' },
  rtol: { type: 'string' },
  'max-builds': { type: 'string' },
  'max-minutes': { type: 'string' },
  anonymize: { type: 'boolean' },
  ...forceOption,
} as const;

export const bisect: Command = {
  help: `trtlens bisect MODEL.onnx|BUILD [--inputs FILE] [-o DIR] [--engine FILE.plan] [--reference FILE] [--force]
               [build options] [--json]

Compares an engine with ONNX Runtime on the CPU and, where it is wrong, finds the smallest piece of the network that is
wrong with right inputs, and a change after which the whole model is right. Builds in FP32 without TF32 while it searches;
the error with your own options is given, too. It needs TensorRT's Python module and a GPU.

  --inputs FILE      input values, as for trtlens run (default: random ones); may be repeated: the worst sample counts
  -o, --out DIR      folder for the piece, its inputs and outputs, a script that shows the fault, and the fixed model
                     (default: MODEL-bisect)
  --engine FILE      compare this engine instead of a new one; then nothing is searched for
  --reference FILE   outputs of another program for the same inputs (PyTorch, Polygraphy): the export is checked first
  --tolerance N      an output is wrong above this share of its largest value, and above ten times the noise of the
                     reference (default: 0.001)
  --atol N, --rtol N judge as Polygraphy does: |difference| > atol + rtol × |reference|
  --max-builds N     stop after N builds with the smallest piece so far (default: 200)
  --max-minutes N    stop after N minutes (default: 30)
  --force            overwrite files in DIR even if trtlens did not write them
  --anonymize        number nodes and tensors of the piece, and leave out its build log
  --json             the whole result as one JSON document

Other options are those of trtlens build. Exit status 0 if the engine is right, 1 if it is wrong, 2 if it cannot be compared.
`,
  options,
  run: async (args, terminal) => {
    const read = readArguments(args, options, ['MODEL.onnx|BUILD']);
    const values: BuildValues = read.values;
    const given = read.positionals[0]!;
    const build = (await isFolder(given)) ? await requireBuild(given) : null;
    const model = build?.manifest.model.file ?? given;
    const request = await buildRequest(model, values, terminal);
    const own = build === null ? request : { ...(build.manifest.options as Partial<EngineOptions>), ...request };
    const out = textOf(values, 'out') ?? `${basename(model).replace(/(?:\.onnx)?(?:\.gz)?$/i, '')}-bisect`;
    const used = [...(await filesOfModel(model)), ...((values['inputs'] as string[] | undefined) ?? [])];
    await checkEachOutput(
      packageFiles.map(([name, kind]) => [join(out, name), kind]),
      used,
    );
    const rtx = request.backend === 'rtx';
    const runtime = await runtimeFor({ buildPython: textOf(values, 'python'), yes: values['yes'] === true }, terminal);
    const absolute = await absoluteOptions({ ...own, model });
    const reference = textOf(values, 'reference');
    const place = await interpreterWith({ rtx, numpy: true, python: textOf(values, 'python') }).catch(() => null);
    const result = await bisectModel(
      {
        options: absolute,
        engine: textOf(values, 'engine'),
        inputs: ((values['inputs'] as string[] | undefined) ?? []).map(absoluteInput),
        expected: reference === undefined ? undefined : resolve(reference),
        out,
        tolerance: numberOf(values, 'tolerance') ?? 1e-3,
        atol: numberOf(values, 'atol'),
        rtol: numberOf(values, 'rtol'),
        maxBuilds: wholeNumber('--max-builds', textOf(values, 'max-builds')) ?? 200,
        maxMinutes: wholeNumber('--max-minutes', textOf(values, 'max-minutes')) ?? 30,
        anonymize: values['anonymize'] === true,
        worker: place && {
          ...place,
          script: driverScript('engine_worker.py'),
          module: rtx ? 'tensorrt_rtx' : 'tensorrt',
          plugins: absolute.plugins ?? [],
        },
        runtime,
        script: driverScript('bisect_reference.py'),
      },
      { status: (text) => terminal.status(text) },
      terminal.signal,
    ).finally(() => terminal.status(null));
    if (values['json']) await printJson(terminal, result);
    else await terminal.out(`${linesOf(result).join('\n')}\n`);
    return result.reason === 'right' || result.reason === 'random' ? exitCodes.done : exitCodes.checkFailed;
  },
};

function numberOf(values: BuildValues, name: string): number | undefined {
  const text = textOf(values, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new Usage(`--${name}: '${text}' is not a number greater than or equal to 0`);
  return value;
}

const errorText = (error: number | null): string => (error === null ? 'not finite' : error.toPrecision(3));

/** The result for people. */
function linesOf(result: BisectResult): string[] {
  const head = [
    ...(result.tensorrt === null ? [] : [`TensorRT ${result.tensorrt}, ${result.gpu}`]),
    ...result.outputs.map(outputLine),
    verdicts[result.reason],
  ];
  if (result.withFlags !== null) head.push(`With your options the error is ${errorText(result.withFlags)}.`);
  if (result.lost.length > 0)
    head.push(`TensorRT names ${counted(result.lost.length, 'node')} nowhere: ${some(result.lost)}`);
  const { piece, fix } = result;
  if (piece) {
    const sizes = result.steps.map((size) => size.toLocaleString('en-US')).join(' → ');
    head.push(`${sizes} nodes, ${counted(result.builds, 'build')}, ${result.seconds} s`);
    const pattern = piece.pattern && piece.pattern.kind !== 'other' ? `: ${patternText(piece.pattern)}` : '';
    head.push(`Smallest piece: ${piece.model} (nodes ${some(piece.nodes)}), error ${errorText(piece.error)}${pattern}`);
  }
  if (fix) {
    const cost = fix.costMs === null ? '' : `, ${fix.costMs >= 0 ? '+' : ''}${fix.costMs.toPrecision(2)} ms a run`;
    head.push(`Right after this change: ${fix.change}; error ${errorText(fix.error)}${cost}`);
    if (fix.model) head.push(`Fixed model: ${fix.model}`);
  } else if (piece) head.push(`No change of ${counted(result.tried.length, 'attempt')} makes the whole model right.`);
  return head;
}

function outputLine({ name, wrong, error, pattern }: CheckedOutput): string {
  const shown = pattern && pattern.kind !== 'other' ? ` (${patternText(pattern)})` : '';
  return `  ${wrong ? 'wrong' : 'right'}  ${name}: ${errorText(error)}${wrong ? shown : ''}`;
}

const verdicts: Record<BisectResult['reason'], string> = {
  right: 'The engine is right.',
  wrong: 'The engine is wrong.',
  export: 'The export is wrong: ONNX Runtime computes other outputs from this model than the reference.',
  precision:
    'The engine is right in FP32 and wrong with your options: trtlens accuracy finds the nodes that need FP32.',
  random: 'The network draws random numbers, so two runs differ; that is no fault.',
  nondeterministic: 'The engine gives different outputs for the same input.',
  remembers: 'The engine gives other outputs after it ran with another input.',
  'vanishes-when-cut':
    'The engine is wrong, but every piece of it is right alone: the fault depends on the whole network.',
  budget: 'Stopped before the end of the search.',
  cancelled: 'Cancelled.',
};

const some = (ids: readonly string[]): string =>
  ids.length <= 12 ? ids.join(', ') : `${ids.slice(0, 12).join(', ')} and ${ids.length - 12} more`;
