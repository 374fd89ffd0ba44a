import { join, resolve } from 'node:path';
import type { Build } from '../builder/store/buildFolder.ts';
import { checkOutput, filesOfModel } from '../builder/files/checkOutput.ts';
import { loadBuild } from '../builder/store/loadBuild.ts';
import { toViewData } from '../builder/store/viewData.ts';
import { type BuildEvents, type BuildOptions, runBuild } from '../builder/run/runBuild.ts';
import { shell } from '../builder/tools/shell.ts';
import { type BuildProgress, stageWords, type TimeLine } from '../core/build/buildProgress.ts';
import { buildHints } from '../core/build/buildHints.ts';
import { optionWords, type ShapeRange } from '../core/build/engineOptions.ts';
import { quoteCommand } from '../core/build/quoteCommand.ts';
import { progressLine } from '../core/build/progressLine.ts';
import { timeText } from '../core/text/numbers.ts';
import { shorten } from '../core/text/oneLine.ts';
import { readArguments, wholeNumber } from './arguments.ts';
import { type Command, exitCodes, Usage } from './command.ts';
import { confirmDownload } from './confirmDownload.ts';
import { writeReport } from './report.ts';
import { readLauncherFile } from './yamlFile.ts';
import { printJson, type Terminal } from './terminal.ts';
import { formatReport } from '../core/report/reportText.ts';

const {
  backend: backends,
  precision: precisions,
  hardwareCompatibility: hardware,
  verbosity: verbosities,
} = optionWords;

const options = {
  backend: { type: 'string' },
  engine: { type: 'string', short: 'o' },
  precision: { type: 'string' },
  overrides: { type: 'string' },
  'strongly-typed': { type: 'boolean' },
  shapes: { type: 'string' },
  'min-shapes': { type: 'string', multiple: true },
  'opt-shapes': { type: 'string', multiple: true },
  'max-shapes': { type: 'string', multiple: true },
  workspace: { type: 'string' },
  pool: { type: 'string', multiple: true },
  'tactic-sources': { type: 'string' },
  'optimization-level': { type: 'string' },
  'timing-cache': { type: 'string' },
  'calibration-cache': { type: 'string' },
  'compute-capability': { type: 'string', multiple: true },
  output: { type: 'string', multiple: true },
  'all-outputs': { type: 'boolean' },
  'debug-tensor': { type: 'string', multiple: true },
  'profile-run': { type: 'boolean' },
  'record-choices': { type: 'boolean' },
  'version-compatible': { type: 'boolean' },
  'hardware-compatibility': { type: 'string' },
  'profiling-verbosity': { type: 'string' },
  'no-tf32': { type: 'boolean' },
  'random-weights': { type: 'boolean' },
  argument: { type: 'string', multiple: true },
  python: { type: 'string' },
  trtexec: { type: 'string' },
  polygraphy: { type: 'string' },
  launcher: { type: 'string' },
  folder: { type: 'string' },
  report: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
  verbose: { type: 'boolean', short: 'v' },
  json: { type: 'boolean' },
} as const;

