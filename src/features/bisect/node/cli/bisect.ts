import { absoluteInput } from '../../../../kernel/node/files/inputFile.ts';
import { basename, resolve } from 'node:path';
import { bisectModel } from '../bisectModel.ts';
import { checkEachOutput, filesOfModel } from '../../../../kernel/node/files/writeResult.ts';
import { workerPlace } from '../engineWorker.ts';
import { packageFiles } from '../writePackage.ts';
import type { EngineOptions } from '../../../../kernel/build/buildOptions.ts';
import { bisectDocument } from '../../bisectDocument.ts';
import { renderText } from '../../../../kernel/document/render.ts';
import { requireBuild } from '../../../../kernel/node/store/buildFolder.ts';
import { isFolder } from '../../../../kernel/node/files/exists.ts';
import { absoluteOptions } from '../../../../kernel/node/run/absoluteOptions.ts';
import type { Launcher } from '../../../../kernel/build/launcher.ts';
import { readLauncherFile } from '../../../../kernel/node/cli/launcherFile.ts';
import { runtimeFor } from '../../../../kernel/node/cli/runtimeFor.ts';
import { forceOption, readArguments, wholeNumber } from '../../../../kernel/node/cli/arguments.ts';
import { buildRequest } from '../../../../kernel/node/cli/buildRequest.ts';
import { type BuildValues, maxSecondsOf, textOf, trialArguments } from '../../../../kernel/node/cli/buildOptions.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { driverFolder, driverScript } from '../../../../kernel/node/cli/driverScript.ts';
import { printJson } from '../../../../kernel/node/cli/terminal.ts';

const options = {
  ...trialArguments,
  launcher: { type: 'string', multiple: true },
  inputs: { type: 'string', multiple: true },
  engine: { type: 'string' },
  reference: { type: 'string' },
  out: { type: 'string', short: 'o' },
  tolerance: { type: 'string' },
  atol: { type: 'string' },
  rtol: { type: 'string' },
  'max-builds': { type: 'string' },
  'max-seconds': { type: 'string' },
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
  --max-seconds N    stop after N seconds (default: 1800)
  --force            overwrite files in DIR even if trtlens did not write them
  --launcher FILE    search where this launcher runs programs; repeated: the piece is built at the other places, too,
                     which shows the version that is right
  --anonymize        number nodes and tensors of the piece, and leave out its build log
  --json             the whole result as one JSON document

Other options are those of trtlens build. Exit status 0 if the engine is right, 1 if it is wrong, 2 if it cannot be compared.
`,
  options,
  run: async (args, terminal) => {
    const read = readArguments(args, options, ['MODEL.onnx|BUILD'], {
      without: { engine: ['max-builds', 'max-seconds', 'anonymize'] },
    });
    const launchers = read.values.launcher ?? [];
    const values: BuildValues = { ...read.values, launcher: launchers[0] };
    const given = read.positionals[0]!;
    const build = (await isFolder(given)) ? await requireBuild(given) : null;
    const model = build?.manifest.model.file ?? given;
    const request = await buildRequest(model, values, terminal);
    const own = build === null ? request : { ...(build.manifest.options as Partial<EngineOptions>), ...request };
    const out = textOf(values, 'out') ?? `${basename(model).replace(/(?:\.onnx)?(?:\.gz)?$/i, '')}-bisect`;
    const used = [...(await filesOfModel(model)), ...((values['inputs'] as string[] | undefined) ?? [])];
    await checkEachOutput(packageFiles(out), used);
    const rtx = request.backend === 'rtx';
    const runtime = await runtimeFor({ buildPython: textOf(values, 'python'), yes: values['yes'] === true }, terminal);
    const absolute = await absoluteOptions({ ...own, model });
    const reference = textOf(values, 'reference');
    const place = (launcher: Launcher | undefined) =>
      workerPlace({
        rtx,
        python: textOf(values, 'python'),
        launcher,
        scripts: driverFolder,
        plugins: absolute.plugins ?? [],
      });
    const others = await Promise.all(launchers.slice(1).map(async (file) => place(await readLauncherFile(file))));
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
        maxSeconds: maxSecondsOf(values) ?? 1800,
        anonymize: values['anonymize'] === true,
        worker: await place(request.launcher),
        others: others.filter((other) => other !== null),
        runtime,
        script: driverScript('bisect_reference.py'),
      },
      { status: (text) => terminal.status(text) },
      terminal.signal,
    ).finally(() => terminal.status(null));
    if (values['json']) await printJson(terminal, result);
    else await terminal.out(renderText(bisectDocument(result, { title: basename(model) })));
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
