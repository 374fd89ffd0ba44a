import { profileBuild } from '../../../../kernel/node/run/profileBuild.ts';
import { requireBuild } from '../../../../kernel/node/store/buildFolder.ts';
import { loadBuild } from '../../../../kernel/node/store/loadBuild.ts';
import { formatReport } from '../../../../kernel/report/reportText.ts';
import { readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes } from '../../../../kernel/node/cli/command.ts';
import { printJson } from '../../../../kernel/node/cli/terminal.ts';
import { readLauncherFile } from '../../../../kernel/node/cli/launcherFile.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';

const options = {
  trace: { type: 'boolean' },
  nsys: { type: 'string' },
  trtexec: { type: 'string' },
  launcher: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const profile: Command = {
  help: `trtlens run BUILD --trace [--nsys PROGRAM] [--trtexec PROGRAM] [--launcher FILE] [--json]

Runs the engine of a build folder with trtexec under nsys, on a GPU, and makes the trace the profile
of the build: trace.nsys-rep for Nsight Systems, trace.sqlite for the report, which is printed.

  --trace            record instead of storing outputs
  --nsys PROGRAM     the nsys to record with; default: the one on the PATH
  --trtexec PROGRAM  the trtexec that runs the engine, of the version that built it; default: the one on the PATH
  --launcher FILE    run both in a container, over ssh or on a cluster, as for trtlens build
  --json             the fusion report as one JSON document
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['BUILD']);
    const build = await profileBuild({
      build: await requireBuild(positionals[0]!),
      nsys: values.nsys,
      trtexec: values.trtexec,
      launcher: values.launcher === undefined ? undefined : await readLauncherFile(values.launcher),
      driver: driverScript('build_engine.py'),
      signal: terminal.signal,
      output: (line) => terminal.note(line),
    });
    const { report } = await loadBuild(build);
    if (values.json) await printJson(terminal, report);
    else await terminal.out(formatReport(report));
    return exitCodes.done;
  },
};
