import { usualShapes } from '../../../../kernel/build/buildManifest.ts';
import { dirname, join, resolve } from 'node:path';
import { readdir } from 'node:fs/promises';
import type { Build } from '../../../../kernel/node/store/buildFolder.ts';
import {
  type ClusterTarget,
  collectClusterFolder,
  type Collected,
  writeClusterFolder,
} from '../cluster/clusterFolder.ts';
import { loadBuild } from '../../../../kernel/node/store/loadBuild.ts';
import { commandSteps } from '../../../../kernel/node/cli/commandSteps.ts';
import { runBuild } from '../../../../kernel/node/run/runBuild.ts';
import { runProcess } from '../../../../kernel/node/tools/runProcess.ts';
import { Cancelled, UserError } from '../../../../kernel/node/files/userError.ts';
import { type Matrix, type MatrixJob, matrixJobs, readMatrix } from '../../../../kernel/build/launcher.ts';
import { counted, quoteCommand, timeText } from '../../../../kernel/base/text.ts';
import type { FusionReport } from '../../../../kernel/fusion/fusionReport.ts';
import { countedRegions, countRegions } from '../../../../kernel/report/words.ts';
import { allBut, readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes } from '../../../../kernel/node/cli/command.ts';
import { docsUrl } from '../../../../kernel/node/cli/command.ts';
import { confirmDownload, printJson, type Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { readYamlFile } from '../../../../kernel/node/files/readYamlFile.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';

/** One line of the result. */
interface Row {
  name: string;
  model: string;
  precision: string;
  target: string;
  result: 'passed' | 'failed' | 'cancelled' | 'running' | 'missing';
  seconds: number | null;
  /** Of the build that passed. */
  nodes: number | null;
  foreign: number | null;
  groups: FusionReport['foreignNodes'] | null;
  /** Kernels that fixed shapes save; null: not asked for, or its shapes are fixed. */
  savedByFixedShapes: number | null;
  error: string | null;
  folder: string | null;
}

const options = {
  slurm: { type: 'string' },
  kubernetes: { type: 'string' },
  submit: { type: 'boolean' },
  collect: { type: 'string' },
  'dry-run': { type: 'boolean' },
  'fixed-shapes': { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
  json: { type: 'boolean' },
} as const;

export const matrix: Command = {
  help: `trtlens build MATRIX.yaml [--dry-run] [--fixed-shapes] [--yes] [--json]
trtlens build MATRIX.yaml --slurm FOLDER | --kubernetes FOLDER [--submit]
trtlens build --collect FOLDER [--json]

Reads a YAML or JSON file with models, precisions and targets, and builds every combination, locally or through a
launcher. For a cluster it writes a job array instead, for your own sbatch or kubectl to submit, and later collects the
results into the history. ${docsUrl}/building.md describes the file.

  --dry-run            print the builds without running them
  --fixed-shapes       also build what has open dimensions for its usual shapes, with TensorRT-RTX, and say what it saves
  --slurm FOLDER       write a SLURM job array per target to FOLDER, which must be shared with the nodes
  --kubernetes FOLDER  the same with Kubernetes Indexed Jobs
  --submit             submit them with sbatch or kubectl
  --collect FOLDER     add finished builds to the history; run it as often as you want
  -y, --yes            download TensorRT-RTX without asking
  --json               { "jobs": [ { name, model, precision, target, result, seconds, … } ] }

Exit status 1: a build failed or is still running.
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, args.includes('--collect') ? [] : ['FILE'], {
      needs: { submit: ['slurm', 'kubernetes'] },
      without: {
        collect: allBut(options, 'collect', 'json'),
        'dry-run': allBut(options, 'dry-run', 'json'),
        slurm: allBut(options, 'slurm', 'submit'),
        kubernetes: allBut(options, 'kubernetes', 'submit'),
      },
    });
    const out = values.slurm ?? values.kubernetes;
    if (values.collect !== undefined) return report(await collected(values.collect), values.json ?? false, terminal);

    const file = positionals[0]!;
    const read = readMatrix(await readYamlFile(file));
    if (typeof read === 'string') throw new UserError(`${file}: ${read}`);
    const jobs = matrixJobs(read);
    if (jobs.length === 0) throw new UserError(`${file}: "exclude" removes every build`);
    const base = dirname(resolve(file));
    if (values['dry-run']) {
      if (values.json) await printJson(terminal, { jobs: jobs.map(plainRow) });
      else await terminal.out(jobs.map(({ name }) => `${name}\n`).join(''));
      return exitCodes.done;
    }
    if (out === undefined)
      return report(
        await buildAll(
          read,
          jobs,
          { base, yes: values.yes ?? false, fixed: values['fixed-shapes'] ?? false },
          terminal,
        ),
        values.json ?? false,
        terminal,
      );
    const kind = values.slurm === undefined ? 'kubernetes' : 'slurm';
    const targets = await writeClusterFolder(read, jobs, { base, out, kind, driver: driverScript('build_engine.py') });
    await submitAll(targets, kind, values.submit ?? false, terminal);
    return exitCodes.done;
  },
};

const plainRow = ({ name, model, precision, target }: MatrixJob) => ({ name, model, precision, target: target.name });

interface BuildHow {
  /** Folder of the matrix file. */
  base: string;
  yes: boolean;
  /** Also builds for fixed shapes. */
  fixed: boolean;
}

/** Builds locally, several at a time. Two builds of one model still wait for each other. */
async function buildAll({ concurrency }: Matrix, jobs: MatrixJob[], how: BuildHow, terminal: Terminal): Promise<Row[]> {
  const rows: Row[] = [];
  let next = 0;
  const work = async () => {
    while (next < jobs.length && !terminal.signal.aborted) {
      const index = next++;
      const job = jobs[index]!;
      terminal.note(`${job.name}: started (${index + 1} of ${jobs.length})`);
      // oxlint-disable-next-line no-await-in-loop -- as many at a time as there are workers
      const row = await buildOne(job, how, terminal);
      rows[index] = row;
      terminal.note(`${job.name}: ${row.result}${row.error === null ? '' : `: ${row.error}`}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, jobs.length) }, work));
  if (terminal.signal.aborted) throw new Cancelled();
  return rows;
}

