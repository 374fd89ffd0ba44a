import { dirname, resolve } from 'node:path';
import { checkOutput } from '../../../../kernel/node/files/writeResult.ts';
import { readRules } from '../../../../kernel/node/files/readRules.ts';
import { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { rewriteModel } from '../rewriteModel.ts';
import { knownScales } from '../../../../kernel/node/store/namedScales.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import { checkOverrides, type PrecisionCheck } from '../../checkOverrides.ts';
import type { NodeIndex } from '../../../../kernel/rules/resolveOverrides.ts';
import { type OverrideFile } from '../../../../kernel/rules/overrideFile.ts';
import { readOverrides } from '../../../../kernel/rules/readOverrides.ts';
import {
  planPrecision,
  type PrecisionPlan,
  type RuleVerdict,
  scalesOf,
  verdictWords,
} from '../../../../kernel/rules/precisionPlan.ts';
import { precisionPrograms, programArguments } from '../../importPrecision.ts';
import type { RewritePlan } from '../../planRewrite.ts';
import { verifyPrecision } from '../../../../kernel/rules/verifyPrecision.ts';
import { runtimeFor } from '../../../../kernel/node/cli/runtimeFor.ts';
import { forceOption, readArguments, subcommandOf, wholeNumber } from '../../../../kernel/node/cli/arguments.ts';
import type { BuildFacts } from '../../../../kernel/rules/buildFacts.ts';
import { profileWords } from '../../../../kernel/report/words.ts';
import {
  type BuildContext,
  contextOptions,
  readContext,
  readFolderContext,
} from '../../../../kernel/node/cli/buildContext.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { countProblems, hasErrors, problemJson, problemLine } from '../../../../kernel/node/cli/problemLines.ts';
import { importRules } from './precisionImport.ts';
import { printJson, type Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { counted, thousands, typeName } from '../../../../kernel/base/text.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';

const checkOptions = { ...contextOptions, json: { type: 'boolean' } } as const;
const flagsOptions = { ...contextOptions, for: { type: 'string' } } as const;
const verifyOptions = {
  ...checkOptions,
  build: { type: 'string' },
  'optimization-profile': { type: 'string' },
} as const;
const applyOptions = {
  ...contextOptions,
  out: { type: 'string', short: 'o' },
  base: { type: 'string' },
  io: { type: 'string' },
  grow: { type: 'boolean' },
  ...forceOption,
  python: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
} as const;

const verbs: Record<string, Command['run']> = {
  check,
  flags,
  apply,
  verify,
  import: (args, terminal) => importRules(args, terminal, apply),
};

export const precision: Command = {
  help: `trtlens precision check RULES [--onnx M] [--log F] [--layers F] [--tensorrt 10.6] [--json]
trtlens precision flags RULES [--onnx M] --tensorrt 10.6 [--for trtexec|polygraphy|autocast]
trtlens precision apply RULES [--onnx M] -o OUT.onnx [--base fp16|bf16|keep] [--io keep|follow] [--grow] [--force]
trtlens precision verify RULES [--onnx M] [--log F] [--layers F] | --build FOLDER [--optimization-profile N] [--json]
trtlens precision import [--tensorrt 10.6] [-o RULES] [--apply OUT.onnx [--force]] -- COMMAND LINE

RULES is a *.trtprec file: which nodes of a model compute in which type.

  check    reports mistakes in the rules, where they are and what to do. Exit status 1: there are errors
  flags    prints the equivalent arguments, one per line, for trtexec (TensorRT 8.4.1 to 10), Polygraphy or ModelOpt
           AutoCast, which rewrites the model itself
  apply    writes a new, strongly typed model with Casts around the nodes, for any TensorRT; the only method
           for TensorRT 11 and TensorRT-RTX, and the only one that works inside ForeignNodes. Rules for int8 get Q/DQ
           nodes with the scales of the line 'scales FILE': a calibration cache, or samples to measure
  verify   compares the rules with a build: obeyed, disobeyed, unverifiable, or unbuilt (the build was not made with
           this rule). Exit status 1: a rule is disobeyed or unbuilt; 2: the build is of another model
  import   writes the rules equivalent to a command line of trtexec, Polygraphy or AutoCast; with --apply also the
           typed model that they make, and prints the command that builds it with TensorRT 11

  --onnx FILE        the model (default: the line 'model FILE' in the rules). For verify: the model that was built
  --log FILE         verbose log of the last build of this model
  --layers FILE      layer info of the last build of this model
  --build FOLDER     for verify: a build folder of trtlens instead of model, log and layer info
  --optimization-profile N  for verify: the profile of the engine that is checked, from 0; default: 0
  --tensorrt 10.6    the TensorRT version to check for, or rtx (default: that of the build)
  --apply OUT.onnx   for import: also write the typed model; its rules go to OUT.trtprec unless -o names another file
  -o, --out FILE     the model to write; converted external weights go to FILE.data
  --base TYPE        the type of all other nodes (default: the line 'base' in the rules, otherwise keep)
  --io follow        give model inputs and outputs the type of their nodes (default: keep)
  --grow             move cheap nodes into FP32 islands if that saves Casts
  --force            overwrite OUT.onnx even if trtlens did not write it
  --python PROGRAM   the Python interpreter for ONNX Runtime, which measures the samples of a line 'scales FILE'
  -y, --yes          agree to the download of ONNX Runtime
  --json             the result as one JSON document
`,
  options: { ...flagsOptions, ...verifyOptions, ...applyOptions },
  subcommands: Object.keys(verbs),
  run: async ([verb, ...args], terminal) => verbs[subcommandOf(Object.keys(verbs), verb)]!(args, terminal),
};

/** A rules file, with the path of its model: the one given, or the one that it names. */
interface RulesFile {
  file: OverrideFile;
  onnx: string | undefined;
}

async function readRulesFile(path: string, onnx: string | undefined): Promise<RulesFile> {
  const file = readOverrides(await readRules(path));
  const named = file.model?.usable ? file.model.value : null;
  return { file, onnx: onnx ?? (named === null ? undefined : resolve(dirname(path), named)) };
}

function requireModel(onnx: string | undefined): string {
  if (onnx === undefined) throw new Usage("no model: pass --onnx MODEL.onnx or add a line 'model FILE' to the rules");
  return onnx;
}

async function check(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(args, checkOptions, ['RULES']);
  const path = positionals[0]!;
  const { file, onnx } = await readRulesFile(path, values.onnx);
  const { index, build, target, modelDamaged } = await readContext({ ...values, onnx }, terminal);
  if (!index) terminal.note('No model: only the syntax is checked. Pass --onnx or add a line "model FILE".');
  const checked = checkOverrides(file, index, build, target, await knownScales(path, scalesOf(file)));
  if (values.json) {
    const rules = checked.rules.map(({ line, nodes, foreign }) => ({ line, nodes, foreign }));
    await printJson(terminal, { diagnostics: checked.problems.map(problemJson), rules });
  } else await terminal.out(checkText(path, checked));
  if (modelDamaged) return exitCodes.cannot;
  return hasErrors(checked.problems) ? exitCodes.checkFailed : exitCodes.done;
}

function checkText(path: string, { problems, rules, resolution }: PrecisionCheck): string {
  const lines = problems.map((problem) => problemLine(path, problem));
  if (resolution)
    for (const { line, nodes, foreign } of rules)
      lines.push(
        `line ${line}: ${counted(nodes, 'node')}${foreign > 0 ? `, ${thousands(foreign)} inside ForeignNodes` : ''}`,
      );
  lines.push(countProblems(problems) || 'No errors or warnings.');
  return `${lines.join('\n')}\n`;
}

/** The rules as resolved on a model, with their errors and warnings noted. */
async function planOf(path: string, file: OverrideFile, { index, build, target }: BuildContext, terminal: Terminal) {
  const checked = checkOverrides(file, index, build, target, await knownScales(path, scalesOf(file)));
  for (const problem of checked.problems) if (problem.severity !== 'info') terminal.note(problemLine(path, problem));
  return { plan: planPrecision(file, index!, checked.resolution!), errors: hasErrors(checked.problems) };
}

async function flags(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(args, flagsOptions, ['RULES']);
  const tool = oneOf('--for', values.for, precisionPrograms) ?? 'trtexec';
  if (values.tensorrt === undefined && tool !== 'autocast')
    throw new Usage('--tensorrt VERSION is missing (for example --tensorrt 10.6): flags depend on the version');
  const { file, onnx } = await readRulesFile(positionals[0]!, values.onnx);
  const context = await readContext({ ...values, onnx: requireModel(onnx) }, terminal);
  // Flags for a part of the nodes would look like all of them.
  if (context.modelDamaged) return exitCodes.cannot;
  const { plan, errors } = await planOf(positionals[0]!, file, context, terminal);
  const { args: words, problems } = programArguments(tool, plan, context.target, context.index!);
  const refused = problems.find(({ code }) => code === 'no-layer-flags');
  if (refused) throw new UserError(refused.message);
  if (words.some((word) => /[\r\n]/.test(word)))
    throw new UserError(
      'a node name contains a line break, so its flag does not fit on one line. Use "trtlens precision apply"',
    );
  for (const { severity, code, message } of problems) terminal.note(`${severity} ${code}: ${message}`);
  await terminal.out(words.map((word) => `${word}\n`).join(''), 'data');
  return errors || hasErrors(problems) ? exitCodes.checkFailed : exitCodes.done;
}

async function apply(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(args, applyOptions, ['RULES']);
  const out = values.out;
  if (out === undefined) throw new Usage('-o OUT.onnx (the model to write) is missing');
  const base = oneOf('--base', values.base, ['fp16', 'bf16', 'keep'] as const) satisfies
    | PrecisionPlan['base']
    | undefined;
  const io = oneOf('--io', values.io, ['keep', 'follow'] as const) ?? 'keep';
  const { file, onnx: named } = await readRulesFile(positionals[0]!, values.onnx);
  const onnx = requireModel(named);
  await checkOutput(out, [positionals[0], onnx, values.log, values.layers], 'model');
  const parsed = new ParsedFiles();
  const model = await parsed.indexed(onnx, { spans: true });
  const context = await readContext({ ...values, onnx }, terminal, { files: parsed });
  const { plan, errors } = await planOf(positionals[0]!, file, context, terminal);
  const { rewrite, quantized, files, lossNotes } = await rewriteModel({
    model,
    plan: { ...plan, base: base ?? plan.base },
    out,
    io,
    grow: values.grow ?? false,
    scales:
      plan.scales === null
        ? undefined
        : {
            path: resolve(dirname(positionals[0]!), plan.scales),
            runtime: () => runtimeFor(values, terminal),
            script: driverScript('simulate.py'),
          },
    signal: terminal.signal,
  });
  for (const { severity, code, message } of [...rewrite.problems, ...lossNotes])
    terminal.note(`${severity} ${code}: ${message}`);
  // Files are named as in the arguments, not by their absolute paths.
  const shown = (path: string) => (path.startsWith(resolve(out)) ? out + path.slice(resolve(out).length) : path);
  const written = files.map(({ path, size }) => `${shown(path)}: ${counted(size, 'byte')}`);
  await terminal.out(`${[...applyText(rewrite, quantized.size, context.index!), ...written].join('\n')}\n`);
  return errors ? exitCodes.checkFailed : exitCodes.done;
}

function applyText({ counts, initializers, constants }: RewritePlan, quantized: number, index: NodeIndex): string[] {
  const types = (['float', 'float16', 'bfloat16'] as const)
    .filter((type) => counts.byType[type] > 0)
    .map((type) => `${thousands(counts.byType[type])} in ${typeName(type)}`);
  const grown =
    counts.castsSaved > 0 ? ` (${counts.castsSaved} saved by ${counted(counts.grown, 'more node')} in FP32)` : '';
  return [
    `${counted(index.nodes.length, 'node')}; of those with a selectable type: ${types.join(', ') || 'none'}`,
    `${counted(counts.casts, 'Cast')} added${grown}, ${counted(initializers.length + constants.length, 'constant')} converted`,
    ...(quantized === 0 ? [] : [`${counted(quantized, 'node')} in INT8, between Q/DQ nodes`]),
  ];
}

function oneOf<T extends string>(option: string, text: string | undefined, words: readonly T[]): T | undefined {
  if (text === undefined) return undefined;
  const found = words.find((word) => word === text);
  if (found === undefined) throw new Usage(`${option}: unknown value '${text}'; expected one of ${words.join(', ')}`);
  return found;
}

async function verify(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(args, verifyOptions, ['RULES']);
  const path = positionals[0]!;
  const { file, onnx } = await readRulesFile(path, values.onnx);
  const context = await builtContext(values, onnx, terminal);
  const { plan, errors } = await planOf(path, file, context, terminal);
  // The types of another model say nothing about this build.
  const verdicts = verifyPrecision(plan, context.build!, context.sameModel ? context.index : null);
  if (values.json) {
    const { product, version, optimizationProfile } = context.build!;
    const diagnostics = checkOverrides(file, context.index, context.build, context.target).problems.map(problemJson);
    await printJson(terminal, {
      tensorrt: { product, version },
      optimizationProfile,
      rules: verdicts.map(verdictJson),
      diagnostics,
    });
  } else await terminal.out(verdictText(path, verdicts) + profileText(context.build!));
  const nothingSeen = verdicts.every(({ verdict }) => verdict === 'unseen');
  if (context.modelDamaged || (context.damaged && nothingSeen)) return exitCodes.cannot;
  const broken = verdicts.some(({ verdict }) => verdict === 'disobeyed' || verdict === 'unbuilt');
  return broken || errors ? exitCodes.checkFailed : exitCodes.done;
}

type VerifyValues = {
  build?: string;
  onnx?: string;
  log?: string;
  layers?: string;
  tensorrt?: string;
  'optimization-profile'?: string;
};

function builtContext(values: VerifyValues, onnx: string | undefined, terminal: Terminal): Promise<BuildContext> {
  const { build, log, layers, tensorrt } = values;
  const optimizationProfile = wholeNumber('--optimization-profile', values['optimization-profile']);
  if (build !== undefined) {
    if (log !== undefined || layers !== undefined || tensorrt !== undefined)
      throw new Usage('--build cannot be combined with --log, --layers or --tensorrt: the folder has its own');
    return readFolderContext(build, values.onnx, terminal, optimizationProfile);
  }
  if (log === undefined && layers === undefined)
    throw new Usage('pass --build FOLDER, --log BUILD.log (verbose) or --layers LAYERS.json');
  return readContext({ ...values, onnx: requireModel(onnx), optimizationProfile }, terminal);
}

const verdictJson = ({ line, verdict, certain, counts, message, nodes }: RuleVerdict) => ({
  line,
  verdict,
  certain,
  counts,
  message,
  nodes: nodes.map(({ node, ...rest }) => ({ id: node.id, name: node.name, asked: node.compute, ...rest })),
});

/** Which of several optimization profiles the verdicts are on. */
const profileText = ({ optimizationProfile: profile }: BuildFacts): string =>
  profile === undefined
    ? ''
    : `The layers are those of ${profileWords(profile)}. To check another one, pass --optimization-profile N.\n`;

function verdictText(path: string, verdicts: RuleVerdict[]): string {
  if (verdicts.length === 0) return 'Nothing to verify: no rule applies to any node.\n';
  return verdicts
    .map(({ line, verdict, message }) => `${path}:${line}: ${verdictWords[verdict]}: ${message}\n`)
    .join('');
}