export const build: Command = {
  name: 'build',
  summary: 'build an engine and report on it',
  help: `trtlens build MODEL.onnx [--backend ${backends.join('|')}] [options] [--json]

Builds an engine and reports what happened to every node. Leaves a build folder with log, layer info, profile (if there
is a GPU), engine and manifest. Without an NVIDIA GPU it builds with TensorRT-RTX, which it installs after asking.

  --backend NAME            default auto: trtexec or Python's tensorrt if there is a GPU, otherwise rtx
  -o, --engine FILE         where to write the engine (default: the build folder)
  --folder FOLDER           parent of the build folder (default: the user's cache folder)
  --random-weights          build with random weights in place of the model's external ones
  --precision MODE          ${precisions.join(', ')}
  --strongly-typed          take every tensor's type from the model
  --overrides RULES         a *.trtprec file: sets layer precisions on TensorRT 10 and earlier; builds a typed copy of the
                            model for TensorRT 11, for TensorRT-RTX and with --strongly-typed
  --min-shapes, --opt-shapes, --max-shapes INPUT:1x3x224x224[,…]
                            an optimization profile; repeat all three for more profiles
  --shapes INPUT:1x3x224x224[,…]
                            one profile with only these shapes
  --workspace MIB           limit of the workspace pool
  --pool NAME:MIB           limit of another memory pool, such as tacticSharedMem; may be repeated
  --tactic-sources LIST     +CUDNN,-CUBLAS: sources to add and to remove
  --optimization-level N    0 to 5
  --timing-cache FILE       read if it exists, written after the build
  --calibration-cache FILE  scales for --precision int8
  --compute-capability 8.9  TensorRT-RTX: a GPU to build for; may be repeated
  --output TENSOR           make this tensor an output; may be repeated
  --all-outputs             make every tensor an output
  --debug-tensor TENSOR     mark this tensor for debugging without changing fusion; may be repeated
  --profile-run             run the engine afterwards and time each layer (trtexec; needs a GPU)
  --record-choices          record what TensorRT (8 to 10) offers for each layer: choices.jsonl in the build folder,
                            for trtlens replay check --choices (python and polygraphy)
  --version-compatible, --no-tf32
  --hardware-compatibility LEVEL
                            ${hardware.join(', ')}
  --profiling-verbosity LEVEL
                            ${verbosities.join(', ')} (default: detailed)
  --argument ARG            pass one more argument to the program; may be repeated
  --python, --trtexec, --polygraphy PROGRAM
                            the program to use instead of the first one on the PATH
  --launcher FILE           YAML or JSON: run the program in a container, over ssh or on a cluster
  --report FILE             also write the page of trtlens report
  -y, --yes                 download TensorRT-RTX without asking
  -v, --verbose             print the build log to stderr
  --json                    { "build": manifest, "fusion": report }
`,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['MODEL.onnx']);
    const launcher = values.launcher === undefined ? undefined : await readLauncherFile(values.launcher);
    const wanted = { ...buildOptions(positionals[0]!, values, terminal), ...(launcher && { launcher }) };
    await checkReport(positionals[0]!, values);
    const events = follow(terminal, values.verbose ?? false);
    const made = await runBuild(wanted, events, terminal.signal).finally(events.end);
    const passed = made.manifest.result === 'passed';
    const read = passed ? await loadBuild(made) : null;
    if (values.json) await printJson(terminal, { build: made.manifest, fusion: read?.report ?? null });
    else if (read) await terminal.out(formatReport(read.report));
    if (read && values.report !== undefined) await writeReport(values.report, toViewData(read));
    if (passed)
      for (const hint of buildHints(made.manifest)) if (!events.noted.has(hint)) terminal.note(`note: ${hint}`);
    const { choices } = made.manifest.files;
    if (choices !== undefined) terminal.note(`Choices: ${join(made.folder, choices)}`);
    if (passed && values.overrides !== undefined) {
      const verify = ['trtlens', 'precision', 'verify', values.overrides, '--build', made.folder];
      terminal.note(`To verify the rules: ${quoteCommand(verify, shell)}`);
    }
    for (const line of made.manifest.timeLine ? stageLines(made.manifest.timeLine) : []) terminal.note(line);
    terminal.note(summary(made, wanted));
    return passed ? exitCodes.done : exitCodes.cannot;
  },
};

type Values = ReturnType<typeof readArguments<typeof options>>['values'];

/** The page is written last, but an output that cannot be written is reported before the build. */
async function checkReport(model: string, values: Values): Promise<void> {
  const { report, engine, overrides, launcher } = values;
  const caches = [values['timing-cache'], values['calibration-cache']];
  if (report !== undefined)
    await checkOutput(report, [...(await filesOfModel(model)), engine, overrides, launcher, ...caches]);
}

function buildOptions(model: string, values: Values, terminal: Terminal): BuildOptions {
  const backend = oneOf('--backend', values.backend ?? 'auto', backends);
  const precision = optional('--precision', values.precision, precisions);
  const given: { [K in keyof BuildOptions]?: BuildOptions[K] | undefined } = {
    engine: values.engine,
    precision,
    overrides: values.overrides,
    stronglyTyped: values['strongly-typed'],
    profiles: profiles(values),
    workspace: wholeNumber('--workspace', values.workspace),
    pools: pools(values.pool),
    tacticSources: tacticSources(values['tactic-sources']),
    optimizationLevel: wholeNumber('--optimization-level', values['optimization-level']),
    timingCache: values['timing-cache'],
    calibrationCache: values['calibration-cache'],
    computeCapability: values['compute-capability']?.flatMap((one) => one.split(',')),
    outputs: values['all-outputs'] ? 'all' : values.output,
    debugTensors: values['debug-tensor'],
    profileRun: values['profile-run'],
    recordChoices: values['record-choices'],
    versionCompatible: values['version-compatible'],
    hardwareCompatibility: optional('--hardware-compatibility', values['hardware-compatibility'], hardware),
    verbosity: optional('--profiling-verbosity', values['profiling-verbosity'], verbosities),
    noTF32: values['no-tf32'],
    extraArguments: values.argument,
    randomWeights: values['random-weights'],
    python: values.python,
    trtexec: values.trtexec,
    polygraphy: values.polygraphy,
    folder: values.folder,
  };
  const chosen = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return {
    ...(chosen as Partial<BuildOptions>),
    model,
    backend,
    driver: join(import.meta.dirname, 'driver', 'build_engine.py'),
    confirm: (text) => confirmDownload(terminal, values.yes ?? false, text),
    setUpProgress: (line) => terminal.note(line),
  };
}

