import { foldLines } from '../../../../kernel/base/problem.ts';
import { commandSteps } from '../../../../kernel/node/cli/commandSteps.ts';
import { join, resolve } from 'node:path';
import { withFigures } from '../../../../kernel/node/store/buildFigures.ts';
import type { Build } from '../../../../kernel/node/store/buildFolder.ts';
import { checkOutput, filesOfModel } from '../../../../kernel/node/files/writeResult.ts';
import { loadBuild, type LoadedBuild } from '../../../../kernel/node/store/loadBuild.ts';
import { realizedPrecision } from '../../../../kernel/node/store/realizedPrecision.ts';
import { toViewData } from '../../../../kernel/node/store/viewData.ts';
import { type BuildEvents, type BuildOptions, runBuild } from '../../../../kernel/node/run/runBuild.ts';
import { shell } from '../../../../kernel/node/tools/shell.ts';
import {
  buildHints,
  type BuildProgress,
  progressLine,
  shapesText,
  stageWords,
  type TimeLine,
} from '../../../../kernel/build/buildManifest.ts';
import { toProviderOptions } from '../../../../kernel/build/buildCommand.ts';
import { isWarning } from '../../../../kernel/build/buildOptions.ts';
import { quoteCommand, releaseName, shorten, timeText } from '../../../../kernel/base/text.ts';
import { readArguments } from '../../../../kernel/node/cli/arguments.ts';
import {
  buildArguments,
  buildHelp,
  type BuildValues,
  readBuildOptions,
  textOf,
} from '../../../../kernel/node/cli/buildOptions.ts';
import { type Command, exitCodes } from '../../../../kernel/node/cli/command.ts';
import { pageKind, writeReport } from '../../../../kernel/node/cli/report.ts';
import { printJson, type Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { precisionSentence } from '../../../../kernel/report/words.ts';
import { formatReport } from '../../../../kernel/report/reportText.ts';
import { buildRequest, providerBuild } from '../../../../kernel/node/cli/buildRequest.ts';

export const build: Command = {
  help: `trtlens build MODEL.onnx [options] [--json]

Builds an engine and reports what happened to every node. Leaves a build folder with log, layer info, profile (if there
is a GPU), engine and manifest. Without an NVIDIA GPU it builds with TensorRT-RTX, which it installs after asking.

${buildHelp()}
`,
  options: buildArguments,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, buildArguments, ['MODEL.onnx']);
    const [reportFile, rules] = ['html', 'rules'].map((flag) => textOf(values, flag));
    if (values['print-provider-options'] === true) {
      const options = { ...(await providerBuild(values, terminal)), ...readBuildOptions(values) };
      const { given, notes } = toProviderOptions(options);
      for (const note of notes) terminal.note(`note: ${note}`);
      await printJson(terminal, given);
      return exitCodes.done;
    }
    const wanted = await buildRequest(positionals[0]!, values, terminal);
    await checkReport(positionals[0]!, values);
    const events = follow(terminal, values['verbose'] === true);
    const first = await runBuild(wanted, events, terminal.signal).finally(events.end);
    const mayRepair = values['repair'] === true && first.manifest.result === 'failed';
    const repaired = mayRepair ? await commandSteps.repairFirst(first, wanted, terminal, values['yes'] === true) : null;
    const made = repaired ?? first;
    const passed = made.manifest.result === 'passed';
    const read = passed ? await loadBuild(made) : null;
    await printResult(made, read, values['json'] === true, terminal);
    if (read && reportFile !== undefined) await writeReport(reportFile, toViewData(read));
    if (passed)
      for (const hint of buildHints(made.manifest)) if (!events.noted.has(hint)) terminal.note(`note: ${hint}`);
    const { choices } = made.manifest.files;
    if (choices !== undefined) terminal.note(`Choices: ${join(made.folder, choices)}`);
    if (passed && rules !== undefined) {
      const verify = ['trtlens', 'precision', 'verify', rules, '--build', made.folder];
      terminal.note(`To verify the rules: ${quoteCommand(verify, shell)}`);
    }
    for (const line of made.manifest.timeLine ? stageLines(made.manifest.timeLine) : []) terminal.note(line);
    terminal.note(summary(made, wanted));
    return passed ? exitCodes.done : exitCodes.cannot;
  },
};

