// Runs the commands of README and docs, and compares what they print with the page. `npm run golden` writes it again.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { importBuild } from '../../../../src/kernel/node/run/importBuild.ts';
import { commandTable } from '../../../../src/shell/cli/commandTable.ts';
import { readLauncher } from '../../../../src/kernel/build/launcher.ts';
import { copyCli } from '../../../support/bundledCli.ts';
import { fixturePath, modelPath, readFixture } from '../../../support/fixtures.ts';
import { outputViolations } from '../../../support/outputs.ts';
import { blocksOf, docPages, readPage, runPage } from '../../../support/docPages.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const root = join(import.meta.dirname, '../../../..');
const folder = temporaryFolder();
const update = process.env['UPDATE_GOLDEN'] === '1';

beforeAll(async () => {
  copyCli(folder);
  symlinkSync(join(root, 'examples'), join(folder, 'examples'));
  symlinkSync(fixturePath('torch/vision'), join(folder, 'vision'));
  symlinkSync(fixturePath('captures/tensorrt-10.6.0/vit_tiny.fp16'), join(folder, 'vit_build'));
  symlinkSync(fixturePath('int8'), join(folder, 'int8'));
  symlinkSync(fixturePath('ort/split'), join(folder, 'split'));
  writeFileSync(join(folder, 'cnn.onnx'), readFixture('int8/model.onnx.gz'));
  copyFileSync(fixturePath('ort/model_ctx.onnx'), join(folder, 'model_ctx.onnx'));
  symlinkSync(modelPath('vit_tiny'), join(folder, 'vit_tiny.onnx'));
  symlinkSync(fixturePath('captures/tensorrt-10.6.0/fp16_overflow_fp16.typed'), join(folder, 'encoder_build'));
  copyFileSync(modelPath('fp16_overflow_fp16'), join(folder, 'encoder_fp16.onnx'));
  copyFileSync(modelPath('fp16_overflow'), join(folder, 'model.onnx'));
  // The same model with an output inside of an attention, both built with TensorRT 10.6 on an H100.
  symlinkSync(fixturePath('marked'), join(folder, 'marked'));
  const marked = ['--layers', 'marked/marked.layers.json.gz', '--profile', 'marked/marked.profile.json', '--json'];
  writeFileSync(join(folder, 'marked.json'), trtlens(['fusion', '--onnx', 'encoder_fp16.onnx', ...marked]).stdout);
  // A build with open dimensions, which was built for fixed ones, too.
  copyFileSync(fixturePath('builds/gpt_kv/model.onnx'), join(folder, 'decoder.onnx'));
  const pieces = [{ file: fixturePath('builds/gpt_kv/build.log.gz') }];
  const built = await importBuild({ model: join(folder, 'decoder.onnx'), pieces, folder: join(folder, 'imported') });
  copyFileSync(fixturePath('builds/gpt_kv/dynamic-shapes.json'), join(built.folder, 'dynamic-shapes.json'));
  symlinkSync(built.folder, join(folder, 'decoder_build'));
  symlinkSync(fixturePath('builds/new_layers'), join(folder, 'attention'));
  // Two exports of one encoder, built with TensorRT 10.6 on an H200.
  for (const [onnx, model, capture, report] of [
    ['encoder.onnx', 'fp16_overflow', 'fp16_overflow.fp16', 'before.json'],
    ['encoder_mixed.onnx', 'fp16_overflow_mixed', 'fp16_overflow_mixed.typed', 'after.json'],
  ] as const) {
    copyFileSync(modelPath(model), join(folder, onnx));
    const file = (name: string) => fixturePath(`captures/tensorrt-10.6.0/${capture}/${name}`);
    const files = ['--log', file('log.txt.gz'), '--layers', file('layers.json'), '--profile', file('profile.json')];
    writeFileSync(join(folder, report), trtlens(['fusion', '--onnx', onnx, ...files, '--json']).stdout);
  }
});

const trtlens = (args: string[]) =>
  spawnSync(process.execPath, [join(folder, 'dist/cli.js'), ...args], { cwd: folder, encoding: 'utf8' });

