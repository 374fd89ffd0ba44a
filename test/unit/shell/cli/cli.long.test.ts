import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { FusionReport } from '../../../../src/kernel/fusion/fusionReport.ts';
import type { ViewData } from '../../../../src/kernel/picture/graph/viewData.ts';
import { copyCli } from '../../../support/bundledCli.ts';
import { fakeTool } from '../../../support/fakeTool.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const folder = temporaryFolder();
const file = (name: string) => join(folder, name);
const capture = (name: string) => fixturePath(`captures/${name}`);
const vit = ['--onnx', modelPath('vit_tiny')];
const vitLog = ['--log', capture('tensorrt-10.6.0/vit_tiny.fp16/log.txt.gz')];
const vitLayers = ['--layers', capture('tensorrt-10.6.0/vit_tiny.fp16/layers.json')];

// Code and style that would break a page if they were put into it carelessly.
const script = 'const end = "</script><b>$& $1</b>"; /* </SCRIPT > */';
const style = 'body { content: "$&"; }';

beforeAll(() => copyCli(folder, { script, style }));

interface Ran {
  code: number | null;
  out: string;
  err: string;
}

function trtlens(
  args: string[],
  { env = {}, slow = false }: { env?: Record<string, string>; slow?: boolean } = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [file('dist/cli.js'), ...args], {
      env: { ...process.env, TENSORRT_LENS_CACHE: file('cache'), ...env },
    });
    const chunks: Buffer[] = [];
    let err = '';
    child.stdin.end();
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    const read = () => child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    // Not before as much is here as Node takes without being asked: what comes then waits in the pipe.
    const isFull = () => child.stdout.readableLength >= child.stdout.readableHighWaterMark;
    if (slow) child.stdout.read(0);
    if (slow) void vi.waitUntil(isFull, { timeout: 60_000 }).then(read);
    else read();
    child.once('close', (code) => resolve({ code, out: Buffer.concat(chunks).toString(), err }));
  });
}

const oneLine = /^trtlens[^\n]*\n$/;