async function printResult(
  { folder, manifest }: Build,
  read: LoadedBuild | null,
  json: boolean,
  terminal: Terminal,
): Promise<void> {
  const precision = read && realizedPrecision(read);
  const sentence = precision ? precisionSentence(precision) : '';
  const { engine } = manifest.files;
  const enginePath = engine === null ? null : resolve(folder, engine);
  if (json)
    await printJson(terminal, {
      build: manifest,
      fusion: read ? await withFigures(read, enginePath) : null,
      precision,
    });
  else if (read) await terminal.out(`${formatReport(read.report)}${sentence && `\n${sentence}\n`}`);
  if (precision?.realised === 0) terminal.note(`warning: ${sentence}`);
}

/** The page is written last, but an output that cannot be written is reported before the build. */
async function checkReport(model: string, values: BuildValues): Promise<void> {
  const report = textOf(values, 'html');
  const used = ['engine', 'rules', 'launcher', 'timing-cache', 'calibration-cache'];
  if (report === undefined) return;
  await checkOutput(
    report,
    [...(await filesOfModel(model)), ...used.map((flag) => textOf(values, flag))],
    pageKind(report),
  );
}

function follow(terminal: Terminal, verbose: boolean): BuildEvents & { end: () => void; noted: ReadonlySet<string> } {
  const noted = new Set<string>();
  let begun = Date.now();
  let latest: BuildProgress | undefined;
  let shown = 0;
  const show = () => {
    shown = Date.now();
    if (latest) terminal.status(progressLine(latest.state(shown - begun)));
  };
  // Most of a long build is one phase without steps: the running seconds show that it is alive.
  const clock = setInterval(show, 1000);
  return {
    noted,
    end: () => {
      clearInterval(clock);
      terminal.status(null);
    },
    waiting: () => terminal.note('Waiting for another build of this model to finish.'),
    started: ({ folder, manifest }, notes) => {
      begun = Date.now();
      for (const note of notes) {
        noted.add(note.message);
        terminal.note(`${isWarning(note) ? 'warning' : 'note'}: ${note.message}`);
      }
      terminal.note(`Building with ${releaseName(manifest.tensorrt)} (${manifest.backend}); log in ${folder}`);
      if (manifest.shapes?.[0]?.length) terminal.note(`Shapes: ${shapesText(manifest.shapes)}`);
      terminal.note(`Command: ${quoteCommand(manifest.command, shell)}`);
    },
    log: (text) => {
      if (verbose) terminal.note(text);
    },
    changed: (progress) => {
      latest = progress;
      // A build prints thousands of lines a second.
      if (Date.now() - shown >= 100) show();
    },
  };
}

/** Where the build spent its time: the longer stages, then the layers that took longest to time. */
function stageLines({ totalMs, stages, slowest }: TimeLine): string[] {
  const noticeable = (ms: number) => ms >= 1000 && ms >= totalMs / 50;
  const parts = stages.filter(({ ms }) => noticeable(ms));
  if (parts.length === 0) return [];
  const lines = [`Time: ${parts.map(({ stage, ms }) => `${stageWords[stage]} ${timeText(ms)}`).join(', ')}`];
  for (const { layer, ms } of slowest.filter((one) => noticeable(one.ms)).slice(0, 3))
    lines.push(`  ${timeText(ms)} to time ${shorten(layer)}`);
  return lines;
}

function summary({ folder, manifest }: Build, { model, randomWeights }: BuildOptions): string {
  const { result, seconds, files, error, failure } = manifest;
  if (result !== 'passed') {
    const reason = foldLines(error ?? 'failed');
    const where = reason.startsWith(model) ? '' : `${model}: `;
    const advice = failure?.code === 'weights-missing' ? ' Pass --random-weights to build without them.' : '';
    return `trtlens build: ${where}${advice === '' || reason.endsWith('.') ? reason : `${reason}.`}${advice} (log: ${join(folder, files.log ?? '')})`;
  }
  const weights = randomWeights ? ', with random weights' : '';
  return `Built in ${timeText((seconds ?? 0) * 1000)}${weights}: ${resolve(folder, files.engine ?? '')}`;
}
