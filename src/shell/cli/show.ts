import { basename } from 'node:path';
import { readArguments } from '../../kernel/node/cli/arguments.ts';
import { type Command, type Options, Usage } from '../../kernel/node/cli/command.ts';
import { report, reportHelp } from '../../kernel/node/cli/report.ts';
import type { Terminal } from '../../kernel/node/cli/terminal.ts';
import { isFolder } from '../../kernel/node/files/exists.ts';
import { withFile } from '../../kernel/node/files/fileSource.ts';
import { ParsedFiles } from '../../kernel/node/files/parsedFiles.ts';
import { UserError } from '../../kernel/node/files/userError.ts';
import { listBuilds } from '../../kernel/node/store/buildHistory.ts';
import type { FileKind } from '../../kernel/inspect/inspection.ts';
import { inspectFile } from '../../kernel/inspect/inspectFile.ts';
import { fusion, fusionHelp } from '../../kernel/node/cli/fusion.ts';

const options = { ...fusion.options, ...report.options } as const;

/** The option that takes a file of this content. */
const optionOf: Partial<Record<FileKind, string>> = {
  onnx: 'onnx',
  'build-log': 'log',
  'layer-info': 'layers',
  profile: 'profile',
  trace: 'profile',
  counters: 'ncu',
};

/** Options that make a page or other files of the report. */
const outputs = ['out', 'perfetto', 'model-explorer'];

export const show: Command = {
  help: `trtlens show [MODEL.onnx] [FILE|FOLDER]… [-o report.html] [options] [--json]
trtlens FILE|FOLDER

Joins the output of a build with its model and reports what happened to every node; with -o, as one self-contained page.
Each file is what its content says: a model, a build log, layer info, a profile, a trace; a folder is a build folder of
trtlens. Of a model alone, its newest build is shown; of the log of a failed build, the diagnosis; of any other file, what
it is. Every file may be gzip-compressed.

${fusionHelp}
${reportHelp}
Exit status 1: the files say nothing about the build, because they are something else or damaged. 2: they are of
another model.
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(
      args,
      options as Options,
      args.map(() => '[FILE]'),
    );
    if (positionals.length === 0 && Object.keys(values).length === 0) throw new Usage('FILE or FOLDER is missing');
    const found = await Promise.all(positionals.map(async (path) => ({ path, option: await placeOf(path) })));
    const all = { ...values } as Record<string, string | boolean>;
    for (const { path, option } of found) {
      if (option === undefined) {
        if (found.length > 1) throw new Usage(`${path} is not a model or a file of a build (see trtlens inspect)`);
        return showOther(path, values, terminal);
      }
      if (all[option] !== undefined) throw new Usage(`--${option} has two values: ${all[option]} and ${path}`);
      all[option] = path;
    }
    const page = outputs.some((option) => all[option] !== undefined);
    const { onnx, log, json } = all as { onnx?: string; log?: string; json?: boolean };
    const files = ['log', 'layers', 'profile', 'ort-log', 'build'].filter((option) => all[option] !== undefined);
    if (onnx !== undefined && files.length === 0) {
      const newest = (await listBuilds(onnx)).find(({ manifest }) => manifest.result === 'passed');
      if (newest === undefined && !page) return inspectAlone(onnx, json, terminal);
      if (newest !== undefined) all['build'] = newest.folder;
    }
    if (!page && log !== undefined && files.length === 1 && (await failed(log)))
      return diagnose([log, ...(onnx === undefined ? [] : ['--onnx', onnx]), ...jsonFlag(json)], terminal);
    return (page ? report : fusion).run(toArguments(all), terminal);
  },
};

/** The option for a path; undefined: it is something else. */
async function placeOf(path: string): Promise<string | undefined> {
  if (await isFolder(path)) return 'build';
  const { kind } = await withFile(path, (source) => inspectFile(source, { name: basename(path) }));
  return optionOf[kind];
}

/** A text of unknown kind may be the excerpt of a log. */
async function showOther(path: string, { json }: { json?: unknown }, terminal: Terminal): Promise<number> {
  try {
    return await diagnose([path, ...jsonFlag(json)], terminal);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return inspectAlone(path, json, terminal);
  }
}

const jsonFlag = (json: unknown): string[] => (json === true ? ['--json'] : []);

async function inspectAlone(path: string, json: unknown, terminal: Terminal): Promise<number> {
  const { inspect } = await import('../../features/engines/node/cli/inspect.ts');
  return inspect.run([path, ...jsonFlag(json)], terminal);
}

async function diagnose(args: string[], terminal: Terminal): Promise<number> {
  return (await import('../../features/diagnose/node/cli/diagnose.ts')).diagnose.run(args, terminal);
}

/** Whether a log is of a build that left nothing to report. */
async function failed(path: string): Promise<boolean> {
  const { value } = await new ParsedFiles().log(path, { times: false });
  return value.outcome !== 'passed' && value.engineLayers.length === 0;
}

const toArguments = (values: Readonly<Record<string, string | boolean>>): string[] =>
  Object.entries(values).map(([name, value]) => (value === true ? `--${name}` : `--${name}=${value}`));
