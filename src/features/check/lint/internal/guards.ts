// Code for several versions of TensorRT asks which one it runs on before it uses what only some have.

const pythonQuestion =
  /\b(?:hasattr|getattr)\s*\(|__version__|\bversion(?:_?info)?\b\s*[<>=]|\bTRT_?(?:VERSION|MAJOR|\d+)\b|\bis_trt_?\d+\b/i;

/** In characters; a longer function was made by a program. */
const mostAround = 20_000;

/** Whether the function around a place (or the module) has asked for a member or a version before, or catches that it fails. */
export function isGuardedPython(code: string, at: number): boolean {
  const before = code.slice(Math.max(0, at - mostAround), at).split('\n');
  const indentation = (line: string) => /^[ \t]*/.exec(line)![0].length;
  let inner = indentation(before.at(-1)!);
  for (const line of before.toReversed()) {
    if (line.trim() === '') continue;
    if (pythonQuestion.test(line)) return true;
    if (indentation(line) >= inner) continue;
    inner = indentation(line);
    if (/^\s*(?:async\s+)?(?:def|class)\s/.test(line)) break;
    if (/^\s*try\s*:/.test(line) && catchesMissing(code.slice(at, at + mostAround), inner)) return true;
  }
  return false;
}

function catchesMissing(behind: string, indentation: number): boolean {
  const handler = new RegExp(`^[ \\t]{${indentation}}except\\b([^\\n:]{0,200})`, 'm').exec(behind);
  return handler !== null && /^\s*$|\bException\b|\bAttributeError\b|\bTypeError\b/.test(handler[1]!);
}

/** Whether a place is in a branch of the preprocessor that depends on TensorRT's version. */
export function guardedCpp(code: string): (at: number) => boolean {
  const open: { asks: boolean; start: number }[] = [];
  const found: { start: number; end: number }[] = [];
  const close = (end: number): void => {
    const branch = open.pop();
    if (branch?.asks) found.push({ start: branch.start, end });
  };
  for (const { index, 1: directive, 2: condition = '' } of code.matchAll(
    /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|endif)\b([^\n]*)/gm,
  )) {
    const asks = /NV_TENSORRT|TENSORRT_?(?:VERSION|MAJOR)|TRT_?(?:VERSION|MAJOR|\d)/i.test(condition);
    if (directive === 'endif') close(index);
    else if (directive !== 'elif') open.push({ asks, start: index });
    else if (asks) open.push({ asks, start: open.pop()?.start ?? index });
  }
  while (open.length > 0) close(code.length);
  return (at) => found.some(({ start, end }) => start <= at && at < end);
}
