import {
  measureKinds,
  type AccuracyReport,
  type MeasureKind,
  errorFigure,
  type LowPrecision,
} from '../../../../kernel/simulation/simulated.ts';
import { randomWarning } from '../../../../kernel/build/randomInputs.ts';
import path, { basename, type PlatformPath } from 'node:path';
import { type AccuracyProgress, judgeAccuracy } from '../judgeAccuracy.ts';
import { checkEachOutput, filesOfModel, writeResult } from '../../../../kernel/node/files/writeResult.ts';
import { readRules } from '../../../../kernel/node/files/readRules.ts';
import { requireBuild } from '../../../../kernel/node/store/buildFolder.ts';
import { loadBuild, loadFiles } from '../../../../kernel/node/store/loadBuild.ts';
import { writeRemedy } from '../writeRemedy.ts';
import { withKernels } from '../ruleCosts.ts';
import { Cancelled, UserError } from '../../../../kernel/node/files/userError.ts';
import { accuracyDocument } from '../../accuracyDocument.ts';
import { helpfulRemedy, type JudgedOutputs, nodeLevel, passesTolerance } from '../../accuracyReport.ts';
import { renderHtml, renderText } from '../../../../kernel/document/render.ts';
import type { FusionReport } from '../../../../kernel/fusion/fusionReport.ts';
import { shell } from '../../../../kernel/node/tools/shell.ts';
import { counted, quoteCommand } from '../../../../kernel/base/text.ts';
import type { Action } from '../../../../kernel/document/document.ts';
import { forceOption, readArguments, wholeNumber } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { confirmDownload, printJson, type Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';
import { simulationOptions, simulationRequest } from '../../../../kernel/node/cli/simulationOptions.ts';

const options = {
  ...simulationOptions,
  precision: { type: 'string' },
  rules: { type: 'string' },
  reference: { type: 'string' },
  out: { type: 'string', short: 'o' },
  build: { type: 'string' },
  layers: { type: 'string' },
  log: { type: 'string' },
  sensitivity: { type: 'string' },
  html: { type: 'string' },
  ...forceOption,
  outputs: { type: 'string', multiple: true },
  measure: { type: 'string', multiple: true },
  'most-nodes': { type: 'string' },
  cost: { type: 'boolean' },
  remedy: { type: 'string' },
} as const;

export const accuracy: Command = {
  help: `trtlens accuracy MODEL [--inputs F]... [--precision fp16|bf16|int8|fp8] [--rules RULES] [-o RULES] [--json]

Simulates a model in low precision with ONNX Runtime on the CPU, judges every node, and searches for the smallest set
of nodes that must stay in FP32. Exit status 1: the model with the given rules misses the tolerance, even if a fix was
found. Writes only what -o, --html and --remedy ask for.

  --inputs FILE         input values: .npz, .npy, Polygraphy's or trtexec's JSON, NAME:FILE for raw bytes, or a folder of
                        samples; may be repeated. Without it, inputs are random and the result can mislead
  --shapes INPUT:1x128[,…]   shapes of random inputs
  --precision PRECISION fp16, bf16, or int8 and fp8 as the Q/DQ nodes of the model say (default: the line 'base' in the
                        rules, otherwise fp16)
  --rules RULES         the override rules (*.trtprec) of the build
  --reference MODEL     the FP32 model that a Q/DQ model was made from: compare with its outputs, so weights that are stored
                        quantized are judged, too
  --tolerance 0.01      largest error of an output that passes: max|difference| / max|reference|
  --aim 0.8             the share of the tolerance that a fix has to reach, because engines differ a little from the
                        simulation; rules that are passed are checked against the tolerance itself
  --outputs NAME        judge only this output, of any type; may be repeated. all: also those that are not floating point,
                        by the share of elements that differ
  --measure [NAME=]KIND judge outputs, or this one, by what their users look at: top1, tokens, iou (of each class), boxes
                        (matched, with their scores), cosine, set (another order), elements or numeric; may be repeated.
                        Without it, numbers count, in each group of channels with a range of its own, and boxes are
                        matched as well; the kind of an output is guessed and shown. Outputs that hold choices (ArgMax,
                        TopK, NonMaxSuppression) are judged by what they choose from
  --max-runs N          stop the search after N runs (default 1000); Ctrl-C stops it, too, and keeps what was found
  --max-seconds N       stop the search after N seconds (default 300)
  --most-nodes N        the best set of at most N nodes, even if it misses the tolerance
  --cost                also the kernels that each rule adds, by builds of this machine's TensorRT or TensorRT-RTX
  --build FOLDER        a build of this model: also the result if values inside its kernels are not rounded
  --layers FILE, --log FILE   the same from layer info and log
  --sensitivity N       also the error when only one of N nodes, an operator or a module is in low precision
  -o, --out RULES       write the rules of the fix
  --remedy OUT.onnx     write a copy of the model with the constants or scales that help, if the report names some
  --html FILE           write the report as a page
  --force               overwrite FILE or RULES even if trtlens did not write it
  --json                the result as one JSON document
  --python PROGRAM      the Python interpreter to use
  -y, --yes             download ONNX Runtime without asking
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['MODEL'], {
      without: { build: ['layers', 'log'] },
    });
    const model = positionals[0]!;
    const low = precisionOf(values.precision);
    const out = values.out;
    const rules = values.rules === undefined ? undefined : await readRules(values.rules);
    await checkEachOutput(
      [
        [out, 'rules'],
        [values.html, 'page'],
        [values.remedy, 'model'],
      ],
      [...(await filesOfModel(model)), values.rules, values.reference],
    );
    const found = await judgeAccuracy({
      low,
      rules,
      reference: values.reference,
      judgedOutputs: judgedOutputs(values),
      measures: measuresOf(values.measure ?? []),
      build: await reportOfBuild(model, values),
      sensitivity: wholeNumber('--sensitivity', values.sensitivity),
      mostNodes: wholeNumber('--most-nodes', values['most-nodes']),
      keepFound: true,
      modelLine: modelLine(model, out),
      ...(await simulationRequest(model, values, terminal)),
      progress: (now) => terminal.status(progressText(now)),
    }).finally(() => terminal.status(null));
    const report = values.cost ? await withCosts(found, model, values, terminal) : found;
    const warning = randomWarning(report.inputs);
    if (warning !== null && values.json) terminal.note(`warning: ${warning}`);
    const document = accuracyDocument(report, { title: basename(model), actions: remedyActions(report, args) });
    if (out !== undefined && report.fix) await writeResult(out, report.fix.rules, 'rules');
    if (values.html !== undefined) await writeResult(values.html, renderHtml(document), 'page');
    if (values.remedy !== undefined) {
      const remedy = helpfulRemedy(report);
      if (remedy) await writeRemedy(model, remedy, values.remedy, terminal.signal);
      else terminal.note(`no change of constants helps, so ${values.remedy} was not written`);
    }
    if (values.json) await printJson(terminal, report);
    else await terminal.out(renderText(document));
    return passesTolerance(nodeLevel(report)) ? exitCodes.done : exitCodes.checkFailed;
  },
};

/** How to get a copy of the model with what helps, unless it is written already. */
function remedyActions(report: AccuracyReport, args: readonly string[]): Action[] {
  if (args.some((arg) => arg.startsWith('--remedy')) || !helpfulRemedy(report)) return [];
  const command = quoteCommand(['trtlens', 'accuracy', ...args, '--remedy', 'OUT.onnx'], shell);
  return [{ label: 'Write a copy with the changed constants', command }];
}

/** The report with the kernels that each rule adds; where nothing builds the model here, a note says why. */
async function withCosts(
  report: AccuracyReport,
  model: string,
  { python, yes = false }: { python?: string; yes?: boolean },
  terminal: Terminal,
): Promise<AccuracyReport> {
  const { fix } = report;
  if (!fix || fix.without.length === 0 || fix.casts === null || terminal.signal.aborted) return report;
  const build = {
    backend: 'auto' as const,
    driver: driverScript('build_engine.py'),
    ...(python !== undefined && { python }),
    confirm: (text: string) => confirmDownload(terminal, yes, text),
    setUpProgress: (line: string) => terminal.note(line),
  };
  const progress = (done: number, total: number) => terminal.status(`Building without each rule: ${done} of ${total}`);
  try {
    return { ...report, fix: await withKernels(fix, model, build, { signal: terminal.signal, progress }) };
  } catch (error) {
    if (!(error instanceof UserError) || error instanceof Cancelled) throw error;
    terminal.note(`warning: the kernels of each rule are not known: ${error.message}`);
    return report;
  } finally {
    terminal.status(null);
  }
}

interface BuildValues {
  build?: string;
  layers?: string;
  log?: string;
}

/** What is known of a build of the model; undefined: none was given. */
async function reportOfBuild(onnx: string, { build, layers, log }: BuildValues): Promise<FusionReport | undefined> {
  if (build !== undefined) return (await loadBuild(await requireBuild(build))).report;
  return layers === undefined && log === undefined ? undefined : (await loadFiles({ onnx, layers, log })).report;
}

const judgedOutputs = ({ outputs }: { outputs?: string[] }): JudgedOutputs =>
  outputs?.includes('all') ? 'all' : (outputs ?? 'float');

/** `top1` and `NAME=top1`; of an empty name: for all other outputs. */
function measuresOf(given: readonly string[]): Map<string, MeasureKind> {
  return new Map(
    given.map((text) => {
      const at = text.lastIndexOf('=');
      const kind = measureKinds.find((one) => one === text.slice(at + 1));
      if (kind === undefined)
        throw new Usage(`--measure: unknown value '${text.slice(at + 1)}'; expected one of ${measureKinds.join(', ')}`);
      return [at < 0 ? '' : text.slice(0, at), kind] as const;
    }),
  );
}

function precisionOf(text: string | undefined): LowPrecision | undefined {
  const known = ['fp16', 'bf16', 'int8', 'fp8'] as const;
  if (text === 'fp4')
    throw new Usage(
      "--precision: FP4 is not simulated: ONNX Runtime's CPU provider computes no FP4 type. Run the engine instead, with trtlens run and compare",
    );
  if (text === 'tf32')
    throw new Usage(
      '--precision: TF32 is not simulated: it rounds what products read to 10 bits of mantissa and adds up in FP32, so its relative error is about 0.0005 a product. To know whether TF32 is why an FP32 engine differs, build it once without (trtexec --noTF32, or clear BuilderFlag.TF32) and compare both with trtlens compare',
    );
  const found = known.find((one) => one === text);
  if (text !== undefined && found === undefined)
    throw new Usage(`--precision: unknown value '${text}'; expected one of ${known.join(', ')}`);
  return found;
}

/** The model as seen from the rules: next to them where they are not written; in full from another drive. */
export function modelLine(model: string, out: string | undefined, paths: PlatformPath = path): string {
  const seen =
    out === undefined ? paths.basename(model) : paths.relative(paths.dirname(paths.resolve(out)), paths.resolve(model));
  const portable = seen.replaceAll(paths.sep, '/');
  return portable.startsWith('.') || paths.isAbsolute(seen) ? portable : `./${portable}`;
}

function progressText({ stage, done, total, best }: AccuracyProgress): string {
  const known = best ? `; ${counted(best.nodes, 'node')} in FP32: error ${errorFigure(best.error)}` : '';
  if (stage === 'searching') return `Searching for the smallest fix: ${counted(done, 'run')}${known}`;
  const what = stage === 'judging' ? 'Judging nodes' : 'Preparing the search';
  return `${what}: ${done} of ${total ?? '?'}`;
}
