import { basename } from 'node:path';
import { Cancelled, stopIfCancelled, UserError } from '../files/userError.ts';
import { runProcess } from './runProcess.ts';
import { readEventLine } from './readEventLine.ts';

/** What a job reports on the way: one JSON object per line, with the fields that its script documents. */
export interface JobEvent {
  event: string;
}

/** A script of `src/driver` that serves one request (`job.py` there says how). */
export interface PythonJob<Event extends JobEvent> {
  /** Path of an interpreter whose environment has what the script imports. */
  python: string;
  /** Added to the environment, such as the `PYTHONPATH` of an `Installed`. */
  environment?: Record<string, string>;
  /** Path of the script. */
  script: string;
  /** The command line here that runs a command elsewhere. */
  launch?: ((command: string[]) => string[]) | undefined;
  /** Sent as one line of JSON. Arrays of any size go through files that it names. */
  request: unknown;
  /** Called once, with a function that sends one more line of JSON: for scripts that take part in a conversation. */
  started?: (send: (value: unknown) => void) => void;
  /** Called for each event but the last one. */
  event?: (event: Event) => void;
  /** A line that is not an event: whatever the script or a native library prints. */
  output?: (line: string) => void;
  signal?: AbortSignal | undefined;
  /** Omitted: the job may take as long as it needs. */
  timeoutMs?: number;
}

/** The job reported why it could not be done. */
export class JobFailed extends UserError {
  /** What it was doing; the script documents its stages. */
  readonly stage: string;
  readonly details: unknown[];

  constructor(stage: string, message: string, details: unknown[]) {
    super(message);
    this.stage = stage;
    this.details = details;
  }
}

/**
 * Runs a Python job and resolves to its result. However this process ends, the job ends with it.
 * @throws {Cancelled} once the signal is aborted; the job and everything it started are gone by then
 * @throws {JobFailed} if the job itself reports an error
 * @throws {UserError} if it cannot be started, takes too long, or ends without a result
 */
export async function runPythonJob<Result, Event extends JobEvent = JobEvent>(job: PythonJob<Event>): Promise<Result> {
  const { python, script, request, signal, timeoutMs, output = () => {} } = job;
  const limit = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const either = [signal, limit].filter((one) => one !== undefined);
  let last: LastEvent | undefined;
  let lastLine = '';
  const other = (line: string) => {
    if (line.trim() !== '') lastLine = line.trim();
    output(line);
  };
  // -B: no compiled copies next to the script, which may be in a folder that cannot be written to.
  const [program, ...args] = (job.launch ?? ((command) => command))([python, '-B', script]);
  const { code } = await runProcess({
    program: program!,
    args,
    environment: { PYTHONHOME: undefined, PYTHONUTF8: '1', ...job.environment },
    input: `${JSON.stringify(request)}\n`,
    stdout: (line) => {
      const event = readEventLine<JobEvent>(line);
      if (event === undefined) other(line);
      else if (isLast(event)) last = event;
      else job.event?.(event as Event);
    },
    stderr: other,
    started: (write) => job.started?.((value) => write(`${JSON.stringify(value)}\n`)),
    ...(either.length > 0 && { signal: AbortSignal.any(either) }),
  });
  stopIfCancelled(signal);
  const name = basename(script);
  if (last?.event === 'done') return last.result as Result;
  if (limit?.aborted) throw new UserError(`${name} did not finish within ${timeoutMs! / 1000} s`);
  if (last !== undefined && last.stage === 'cancelled') throw new Cancelled();
  if (last !== undefined) throw new JobFailed(last.stage, last.message, last.details);
  const how = code === null ? 'was killed (possibly out of memory)' : `exited with ${code} but returned no result`;
  throw new UserError(`${name} ${how}${lastLine === '' ? '' : `: ${lastLine}`}`);
}

type LastEvent =
  | { event: 'done'; result: unknown }
  | { event: 'error'; stage: string; message: string; details: unknown[] };

const isLast = (event: JobEvent): event is LastEvent => event.event === 'done' || event.event === 'error';
