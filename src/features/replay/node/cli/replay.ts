import { readWhole } from '../../../../kernel/node/files/fileSource.ts';
import { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { readTextBytes } from '../../../../kernel/node/files/readTextBytes.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import type { BuildLog } from '../../../../kernel/read/tensorrt/buildOutput.ts';
import { targetOf } from '../../../../kernel/rules/buildFacts.ts';
import { checkReplay } from '../../checkReplay.ts';
import { diffReplays, ignoredText } from '../../editReplay.ts';
import { type Choices, choicesOfLog, offersFor, readChoices } from '../../../../kernel/read/replay/readChoices.ts';
import { choicesOfMismatches, readMismatches, readReplay } from '../../../../kernel/read/replay/readReplay.ts';
import type { ReplayFile, ReplayProblem } from '../../../../kernel/read/replay/replayFile.ts';
import { readArguments, subcommandOf } from '../../../../kernel/node/cli/arguments.ts';
import { contextOptions, noteProblems, readContext } from '../../../../kernel/node/cli/buildContext.ts';
import { type Command, exitCodes } from '../../../../kernel/node/cli/command.ts';
import { countProblems, hasErrors, problemJson, problemLine } from '../../../../kernel/node/cli/problemLines.ts';
import { printJson, type Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { counted } from '../../../../kernel/base/text.ts';

const checkOptions = { ...contextOptions, choices: { type: 'string' }, json: { type: 'boolean' } } as const;

const verbs: Record<string, Command['run']> = { check, diff };

export const replay: Command = {
  help: `trtlens precision replay check REPLAY.json [--onnx M] [--log F] [--layers F] [--choices F] [--tensorrt 10.6] [--json]
trtlens precision replay diff BEFORE.json AFTER.json [--json]

A tactic replay is the file that Polygraphy's --save-tactics writes.

  check    reports entries that TensorRT never offered (with what it did offer), layers that the network does not have,
           and ids that a program rounded. Exit status 1: there are errors
  diff     compares the meaning of two replays, layer by layer. Exit status 0 whatever it finds

  --onnx FILE        the model
  --log FILE         verbose log of a build of this model, or of the build that rejected the replay
  --layers FILE      layer info of a build of this model
  --choices FILE     recorded choices, one JSON object per line
  --tensorrt 10.6    the TensorRT version that will load it, or rtx (default: that of the build)
  --json             the result as one JSON document
`,
  options: checkOptions,
  subcommands: Object.keys(verbs),
  run: async ([verb, ...args], terminal) => verbs[subcommandOf(Object.keys(verbs), verb)]!(args, terminal),
};

/** A byte order mark stays, because Python rejects a replay that has one. */
const readReplayText = async (path: string): Promise<string> =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(await readTextBytes(path, 'a tactic replay'));

const readText = async (path: string): Promise<string> => new TextDecoder().decode(await readWhole(path));

async function check(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(args, checkOptions, ['REPLAY']);
  const path = positionals[0]!;
  const text = await readReplayText(path);
  const read = readReplay(text);
  // A log alone also says what was offered; only the fates of the nodes need the model.
  const { onnx, log: logPath, ...rest } = values;
  // A build that rejected its replay has no layers, but its log has the offers.
  const context = await readContext(onnx === undefined ? { onnx, ...rest } : { ...values, onnx }, terminal, {
    unnoted: ['no-layers'],
  });
  const log = context.log ?? (logPath === undefined ? null : await readLog(logPath, terminal));
  const { index, build } = context;
  const known = rest.tensorrt !== undefined || log === null;
  const target = known ? context.target : targetOf(log.product, log.version, log.gpu);
  const mismatches = logPath === undefined ? [] : readMismatches(await readText(logPath));
  const choices: Choices[] = [];
  // The offers of the failed build itself take precedence over those of other builds.
  if (mismatches.length > 0) choices.push(choicesOfMismatches(mismatches));
  if (values.choices !== undefined) choices.push(await readChoicesFile(values.choices, terminal));
  if (log) choices.push(choicesOfLog(log));
  noteUnknown(read.value, choices, terminal);
  const problems = checkReplay(text, read, { index, build, target, choices, mismatches }).map((problem) =>
    // Here the TensorRT version is certain: it was passed, or is that of the given log.
    problem.code === 'no-replay-support' ? { ...problem, severity: 'error' as const } : problem,
  );
  if (values.json) {
    const diagnostics = problems.map((problem) => ({
      ...problemJson(problem),
      layer: problem.layer ?? null,
      fixes: titles(problem),
    }));
    await printJson(terminal, { diagnostics, entries: read.value?.entries.length ?? 0 });
  } else await terminal.out(checkText(path, problems, read.value));
  // A record of debug runs has no errors, but it is not a replay either.
  return hasErrors(problems) || !read.value ? exitCodes.checkFailed : exitCodes.done;
}

/** No message about an unknown layer must not look like a passed check. */
function noteUnknown(file: ReplayFile | undefined, choices: Choices[], terminal: Terminal): void {
  const layers = file?.entries.map(({ layer }) => layer) ?? [];
  const unknown = layers.filter((layer) => offersFor(layer, choices).length === 0);
  if (unknown.length === 0) return;
  const which =
    unknown.length === layers.length ? 'these layers' : `${counted(unknown.length, 'layer')} of ${layers.length}`;
  terminal.note(
    `note: Not checked: what TensorRT offers for ${which}. Pass --choices, a verbose log, or the log of the build that rejected the replay.`,
  );
}

const titles = ({ fixes }: ReplayProblem): string[] => fixes.map(({ title }) => title);

function checkText(path: string, problems: ReplayProblem[], file: ReplayFile | undefined): string {
  const lines = problems.flatMap((problem) => [
    problemLine(
      path,
      problem.layer === undefined ? problem : { ...problem, message: `${problem.layer}: ${problem.message}` },
    ),
    ...titles(problem).map((title) => `    ${title}`),
  ]);
  const entries = file ? counted(file.entries.length, 'layer') : 'no replay';
  return `${[...lines, `${entries}: ${countProblems(problems) || 'no errors or warnings'}`].join('\n')}\n`;
}

async function readLog(path: string, terminal: Terminal): Promise<BuildLog> {
  const { value, problems } = await new ParsedFiles().log(path);
  noteProblems(problems, terminal);
  return value;
}

async function readChoicesFile(path: string, terminal: Terminal): Promise<Choices> {
  const { value, problems } = readChoices(await readText(path));
  if (!value || (value.offered.size === 0 && value.chosen.size === 0))
    throw new UserError(
      `${path} contains no recorded choices (one JSON object per line: {"layer": …, "choices": […]})`,
    );
  for (const problem of problems) terminal.note(problemLine(path, problem));
  return value;
}

async function diff(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(args, { json: { type: 'boolean' } }, ['BEFORE', 'AFTER']);
  const before = await readReplayFile(positionals[0]!, terminal);
  const after = await readReplayFile(positionals[1]!, terminal);
  const found = diffReplays(before, after);
  const { differences, same, ignored } = found;
  if (values.json) {
    await printJson(terminal, {
      same,
      ignored,
      differences: differences.map(({ layer, kind, changes }) => ({ layer, kind, changes })),
    });
  } else {
    const text = differences.map(({ layer, kind, changes }) => [
      `${kind}: ${layer}`,
      ...changes.map((one) => `    ${one}`),
    ]);
    const unchanged = `${counted(same, 'layer')} ${same === 1 ? 'is' : 'are'} the same`;
    const note = ignoredText(found);
    await terminal.out(`${[...text.flat(), unchanged, ...(note === null ? [] : [note])].join('\n')}\n`);
  }
  return exitCodes.done;
}

/** What of a replay can be read; what is wrong with it is noted, since it may be why something differs. */
async function readReplayFile(path: string, terminal: Terminal): Promise<ReplayFile> {
  const { value, problems } = readReplay(await readReplayText(path));
  if (!value) throw new UserError(`${path}: ${problems.find(({ code }) => code.endsWith('-replay'))!.message}`);
  for (const problem of problems) if (problem.severity === 'error') terminal.note(problemLine(path, problem));
  return value;
}
