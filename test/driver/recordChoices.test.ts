import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test, vi } from 'vitest';
import type { Build } from '../../src/kernel/node/store/buildFolder.ts';
import { findPython } from '../../src/kernel/node/tools/findPython.ts';
import { type BuildEvents, type BuildOptions, runBuild } from '../../src/kernel/node/run/runBuild.ts';
import type { CommandNote } from '../../src/kernel/build/buildOptions.ts';
import type { Command } from '../../src/kernel/node/cli/command.ts';
import { replay } from '../../src/features/replay/node/cli/replay.ts';
import { applySpanEdits } from '../../src/features/replay/editReplay.ts';
import { checkReplay, emptyContext } from '../../src/features/replay/checkReplay.ts';
import { readChoices } from '../../src/kernel/read/replay/readChoices.ts';
import { readReplay } from '../../src/kernel/read/replay/readReplay.ts';
import { captureText, fixturePath, modelPath } from '../support/fixtures.ts';
import { driverPath, temporaryFolder } from '../support/rtx.ts';

// Real Python, the real driver and recorder; TensorRT's Python module is a stand-in that plays what 10.6 once offered.
const folder = temporaryFolder();
const capture = 'tensorrt-10.6.0/vit_tiny.algolog/choices.jsonl';
const edited = fixturePath('captures/tensorrt-10.6.0/vit_tiny.poly_replay/edited.json');
let python = '';

beforeAll(async () => {
  vi.stubEnv('PYTHONPATH', fileURLToPath(new URL('binding', import.meta.url)));
  vi.stubEnv('STANDIN_CHOICES', fixturePath(`captures/${capture}`));
  const advice = 'Install Python 3.8 or newer.';
  python = (await findPython({ reject: ({ version }) => (version[0] < 3 ? 'it is too old' : undefined), advice })).path;
});

function build(more: Partial<BuildOptions>, events?: BuildEvents): Promise<Build> {
  const options: BuildOptions = {
    model: modelPath('vit_tiny'),
    driver: driverPath,
    python,
    cache: join(folder, 'cache'),
    confirm: () => Promise.reject(new Error('asked')),
    recordChoices: true,
    ...more,
  };
  return runBuild(options, events);
}

const choicesOf = ({ folder: of, manifest }: Build) => join(of, manifest.files.choices ?? 'none');
const logOf = ({ folder: of }: Build) => readFileSync(join(of, 'build.log'), 'utf8');

async function check(...args: string[]): Promise<{ code: number; out: string }> {
  const ran = { code: 0, out: '' };
  ran.code = await replay.run(['check', ...args], {
    out: (text: string) => Promise.resolve(void (ran.out += text)),
    note: () => {},
    signal: new AbortController().signal,
  } as unknown as Parameters<Command['run']>[1]);
  return ran;
}

/** Polygraphy as far as it matters: its options, its recorder's way into the configuration, and the script's. */
function polygraphy(flags: string): string {
  const path = join(folder, `polygraphy${flags.length}`);
  const lines = [
    `#!${python} -B`,
    'import importlib, os, sys, tensorrt as trt',
    'args = sys.argv[1:]',
    'if args == ["--version"]: sys.exit(print("Polygraphy | Version: 0.53.6"))',
    `if "--help" in args: sys.exit(print(${JSON.stringify(`--convert-to -o --fp16 --profiling-verbosity ${flags}`)}))`,
    'config = trt.Config()',
    'script = dict(zip(args, args[1:])).get("--trt-config-postprocess-script")',
    'if script:',
    '    file, name = script.rsplit(":", 1)',
    '    sys.path.insert(0, os.path.dirname(file))',
    '    module = importlib.import_module(os.path.splitext(os.path.basename(file))[0])',
    '    getattr(module, name)(None, None, config)',
    'class Logger:',
    '    def log(self, severity, message): print(message)',
    'trt.Builder(Logger()).build_serialized_network(None, config)',
    'open(args[args.index("-o") + 1], "wb").write(b"engine")',
  ];
  writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o755 });
  return path;
}

const offered = () =>
  captureText(capture)!
    .split('\n')
    .filter((line) => line.includes('"choices":'));

