import { parseVersion, type Version } from './trtexecFlags.ts';

/** What `trtexec --help` says. */
export interface TrtexecHelp {
  version: Version | null;
  /** Flag names without `--`, aliases included. */
  flags: Set<string>;
}

/**
 * Reads the text that `trtexec --help` prints (8.2 to 11), also with a log's banner and error lines around it.
 * `TensorRT v8601` is 8.6.1, `v100600` 10.6.0. Nothing recognisable gives an empty set.
 */
export function readTrtexecHelp(text: string): TrtexecHelp {
  const flags = new Set<string>();
  for (const line of text.split('\n')) {
    const head = /^ {2,12}(-{1,2}\w[^\s]*(?:,\s+-{1,2}\w[^\s]*)*)/.exec(line)?.[1];
    for (const match of head?.matchAll(/(?:^|[\s,])-{1,2}(\w+)/g) ?? []) flags.add(match[1]!);
  }
  return { version: readBanner(text), flags };
}

/** The version in a frame line such as `&&&& RUNNING TensorRT.trtexec [TensorRT v101601] [b11] # trtexec`. */
export function readBanner(text: string): Version | null {
  const digits = /\[TensorRT v(\d+)\]/.exec(text)?.[1] ?? /TensorRT version: (\d+(?:\.\d+)+)/.exec(text)?.[1];
  if (!digits) return null;
  if (digits.includes('.')) return parseVersion(digits);
  // Up to version 9 it is Mmpp (8203 = 8.2.3), from 10 on MMmmpp (101601 = 10.16.1).
  const match = digits.length <= 4 ? /^(\d)(\d)(\d\d)$/.exec(digits) : /^(\d+)(\d\d)(\d\d)$/.exec(digits);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : null;
}
