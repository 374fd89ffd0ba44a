import type { BuildLog, LogMessage } from '../../formats/tensorrt/buildOutput.ts';

/** More lines than this are no message that a terminal broke. */
const MOST_JOINED = 12;

/** Lines without a prefix that follow one another; `joined`: what a terminal may have broken into them. */
interface StrayBlock {
  lines: LogMessage[];
  joined: LogMessage | undefined;
}

export function* strayBlocks({ strays = [] }: BuildLog): Generator<StrayBlock> {
  for (let from = 0; from < strays.length;) {
    let to = from + 1;
    while (to < strays.length && to - from < MOST_JOINED && strays[to]!.line === strays[to - 1]!.line + 1) to++;
    const block = strays.slice(from, to);
    const text = block.map((one) => one.text).join('\n');
    yield {
      lines: block.map(({ line, text: own }) => event(line, own)),
      joined: block.length > 1 ? event(block[0]!.line, text) : undefined,
    };
    from = to;
  }
}

const event = (line: number, text: string): LogMessage => ({
  severity: 'error',
  text,
  line,
  code: null,
  subject: null,
  library: false,
});