const optional = <T extends string>(option: string, text: string | undefined, known: readonly T[]): T | undefined =>
  text === undefined ? undefined : oneOf(option, text, known);

/** `tacticSharedMem:48`, one each. */
function pools(texts: string[] | undefined): Record<string, number> | undefined {
  return (
    texts &&
    Object.fromEntries(
      texts.map((text) => {
        const match = /^(\w+):(\d+(?:\.\d+)?)$/.exec(text);
        if (!match) throw new Usage(`--pool: '${text}' does not have the form NAME:MIB`);
        return [match[1]!, Number(match[2])];
      }),
    )
  );
}

function tacticSources(text: string | undefined): string[] | undefined {
  const sources = text?.split(',').filter(Boolean);
  const wrong = sources?.find((source) => !/^[+-]\w+$/.test(source));
  if (wrong !== undefined) throw new Usage(`--tactic-sources: '${wrong}' must start with + or -`);
  return sources;
}

function oneOf<T extends string>(option: string, text: string, known: readonly T[]): T {
  const found = known.find((one) => one === text);
  if (found === undefined) throw new Usage(`${option}: unknown value '${text}'; expected one of ${known.join(', ')}`);
  return found;
}

/** The n-th value of each of the three options makes the n-th profile. A missing one equals the optimum. */
function profiles(values: Values): Record<string, ShapeRange>[] | undefined {
  const kinds = (['min', 'opt', 'max'] as const).map((kind) => ({
    kind,
    texts: values[`${kind}-shapes`] ?? [],
  }));
  const count = Math.max(...kinds.map(({ texts }) => texts.length));
  if (values.shapes !== undefined) {
    if (count > 0) throw new Usage('--shapes cannot be combined with --min-shapes, --opt-shapes or --max-shapes');
    const fixed = shapes('--shapes', values.shapes);
    return [Object.fromEntries(fixed.map(([name, shape]) => [name, { min: shape, opt: shape, max: shape }]))];
  }
  if (count === 0) return undefined;
  return Array.from({ length: count }, (_, index) => {
    const given = new Map<string, Partial<ShapeRange>>();
    for (const { kind, texts } of kinds)
      for (const [name, shape] of shapes(`--${kind}-shapes`, texts[index]))
        given.set(name, { ...given.get(name), [kind]: shape });
    return Object.fromEntries(
      [...given].map(([name, { min, opt, max }]) => {
        const best = opt ?? max ?? min!;
        return [name, { min: min ?? best, opt: best, max: max ?? best }];
      }),
    );
  });
}

/** `input:1x3x224x224,other:8`: a name ends at the last colon, because names may contain colons. */
function shapes(option: string, text: string | undefined): [string, string][] {
  return (text ?? '')
    .split(',')
    .filter(Boolean)
    .map((part) => {
      const match = /^(.+):(\d+(?:x\d+)*)$/.exec(part);
      if (!match) throw new Usage(`${option}: '${part}' does not have the form INPUT:1x3x224x224`);
      return [match[1]!, match[2]!];
    });
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
      for (const { kind, message } of notes) {
        noted.add(message);
        terminal.note(`${kind === 'ignored' ? 'warning' : 'note'}: ${message}`);
      }
      const { product, version } = manifest.tensorrt;
      const name = product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'TensorRT';
      terminal.note(`Building with ${name}${version ? ` ${version}` : ''} (${manifest.backend}); log in ${folder}`);
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
  const { result, seconds, files, error } = manifest;
  if (result !== 'passed') {
    const reason = (error ?? 'failed').replaceAll(/\s*[\r\n]+\s*/g, ' ');
    const where = reason.startsWith(model) ? '' : `${model}: `;
    const advice = reason.includes('weights file') ? '. Pass --random-weights to build without them' : '';
    return `trtlens build: ${where}${reason}${advice} (log: ${join(folder, files.log ?? '')})`;
  }
  const weights = randomWeights ? ', with random weights' : '';
  return `Built in ${timeText((seconds ?? 0) * 1000)}${weights}: ${resolve(folder, files.engine ?? '')}`;
}