/** A block as a shell would make it: what each line behind `$` prints. A last line `…` on the page stands for the rest. */
function replayed(block: string): string {
  let status = 0;
  return block.replaceAll(/^\$ (.+)\n((?:(?!\$ ).*\n)*)/gm, (_, command: string, shown: string) => {
    const [program, ...args] = command.split(' ');
    if (command === 'echo $?') return `$ ${command}\n${status}\n`;
    if (program === 'cat') return `$ ${command}\n${readFileSync(join(folder, args[0]!), 'utf8')}`;
    expect(program).toBe('trtlens');
    const ran = trtlens(args);
    status = ran.status ?? -1;
    expect(status === 0 || block.includes(`$ echo $?\n${status}`), `${command}: ${status} ${ran.stderr}`).toBe(true);
    const output = `${ran.stdout}${ran.stderr}`.replaceAll(`${folder}/`, '').trim();
    const lines = shown.trimEnd().split('\n');
    const text = lines.at(-1) === '…' ? [...output.split('\n').slice(0, lines.length - 1), '…'].join('\n') : output;
    return `$ ${command}\n${text && `${text}\n`}`;
  });
}

test('the pages are few and short', () => {
  const words = docPages
    .filter((page) => !page.startsWith('packaging/'))
    .map((page) => [page, readPage(page).split(/\s+/).filter(Boolean).length] as const);
  expect(words.length).toBeLessThanOrEqual(18);
  expect(words.filter(([, count]) => count > 2500)).toEqual([]);
  expect(words.reduce((sum, [, count]) => sum + count, 0)).toBeLessThanOrEqual(28_000);
});

/** Options of other programs that the pages name. */
const foreign = new Set(
  `--verbose --exportLayerInfo --exportProfile --exportTimes --exportOutput --profilingVerbosity --stronglyTyped --fp16
  --bf16 --int8 --calib --precisionConstraints --layerPrecisions --buildOnly --skipInference --memPoolSize --noTimingCache
  --loadEngine --iterations --duration --warmUp --noCudaGraph --dumpRawBindingsToFile --saveAllDebugTensors
  --versionCompatible --hardwareCompatibilityLevel --runtimePlatform --dynamicPlugins --save-tactics --save-outputs
  --save-accuracy-results --compare --onnxrt --tf32 --trace --cuda-graph-trace --type --csv --page --set
  --target-processes --gpus --rm --device --gres --time --quiet --from --library --edit-last --create-if-none --body-file
  --no-serve --package --precision-constraints --layer-precisions --saveEngine`.split(/\s+/),
);

