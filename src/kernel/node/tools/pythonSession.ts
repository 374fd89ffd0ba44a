import { Cancelled } from '../files/userError.ts';
import { JobFailed, type PythonJob, runPythonJob } from './runPythonJob.ts';

/** The answer to one request, or why there is none. */
type Answer = { event: 'answer'; result: unknown } | { event: 'refused'; kind: string; message: string };

/** What a script reports without being asked. */
type Report = { event: string };

const isAnswer = (event: Answer | Report): event is Answer => event.event === 'answer' || event.event === 'refused';

/** A request that could not be met; the session goes on. */
export class Refused extends JobFailed {
  constructor(kind: string, message: string) {
    super(kind, message, []);
  }
}

/** A script of `src/driver` that answers one request after another (`simulate.py`) until it is closed. */
export class PythonSession {
  private readonly pending: { resolve: (result: unknown) => void; reject: (error: unknown) => void }[] = [];
  private readonly ended: Promise<void>;
  /** Requests that came before the script could be written to. */
  private readonly early: unknown[] = [];
  private send: (value: unknown) => void = (value) => void this.early.push(value);
  private error: unknown;
  private isOver = false;

  /** `request`: what the script gets before the conversation; `report`: called for what it says without being asked. */
  constructor({
    request = {},
    report,
    ...job
  }: Omit<PythonJob<Answer | Report>, 'request' | 'event' | 'started'> & {
    request?: object;
    report?: (event: Report) => void;
  }) {
    const event = (answer: Answer | Report): void => {
      if (!isAnswer(answer)) return report?.(answer);
      const next = this.pending.shift();
      if (answer.event === 'answer') next?.resolve(answer.result);
      else next?.reject(new Refused(answer.kind, answer.message));
    };
    const started = (send: (value: unknown) => void): void => {
      this.send = send;
      for (const value of this.early.splice(0)) send(value);
    };
    this.ended = runPythonJob<null, Answer | Report>({ ...job, request, event, started }).then(
      () => this.end(new Cancelled()),
      (error: unknown) => this.end(error),
    );
  }

  private end(error: unknown): void {
    this.isOver = true;
    this.error = error;
    for (const { reject } of this.pending.splice(0)) reject(error);
  }

  /**
   * Sends a request and resolves to its answer.
   * @throws {Refused} if the script cannot do it
   * @throws what `runPythonJob` throws, once the script has ended
   */
  ask<Result>(request: object): Promise<Result> {
    if (this.isOver) return Promise.reject(this.error as Error);
    return new Promise<unknown>((resolve, reject) => {
      this.pending.push({ resolve, reject });
      this.send(request);
    }) as Promise<Result>;
  }

  /** Ends the script; never throws. */
  async close(): Promise<void> {
    if (!this.isOver) this.send({ do: 'close' });
    await this.ended;
  }
}
