import * as vscode from 'vscode';
import { thousands } from '../../../../../kernel/base/text.ts';
import type { Builds } from '../../../../../kernel/vscode/builds/builds.ts';
import type { TaskOptions } from '../../../../../kernel/vscode/builds/taskProperties.ts';
import { type LineKind, terminalText } from '../../../../../kernel/vscode/builds/terminalText.ts';

/** A verbose log comes at thousands of lines a second: the terminal gets them in batches. */
const batchMs = 100;
/**
 * More than this between two batches is omitted of the terminal; the log file has it. Characters: what a terminal can
 * draw next to an editor in which someone types.
 */
const batchLimit = 48_000;

/** The terminal of one task: shows the log of one build as it is written. Closing it cancels the build. */
export class BuildTerminal implements vscode.Pseudoterminal {
  readonly #builds: Builds;
  /** Options, or what is wrong with the task. */
  readonly #options: TaskOptions | string;
  readonly #cancelled: () => void;
  readonly #cancel = new AbortController();
  readonly #write = new vscode.EventEmitter<string>();
  readonly #close = new vscode.EventEmitter<number | void>();
  #waiting: string[] = [];
  #length = 0;
  #left = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly onDidWrite = this.#write.event;
  readonly onDidClose = this.#close.event;

  /** `cancelled` is called at the end of a build that the user cancelled. */
  constructor(builds: Builds, options: TaskOptions | string, cancelled: () => void) {
    this.#builds = builds;
    this.#options = options;
    this.#cancelled = cancelled;
  }

  open(): void {
    void this.#run();
  }

  close(): void {
    this.#cancel.abort();
  }

  handleInput(data: string): void {
    if (data === '\u0003') this.#cancel.abort();
  }

  async #run(): Promise<void> {
    let code: number | undefined = 1;
    if (typeof this.#options === 'string') this.#line(this.#options, 'error');
    else {
      const line = (text: string, kind: LineKind) => this.#line(text, kind);
      code = await this.#builds.run(this.#options, line, this.#cancel);
    }
    this.#flush();
    if (code === undefined) this.#cancelled();
    this.#close.fire(code);
  }

  #line(text: string, severity: LineKind): void {
    if (this.#length > batchLimit && severity === 'verbose') this.#left += 1;
    else {
      const shown = terminalText(text, severity);
      this.#length += shown.length;
      this.#waiting.push(shown);
    }
    this.#timer ??= setTimeout(() => this.#flush(), batchMs);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#left > 0) {
      const note = `… ${thousands(this.#left)} more lines in the log file`;
      this.#waiting.push(terminalText(note, 'verbose'));
    }
    const text = this.#waiting.join('');
    this.#waiting = [];
    this.#length = 0;
    this.#left = 0;
    if (text !== '') this.#write.fire(text);
  }
}
