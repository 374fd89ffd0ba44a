import { describe, expect, it } from 'vitest';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { checkReport } from '../../../support/checker/checkReport.ts';
import { x, y } from '../../../support/hardModels/hardModel.ts';
import { writeModel, type LocalFunction } from '../../../support/hardModels/onnxWriter.ts';
import { hardModel, logsOf106, recordedLog, reportOnBuild } from '../../../support/hardModels/builtModels.ts';
import { hardModels } from '../../../support/hardModels/hardModels.ts';

const nodesOf = async (name: string) => (await reportOnBuild(name)).nodes;

describe('builds of hard models', () => {
  it.each(hardModels)('$name: nothing in the log contradicts the report', async ({ name, bytes }) => {
    const log = recordedLog(name);
    const report = await reportOnBuild(name, log);
    expect(checkReport(report, { model: bytes, log })).toEqual([]);
    for (let profile = 1; profile < (report.optimizationProfile?.of ?? 1); profile++)
      expect(checkReport(await reportOnBuild(name, log, profile), { model: bytes, log })).toEqual([]);
  });
});

it('a name that contains what separates names in metadata is one name', async () => {
  expect((await reportOnBuild('name_token')).problems).toEqual([]);
});

describe('builds of hard models with TensorRT 10.6', () => {
  const logs = logsOf106();

  it.each(Object.keys(logs))('%s: nothing in the log contradicts the report', async (name) => {
    const log = logs[name]!;
    const report = await reportOnBuild(name, log);
    expect(checkReport(report, { model: hardModel(name).bytes, log })).toEqual([]);
    expect(report.problems.filter(({ code }) => code === 'other-model' || code === 'model-differs')).toEqual([]);
  });

  it('says where the parser gives a function an input from outside', async () => {
    const { problems, nodes } = await reportOnBuild('function_nested', logs['function_nested']);
    expect(problems).toMatchObject([
      { code: 'function-scope', message: expect.stringContaining('input "a"') as string },
    ]);
    // The engine has one of the two calls.
    expect(nodes.filter(({ fate }) => fate === 'unknown').map(({ id }) => id)).toContain('0/Twice/0/Gate/0');
  });

  it('puts a call and an If into the native layers that compute their bodies', async () => {
    const { nodes } = await reportOnBuild('function_dead_inside', logs['function_dead_inside']);
    expect(nodes.find(({ name }) => name === 'call')).toMatchObject({
      exact: false,
      reason: expect.stringMatching(/^Nodes of its body are in layers? \d/) as string,
    });
    const unknown = Object.keys(logs).map(async (name) =>
      (await reportOnBuild(name, logs[name])).nodes.some(({ fate }) => fate === 'unknown') &&
      /&&&& PASSED/.test(logs[name]!)
        ? [name]
        : [],
    );
    expect((await Promise.all(unknown)).flat()).toEqual(['function_nested']);
  });
});

describe('outputs of functions and bodies that nothing reads', () => {
  it.each([
    ['function_output_unread', ['turn', 'mm', 'act']],
    ['if_output_unread', ['t2', 'e2']],
    ['loop_output_unread', ['exp']],
  ])('%s: what makes them is removed', async (name, gone) => {
    const removed = (await nodesOf(name)).filter(({ reason }) => reason === 'No graph output depends on it.');
    expect(removed.map((node) => [node.name, node.fate, node.exact])).toEqual(
      gone.map((one) => [one, 'removed', true]),
    );
  });
});

it('says of a loop without a round that no kernel needs to compute its body', async () => {
  const inside = (await nodesOf('loop_no_round')).filter(({ op }) => op === 'Tanh' || op === 'Sin');
  expect(inside).toHaveLength(2);
  for (const { reason, within } of inside) {
    expect(within).toBeUndefined();
    expect(reason).toContain('Derived: no kernel needs to compute it, because the loop around it makes no round.');
  }
});

describe('several optimization profiles', () => {
  it('have shapes of their own: one is static, the other is not', async () => {
    const fates = async (profile: number) =>
      (await reportOnBuild('profiles_static_shapes', undefined, profile)).accounting;
    expect(await fates(0)).toMatchObject({ folded: 4, shape: 0 });
    expect(await fates(1)).toMatchObject({ folded: 0, shape: 4 });
  });

  it('have the same condition on the host', async () => {
    for (const profile of [0, 1]) {
      const { nodes, layers } = await reportOnBuild('profiles_condition', undefined, profile);
      expect(nodes.slice(0, 3).map(({ fate }) => fate)).toEqual(['shape', 'shape', 'shape']);
      expect(layers[0]).toMatchObject({ type: 'ShapeHostToDevice', kind: 'shape', nodes: [] });
    }
  });
});

it('keeps the kernels of a loop from a node of the same name outside', async () => {
  const node = (await nodesOf('loop_names_outside')).find(({ op, exact }) => op === 'MatMul' && exact)!;
  const { layers } = await reportOnBuild('loop_names_outside');
  expect(node).toMatchObject({ id: '1', name: 'mm' });
  expect(node.layers.map((layer) => layers[layer]!.type)).toEqual(['gemm']);
});

