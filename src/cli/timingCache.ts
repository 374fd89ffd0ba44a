import { basename } from 'node:path';
import { checkOutput } from '../builder/files/writeResult.ts';
import { withFile } from '../builder/files/fileSource.ts';
import { readTextBytes } from '../builder/files/readTextBytes.ts';
import { type TimingCacheReading, type TimingCachesRequest, useTimingCaches } from '../builder/run/timingCaches.ts';
import { UserError } from '../builder/userError.ts';
import { inspectFile } from '../core/inspect/inspectFile.ts';
import { counted, decodeUtf8 } from '../core/base/text.ts';
import { forceOption, readArguments, subcommandOf } from './arguments.ts';
import { type Command, exitCodes, Usage } from './command.ts';
import { printJson, type Terminal } from './terminal.ts';
import { readLauncherFile } from './launcherFile.ts';
import { driverFolder } from './driverScript.ts';

const options = {
  out: { type: 'string', short: 'o' },
  log: { type: 'string', multiple: true },
  'ignore-mismatch': { type: 'boolean' },
  python: { type: 'string' },
  launcher: { type: 'string' },
  json: { type: 'boolean' },
  ...forceOption,
} as const;

export const timingCache: Command = {
  help: `trtlens timing-cache merge FILE FILE… -o OUT [--ignore-mismatch] [--json]
trtlens timing-cache prune FILE --log LOG… -o OUT [--json]

Merges timing caches through TensorRT's Python module, on a GPU. Of entries with the same key, that of the first file
stays. Caches must be of the same version of TensorRT. prune keeps the entries whose keys are in verbose build logs; it
needs TensorRT 10.8 or later, and caches of builds with an editable timing cache. trtlens inspect FILE --read lists
entries.

  -o, --out FILE     the cache to write
  --log FILE         a verbose build log that lists keys; may be repeated
  --ignore-mismatch  also merge caches of other GPUs, whose times can be wrong for this one
  --python PROGRAM   the Python interpreter that has TensorRT of the caches' version
  --launcher FILE    run it in a container, over ssh or on a cluster, as for trtlens build
  --force            overwrite OUT even if it is not a timing cache
  --json             the result as one JSON document
`,
  options,
  subcommands: ['merge', 'prune'],
  run: async ([given, ...args], terminal) => {
    const what = subcommandOf(['merge', 'prune'], given);
    const { values, positionals } = readArguments(
      args,
      options,
      what === 'prune' ? ['FILE'] : ['FILE', 'FILE', ...args.map(() => '[FILE]')],
    );
    const { out, log: logs = [] } = values;
    if (out === undefined) throw new Usage('-o OUT (the cache to write) is missing');
    if ((what === 'prune') !== logs.length > 0)
      throw new Usage(what === 'prune' ? '--log LOG (a verbose build log) is missing' : '--log is for prune');
    await checkOutput(out, [...positionals, ...logs], 'timing-cache');
    for (const path of positionals) await entriesIn(path);
    const request: TimingCachesRequest = {
      caches: positionals,
      out,
      ignoreMismatch: values['ignore-mismatch'],
      scripts: driverFolder,
      python: values.python,
      launcher: values.launcher === undefined ? undefined : await readLauncherFile(values.launcher),
      signal: terminal.signal,
      output: (line) => terminal.note(line),
    };
    const result = what === 'merge' ? await useTimingCaches(request) : await prune(request, logs);
    if (values.json) await printJson(terminal, result);
    else await report(terminal, result, out);
    return exitCodes.done;
  },
};

/** How many entries the file itself shows; undefined: none of its first bytes say. */
async function entriesIn(path: string): Promise<number | undefined> {
  return withFile(
    path,
    async (source) => {
      const { kind, summary, counts } = await inspectFile(source, { name: basename(path) });
      if (kind !== 'timing-cache') throw new UserError(`${path} is not a timing cache of TensorRT: ${summary}`);
      return counts['entries'];
    },
    { unpack: false },
  );
}

/** `Autotuning op matMul1(key: 0x1814870c44ff0f8574df6e3dda04cbd7):` in verbose logs of TensorRT 10.8 and later. */
const keyInLog = /\(key: (0x[0-9a-f]{32})\)/g;

async function prune(request: TimingCachesRequest, logs: readonly string[]): Promise<TimingCacheReading> {
  const keys = new Set<string>();
  for (const path of logs)
    for (const [, key] of decodeUtf8(await readTextBytes(path, 'a build log')).matchAll(keyInLog)) keys.add(key!);
  if (keys.size === 0)
    throw new UserError(
      `${logs.join(', ')}: no keys of timing cache entries. Pass a verbose log of TensorRT 10.8 or later`,
    );
  return useTimingCaches({ ...request, keep: keys });
}

async function report(
  terminal: Terminal,
  { entries, removed, bytes, version, messages }: TimingCacheReading,
  out: string,
): Promise<void> {
  const number = entries?.length ?? (await entriesIn(out));
  const count = number === undefined ? 'number of entries not known' : counted(number, 'entry', 'entries');
  const gone = removed === 0 ? '' : `, ${counted(removed, 'entry', 'entries')} removed`;
  for (const { message } of messages) terminal.note(`TensorRT: ${message}`);
  await terminal.out(`${out}: ${count}${gone}, ${counted(bytes, 'byte')}, TensorRT ${version}\n`);
}