describe('the frame', () => {
  test('--version and --help', async () => {
    const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };
    expect(await trtlens(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' });
    const help = await trtlens(['--help']);
    expect(help).toMatchObject({ code: 0, err: '' });
    for (const name of ['show', 'inspect', 'build', 'cut', 'setup']) {
      expect(help.out).toContain(`\n  ${name} `);
      expect(await trtlens([name, '--help'])).toMatchObject({
        code: 0,
        err: '',
        out: expect.stringContaining(`trtlens ${name}`) as string,
      });
    }
  });

  test('an unknown command names the one that was meant, or lists those that there are', async () => {
    const ran = await trtlens(['nonsense']);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(/^trtlens: unknown command 'nonsense'; commands are show, .*build.*\n$/);
    expect((await trtlens(['biuld'])).err).toBe("trtlens: unknown command 'biuld'; did you mean 'build'?\n");
  });

  test('no command at all is an error that shows the help', async () => {
    expect(await trtlens([])).toMatchObject({
      code: 2,
      out: expect.stringContaining('usage: trtlens COMMAND') as string,
    });
  });

  test.each([
    [['fusion'], /pass --onnx MODEL\.onnx with --layers or --log/],
    [['fusion', ...vit], /pass --layers LAYERS\.json/],
    [['fusion', ...vit, '--lag', 'x'], /Unknown option '--lag'/],
    [['fusion', ...vit, '--log'], /'--log <value>' argument missing/],
    [['fusion', ...vit, 'extra', ...vitLog], /unexpected argument 'extra'/],
    [['inspect'], /FILE is missing/],
    [
      ['accuracy', 'm.onnx', '--precision', 'fp4'],
      /FP4 is not simulated: ONNX Runtime's CPU provider computes no FP4 type/,
    ],
    [['build', 'm.onnx', '--backend', 'cuda'], /--backend: unknown value 'cuda'; expected one of auto, trtexec/],
    [['build', 'm.onnx', '--workspace', '1G'], /--workspace: '1G' is not an integer/],
    [['build', 'm.onnx', '--opt-shapes', 'input=1x3'], /--opt-shapes: 'input=1x3' does not have the form/],
    [['report', ...vit, ...vitLog], /-o report\.html is missing/],
  ])('%j cannot be done: one line says why', async (args, message) => {
    const ran = await trtlens(args);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(oneLine);
    expect(ran.err).toMatch(message);
  });
});

describe('fusion', () => {
  test('--json is the report and nothing else', async () => {
    const { code, out, err } = await trtlens(['fusion', ...vit, ...vitLog, ...vitLayers, '--json']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const report = JSON.parse(out) as FusionReport;
    expect(report).toMatchObject({
      schema: 1,
      tensorrt: { product: 'tensorrt', version: '10.6.0' },
      model: { file: 'vit_tiny.onnx', nodes: 636 },
    });
    const { total, ...fates } = report.accounting;
    expect(Object.values(fates).reduce((sum, count) => sum + count)).toBe(total);
    expect(report.nodes).toHaveLength(total);
    expect(report.foreignNodes.length).toBeGreaterThan(0);
  });

  test('text is the default', async () => {
    const { code, out } = await trtlens(['fusion', ...vit, ...vitLog]);
    expect(code).toBe(0);
    expect(out).toContain('ForeignNode');
    expect(() => JSON.parse(out) as unknown).toThrow();
  });

  test('compressed or not, the report is the same', async () => {
    const plain = file('plain.log');
    writeFileSync(plain, gunzipSync(readFileSync(vitLog[1]!)));
    const [packed, unpacked] = await Promise.all(
      [vitLog[1]!, plain].map((log) => trtlens(['fusion', ...vit, '--log', log, '--json'])),
    );
    expect(unpacked!.out.replaceAll('plain.log', 'log.txt.gz')).toBe(packed!.out);
  });

  test.runIf(process.platform === 'linux')('what a shell passes on by a pipe is read like a file', async () => {
    const { out } = await trtlens(['fusion', ...vit, ...vitLog, ...vitLayers, '--json']);
    const script = 'zcat "$3" | "$0" "$1" fusion --onnx <(cat "$2") --log /dev/stdin --layers <(cat "$4") --json';
    const files = [modelPath('vit_tiny'), vitLog[1]!, vitLayers[1]!];
    const ran = spawnSync('bash', ['-c', script, process.execPath, file('dist/cli.js'), ...files], {
      maxBuffer: 2 ** 30,
    });
    expect(ran.stderr.toString()).toBe('');
    const { model, ...report } = JSON.parse(ran.stdout.toString()) as FusionReport;
    const { model: named, ...same } = JSON.parse(out) as FusionReport;
    expect(report).toEqual(same);
    expect({ ...model, file: named.file }).toEqual(named);
  });

  describe.runIf(process.platform === 'linux')('a disk that is full', () => {
    const into = (script: string, ...args: string[]) =>
      spawnSync('bash', ['-c', script, process.execPath, file('dist/cli.js'), ...args], { encoding: 'utf8' });
    const full = /^trtlens[^\n]*: the output cannot be written: [^\n]*\n$/;

    test.each([[['--help']], [['fusion', ...vit, ...vitLog]], [['fusion', ...vit, ...vitLog, '--json']]])(
      'from the first byte on: %j ends with 2 and one line',
      (args) => {
        const { status, stderr } = into('"$0" "$@" > /dev/full', ...args);
        expect(status).toBe(2);
        expect(stderr).toMatch(full);
      },
    );

    test('half-way: never a part of the JSON with exit status 0', () => {
      const script = `ulimit -f 8; trap '' XFSZ; "$0" "$@" > ${file('half.json')}`;
      const { status, stderr } = into(script, 'fusion', ...vit, ...vitLog, '--json');
      expect(status).toBe(2);
      expect(stderr).toMatch(full);
    });
  });

  test('megabytes arrive whole in a pipe whose reader is slow', async () => {
    const log = capture('tensorrt-rtx-1.7.1/deep_encoder_11k/log.txt.gz');
    const ran = await trtlens(['fusion', '--onnx', modelPath('deep_encoder_11k'), '--log', log, '--json'], {
      slow: true,
    });
    expect(ran.code).toBe(0);
    expect(ran.out.length).toBeGreaterThan(4_000_000);
    expect((JSON.parse(ran.out) as FusionReport).nodes).toHaveLength(14_163);
  }, 60_000);

  test('a reader that leaves early is no error', async () => {
    const args = ['fusion', ...vit, ...vitLog, '--json'];
    const child = spawn(process.execPath, [file('dist/cli.js'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let err = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.stdout.once('data', () => child.stdout.destroy());
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });

  test.each([
    ['none.onnx', undefined, /none\.onnx: no such file/],
    ['empty.onnx', '', /empty\.onnx: .*empty/],
    ['text.onnx', 'hello world\n', /text\.onnx: /],
  ])('a model that cannot be read: %s', async (name, content, message) => {
    if (content !== undefined) writeFileSync(file(name), content);
    const ran = await trtlens(['fusion', '--onnx', file(name), ...vitLog, '--json']);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(oneLine);
    expect(ran.err).toMatch(message);
  });

  test('a log that is none gives a report that says so', async () => {
    writeFileSync(file('poem.log'), 'Roses are red\n');
    const { code, out } = await trtlens(['fusion', ...vit, '--log', file('poem.log'), '--json']);
    expect(code).toBe(1);
    const { problems } = JSON.parse(out) as FusionReport;
    expect(problems.some((problem) => problem.file === 'poem.log')).toBe(true);
  });
});

describe('inspect', () => {
  test.each([
    [modelPath('vit_tiny'), 'onnx'],
    [vitLog[1]!, 'build-log'],
    [vitLayers[1]!, 'layer-info'],
    [capture('tensorrt-10.6.0/vit_tiny.fp16/profile.json'), 'profile'],
  ])('%s', async (path, kind) => {
    const { code, out } = await trtlens(['inspect', path, '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ kind, counts: expect.any(Object) as object, problems: [] });
    expect((await trtlens(['inspect', path])).out).toContain(`: ${kind}`);
  });

  test('what nobody knows is unknown, not an error', async () => {
    writeFileSync(file('bytes'), Buffer.from([7, 7, 7, 0, 255]));
    const { code, out } = await trtlens(['inspect', file('bytes'), '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ kind: 'unknown' });
  });
});

describe('report', () => {
  const page = async (extra: string[] = []) => {
    const output = file('page.html');
    const ran = await trtlens(['report', ...vit, ...vitLog, ...vitLayers, '-o', output, ...extra]);
    expect(ran).toMatchObject({ code: 0, out: '' });
    return readFileSync(output, 'utf8');
  };
  const between = (html: string, start: string, end: string) => {
    const from = html.indexOf(start) + start.length;
    expect(from).toBeGreaterThan(start.length);
    return html.slice(from, html.indexOf(end, from));
  };

  test('is one page with code, style and data in it', async () => {
    const html = await page();
    const data = JSON.parse(between(html, '<script type="application/json" id="view-data">', '</script>')) as ViewData;
    expect(data).toMatchObject({ title: 'vit_tiny.onnx', build: null, report: { model: { nodes: 636 } } });
    expect(data.graph!.nodes).toHaveLength(636);
    expect(between(html, '<style id="style">', '</style>')).toBe(style);
    const code = between(html, '<script id="script">', '</script>');
    expect(code.replaceAll('<\\/', '</')).toBe(script);
    expect(html).not.toMatch(/(src|href)="(?!data:)/);
  });

  test('lets nothing run but its own code, and nothing load', async () => {
    const html = await page();
    const policy = between(html, 'http-equiv="Content-Security-Policy" content="', '"');
    const sha = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`script-src ${sha(between(html, '<script id="script">', '</script>'))}`);
    expect(policy).toContain(`style-src ${sha(style)}`);
    expect(policy).not.toMatch(/unsafe|https?:|connect-src/);
  });

  test('names from a model cannot end the data', async () => {
    // As long as before, so that the file stays a model.
    const hostile = Buffer.from(readFileSync(modelPath('unnamed')));
    hostile.write('</script>!', hostile.indexOf('main_graph'));
    writeFileSync(file('hostile.onnx'), hostile);
    const output = file('hostile.html');
    const log = capture('tensorrt-rtx-1.7.1/unnamed/log.txt');
    expect((await trtlens(['report', '--onnx', file('hostile.onnx'), '--log', log, '-o', output])).code).toBe(0);
    const html = readFileSync(output, 'utf8');
    const text = between(html, '<script type="application/json" id="view-data">', '</script>');
    expect(text).not.toContain('<');
    expect(JSON.stringify(JSON.parse(text))).toContain('</script>!');
  });

  test('data alone where the name ends in .json', async () => {
    await trtlens(['report', ...vit, ...vitLog, '-o', file('data.json')]);
    expect((JSON.parse(readFileSync(file('data.json'), 'utf8')) as ViewData).title).toBe('vit_tiny.onnx');
  });

  test('from a build folder: the recorded example', async () => {
    const ran = await trtlens(['report', '--build', `${root}examples/recorded/vit_tiny`, '-o', file('recorded.json')]);
    expect(ran.code).toBe(0);
    const data = JSON.parse(readFileSync(file('recorded.json'), 'utf8')) as ViewData;
    expect(data.build).toMatchObject({ origin: 'recorded', result: 'passed' });
    expect(data.report!.tensorrt).toMatchObject({ product: 'tensorrt-rtx' });
    expect(data.report!.accounting.foreign).toBe(453);
  });

  test('a folder that is none', async () => {
    const ran = await trtlens(['report', '--build', folder, '-o', file('x.html')]);
    expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('manifest.json is missing') as string });
    expect(existsSync(file('x.html'))).toBe(false);
  });
});

describe('build', () => {
  const help = readFileSync(capture('tensorrt-10.6.0/cli.help/log.txt'), 'utf8');
  const trtexec = (name: string, body: string) =>
    fakeTool(
      folder,
      name,
      `const fs = require('fs');
       const value = (flag) => args.find((arg) => arg.startsWith('--' + flag + '='))?.slice(flag.length + 3);
       if (args[0] === '--help') { fs.writeSync(1, ${JSON.stringify(help)}); return; }
       ${body}`,
    );
  const passes = `
    process.stdout.write(require('zlib').gunzipSync(fs.readFileSync(${JSON.stringify(vitLog[1])})));
    fs.copyFileSync(${JSON.stringify(vitLayers[1])}, value('exportLayerInfo'));
    fs.writeFileSync(value('saveEngine'), 'engine');`;

  test('--json gives manifest and report', async () => {
    const args = [
      'build',
      modelPath('vit_tiny'),
      '--backend',
      'trtexec',
      '--trtexec',
      trtexec('passing', passes),
      '--precision',
      'fp16',
      '--json',
    ];
    const { code, out, err } = await trtlens(args);
    expect(code).toBe(0);
    const { build: manifest, fusion } = JSON.parse(out) as {
      build: { command: string[]; result: string };
      fusion: FusionReport;
    };
    expect(manifest).toMatchObject({ backend: 'trtexec', result: 'passed', options: { precision: 'fp16' } });
    expect(manifest.command).toContain('--fp16');
    expect(fusion.accounting.total).toBe(636);
    expect(err).toMatch(/Building with TensorRT 10\.6\.0 \(trtexec\)/);
  });

  test('says where the engine is, wherever that is', async () => {
    const args = ['build', modelPath('vit_tiny'), '--backend', 'trtexec', '--trtexec', trtexec('placing', passes)];
    const engine = file('placed/my.engine');
    const placed = await trtlens([...args, '--engine', engine]);
    expect(placed.err.trim().split('\n').at(-1)).toMatch(new RegExp(`^Built in [\\d.]+ m?s: ${engine}$`));
    expect(readFileSync(engine, 'utf8')).toBe('engine');
    const plain = await trtlens([...args, '--folder', file('plain')]);
    const path = plain.err.trim().split(': ').at(-1)!;
    expect(path.startsWith(file('plain'))).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('engine');
  });

  test('shapes become profiles', async () => {
    const args = [
      'build',
      modelPath('vit_tiny'),
      '--backend',
      'trtexec',
      '--trtexec',
      trtexec('shapes', passes),
      '--json',
    ];
    const { out } = await trtlens([
      ...args,
      '--min-shapes',
      'a:b:1x3,c:2',
      '--opt-shapes',
      'a:b:4x3,c:2',
      '--max-shapes',
      'a:b:8x3',
    ]);
    const { command } = (JSON.parse(out) as { build: { command: string[] } }).build;
    expect(command).toContain('--minShapes=a:b:1x3,c:2');
    expect(command).toContain('--maxShapes=a:b:8x3,c:2');
  });

  test('a failure is exit 2, one line that says why, and the manifest', async () => {
    const failing = trtexec('failing', `fs.writeSync(1, '[E] [TRT] Out of memory\\n'); process.exitCode = 1;`);
    const { code, out, err } = await trtlens([
      'build',
      modelPath('vit_tiny'),
      '--backend',
      'trtexec',
      '--trtexec',
      failing,
      '--json',
    ]);
    expect(code).toBe(2);
    expect(JSON.parse(out)).toMatchObject({ build: { result: 'failed' }, fusion: null });
    expect(err.trim().split('\n').at(-1)).toMatch(/^trtlens build: .*ran out of memory.* \(failing exited with 1\)/);
  });

  test('nothing is downloaded unasked: without a terminal it needs --yes', async () => {
    const python = fakeTool(
      folder,
      'python3',
      `console.log(JSON.stringify({ path: __filename, version: [3, 11, 2], tag: 'cp311', platform: 'linux-x86_64', libc: 'glibc 2.36', modules: ['venv', 'ensurepip'] }))`,
    );
    const ran = await trtlens(['build', modelPath('vit_tiny'), '--backend', 'rtx', '--python', python]);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain("NVIDIA's license");
    expect(ran.err).toContain('Not interactive: pass --yes to accept');
    expect(ran.err.trim().split('\n').at(-1)).toBe('trtlens build: TensorRT-RTX was not installed: not confirmed');
    expect(readdirSync(folder)).not.toContain('cache/builds');
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s ends the build and everything it started', async (signal) => {
    const slow = trtexec(
      `slow-${signal}`,
      `fs.writeFileSync(value('saveEngine'), 'half'); fs.writeSync(1, '[V] [TRT] at it\\n'); setInterval(() => {}, 1000);`,
    );
    const args = [
      'build',
      modelPath('vit_tiny'),
      '--backend',
      'trtexec',
      '--trtexec',
      slow,
      '--verbose',
      '--folder',
      file(signal),
    ];
    const child = spawn(process.execPath, [file('dist/cli.js'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let err = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (!err.includes('at it') && (err + text).includes('at it')) child.kill(signal);
      err += text;
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
    const [made] = readdirSync(file(signal));
    expect(readdirSync(join(file(signal), made!)).sort()).toEqual(['build.log', 'manifest.json']);
    expect(err.trim().split('\n').at(-1)).toContain('cancelled');
  });
});
