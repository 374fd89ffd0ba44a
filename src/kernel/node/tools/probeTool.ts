import { stat } from 'node:fs/promises';
import { readTrtexecHelp, type TrtexecHelp } from '../../build/trtexecFlags.ts';
import { Answers } from './answers.ts';
import { findInstalled } from './findProgram.ts';
import { runProcess } from './runProcess.ts';
import { stopIfCancelled, UserError } from '../files/userError.ts';

/** A program that was found. */
export interface FoundTool {
  /** Full path. */
  program: string;
}

/** A trtexec, and what its `--help` says. */
export interface ProbedTrtexec extends FoundTool {
  product: 'tensorrt' | 'tensorrt-rtx';
  help: TrtexecHelp;
}

const probed = new Answers<TrtexecHelp>();

/**
 * Finds a trtexec and asks it for its flags and version, once as long as its file stays the same.
 * @param chosen a path, or a name on the PATH
 * @throws {UserError} if there is none, or what it prints is not the help of trtexec's
 */
export async function probeTrtexec(chosen: string, signal?: AbortSignal): Promise<ProbedTrtexec> {
  const program = await findTool(chosen, 'Check that TensorRT is installed and its bin folder is on the PATH.');
  const { mtimeMs, size } = await stat(program);
  const ask = () => helpOfTrtexec(program, (args) => printed(program, args, signal));
  const help = await probed.get(`${program}\n${mtimeMs}\n${size}`, ask, signal);
  return { program, product: /tensorrt_rtx(\.exe)?$/.test(program) ? 'tensorrt-rtx' : 'tensorrt', help };
}

/**
 * What a trtexec says about itself.
 * @param program its name, for the user
 * @param ask gives the lines that it prints for these arguments
 * @throws {UserError} if that is no help of trtexec's
 */
export async function helpOfTrtexec(program: string, ask: (args: string[]) => Promise<string[]>): Promise<TrtexecHelp> {
  const lines = await ask(['--help']);
  const help = readTrtexecHelp(lines.join('\n'));
  if (!help.flags.has('onnx')) {
    const said = lines.find((line) => line.trim() !== '');
    throw new UserError(
      `${program} is not a trtexec that can build from ONNX: its --help does not list --onnx${said ? `; its output: ${said.slice(0, 300)}` : ''}`,
    );
  }
  // Some print their help without the frame that names the version.
  if (help.version === null) help.version = readTrtexecHelp((await ask(['--version'])).join('\n')).version;
  return help;
}

/** @throws {UserError} naming the program and what to do */
export async function findTool(chosen: string, advice: string): Promise<string> {
  const program = await findInstalled(chosen);
  if (program === undefined) throw new UserError(`${chosen}: program not found. ${advice}`.trim());
  return program;
}

/** The lines that a program prints on both outputs; its exit status does not count: `trtexec --version` ends with 1. */
export async function printed(
  program: string,
  args: string[],
  signal?: AbortSignal,
  { environment, cwd }: { environment?: Record<string, string> | undefined; cwd?: string } = {},
): Promise<string[]> {
  const lines: string[] = [];
  const keep = (line: string) => lines.push(line);
  const limit = AbortSignal.timeout(60_000);
  await runProcess({
    program,
    args,
    stdout: keep,
    stderr: keep,
    ...(environment && { environment }),
    ...(cwd !== undefined && { cwd }),
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  });
  stopIfCancelled(signal);
  if (limit.aborted) throw new UserError(`${program} ${args.join(' ')} did not answer within a minute`);
  return lines;
}
