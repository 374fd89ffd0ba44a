import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { agentTools } from '../../../../src/shell/cli/agents/agentTools.ts';
import { bundledCli } from '../../../support/bundledCli.ts';
import { fakeTool } from '../../../support/fakeTool.ts';
import { captureIndex, captureText, fixturePath, modelPath } from '../../../support/fixtures.ts';

const folder = mkdtempSync(join(tmpdir(), 'mcp-'));
const outside = mkdtempSync(join(tmpdir(), 'mcp-outside-'));
const inside = (name: string) => join(folder, name);
const cli = join(inject('cli'), 'cli.js');
const environment = { ...process.env, TENSORRT_LENS_CACHE: inside('cache'), PATH: inside('bin') } as Record<
  string,
  string
>;
const root = join(import.meta.dirname, '../../../..');
const captureFolder = fixturePath('captures');
const client = new Client({ name: 'test', version: '1' });

beforeAll(async () => {
  mkdirSync(inside('bin'));
  writeFileSync(join(outside, 'secret.log'), '[E] secret\n');
  writeFileSync(inside('plain.txt'), 'notes on something else\n');
  symlinkSync(join(outside, 'secret.log'), inside('link.log'));
  symlinkSync(outside, inside('linked'));
  symlinkSync(inside('plain.txt'), inside('link-inside.txt'));
  cpSync(modelPath('vit_tiny'), inside('model.onnx'));
  const args = [cli, 'mcp', '--root', folder, '--root', fixturePath(''), '--root', join(root, 'examples')];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: environment }));
});

afterAll(async () => {
  await client.close();
  for (const one of [folder, outside]) rmSync(one, { recursive: true, force: true });
});

async function call(name: string, given: Record<string, unknown>, options: { signal?: AbortSignal } = {}) {
  const { content, isError } = await client.callTool({ name, arguments: given }, options);
  const [block] = content as { type: string; text: string }[];
  expect(content).toHaveLength(1);
  expect(block!.type).toBe('text');
  expect(block!.text.length).toBeLessThan(1000);
  expect(block!.text.trim()).not.toBe('');
  return { text: block!.text, isError: isError ?? false };
}

const fail = async (name: string, given: Record<string, unknown>) => {
  const { text, isError } = await call(name, given);
  expect(isError).toBe(true);
  expect(text).not.toContain('internal error');
  return text;
};

const vit = {
  onnx: modelPath('vit_tiny'),
  layers: join(captureFolder, 'tensorrt-10.6.0/vit_tiny.fp16/layers.json'),
  log: join(captureFolder, 'tensorrt-10.6.0/vit_tiny.fp16/log.txt.gz'),
};

it('lists ten tools, of which two run builds', async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(Object.keys(agentTools));
  expect(tools).toHaveLength(10);
  expect(tools.filter(({ annotations }) => !annotations?.readOnlyHint).map(({ name }) => name)).toEqual([
    'repair_dry_run',
    'what_if',
  ]);
  for (const { inputSchema, description } of tools) {
    expect(Object.keys(inputSchema.properties!)).toContain('offset');
    expect(description!.length).toBeGreaterThan(40);
  }
});

it('explains a node with the evidence: layer, line of the log, exact or derived', async () => {
  const { text } = await call('explain_node', { ...vit, node: '/patch_embed/proj/Conv' });
  expect(text).toMatch(/^\/patch_embed\/proj\/Conv \(Conv, node \d+\)\n/);
  expect(text).toMatch(/^ {2}(Exact|Evidence): /m);
  const [, line] = /Log: line (\d+)/.exec(text)!;
  const logged = captureText('tensorrt-10.6.0/vit_tiny.fp16/log.txt')!.split('\n')[Number(line) - 1];
  expect(logged).toContain('/patch_embed/proj/Conv');
  expect(text).toMatch(/layer \d+: /);
});