describe('nodes without metadata', () => {
  it.each(['random_normal', 'random_normal_like', 'random_uniform', 'random_uniform_like'])(
    '%s is computed: GRAPH NODES has it, though no list of members does',
    async (name) => {
      expect(await nodesOf(name)).toMatchObject([
        {
          name: 'rnd',
          fate: 'foreign',
          foreignNode: 0,
          exact: false,
          reason: expect.stringMatching(/log line \d+/) as string,
        },
        { name: 'add', fate: 'foreign', exact: true },
      ]);
    },
  );

  it('EyeLike is in the ForeignNode that is named after it', async () => {
    expect(await nodesOf('eye_like')).toMatchObject([{ name: 'eye', fate: 'foreign', exact: true }, { name: 'add' }]);
  });

  it('an identity from input to output is what the only kernel does', async () => {
    const { nodes, layers, foreignNodes } = await reportOnBuild('identity_through');
    expect(nodes).toMatchObject([{ name: 'pass', fate: 'foreign' }]);
    expect(foreignNodes).toMatchObject([{ name: '{ForeignNode[pass]}', nodes: ['0'] }]);
    expect(layers).toMatchObject([{ nodes: ['0'] }]);
  });

  it('an identity that nothing is left of is removed', async () => {
    expect((await nodesOf('dropout')).map(({ name, fate }) => [name, fate])).toEqual([
      ['relu', 'foreign'],
      ['drop', 'removed'],
      ['exp', 'foreign'],
    ]);
  });
});

describe('shapes', () => {
  it('are known at build time where the profile has one shape, whatever the model says', async () => {
    const { nodes, accounting } = await reportOnBuild('dynamic_one_shape');
    expect(accounting).toMatchObject({ folded: 4, shape: 0 });
    expect(nodes.slice(0, 4).every(({ reason }) => reason.includes('every shape in the engine is fixed'))).toBe(true);
  });

  it('are computed on the host where the profile has several', async () => {
    expect((await reportOnBuild('dynamic_reshape')).accounting).toMatchObject({ folded: 0, shape: 4 });
  });
});

describe('line breaks in names', () => {
  it.each(['name_line_break', 'name_blank_line', 'name_leading_break', 'name_carriage_return'])(
    '%s: lines are joined where a name goes on',
    async (name) => {
      const { nodes, layers, problems } = await reportOnBuild(name);
      expect(nodes).toMatchObject([
        { fate: 'foreign', exact: true, layers: [0] },
        { fate: 'foreign', exact: true, layers: [1] },
      ]);
      expect(layers).toHaveLength(2);
      expect(problems).toEqual([]);
    },
  );
});

describe('branches that are not taken', () => {
  const removed = async (name: string) =>
    (await nodesOf(name)).filter(({ fate }) => fate === 'removed').map(({ id, exact }) => [id, exact]);

  it.each([
    ['if_true', '0/else_branch/0', true],
    ['if_false', '0/then_branch/0', true],
    ['if_constant_node', '1/else_branch/0', true],
    ['if_same_names', '0/then_branch/0', true],
    ['if_name_outside', '1/then_branch/0', true],
    // The condition is computed: the log lists both branches among the members.
    ['if_computed_constant', '1/else_branch/0', false],
    ['if_not_constant', '1/then_branch/0', false],
    ['if_shape_constant', '2/else_branch/0', false],
  ] as const)('%s: removed', async (name, id, exact) => {
    expect(await removed(name)).toEqual([[id, exact]]);
  });

  it('a name without a path is that of the node outside', async () => {
    const nodes = await nodesOf('if_names_of_main');
    expect(nodes.map(({ name, exact }) => [name, exact])).toEqual([
      ['act', true],
      ['mm', true],
      ['if', true],
      ['mm', true],
      ['act', true],
      ['after', true],
    ]);
  });

  it('nodes of both branches have the same names: those of the other one are exact', async () => {
    expect((await nodesOf('if_same_names_true')).map(({ fate }) => fate)).toEqual([
      'foreign',
      'foreign',
      'foreign',
      'removed',
      'removed',
      'foreign',
    ]);
  });

  it.each(['if_data', 'if_captures', 'dynamic_if', 'if_data_same_names'])('%s: both are kept', async (name) => {
    expect(await removed(name)).toEqual([]);
  });
});

describe('declared shapes', () => {
  it('do not count where the inputs contradict them', async () => {
    const { nodes, problems, tensors } = await reportOnBuild('stale_batch_far');
    expect(nodes.filter(({ fate }) => fate === 'shape').map(({ op }) => op)).toEqual([
      'Shape',
      'Gather',
      'Unsqueeze',
      'Concat',
    ]);
    expect(problems).toMatchObject([{ code: 'stale-shape', node: '1' }]);
    expect(problems[0]!.message).toContain('declares "q" as 1×8, but its inputs make it N×8 (and 1 more tensor)');
    expect(tensors.find(({ name }) => name === 'q')?.shape).toEqual(['N', 8]);
  });

  it('that differ in their symbols only, or that nothing contradicts, are no problem', async () => {
    for (const name of ['declared_symbol_apart', 'declared_more_than_inferred'])
      expect((await reportOnBuild(name)).problems).toEqual([]);
  });
});

