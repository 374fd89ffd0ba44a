// Runs the commands of docs/how-to-*.md and docs/gate.md, and compares what they print with the page. `npm run golden` writes it anew.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { importBuild } from '../../../../src/kernel/node/run/importBuild.ts';
import { commandTable } from '../../../../src/shell/cli/commandTable.ts';
import { readLauncher } from '../../../../src/kernel/build/launcher.ts';
import { copyCli } from '../../../support/bundledCli.ts';
import { fixturePath, modelPath, readFixture } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const root = join(import.meta.dirname, '../../../..');
const docs = join(root, 'docs');
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

const howTos = readdirSync(docs).filter((name) => name.startsWith('how-to-'));
const pages = [...howTos, 'gate.md'];
/** What it shows needs ONNX Runtime, and is tested where that is: test/real/accuracyPage.test.ts. */
const withRuntime = ['how-to-against-what.md'];

test('there are pages', () => {
  expect(howTos.length).toBeGreaterThan(2);
});

describe.each(pages)('%s', (name) => {
  const path = join(docs, name);
  const page = readFileSync(path, 'utf8');
  const blocks = (language: string): string[] =>
    [...page.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, text]) => text!);

  test('its commands print what it shows', () => {
    for (const text of blocks('trtprec')) writeFileSync(join(folder, 'model.trtprec'), text);
    let current = page;
    for (const text of withRuntime.includes(name) ? [] : blocks('console'))
      current = current.replace(text, () => replayed(text));
    if (update) writeFileSync(path, current);
    expect(current).toBe(update ? current : page);
  });

  test('its scripts use commands and options that exist', () => {
    const scripts = [...blocks('sh'), ...blocks('yaml')].join('\n').replaceAll('\\\n', ' ');
    for (const [, command, rest] of scripts.matchAll(/(?:^\s*|- |run: )trtlens (\w[\w-]*)([^\n|>#]*)/gm)) {
      const { stdout, status } = trtlens([command!, '--help']);
      expect(status, command).toBe(0);
      for (const option of rest!.match(/(?<= )--[a-z][\w-]*/g) ?? []) expect(stdout, command).toContain(option);
    }
  });

  if (howTos.includes(name))
    test('its launchers are right', () => {
      for (const text of blocks('yaml'))
        expect(readLauncher(parse(text))).toMatchObject({ command: expect.any(Array) as unknown });
    });

  test('its links lead somewhere', () => {
    const files = [...page.matchAll(/\]\(([\w.-]+\.md)/g)].map(([, file]) => file!);
    expect(files.filter((file) => !readdirSync(docs).includes(file))).toEqual([]);
  });
});

/** What needs other programs, or answers other programs; tested with them. */
const withPrograms = 'accuracy bisect build completion matrix mcp profile reduce repair run setup triton what-if'.split(
  ' ',
);

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

  const shown = [kept, ...pages.map((name) => readFileSync(join(docs, name), 'utf8'))].join('\n');
  const missing = Object.keys(commandTable).filter((name) => !new RegExp(`^\\$ trtlens ${name}\\b`, 'm').test(shown));
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
    const page = readFileSync(join(docs, 'gate.md'), 'utf8');
    const used = /uses: \.\/\S+\n\s+with: (\{.*\})/.exec(page)!;
    expect(Object.keys(action.inputs)).toEqual(expect.arrayContaining(Object.keys(parse(used[1]!) as object)));
  });
});
