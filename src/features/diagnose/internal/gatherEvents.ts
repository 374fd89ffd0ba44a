import type { LogMessage } from '../../../kernel/read/tensorrt/buildOutput.ts';
import { driverNode } from '../parsedOp.ts';
import { causeText, isFrame, withoutCudaNoise } from '../../../kernel/build/causeText.ts';

/** A node's own text may hold long attributes; beyond this many lines two messages are two events. */
const MAX_EVENT_LINES = 400;

const STARTS =
  /could not find plugin|Cannot find plugin|While parsing node number|--- Begin node|^(?:input|output|name|op_type): "|Skipping tactic ?\S+ due to exception|Error during shape inference|: reshaping failed for tensor: /;
const NO_MEMORY = /insuff?icient memory on requested size of|^Skipping tactic ?\S+ due to Myelin error/;
const OUT_OF_MEMORY = /Error Code 1: Cuda Runtime \(out of memory\)/;
const CONTINUES =
  /While parsing node number|--- (?:Begin|End) node|^\w+\.cpp:\d+: (?:input|output|name|op_type|attribute|domain)|ERROR: |Could not find any implementation|Skipping tactic|^shapeMachine\.cpp \(|^Instruction: RESHAPE|Cannot deserialize plugin/;

/**
 * Several messages of one event become one: what the runtime prints about a plugin of an engine, what the parser prints about a node (plugin look-up, position, the node's
 * text, the error), the exceptions of skipped tactics before "Could not find any implementation", the findings about
 * one tensor's weights, why the DLA does not take a layer and which one, a request for device memory and the tactic that was skipped for it, an allocation that failed and its size, the last tactic that needs
 * too much memory and the layer that has no other. What a missing CUDA driver adds is omitted.
 */
export function gatherEvents(messages: readonly LogMessage[]): LogMessage[] {
  const events: LogMessage[] = [];
  let event: LogMessage | undefined;
  for (const message of messages) {
    const text = withoutCudaNoise(message.text);
    if (text === '') continue;
    const near = event !== undefined && message.line <= event.line + MAX_EVENT_LINES;
    if (near && event && belongs(event, text)) {
      event.text += `\n${text}`;
      event.subject ??= message.subject;
      if (message.inputs) event.inputs ??= message.inputs;
      if (message.severity === 'error') event.severity = 'error';
      continue;
    }
    event = { ...message, text };
    events.push(event);
    if (!opens(event)) event = undefined;
  }
  return foldRepeats(placeReasons(events));
}

/**
 * An excerpt may begin after the node that an error is about, or end before the parser repeats the reason: then the node
 * that the parser names right after it is the one, or the next of those that fail alike.
 */
function placeReasons(events: readonly LogMessage[]): LogMessage[] {
  const out: LogMessage[] = [];
  for (const event of events) {
    const before = out.at(-1);
    if (
      before?.severity === 'error' &&
      positionOf(before.text) === undefined &&
      parserPosition(event.text) !== undefined &&
      !givesReason(event.text) &&
      !isFrame(before.text) &&
      event.line <= before.line + before.text.split('\n').length
    ) {
      before.text += `\n${event.text}`;
      before.subject = event.subject ?? before.subject;
      if (event.inputs) before.inputs ??= event.inputs;
    } else out.push(event);
  }
  return out;
}

const opens = ({ text, severity }: LogMessage): boolean =>
  severity === 'error'
    ? STARTS.test(text) || OUT_OF_MEMORY.test(text)
    : text.includes('issues when converted to FP16') ||
      text.startsWith('Tactic Device request') ||
      text.startsWith('This version of DLA ') ||
      NO_MEMORY.test(text);

function belongs(event: LogMessage, text: string): boolean {
  if (event.text.includes('issues when converted to FP16')) return /^ *- |^If this is not the desired/.test(text);
  if (event.text.startsWith('This version of DLA ')) return text.startsWith('Validation failed for DLA layer');
  if (event.text.startsWith('Tactic Device request')) return /Skipping tactic .* insuff?icient memory/.test(text);
  if (event.severity !== 'error' && NO_MEMORY.test(event.text))
    return text.includes('Could not find any implementation for node');
  if (OUT_OF_MEMORY.test(event.text)) return text.startsWith('Requested amount of GPU memory');
  const position = parserPosition(text);
  // Each node that the parser fails at is an event of its own.
  if (position !== undefined && (parserPosition(event.text) ?? position) !== position) return false;
  return CONTINUES.test(text);
}

const parserPosition = (text: string): string | undefined => /While parsing node number (\d+) /.exec(text)?.[1];

/**
 * Where in the model the parser was: `While parsing node number 3 [Conv -> "y"]`, `In node 3 (importConv): CODE: ` of its
 * Python binding, or the driver's `node 3 'c' (Conv): CODE: `.
 */
const positionOf = (text: string): string | undefined =>
  /While parsing node number (\d+) /.exec(text)?.[1] ??
  /\bIn node (\d+) \(\w+\): [A-Z_]+: /.exec(text)?.[1] ??
  driverNode(text)?.place;

/**
 * The same cause is often printed three times: by the call that fails, by the parser with the node, and by the program
 * that gives up. They become one event at the line of the first.
 */
function foldRepeats(events: LogMessage[]): LogMessage[] {
  const out: LogMessage[] = [];
  const byPosition = new Map<string, LogMessage>();
  for (const event of events) {
    const position = positionOf(event.text);
    const earlier = event.severity === 'error' ? earlierOf(event.text, position, out, byPosition) : undefined;
    if (earlier === undefined) out.push(event);
    // A tactic that fails says why twice; the second time it says that others are tried.
    else if (event.text.includes('Skipping tactic') && !earlier.text.includes('Skipping tactic'))
      Object.assign(earlier, event, { line: earlier.line });
    // What the parser says has the node, and may hold several calls that failed one after the other.
    else if (positionOf(earlier.text) === undefined && position !== undefined) {
      const { line } = earlier;
      Object.assign(earlier, event, { line });
      const near = out.splice(Math.max(0, out.length - MOST_CALLS));
      out.push(...near.filter((one) => one === earlier || !repeats(one, event.text)));
    }
    if (position !== undefined && event.severity === 'error' && !byPosition.has(position))
      byPosition.set(position, earlier ?? event);
  }
  return out;
}

/** Whether the parser's words about a node hold more than where it is and what the node's text says. */
function givesReason(text: string): boolean {
  const at = /In function \w+: *\n?/.exec(text);
  return at
    ? !isFrame(text.slice(at.index + at[0].length))
    : /Error Code|[Aa]ssertion|ERROR: (?!\S+:\d+ In function)/.test(text);
}

/** No cause is repeated after more errors than these. */
const MOST_CALLS = 60;

function earlierOf(
  text: string,
  position: string | undefined,
  out: readonly LogMessage[],
  byPosition: ReadonlyMap<string, LogMessage>,
): LogMessage | undefined {
  if (position !== undefined && byPosition.has(position)) return byPosition.get(position);
  const first = Math.max(0, out.length - MOST_CALLS);
  for (let at = first; at < out.length; at++) {
    const one = out[at]!;
    const known = positionOf(one.text);
    if ((known === undefined || position === undefined) && repeats(one, text)) return one;
  }
  return undefined;
}

function repeats(one: LogMessage, text: string): boolean {
  if (one.severity !== 'error') return false;
  const cause = causeOf(one);
  return cause.length >= SHORTEST_CAUSE && text.includes(cause);
}

const causes = new WeakMap<LogMessage, { text: string; cause: string }>();

/** The reason of a message, worked out once: each is compared with many that come after it. */
function causeOf(message: LogMessage): string {
  const known = causes.get(message);
  if (known?.text === message.text) return known.cause;
  const cause = causeText(message.text);
  causes.set(message, { text: message.text, cause });
  return cause;
}

/** A text this short may be in another by chance. */
const SHORTEST_CAUSE = 12;