it('answers as docs/agents.md shows', async () => {
  const page = join(root, 'docs/agents.md');
  const text = readFileSync(page, 'utf8');
  const [, question, shown] = /```json\n(\{\n {2}"name": [^`]*)```\n\nThe answer:\n\n```\n([^`]*)```\n/.exec(text)!;
  const { name, arguments: given } = JSON.parse(question!) as { name: string; arguments: Record<string, string> };
  // In a folder with a short path: how much of an answer is given depends on its length.
  cpSync(join(root, 'examples'), inside('examples'), { recursive: true });
  const answer = await call(name, { ...given, build: inside(given['build']!) });
  const said = `${answer.text.replaceAll(`${folder}/`, '')}\n`;
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(page, text.replace(shown!, said));
  else expect(said).toBe(shown);
});

it('gives a long answer in parts that together are the whole', async () => {
  const { out } = bundledCli(folder)('fusion', '--members=0', ...Object.entries(vit).map(([k, v]) => `--${k}=${v}`));
  const parts: string[] = [];
  for (let offset = 0; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each part says where the next one begins
    const { text } = await call('explain_group', { ...vit, group: 0, offset });
    const last = text.lastIndexOf('\n[');
    parts.push(text.slice(0, last));
    const [, next] = /more with offset (\d+)/.exec(text.slice(last)) ?? [];
    if (next === undefined) break;
    expect(Number(next)).toBeGreaterThan(offset);
    offset = Number(next);
  }
  expect(parts.length).toBeGreaterThan(10);
  const words = (text: string) => text.split(/\s+/).filter(Boolean).join(' ');
  expect(words(parts.join(' '))).toBe(words(out));
  expect((await call('explain_group', { ...vit, group: 0, offset: 10_000_000 })).text).toContain('offset must be less');
});

it('says of each wrong call what is wrong, as an error of the tool', async () => {
  expect(await fail('explain', {})).toContain("unknown tool 'explain'; tools are summary,");
  expect(await fail('constructor', {})).toContain('unknown tool');
  expect(await fail('explain_node', { ...vit, nod: 'x' })).toBe("unknown argument 'nod'; did you mean 'node'?");
  expect(await fail('explain_node', vit)).toContain("'node' is missing");
  expect(await fail('explain_node', { ...vit, node: 7 })).toBe("'node' is not a string");
  expect(await fail('explain_node', { ...vit, node: 'Softmax' })).toContain('Similar names: ');
  expect(await fail('explain_node', { ...vit, node: '--help' })).toContain('no node with the name or id "--help"');
  expect(await fail('explain_group', { ...vit, group: -1 })).toContain("'group' is not an integer");
  expect(await fail('explain_group', { ...vit, group: 9 })).toContain('There is no ForeignNode 9');
  expect(await fail('summary', { onnx: vit.onnx })).toBe('pass build, layers, log or profile');
  expect(await fail('summary', { build: folder })).toContain('is not a build folder');
  expect(await fail('diagnose', { log: inside('nothing.log') })).toContain('no such file');
  expect(await fail('diagnose', { log: 'plain.txt' })).toContain('is not a TensorRT build log');
  expect(await fail('diff', { a: 'plain.txt', b: 'plain.txt' })).toContain('plain.txt');
  expect(await fail('check_gate', { gate: 'plain.txt', build: 'plain.txt' })).toContain('plain.txt:1:1');
  expect(await fail('check_rules', { rules: 'model.onnx' })).toContain('model.onnx');
  expect(await fail('inspect', { file: 'plain.txt', tensorrt: 'new' })).toContain("'new' is not a version");
  expect(await fail('what_if', { model: 'model.onnx' })).toContain('pass output, unmark, cut, add, remove or rules');
  expect(await fail('what_if', { model: 'model.onnx', cut: 'nope' })).toContain('no tensor "nope"');
  expect(await fail('repair_dry_run', { model: 'model.onnx', allow: 'all' })).toContain("class or repair 'all'");
});