async function buildOne(job: MatrixJob, { base, yes, fixed }: BuildHow, terminal: Terminal): Promise<Row> {
  const { target, precision, options: own } = job;
  const path = (one: string | undefined) => (one === undefined ? undefined : resolve(base, one));
  const program = target.program === undefined ? {} : toolOf(target.backend ?? 'auto', target.program);
  const tools = {
    driver: driverScript('build_engine.py'),
    confirm: (text: string) => confirmDownload(terminal, yes, text),
    setUpProgress: (line: string) => terminal.note(line),
  };
  try {
    const { overrides, timingCache, calibrationCache, ...rest } = own;
    const given = {
      overrides: path(overrides),
      timingCache: path(timingCache),
      calibrationCache: path(calibrationCache),
    };
    const build = await runBuild(
      {
        ...rest,
        ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
        ...program,
        ...(target.launcher && { launcher: withProgram(target.launcher, target.program) }),
        model: resolve(base, job.model),
        precision,
        backend: target.backend ?? 'auto',
        ...tools,
      },
      {},
      terminal.signal,
    );
    if (fixed && build.manifest.result === 'passed' && usualShapes(build.manifest) !== null)
      await commandSteps.dynamicShapesCost(build.folder, tools, {}, terminal.signal);
    return await rowOf(plainRow(job), build);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { ...emptyRow(plainRow(job)), result: 'failed', error: error.message };
  }
}

const withProgram = <T extends object>(launcher: T, program: string | undefined): T =>
  program === undefined ? launcher : { program, ...launcher };

const toolOf = (backend: string, program: string): object =>
  backend === 'polygraphy'
    ? { polygraphy: program }
    : backend === 'python' || backend === 'rtx'
      ? { python: program }
      : { trtexec: program };

