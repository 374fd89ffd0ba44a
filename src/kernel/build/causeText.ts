/** On a machine without a driver TensorRT follows many an error by one of CUDA's, which is the cause of nothing. */
const CUDA_NOISE = /\bcatchCudaError\b.*cudaError 35\b/;

/** What the parser prints around the reason of an error: where it is, and the node's own text. */
const FRAME =
  /^(?:\w+\.cpp:\d+: )?(?:While parsing node number |--- (?:Begin|End) node|Node (?:name|number|domain|operator)\b|ERROR: \S+:\d+ In function |(?:\[\d+\] )?Invalid Node - )/;

/** The text without the lines that a missing CUDA driver adds; '' if it has no others. */
export function withoutCudaNoise(text: string): string {
  if (!CUDA_NOISE.test(text)) return text;
  return text
    .split('\n')
    .filter((line) => !CUDA_NOISE.test(line))
    .join('\n');
}

/** Whether a text only says where the parser is: the reason is in another message. */
export const isFrame = (text: string): boolean => text.split('\n').every((line) => line === '' || FRAME.test(line));

/**
 * The reason that a message gives, in one line, without TensorRT's own prefixes, source positions and assertions. The
 * parser prints it several lines below the node that it is about.
 */
export function causeText(text: string): string {
  const whole = withoutCudaNoise(text);
  const at = /In function \w+: *\n?/.exec(whole);
  const lines = (at ? whole.slice(at.index + at[0].length) : whole).split('\n').map((line) => line.trim());
  const first = lines.find((line) => line !== '' && !FRAME.test(line)) ?? lines.find(Boolean) ?? '';
  return unwrap(first);
}

/** `[x.cpp::f::12] Error Code 4: API Usage Error (reason In f at /x.cpp:12)` → `reason`. */
function unwrap(line: string): string {
  const message = line.replace(PREFIX, '').replace(/(?:\.? +In \S+ at \/[^\s)]+)+\)*$/, '');
  const inner =
    /^(?:[A-Z][\w ]* Error|Myelin|Miscellaneous|Serialization|Cuda Runtime) \((.+?)\)?$/.exec(message)?.[1] ?? message;
  return assertion(inner.replace(PREFIX, '')).trim();
}

/** `Error[10]: `, `10: `, `[optimizer.cpp::f::12] `, `[myelin_graph.h:1295: f] `, `IBuilder::f: `, `Error Code 10: `. */
const PREFIX =
  /^(?:Internal Error: )?(?:Error\[\d+\]: )?(?:\d+: )?(?:\[[^\]]*:[^\]]*\] )?(?:\w+::\w+: )?(?:Error Code:? \d+: )?/;

/** `[6] Assertion failed: (a == b): reason` and `creator && "reason"` → `reason`; what has no words stays. */
function assertion(text: string): string {
  const claim = text.replace(/^(?:\[\d+\] )?(?:Assertion failed: )?/, '');
  const quoted = /&& "(.+)"$/.exec(claim)?.[1];
  if (quoted !== undefined) return quoted;
  return (text.includes('Assertion failed: ') && /^.*?[)\]\w]: ([A-Z].*)$/.exec(claim)?.[1]) || claim;
}

/** The layer that a cause begins with: `mm: last dimension…`, `IConcatenationLayer cat: cat: axis 2…`. */
export function layerBefore(text: string, before: string): string | undefined {
  const cause = causeText(text);
  const at = cause.indexOf(before);
  if (at <= 0) return undefined;
  const name = cause
    .slice(0, at)
    .replace(/^.*?\bI[A-Z]\w+Layer /, '')
    .replace(/:? *$/, '');
  // `cat: cat`: once for the layer, once for the node inside it.
  const half = (name.length - 2) / 2;
  return half > 0 && name.slice(0, half) === name.slice(half + 2) ? name.slice(0, half) : name || undefined;
}