it('reads nothing outside of the roots, whatever the path looks like and whatever names it', async () => {
  const refusal = 'is outside of the folders that agents may read';
  const secret = join(outside, 'secret.log');
  const paths = [secret, '/etc/passwd', join(outside, 'no-such-file'), `../${outside.split('/').at(-1)!}/secret.log`];
  for (const path of [
    ...paths,
    `${folder}/../../etc/passwd`,
    'link.log',
    'linked/secret.log',
    'linked/new.log',
    folder + '-beside',
  ])
    // oxlint-disable-next-line no-await-in-loop -- one server
    expect(await fail('diagnose', { log: path }), path).toContain(refusal);
  expect(await fail('inspect', { file: 'a\0b' })).toContain('NUL');

  const rules = inside('far.trtprec');
  writeFileSync(rules, `model ${secret}\nfp32 **\n`);
  expect(await fail('check_rules', { rules })).toContain(refusal);
  const gate = inside('far.gate.yaml');
  writeFileSync(gate, `baseline: ${secret}\nrules:\n  kernels: { max: 3 }\n`);
  expect(await fail('check_gate', { gate, build: 'plain.txt' })).toContain(refusal);
  const build = inside('build');
  mkdirSync(build);
  const manifest = {
    schema: 1,
    id: 'x',
    model: { file: '../model.onnx' },
    tensorrt: {},
    command: [],
    result: 'passed',
  };
  for (const files of [{ log: secret }, { log: '../link.log' }]) {
    writeFileSync(join(build, 'manifest.json'), JSON.stringify({ ...manifest, files }));
    // oxlint-disable-next-line no-await-in-loop -- one server
    expect(await fail('summary', { build })).toContain(refusal);
  }
  writeFileSync(join(build, 'manifest.json'), JSON.stringify({ ...manifest, files: {}, model: { file: secret } }));
  expect(await fail('diff', { a: build, b: build })).toContain(refusal);

  expect((await call('inspect', { file: 'link-inside.txt' })).isError).toBe(false);
});

it('runs no program to read, and says that a gate would', async () => {
  const gate = inside('accuracy.gate.yaml');
  writeFileSync(gate, 'model: model.onnx\nrules:\n  accuracy: { error: 0.1, low: fp16 }\n');
  expect(await fail('check_gate', { gate, build: 'plain.txt' })).toContain('trtlens accuracy --json');
});

it('stops a build whose request is cancelled, and goes on answering', async () => {
  const help = JSON.stringify(captureText('tensorrt-10.6.0/cli.help/log.txt')!);
  fakeTool(inside('bin'), 'nvidia-smi', '');
  fakeTool(
    inside('bin'),
    'trtexec',
    `if (args[0] === '--help') process.stdout.write(${help});
    else { require('fs').writeFileSync(${JSON.stringify(inside('pid'))}, String(process.pid)); setInterval(() => {}, 1000); }`,
  );
  const abort = new AbortController();
  const asked = client.callTool(
    { name: 'what_if', arguments: { model: 'model.onnx', cut: '/patch_embed/proj/Conv_output_0' } },
    { signal: abort.signal },
  );
  const refused = expect(asked).rejects.toThrow();
  await vi.waitUntil(() => existsSync(inside('pid')) && readFileSync(inside('pid'), 'utf8') !== '', {
    timeout: 60_000,
  });
  const pid = Number(readFileSync(inside('pid'), 'utf8'));
  abort.abort();
  await refused;
  expect((await call('inspect', { file: 'plain.txt' })).isError).toBe(false);
  const isAlive = () => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  await vi.waitUntil(() => !isAlive(), { timeout: 30_000 });
});