test('the Python driver records what was offered, and a replay check offers it with times', async () => {
  const made = await build({ backend: 'python', precision: 'fp16' });
  expect(made.manifest).toMatchObject({
    result: 'passed',
    options: { recordChoices: true },
    files: { choices: 'choices.jsonl' },
  });
  const recorded = readFileSync(choicesOf(made), 'utf8');
  expect(recorded.split('\n').slice(0, 2)).toEqual(offered());

  const { code, out } = await check(edited, '--choices', choicesOf(made));
  expect(code).toBe(1);
  expect(out).toMatch(/TensorRT offered 168 choices for this layer when its choices were recorded/);
  expect(out).toMatch(/ {4}Change the whole entry to FP32 → FP32, CaskConvolution .*, \d\S* µs\n/);

  const { value: choices, problems } = readChoices(recorded);
  expect(problems).toEqual([]);
  const text = readFileSync(edited, 'utf8');
  const notOffered = (of: string) =>
    checkReplay(of, readReplay(of), { ...emptyContext, choices: [choices!] }).filter(
      ({ code: name }) => name === 'not-offered',
    );
  expect(notOffered(text).map(({ layer }) => layer?.slice(0, 13))).toEqual(['/patch_embed/', '{ForeignNode[']);
  let fixed = text;
  for (let problem; (problem = notOffered(fixed)[0]);) fixed = applySpanEdits(fixed, problem.fixes[0]!.edits);
  const fixedFile = join(folder, 'fixed.json');
  writeFileSync(fixedFile, fixed);
  expect((await check(fixedFile, '--choices', choicesOf(made))).code).toBe(0);
});

test('a build without the request records nothing', async () => {
  const made = await build({ backend: 'python', recordChoices: false });
  expect(made.manifest.result).toBe('passed');
  expect(made.manifest.files.choices).toBeUndefined();
  expect(made.manifest.warnings).toBeUndefined();
});

test('a TensorRT without selector says so, and builds', async () => {
  const made = await build({ backend: 'python', environment: { STANDIN_VERSION: '11.2.1' } });
  expect(made.manifest.result).toBe('passed');
  expect(made.manifest.files.choices).toBeUndefined();
  expect(made.manifest.warnings).toEqual([expect.stringMatching(/were not recorded\. The log has the reason/)]);
  expect(logOf(made).match(/^\[W\] \[TRT\] tensorrt 11\.2\.1 has no algorithm selector/gm)).toHaveLength(1);
});

test('Polygraphy records by the same script, which it is given with its configuration', async () => {
  const made = await build({ backend: 'polygraphy', polygraphy: polygraphy('--trt-config-postprocess-script') });
  expect(made.manifest).toMatchObject({ result: 'passed', files: { choices: 'choices.jsonl' } });
  expect(readFileSync(choicesOf(made), 'utf8').split('\n').slice(0, 2)).toEqual(offered());
  expect(existsSync(join(driverPath, '../__pycache__'))).toBe(false);
});

test('a Polygraphy without that option builds all the same', async () => {
  const notes: string[] = [];
  const started = (_: Build, said: CommandNote[]) => void notes.push(...said.map(({ message }) => message));
  const made = await build({ backend: 'polygraphy', polygraphy: polygraphy('') }, { started });
  expect(made.manifest.result).toBe('passed');
  // Known faults of this version are told, too.
  expect(notes).toContainEqual(
    expect.stringMatching(/choices are not recorded: this Polygraphy does not list --trt-config/),
  );
});

test.each(['python', 'polygraphy'] as const)(
  '%s by a launcher: the recorder goes there, the choices come back',
  async (backend) => {
    const made = await build({
      backend,
      launcher: {
        command: ['env', '{command}'],
        folder: `${folder}/there-{id}`,
        copyTo: ['cp', '{here}', '{there}'],
        copyBack: ['cp', '{there}', '{here}'],
        program: backend === 'python' ? python : polygraphy('--trt-config-postprocess-script'),
      },
    });
    expect(made.manifest.error).toBeNull();
    expect(made.manifest.command.join(' ')).not.toContain(driverPath.replace('build_engine.py', ''));
    expect(readFileSync(choicesOf(made), 'utf8').split('\n').slice(0, 2)).toEqual(offered());
    expect(readdirSync(folder).filter((name) => name.startsWith('there-'))).toEqual([]);
  },
);
