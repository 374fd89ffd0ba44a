import { expect, test } from 'vitest';
import { readArguments, renamedOptions } from '../../../../src/kernel/node/cli/arguments.ts';
import { trialArguments } from '../../../../src/kernel/node/cli/buildOptions.ts';
import { commandModules } from '../../../../src/shell/cli/commandTable.ts';
import { helpTopics } from '../../../../src/shell/cli/helpTopics.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';

const commands = await Promise.all(
  Object.entries(commandModules).map(async ([name, load]) => ({ name, ...(await load()) })),
);

/** What an option means, wherever it is: commands with another meaning are listed with it. */
const meanings: Record<string, string> = {
  build: 'a build folder; split, sweep: also build',
  'compute-capability': 'a GPU',
  force: 'overwrite files that trtlens did not write',
  html: 'a page to write',
  inputs: 'values of the inputs',
  json: 'the result as one JSON document',
  launcher: 'where programs run',
  layers: 'layer info; inspect: writes it',
  log: 'a verbose build log',
  'max-seconds': 'when a search ends',
  nodes: 'ids of nodes',
  onnx: 'the model',
  out: 'the file or folder to write',
  python: 'the Python interpreter',
  rules: 'override rules (*.trtprec)',
  tensorrt: 'the version of TensorRT',
  tolerance: 'the largest error that passes',
  yes: 'agree to a download',
};

/** Names for the same thing that are not to come back. */
const others: Record<string, RegExp> = {
  'compute-capability': /^(gpu|sm|arch|capability)$/,
  html: /^(page|web)$/,
  inputs: /^(samples?|data)$/,
  onnx: /^(model|network)$/,
  out: /^(output-file|dest|destination|target)$/,
  tensorrt: /^(trt|version)$/,
  yes: /^(assume-yes|agree)$/,
};

test('an option has one name, type and short form in all commands', () => {
  for (const name of Object.keys(meanings)) {
    const types = commands.flatMap(({ options }) => options[name]?.type ?? []);
    expect(types.length, name).toBeGreaterThan(0);
    if (name !== 'build') expect(new Set(types).size, name).toBe(1);
  }
  const shorts = new Map<string, Set<string>>();
  for (const { options } of commands)
    for (const [name, { short }] of Object.entries(options))
      if (short !== undefined) shorts.set(short, (shorts.get(short) ?? new Set()).add(name));
  expect(Object.fromEntries([...shorts].map(([short, names]) => [short, [...names].sort()]))).toEqual({
    // `trtlens build` makes a folder; the engine is the file in it that one can move.
    o: ['engine', 'out'],
    v: ['verbose'],
    y: ['yes'],
  });
  for (const [now, wrong] of Object.entries(others))
    expect(
      commands.flatMap(({ options }) => Object.keys(options)).filter((name) => wrong.test(name)),
      now,
    ).toEqual([]);
});

test('names that options had still work, and mean the same', () => {
  for (const [old, names] of Object.entries(renamedOptions)) {
    const having = commands.filter(({ options }) => !options[old] && names.some((name) => options[name]));
    expect(having.length, old).toBeGreaterThan(0);
    for (const { options } of having) {
      const now = names.find((name) => options[name])!;
      const value = options[now]!.type === 'string' ? ['-1'] : [];
      expect(readArguments([`--${old}`, ...value], options).values).toEqual(
        readArguments([`--${now}`, ...value], options).values,
      );
    }
  }
  const options = { out: { type: 'string', short: 'o' }, output: { type: 'string' } } as const;
  expect(readArguments(['--output', 'T', '-o', 'F'], options).values).toEqual({ out: 'F', output: 'T' });
  expect(
    readArguments(['--argument', '--output'], { argument: { type: 'string' }, out: { type: 'string' } }).values,
  ).toEqual({
    argument: '--output',
  });
});

test('the help of a command names each of its options', () => {
  for (const { name, help, options } of commands) {
    const named = new Set([...help.matchAll(/(?<![\w-])--?([a-z][\w-]*)/g)].map(([, option]) => option!));
    const others = help.includes('of trtlens build') ? trialArguments : {};
    const missing = Object.entries(options).filter(
      ([option, { short = '' }]) => !named.has(option) && !named.has(short) && !Object.hasOwn(others, option),
    );
    expect(missing, name).toEqual([]);
  }
});

test('the topics of the help fit a terminal, and say what is so', () => {
  for (const { text, summary } of Object.values(helpTopics)) {
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(summary).not.toBe('');
  }
  const rules = helpTopics['precision']!.text.split('\n\n').find((part) => part.includes('base fp16'))!;
  const { problems, rules: read } = readOverrides(rules);
  expect(problems).toEqual([]);
  expect(read.length).toBe(2);
  const known = commands.flatMap(({ options }) => Object.keys(options));
  const named = Object.values(helpTopics).flatMap(({ text }) =>
    [...text.matchAll(/--([a-z][\w-]*)/g)].map(([, one]) => one!),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((option) => !known.includes(option))).toEqual([]);
});

test.each([
  'fusion --onnx m --log l --nsys p',
  'fusion --log l --ort-log o',
  'fusion --onnx m --layers l --build-number 2',
  'fusion --onnx m --log l --fixed-shapes',
  'fusion --build b --ncu c',
  'fusion --build b --marked b --memory',
  'report --build b --nsys p -o r.html',
  'report --build b --build-number 2 -o r.html',
  'inspect x.engine --plugin p.so',
  'inspect x.engine --launcher l.yaml',
  'gate g --init --build b --sarif s',
  'gate g --update --build b --baseline c',
  'gate g --matrix r --build b',
  'matrix m --list --submit',
  'matrix m --slurm f --fixed-shapes',
  'matrix --collect f --list',
  'extract m --nodes 1 --from t -o o',
  'extract m --nodes 1 --build b -o o',
  'extract m --nodes 1 --python p -o o',
  'split m --suggest --check',
  'split m --at t -o d --precision fp16',
  'what-if m --cut t --max-builds 3',
  'what-if m --fuse 1 --html h',
  'repair m --suggest --html h',
  'repair m --dry-run -o o',
  'triton b --check c --name n',
  'triton b -o c --json',
  'sweep m --launcher l',
  'accuracy m --build b --log l',
  'bisect m --engine e --max-builds 3',
])('an option that would do nothing is refused: %s', async (line) => {
  const [name, ...args] = line.split(' ') as [string, ...string[]];
  const { run } = commands.find((command) => command.name === name)!;
  await expect(run(args, {} as never)).rejects.toMatchObject({ name: 'Usage', message: expect.stringMatching(/^-/) });
});
