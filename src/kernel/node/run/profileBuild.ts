import { join } from 'node:path';
import type { Launcher } from '../../build/launcher.ts';
import { flagsIn, nsysArguments, tracedRun } from '../../build/buildCommand.ts';
import { type Build, buildsFolder, engineOf, writeManifest } from '../store/buildFolder.ts';
import { withFolderLock } from '../files/folderLock.ts';
import { findTool, helpOfTrtexec, printed } from '../tools/probeTool.ts';
import { runProcess } from '../tools/runProcess.ts';
import { stopIfCancelled, UserError } from '../files/userError.ts';
import { Launch, launchedQuestion } from './launch.ts';
import { isFile } from '../files/exists.ts';
import { removeTree } from '../files/persist.ts';

export interface ProfileRequest {
  build: Build;
  /** Programs: paths, or names on the PATH. Defaults: `nsys`, and the trtexec of the engine's product. */
  nsys?: string | undefined;
  trtexec?: string | undefined;
  /** Runs both elsewhere, as builds do; its own program is not used. */
  launcher?: Launcher | undefined;
  /** `build_engine.py`: a launcher may name its folder. */
  driver: string;
  signal?: AbortSignal | undefined;
  /** Lines that nsys and trtexec print. */
  output?: (line: string) => void;
}

/**
 * Runs a build's engine with trtexec under nsys. The trace becomes the build's profile: `trace.nsys-rep`, which Nsight
 * Systems opens, and `trace.sqlite`, which its views read.
 * @throws {UserError} if there is no engine, nsys or trtexec, or the run fails
 */
export async function profileBuild(request: ProfileRequest): Promise<Build> {
  const { build, signal } = request;
  const engine = await engineOf(build);
  const { model } = build.manifest;
  return withFolderLock(buildsFolder(model.file), () => record(request, engine), { signal });
}

async function record(request: ProfileRequest, engine: string): Promise<Build> {
  const { build, launcher, driver, signal } = request;
  const { folder, manifest } = build;
  const files = ['trace.nsys-rep', 'trace.sqlite'].map((name) => join(folder, name)) as [string, string];
  const ask = (command: string[]) => {
    const [program = '', ...args] = launcher
      ? launchedQuestion(launcher, manifest.model.file, driver, command)
      : command;
    return printed(program, args, signal);
  };
  const program = (name: string, advice: string) => (launcher ? Promise.resolve(name) : findTool(name, advice));
  const nsys = await program(request.nsys ?? 'nsys', 'Install Nsight Systems, or name its nsys.');
  const own = manifest.tensorrt.product === 'tensorrt-rtx' ? 'tensorrt_rtx' : 'trtexec';
  const trtexec = await program(request.trtexec ?? own, 'Profiling runs the engine with it.');
  const known = flagsIn((await ask([nsys, 'profile', '--help'])).join('\n'));
  if (!known.has('--trace')) throw new UserError(`${nsys} is not an nsys that can profile: its help has no --trace`);
  const help = await helpOfTrtexec(trtexec, (args) => ask([trtexec, ...args]));

  const launch = launcher && new Launch(launcher, folder, manifest.model.file, driver);
  const place = (path: string) => launch?.there(path) ?? path;
  const [report, sqlite] = [place(files[0]), place(files[1])];
  const shapes = manifest.shapes?.[0] ?? [];
  const run = tracedRun(help.flags, place(engine), { tracesGraphs: known.has('--cuda-graph-trace'), shapes });
  const commands = [
    [nsys, ...nsysArguments(known, report.replace(/\.nsys-rep$/, ''), [trtexec, ...run])],
    [nsys, 'export', '--type=sqlite', '--force-overwrite=true', `--output=${sqlite}`, report],
  ];
  // A trace of before would pass for this one's.
  for (const file of files) await removeTree(file);
  await launch?.begin(signal);
  try {
    for (const command of commands) await runCommand(launch?.buildCommand(command, {}) ?? command, request);
  } finally {
    await launch?.end([...files], signal);
  }
  if (!(await isFile(files[1]))) throw new UserError(`${nsys} ended without an error but wrote no trace.sqlite`);
  const profiled: Build = { folder, manifest: { ...manifest, files: { ...manifest.files, profile: 'trace.sqlite' } } };
  await writeManifest(profiled);
  return profiled;
}

async function runCommand([program = '', ...args]: string[], { signal, output }: ProfileRequest): Promise<void> {
  let last = '';
  const keep = (line: string): void => {
    if (line.trim() !== '') last = line.trim();
    output?.(line);
  };
  const cwd = process.cwd();
  const end = await runProcess({ program, args, cwd, stdout: keep, stderr: keep, ...(signal && { signal }) });
  stopIfCancelled(signal);
  if (end.code !== 0) throw new UserError(`Profiling failed: ${last || `exit status ${end.code}`}`);
}