describe('what follows from constants', () => {
  it.each(['constant_softmax', 'constant_topk', 'constant_lstm', 'constant_to_output'])(
    '%s: is where layers name it',
    async (name) => {
      const [first] = await nodesOf(name);
      expect(first).toMatchObject({ fate: 'foreign', exact: true });
    },
  );

  it('is derived where no layer names it', async () => {
    const { nodes } = await reportOnBuild('shape_slices_static');
    expect(nodes.filter(({ fate }) => fate === 'folded').map(({ exact }) => exact)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});

describe('overloads of functions, which TensorRT ignores', () => {
  it.each(['function_overloads', 'function_overload_twice', 'function_overloads_unnamed'])('%s', async (name) => {
    const { nodes, problems } = await reportOnBuild(name);
    expect(nodes.filter(({ fate }) => fate !== 'foreign')).toEqual([]);
    expect(problems).toMatchObject([{ code: 'ignored-overload', node: '1/Blk/1' }]);
    expect(problems[0]!.message).toContain('it built Relu in place of Tanh "act"');
  });
});

describe('unrolled loops', () => {
  it.each(['rnn', 'gru', 'lstm_both_ways', 'scan_reverse'])('%s: every kernel has its nodes', async (name) => {
    const { layers } = await reportOnBuild(name);
    expect(layers.filter(({ kind, nodes }) => kind === 'kernel' && nodes.length === 0)).toEqual([]);
  });

  it('keep the nodes around them out of their steps', async () => {
    const { nodes, layers } = await reportOnBuild('rnn');
    expect(nodes[1]).toMatchObject({ op: 'RNN', layers: [1, 2, 3, 4, 5, 6, 7, 8, 9] });
    expect([layers[0]!.nodes, layers[10]!.nodes]).toEqual([['0'], ['3']]);
  });

  it('have the nodes of the last step in the same program of another one', async () => {
    const { layers } = await reportOnBuild('scan_reverse');
    expect(layers.map(({ nodes }) => nodes)).toEqual([
      ['0/body/0', '0/body/1'],
      ['0/body/2'],
      ['0/body/0', '0/body/1'],
      ['0/body/2'],
    ]);
  });
});

describe('a function with the name of an operator', () => {
  it('is not built: TensorRT takes the operator', async () => {
    const { nodes, problems } = await reportOnBuild('function_named_as_operator');
    expect(nodes.map(({ id, fate, exact }) => [id, fate, exact])).toEqual([
      ['0', 'foreign', true],
      ['0/Relu/0', 'removed', true],
      ['0/Relu/1', 'removed', true],
      ['1', 'foreign', true],
      ['2', 'foreign', true],
    ]);
    expect(problems).toMatchObject([{ code: 'ignored-function', node: '0' }]);
  });
});

describe('local functions', () => {
  it('have their nodes counted for each call, each with its kernel', async () => {
    const { nodes, accounting, model } = await reportOnBuild('function_twice');
    expect(model.nodes).toBe(7);
    expect(accounting.total).toBe(7);
    expect(nodes.map(({ id, exact, layers }) => [id, exact, layers])).toEqual([
      ['0', false, []],
      ['0/Gate/0', true, [0]],
      ['0/Gate/1', true, [0]],
      ['1', false, []],
      ['1/Gate/0', true, [0]],
      ['1/Gate/1', true, [0]],
      ['2', true, [0]],
    ]);
  });

  it('are told apart from nodes outside by the path in the metadata', async () => {
    expect((await nodesOf('function_name_outside')).filter(({ name }) => name === 'sig')).toMatchObject([
      { id: '0', op: 'Relu', exact: true },
      { id: '1/Gate/0', op: 'Sigmoid', exact: true },
    ]);
  });

  it('may call one another, and may be called without end', async () => {
    expect((await nodesOf('function_nested')).map(({ id }) => id)).toEqual([
      '0',
      '0/Twice/0',
      '0/Twice/0/Gate/0',
      '0/Twice/0/Gate/1',
      '0/Twice/1',
      '0/Twice/1/Gate/0',
      '0/Twice/1/Gate/1',
      '1',
    ]);
    const again: LocalFunction = {
      name: 'Again',
      inputs: ['a'],
      outputs: ['b'],
      nodes: [['', 'local.Again', ['a'], ['b']]],
    };
    const bytes = writeModel({ inputs: [x], outputs: [y], nodes: [['', 'local.Again', ['x'], ['y']]] }, [again]);
    const { value: model } = await readModel(bytesOf(bytes));
    expect(createReport({ model: model!, modelFile: 'm' }).accounting.total).toBe(33);
  });
});