test('every command and option that a page names exists', { timeout: 600_000 }, () => {
  const helpOf = (command: string) => trtlens([command, '--help']).stdout;
  const every = Object.keys(commandTable).map(helpOf).join('\n') + helpOf('help');
  const optionsIn = (text: string) => text.match(/(?<![\w-])--[a-z][\w-]*/gi) ?? [];
  const missing = docPages.flatMap((page) => {
    const text = readPage(page).replaceAll('\\\n', ' ');
    const commands = [...text.matchAll(/(?<![\w/.-])trtlens ((?!help\b)[a-z][\w-]*)((?:[^`\n|>#;]|(?<=[-]-)\|)*)/g)];
    const wrong = commands.flatMap(([, command, rest]) => {
      if (!(command! in commandTable))
        return /^(?:build_|setup$)/.test(command!) ? [] : [`${page}: trtlens ${command}`];
      const own = helpOf(command!);
      const help = /build options/i.test(own) ? own + helpOf('build') : own;
      return optionsIn(rest!.split(' -- ')[0]!)
        .filter((option) => !help.includes(option))
        .map((option) => `${page}: trtlens ${command} ${option}`);
    });
    const code = [...text.matchAll(/`([^`\n]+)`|^```[^]*?^```$/gm)].map(([whole]) => whole).join('\n');
    const unknown = optionsIn(code).filter((option) => !every.includes(option) && !foreign.has(option));
    return [...wrong, ...unknown.map((option) => `${page}: ${option}`)];
  });
  expect([...new Set(missing)]).toEqual([]);
});

test('the launchers are right', () => {
  const launchers = blocksOf('docs/building.md').filter(({ text }) => /^command:/m.test(text));
  expect(launchers.length).toBeGreaterThan(3);
  for (const { text } of launchers)
    expect(readLauncher(parse(text))).toMatchObject({ command: expect.any(Array) as unknown });
});

test('README.zh-CN.md has the commands of README.md', () => {
  const commandsOf = (page: string) => blocksOf(page).map(({ text }) => text.replaceAll(/ *#.*/g, ''));
  expect(commandsOf('README.zh-CN.md')).toEqual(commandsOf('README.md'));
});

test.each([
  ['diagnose', 'diagnose samples/unsupported_op/build.log --onnx samples/unsupported_op/unsupported_op.onnx'],
  ['check', 'check samples/unsupported_op/unsupported_op.onnx --tensorrt 10.6'],
  ['check', 'check samples/vit_tiny/vit_tiny.onnx --tensorrt 10.6'],
  ['lint', 'lint samples/tensorrt8'],
  ['inspect', 'inspect samples/cnn_int8/calibration.cache'],
  ['inspect', 'inspect samples/vit_tiny/build.log.gz'],
  ['inspect', 'inspect samples/onnxruntime/onnxruntime.onnx'],
  ['fusion-report', 'fusion --onnx samples/encoder/encoder.onnx --layers samples/encoder/layers.json'],
  ['matrix', 'matrix nets.yaml --list'],
  ['extract', 'extract samples/encoder/encoder.onnx --nodes 112 --around 3 -o json-part.onnx'],
  ['split', 'split samples/encoder/encoder.onnx --suggest'],
  ['split', 'split samples/encoder/encoder.onnx --at /layers.1/add_ffn/Add_output_0 -o json-parts'],
  ['repair', 'repair samples/yolo_like/yolo_like.onnx --suggest'],
  ['repair', 'repair samples/vit_tiny/vit_tiny.onnx --suggest'],
  ['plugin', 'plugin samples/encoder/encoder.onnx --nodes 112,113 --name Part -o json-plugin'],
  ['quantization', 'quantization samples/resnet_int8/resnet_int8.onnx'],
  [
    'quantization',
    'quantization migrate samples/cnn_int8/cnn_int8.onnx --cache samples/cnn_int8/calibration.cache -o json-qdq.onnx',
  ],
  ['precision-check', 'precision check rules.trtprec'],
  [
    'precision-verify',
    'precision verify rules.trtprec --log samples/encoder/build.log.gz --layers samples/encoder/layers.json',
  ],
  ['replay-check', 'replay check samples/replay/edited.json --log samples/replay/failed.log'],
  ['replay-diff', 'replay diff samples/replay/replay.json samples/replay/edited.json'],
  ['diff', 'diff before.json after.json'],
])('its JSON is that of schemas/%s: trtlens %s', (name, args) => {
  const cli = join(folder, 'dist/cli.js');
  if (!existsSync(join(folder, 'samples'))) {
    trtlens(['setup', 'samples']);
    writeFileSync(
      join(folder, 'rules.trtprec'),
      'model ./samples/encoder/encoder.onnx\nbase fp16\n/layers.1/attn/** fp32\nop:None fp32\n',
    );
    writeFileSync(join(folder, 'nets.yaml'), 'models: [samples/encoder/encoder.onnx]\n');
  }
  expect(outputViolations(cli, folder, name, args)).toEqual([]);
});

/** What it shows needs more than Node is tested where that is: test/real/docs.test.ts. */
describe.each(docPages)('%s', (page) => {
  test('its commands do what it shows', () => {
    const { text, failed } = runPage(page, join(folder, 'dist/cli.js'), () => false);
    expect(failed).toEqual([]);
    expect(text).toBe(readPage(page));
  });
});

/** What answers other programs; tested with them. */
const withPrograms: string[] = [];

test('what every other command prints for a recorded build is in test/golden/commands.txt or on a page', () => {
  const path = join(root, 'test/golden/commands.txt');
  const kept = readFileSync(path, 'utf8');
  const captures = fixturePath('captures/tensorrt-10.6.0');
  for (const [name, target] of [
    ['failed', join(captures, 'unsupported_op.fp32')],
    ['replay', join(captures, 'vit_tiny.poly_replay')],
    ['unsupported_op.onnx', modelPath('unsupported_op')],
    ['fp32.npz', fixturePath('faults/ln_pow_outlier/h200.fp32.npz')],
    ['fp16.npz', fixturePath('faults/ln_pow_outlier/h200.fp16_all.npz')],
  ] as const)
    symlinkSync(target, join(folder, name));
  writeFileSync(join(folder, 'vit.trtprec'), 'base fp16\n/**/MatMul* fp32\n');
  const current = replayed(kept);
  if (update) writeFileSync(path, current);
  expect(current).toBe(update ? current : kept);

  const shown = [kept, ...docPages.map(readPage)].join('\n');
  const listed = Object.entries(commandTable).flatMap(([name, { group }]) => (group === undefined ? [] : [name]));
  const missing = listed.filter((name) => !new RegExp(`^(?:\\$ )?trtlens ${name}\\b`, 'm').test(shown));
  expect(missing.toSorted()).toEqual(withPrograms);
});

describe('the action for GitHub', () => {
  interface Step {
    name: string;
    run?: string;
    env?: Record<string, string>;
    uses?: string;
    with?: Record<string, string>;
  }
  const text = readFileSync(join(root, 'examples/github-gate/action.yml'), 'utf8');
  const action = parse(text) as {
    inputs: Record<string, { default?: string; required?: boolean }>;
    outputs: Record<string, { value: string }>;
    runs: { using: string; steps: Step[] };
  };
  const [check, upload, result] = action.runs.steps as [Step, Step, Step];

  /** Runs the steps as GitHub does: inputs in the environment, each script by bash that stops at errors. */
  function runAction(name: string, inputs: Record<string, string>) {
    const temporary = mkdtempSync(join(folder, `${name}-`));
    const [output, summary] = ['output', 'summary'].map((file) => join(temporary, file)) as [string, string];
    writeFileSync(output, '');
    const given = Object.fromEntries(
      Object.entries(action.inputs).map(([key, { default: value = '' }]) => [key, value]),
    );
    const values: Record<string, string> = { 'runner.temp': temporary };
    for (const [key, value] of Object.entries({ ...given, ...inputs })) values[`inputs.${key}`] = value;
    const filled = (template: string) =>
      template.replaceAll(/\$\{\{ ([\w.-]+) \}\}/g, (_, key: string) => {
        expect(Object.keys(values)).toContain(key);
        return values[key]!;
      });
    const run = ({ run: script, env = {} }: Step) =>
      spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script!], {
        cwd: folder,
        encoding: 'utf8',
        env: {
          ...process.env,
          ...Object.fromEntries(Object.entries(env).map(([key, value]) => [key, filled(value)])),
          GITHUB_OUTPUT: output,
          GITHUB_STEP_SUMMARY: summary,
        },
      });
    const checked = run(check);
    expect(checked.status, checked.stderr).toBe(0);
    for (const line of readFileSync(output, 'utf8').trim().split('\n')) {
      const at = line.indexOf('=');
      values[`steps.check.outputs.${line.slice(0, at)}`] = line.slice(at + 1);
    }
    return {
      status: run(result).status,
      said: checked,
      summary: existsSync(summary) ? readFileSync(summary, 'utf8') : null,
      markdown: filled(action.outputs['summary']!.value),
      sarif: filled(upload.with!['sarif_file']!),
    };
  }

  const command = `${process.execPath} ${join(folder, 'dist/cli.js')}`;
  const inputs = { gate: 'action.gate.yaml', onnx: 'encoder_mixed.onnx', trtlens: command };

  test('fails on the worked example with the changes in the summary, and passes on the baseline', () => {
    expect(trtlens(['gate', inputs.gate, '--init', '--report', 'before.json', '--onnx', 'encoder.onnx']).status).toBe(
      0,
    );
    const failed = runAction('failed', { ...inputs, report: 'after.json', baseline: 'action.report.json' });
    expect(failed.status).toBe(1);
    expect(failed.summary).toMatch(
      /5 of 9 checks failed[^]*12 % slower: 1 attention split, 10 × Cast added\.[^]*\| \+18\.1 µs \| split \|/,
    );
    expect(readFileSync(failed.markdown, 'utf8')).toBe(failed.summary);
    expect(JSON.parse(readFileSync(failed.sarif, 'utf8'))).toMatchObject({ runs: [{ results: [{}, {}, {}, {}, {}] }] });
    const passed = runAction('passed', { ...inputs, onnx: 'encoder.onnx', report: 'before.json\nbefore.json\n' });
    expect(passed.status).toBe(0);
    expect(passed.summary).toContain('9 checks passed');
  });

  test('a gate file that cannot be read fails with the reason and no summary', () => {
    const { status, said, summary } = runAction('cannot', {
      ...inputs,
      gate: 'no such.gate.yaml',
      report: 'after.json',
    });
    expect([status, summary]).toEqual([2, null]);
    expect(said.stderr).toContain('no such.gate.yaml');
  });

  test('no input reaches a script as text, and every expression names something that exists', () => {
    for (const { run } of action.runs.steps) expect(run ?? '').not.toContain('${{');
    const known = new Set([...Object.keys(action.inputs).map((name) => `inputs.${name}`), 'runner.temp']);
    for (const [, name] of text.matchAll(/\b(inputs\.[\w-]+|runner\.\w+)/g)) expect(known).toContain(name);
    expect(action.runs.using).toBe('composite');
    const page = readPage('docs/compare-and-gate.md');
    const used = /uses: \.\/\S+\n\s+with: (\{.*\})/.exec(page)!;
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(parse(used[1]!) as object)));
  });
});
