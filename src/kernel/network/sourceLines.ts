// The lines of Python that nodes come from, where the exporter recorded them.
import type { OnnxNode } from '../read/onnx/onnxModel.ts';
import { oneLine } from '../base/text.ts';

/** Keys of what the hook recorded, in the metadata of nodes. */
export const torchKeys = { source: 'trtlens.source', layers: 'trtlens.layers' } as const;

/** A line of a program, as the machine that exported the model names its file. */
export interface SourceLine {
  path: string;
  /** From 1. */
  line: number;
}

/** torch.onnx.export(…, dynamo=True): the frames of a Python traceback, the innermost last. */
const stackTrace = 'pkg.torch.onnx.stack_trace';

/** `  File "/home/ann/model.py", line 12, in forward` */
const frame = /^\s*File "(.+)", line (\d+)(?:, in |$)/;
/** `/home/ann/model.py(12): forward`, as the exporter of TorchScript writes into the description of a node. */
const call = /^(.+\.py)\((\d+)\): \S/;

/** PyTorch's own files: what they compute was asked for by a line that is further out. */
const isTorch = (path: string): boolean =>
  /[\\/](?:site|dist)-packages[\\/](?:torch|torch_tensorrt|torch_xla)[\\/]/.test(path) ||
  /[\\/]torch[\\/](?:nn|fx|jit|onnx|export|autograd|utils|_\w+)[\\/]/.test(path) ||
  /[\\/]torch[\\/](?:functional|_\w+)\.py$/.test(path);

/** Most models record nothing: their nodes share it. */
const none: { source?: string } = {};

/**
 * The innermost line outside of PyTorch that a node comes from: from `pkg.torch.onnx.stack_trace` (dynamo=True), from the
 * node's description (TorchScript, verbose=True), or as Torch-TensorRT's hook writes it.
 * @returns `{ source: '/home/ann/model.py:12' }`, or nothing where none is recorded
 */
export function sourceFrom({ metadata, doc }: { metadata: OnnxNode['metadata']; doc?: string | undefined }): {
  source?: string;
} {
  if (metadata.length === 0 && doc === undefined) return none;
  let frames: SourceLine[] = [];
  for (const { key, value } of metadata) {
    if (key === torchKeys.source) return { source: value };
    if (key === stackTrace) frames = linesOf(value, frame).toReversed();
  }
  if (frames.length === 0 && doc !== undefined) frames = linesOf(doc, call);
  const own = frames.find(({ path }) => !isTorch(path));
  return own === undefined ? {} : { source: `${own.path}:${own.line}` };
}

function linesOf(text: string, form: RegExp): SourceLine[] {
  return text.split('\n').flatMap((row) => {
    const found = form.exec(row);
    return found === null ? [] : [{ path: found[1]!, line: Number(found[2]) }];
  });
}

/** The parts of `model.py:12`, also of `C:\model.py:12`; null for other texts. */
export function readSource(source: string): SourceLine | null {
  const found = /^(.+):(\d+)$/.exec(source);
  return found === null ? null : { path: found[1]!, line: Number(found[2]) };
}

const partsOf = (path: string): string[] => path.split(/[\\/]+/).filter((part) => part !== '' && part !== '.');

/** The name of a file of any system. */
export const fileName = (path: string): string => partsOf(path).at(-1) ?? path;

/** The name of a source file, and its line: `model.py:12`. */
export function shortSource(source: string): string {
  const read = readSource(source);
  return oneLine(read === null ? source : `${fileName(read.path)}:${read.line}`);
}

/** Files beyond these are counted. */
const mostFiles = 3;

/**
 * Where the code of several nodes is, for people: `modeling_vit.py:112–140, blocks.py:14`, the file with the most nodes
 * first. '' where nothing is recorded.
 */
export function sourceRanges(sources: readonly (string | undefined)[]): string {
  const files = new Map<string, { first: number; last: number; count: number }>();
  for (const source of sources) {
    const read = source === undefined ? null : readSource(source);
    if (read === null) continue;
    const known = files.get(read.path);
    if (known === undefined) {
      files.set(read.path, { first: read.line, last: read.line, count: 1 });
      continue;
    }
    known.first = Math.min(known.first, read.line);
    known.last = Math.max(known.last, read.line);
    known.count++;
  }
  const sorted = [...files].toSorted(([, a], [, b]) => b.count - a.count);
  const texts = sorted.slice(0, mostFiles).map(([path, { first, last }]) => {
    const name = oneLine(fileName(path));
    return `${name}:${first === last ? first : `${first}–${last}`}`;
  });
  return [...texts, ...(sorted.length > mostFiles ? [`${sorted.length - mostFiles} more files`] : [])].join(', ');
}

/**
 * The files here that a file of another machine can be: those that share the longest end of its path. A name alone is
 * enough only if nothing more can match.
 * @param path as the exporter wrote it
 * @param candidates paths of files that have the same name
 * @returns the best ones, and how many parts of the path match; more than one if they cannot be told apart
 */
export function matchingFiles(path: string, candidates: readonly string[]): { files: string[]; parts: number } {
  const asked = partsOf(path).toReversed();
  const shared = candidates.map((candidate) => {
    const parts = partsOf(candidate).toReversed();
    const end = asked.findIndex((part, at) => part !== parts[at]);
    return end < 0 ? asked.length : end;
  });
  const most = Math.max(0, ...shared);
  return { files: most === 0 ? [] : candidates.filter((_, at) => shared[at] === most), parts: most };
}