async function submitAll(
  targets: ClusterTarget[],
  kind: 'slurm' | 'kubernetes',
  submit: boolean,
  terminal: Terminal,
): Promise<void> {
  for (const { name, folder, file, count } of targets) {
    const command = kind === 'slurm' ? ['sbatch', `--chdir=${folder}`, file] : ['kubectl', 'create', '-f', file];
    await terminal.out(`${name}: ${count} ${count === 1 ? 'build' : 'builds'} in ${folder}\n`);
    if (!submit) {
      await terminal.out(`  submit: ${quoteCommand(command)}\n`);
      continue;
    }
    const lines: string[] = [];
    const keep = (line: string) => lines.push(line);
    const [program = '', ...args] = command;
    // oxlint-disable-next-line no-await-in-loop -- what fails for one target fails before the next is submitted
    const { code } = await runProcess({
      program,
      args,
      cwd: folder,
      stdout: keep,
      stderr: keep,
      signal: terminal.signal,
    });
    if (code !== 0) throw new UserError(`${program} rejected ${file}: ${lines.join('; ') || `exit status ${code}`}`);
    for (const line of lines) await terminal.out(`  ${line}\n`);
  }
  const at = targets[0] ? dirname(targets[0].folder) : '';
  terminal.note(`Afterwards: ${quoteCommand(['trtlens', 'build', '--collect', at])}`);
}

async function collected(folder: string): Promise<Row[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => {
    throw new UserError(`${folder} does not exist`);
  });
  const folders = entries
    .filter((entry) => entry.isDirectory() && entry.name !== 'random-weights')
    .map(({ name }) => name);
  const rows: Row[] = [];
  for (const target of folders.sort())
    // oxlint-disable-next-line no-await-in-loop -- logs may be large: one after the other
    for (const one of await collectClusterFolder(join(folder, target))) rows.push(await collectedRow(one, target));
  if (rows.length === 0) throw new UserError(`${folder} contains no matrix builds`);
  return rows;
}

function collectedRow({ name, job, build, error }: Collected, target: string): Promise<Row> {
  const head = { name, model: job.model, precision: job.precision, target };
  return build ? rowOf(head, build) : Promise.resolve({ ...emptyRow(head), result: 'missing', error });
}

type Head = Pick<Row, 'name' | 'model' | 'precision' | 'target'>;

const emptyRow = (head: Head): Row => ({
  ...head,
  result: 'missing',
  seconds: null,
  nodes: null,
  foreign: null,
  groups: null,
  savedByFixedShapes: null,
  error: null,
  folder: null,
});

async function rowOf(head: Head, build: Build): Promise<Row> {
  const { result, seconds, error } = build.manifest;
  const row: Row = { ...emptyRow(head), result, seconds, error, folder: build.folder };
  if (result !== 'passed') return row;
  // The model may be gone by now; the build still counts.
  const read = await loadBuild(build).catch(() => undefined);
  if (!read) return row;
  const { accounting, foreignNodes, dynamicShapes } = read.report;
  const { dynamic, fixed } = dynamicShapes?.kernels ?? { dynamic: 0, fixed: 0 };
  return {
    ...row,
    nodes: accounting.total,
    foreign: accounting.foreign,
    groups: foreignNodes,
    savedByFixedShapes: dynamicShapes === undefined ? null : dynamic - fixed,
  };
}

async function report(rows: Row[], json: boolean, terminal: Terminal): Promise<number> {
  if (json)
    await printJson(terminal, {
      jobs: rows.map(({ groups, ...row }) => ({ ...row, foreignNodes: groups && countRegions(groups).foreignNodes })),
    });
  else await terminal.out(table(rows));
  return rows.every(({ result }) => result === 'passed') ? exitCodes.done : exitCodes.checkFailed;
}

function table(rows: Row[]): string {
  const cells = rows.map(({ name, result, seconds, nodes, foreign, groups, savedByFixedShapes, error }) => [
    name,
    result,
    seconds === null ? '' : timeText(seconds * 1000),
    nodes === null ? '' : `${foreign} of ${nodes} nodes in ${countedRegions(groups ?? [])}`,
    savedByFixedShapes === null
      ? ''
      : `fixed shapes: ${counted(Math.abs(savedByFixedShapes), 'kernel')} ${savedByFixedShapes < 0 ? 'more' : 'fewer'}`,
    error ?? '',
  ]);
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