describe('20 captures', () => {
  const complete = Object.entries(captureIndex).flatMap(([name, { model }]) => {
    const find = (file: string) => [file, `${file}.gz`].map((one) => join(captureFolder, name, one)).find(existsSync);
    const [log, layers] = [find('log.txt'), find('layers.json')];
    const onnx = model ? modelPath(model) : '';
    return existsSync(onnx) && log && layers ? [{ name, onnx, log, layers, profile: find('profile.json') }] : [];
  });
  const chosen = Array.from({ length: 20 }, (_, i) => complete[Math.floor((i * complete.length) / 20)]!);

  it.each(chosen)('$name: every answer has less than 1,000 characters', async ({ name, ...files }) => {
    expect(captureIndex[name]!.model).toBeTruthy();
    const report = inside('report.json');
    const { out, code } = bundledCli(folder)(
      'fusion',
      '--json',
      ...Object.entries(files).flatMap(([option, path]) => (path === undefined ? [] : [`--${option}=${path}`])),
    );
    expect(code).toBe(0);
    writeFileSync(report, out);
    const gate = inside('small.gate.yaml');
    writeFileSync(gate, 'rules:\n  kernels: { max: 1 }\n  foreignNodes: { max: 0 }\n');
    const rules = inside('all.trtprec');
    writeFileSync(rules, 'fp32 /**\nfp16 op:MatMul\nfp16 nothing\n');
    const { nodes, foreignNodes } = JSON.parse(out) as { nodes: { id: string }[]; foreignNodes: unknown[] };
    const node = nodes[Math.floor(nodes.length / 2)]!.id;
    const { onnx } = files;
    const answers = [
      await call('summary', files),
      await call('explain_node', { ...files, node }),
      await call('diff', { a: report, b: report, onnx }),
      await call('check_gate', { gate, build: report }),
      await call('check_rules', { rules, onnx, log: files.log, layers: files.layers }),
      await call('diagnose', { log: files.log, onnx }),
      await call('inspect', { file: files.layers }),
    ];
    expect(answers.filter(({ isError }) => isError)).toEqual([]);
    expect((await call('explain_group', { ...files, group: 0 })).isError).toBe(foreignNodes.length === 0);
  });
});

/** Sends lines to a server of its own and gives what it answers, and its exit status. */
async function talk(
  lines: string[],
  ...more: string[]
): Promise<{ answers: Record<string, any>[]; code: number | null }> {
  const child = spawn(process.execPath, [cli, 'mcp', ...more], { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
  let out = '';
  const expected = lines.filter((line) => line.includes('"id"')).length;
  const done = new Promise<void>((resolved) => {
    child.stdout.on('data', (piece: Buffer) => {
      out += piece.toString();
      if (out.split('\n').length > expected) resolved();
    });
    child.once('close', () => resolved());
  });
  const ended = new Promise<number | null>((resolved) => child.once('close', resolved));
  child.stdin.write(lines.map((line) => `${line}\n`).join(''));
  await done;
  child.stdin.end();
  const code = await ended;
  const answers = out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { answers, code };
}

const initialize = (protocolVersion: string) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  });

it.each([
  ['2024-11-05', '2024-11-05'],
  ['2025-06-18', '2025-06-18'],
  ['1999-01-01', '2025-11-25'],
])('a client of protocol %s gets %s', async (asked, answered) => {
  const { answers, code } = await talk([initialize(asked)]);
  expect(answers[0]!['result'].protocolVersion).toBe(answered);
  expect(code).toBe(0);
});

it('answers after garbage on standard input, and ends with it', async () => {
  const listed = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} });
  const { answers, code } = await talk([
    'garbage',
    '{"jsonrpc": "2.0"',
    initialize('2025-06-18'),
    '[]',
    '\u0000\uFFFD',
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    listed,
  ]);
  expect(answers.find(({ id }) => id === 2)!['result'].tools).toHaveLength(10);
  expect(code).toBe(0);
});

it('says that a message is too large, and fails', () => {
  const input = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { text: 'a'.repeat(11e6) } });
  const { status, stderr } = spawnSync(process.execPath, [cli, 'mcp'], { cwd: folder, input, encoding: 'utf8' });
  expect(stderr).toContain('a message is larger than 10.0 MiB');
  expect(status).toBe(2);
});

it('refuses a root that is not a folder', () => {
  const { code, err } = bundledCli(folder)('mcp', '--root', inside('plain.txt'));
  expect(code).toBe(2);
  expect(err).toContain('plain.txt is not a folder');
});
