import { readFile } from 'node:fs/promises';
import type { WrongPattern } from '../bisectReport.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';
import { writeWhole } from '../../../kernel/node/files/writeWhole.ts';

/** What a search was answered about a piece. */
interface Answer {
  /** Name of the output that is most wrong; null: the piece is right, or cannot be built. */
  wrong: string | null;
  pattern: WrongPattern | null;
}

/** The answers of a search, in a file of JSON lines, so that a search which was stopped goes on where it was. */
export class Journal {
  readonly #path: string;
  #text: string;
  readonly #answers: Map<string, Answer>;

  private constructor(path: string, text: string, answers: Map<string, Answer>) {
    this.#path = path;
    this.#text = text;
    this.#answers = answers;
  }

  /**
   * Opens the journal of a search; one of another search is replaced.
   * @param about whatever the answers depend on
   */
  static async open(path: string, about: unknown): Promise<Journal> {
    const head = JSON.stringify({ generator: 'TensorRT Lens', about });
    const [first, ...lines] = (await readFile(path, 'utf8').catch(() => '')).split('\n');
    if (first !== head) return new Journal(path, `${head}\n`, new Map());
    return new Journal(path, [first, ...lines].join('\n'), new Map(lines.flatMap(answerOf)));
  }

  answer(key: string): Answer | undefined {
    return this.#answers.get(key);
  }

  async add(key: string, wrong: string | null, pattern: WrongPattern | null): Promise<void> {
    this.#answers.set(key, { wrong, pattern });
    this.#text += `${JSON.stringify({ key, wrong, pattern })}\n`;
    await writeWhole(this.#path, this.#text);
  }

  /** The search came to its end. */
  remove(): Promise<void> {
    return removeTree(this.#path);
  }
}

/** A line that someone changed is no answer. */
function answerOf(line: string): [string, Answer][] {
  try {
    const { key, wrong, pattern } = JSON.parse(line) as { key: unknown } & Answer;
    return typeof key === 'string' ? [[key, { wrong, pattern }]] : [];
  } catch {
    return [];
  }
}
