import { createHash } from 'node:crypto';
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Symptom } from '../../reduceFailure.ts';
import { fileTrouble } from '../../../../kernel/node/files/userError.ts';
import { removeTree } from '../../../../kernel/node/files/persist.ts';

/** What the build of the whole model said: what to keep, and the nodes that it names. */
export interface FirstTrial {
  symptom: Symptom;
  named: string[];
}

/**
 * What earlier builds of a search answered, in a file of JSON lines, so that a search that was interrupted goes on where
 * it was. The first line is what was asked; the second what the first build said; then one line a part.
 */
export class TrialMemory {
  first: FirstTrial | null = null;
  readonly #path: string;
  readonly #answers = new Map<string, boolean>();

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * @param question model, options and goal: answers to another one do not count
   * @throws {UserError} if the file cannot be written
   */
  static async open(path: string, question: string): Promise<TrialMemory> {
    const memory = new TrialMemory(path);
    const head = JSON.stringify({ question: hash(question) });
    const text = await readFile(path, 'utf8').catch(() => '');
    // The last line may be cut off: the process was killed.
    const [begin, ...lines] = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
    if (begin !== head || !memory.#read(lines)) {
      memory.first = null;
      memory.#answers.clear();
      await mkdir(dirname(path), { recursive: true }).catch((error: unknown) => {
        throw fileTrouble(dirname(path), error);
      });
      await memory.#write(writeFile(path, `${head}\n`));
    } else if (!text.endsWith('\n')) await memory.#write(writeFile(path, text.slice(0, text.lastIndexOf('\n') + 1)));
    return memory;
  }

  /** Builds that are remembered. */
  get builds(): number {
    return this.#answers.size + (this.first ? 1 : 0);
  }

  #read(lines: readonly string[]): boolean {
    try {
      for (const line of lines.filter((one) => one !== '')) {
        const value = JSON.parse(line) as { first?: FirstTrial; part?: string; fails?: boolean };
        if (value.first) this.first = value.first;
        else if (typeof value.part === 'string' && typeof value.fails === 'boolean')
          this.#answers.set(value.part, value.fails);
      }
      return true;
    } catch {
      return false;
    }
  }

  async begin(first: FirstTrial): Promise<void> {
    this.first = first;
    await this.#write(appendFile(this.#path, `${JSON.stringify({ first })}\n`));
  }

  /** @param part what identifies the part */
  answer(part: string): boolean | undefined {
    return this.#answers.get(hash(part));
  }

  async remember(part: string, fails: boolean): Promise<void> {
    const name = hash(part);
    this.#answers.set(name, fails);
    await this.#write(appendFile(this.#path, `${JSON.stringify({ part: name, fails })}\n`));
  }

  forget(): Promise<void> {
    return removeTree(this.#path);
  }

  #write(writing: Promise<void>): Promise<void> {
    return writing.catch((error: unknown) => {
      throw fileTrouble(this.#path, error);
    });
  }
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
