import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import { hardModel, recordedLog, recordLogs, reportOnBuild } from '../support/hardModels/builtModels.ts';
import { hardModels } from '../support/hardModels/hardModels.ts';
import { driverPath, rtxForTests, temporaryFolder } from '../support/rtx.ts';

/** What TensorRT-RTX cannot build: its log is one of a failed build. */
const refused = ['bernoulli_like', 'first_output_empty', 'first_output_empty_unnamed', 'nonzero', 'name_too_long'];

/**
 * A quarter of the hard models, one or more for each shape of log. `test/unit/kernel/fusion/hardModels.test.ts` proves all of
 * them on recorded logs. These builds show that the logs are still those that TensorRT-RTX and the driver write.
 */
const chosen = Object.entries({
  'refused models': refused.join(' '),
  'nodes without metadata, and constants': `random_normal_like random_twice eye_then_constant constant_of_shape
    constant_node_output trilu_constant constant_pool constant_cumsum constant_einsum constant_lstm constant_gather`,
  'nodes that nothing is left of': 'identity_last_also_read dropout nothing_to_pad twins random_dead',
  'control flow': `if_true if_computed_constant if_shape_constant if_data if_same_names_true if_in_loop loop_captures
    loop_dynamic scan_reverse rnn`,
  functions: 'function_twice function_nested function_with_if function_overloads function_named_as_operator',
  names: 'name_line_break name_carriage_return names_missing name_clone name_long',
  'Q/DQ': 'quantized_conv quantized_residual',
  'dynamic shapes and profiles': `dynamic_reshape dynamic_shape_to_data dynamic_if stale_batch_far profiles_two
    marked_output`,
  'other kernels': 'optional_inputs topk conv_bn_relu split_concat heads_scaled_scores',
}).map(([group, models]) => [group, models.split(/\s+/)] as const);
const names = chosen.flatMap(([, models]) => models);
/** Recording builds every model. */
const recording = process.env['UPDATE_GOLDEN'] === '1';
const built = recording ? hardModels : names.map(hardModel);

const folder = temporaryFolder();
const script = fileURLToPath(new URL('../support/build_models.py', import.meta.url));
const logOf = (name: string): string => readFileSync(join(folder, `${name}.log`), 'utf8');

beforeAll(async () => {
  const rtx = await rtxForTests();
  for (const { name, bytes } of built) writeFileSync(join(folder, `${name}.onnx`), bytes);
  const jobs = built.map(({ name, arguments: args }) => ({
    model: `${name}.onnx`,
    log: `${name}.log`,
    arguments: args,
  }));
  const { stdout, stderr } = spawnSync(rtx.python, ['-B', script], {
    cwd: folder,
    input: JSON.stringify(jobs),
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    env: { ...process.env, ...rtx.environment, PYTHONPATH: dirname(driverPath) },
  });
  const results = stdout.trimEnd().split('\n');
  expect(results.length, stderr).toBe(jobs.length);
  const failed = built.filter((_, index) => results[index] !== '"passed"');
  expect(failed.map(({ name }) => name).toSorted()).toEqual(refused.toSorted());
  if (recording) recordLogs(Object.fromEntries(built.map(({ name }) => [name, logOf(name)])));
});

/** What a report says of each node, one line a node, and of each layer. */
const fatesOf = ({ nodes, layers, foreignNodes }: FusionReport): string[] => [
  ...nodes.map(({ id, fate, exact, foreignNode, layers: of }) =>
    [id, fate, exact ? 'exact' : 'derived', `ForeignNode ${foreignNode}`, `layers ${of.join()}`].join(' '),
  ),
  ...layers.map(({ id, kind, nodes: of }) => `layer ${id} ${kind} ${of.join()}`),
  ...foreignNodes.map(({ id, name, nodes: of }) => `${id} ${name} ${of.join()}`),
];

describe.each(chosen)('%s have the fates that the recorded log gives', (_, models) => {
  test.each(models)('%s', async (name) => {
    expect(fatesOf(await reportOnBuild(name, logOf(name)))).toEqual(fatesOf(await reportOnBuild(name)));
  });
});

test('the chosen models have every kind of layer and every fate of the recorded logs', async () => {
  const kindsOf = async (name: string): Promise<string[]> => {
    const layers = [...recordedLog(name).matchAll(/^\[[A-Z]\] \[TRT\] ([A-Z_]{4,}) /gm)].map(([, kind]) => kind!);
    const { nodes } = await reportOnBuild(name);
    return [...layers, ...nodes.map(({ fate, exact }) => `${fate} ${exact ? 'exact' : 'derived'}`)];
  };
  const kinds = async (all: readonly string[]): Promise<string[]> =>
    [...new Set((await Promise.all(all.map(kindsOf))).flat())].toSorted();
  expect(await kinds(names)).toEqual(await kinds(hardModels.map(({ name }) => name)));
});
