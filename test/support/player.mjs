// Stands in for trtexec and Polygraphy: takes their arguments, plays what a real one once printed (test/fixtures/captures),
// writes the files that the arguments name, and ends as the recorded run did. What it plays comes in the environment:
//   PLAYER_CAPTURE   folder of a capture, e.g. tensorrt-10.6.0/vit_tiny.fp16
//   PLAYER_AS        trtexec (default) or polygraphy
//   PLAYER_SECONDS   how long the log takes; its lines keep their share of the time. Default 0: at once
//   PLAYER_HOLD      a file: the log stops amid its tactics for as long as it is there
//   PLAYER_LOG       name of the log, where a capture has several. Default log.txt
//   PLAYER_CODE      exit status, where it is not the recorded one
//   PLAYER_HOSTILE   any text: starts children, ignores every polite signal, writes forever
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const captures = fileURLToPath(new URL('../fixtures/captures/', import.meta.url));
const env = process.env;
const args = process.argv.slice(2);
const capture = env.PLAYER_CAPTURE ?? '';
const version = capture.split('/')[0];

function recorded(path) {
  const full = captures + path;
  if (existsSync(full)) return readFileSync(full);
  return existsSync(`${full}.gz`) ? gunzipSync(readFileSync(`${full}.gz`)) : undefined;
}

const text = (path) => recorded(path)?.toString('utf8') ?? '';

/** Waits until the pipe takes it all: the reader may be slow. */
function print(part) {
  const bytes = Buffer.from(part);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

const trtexec = {
  engine: value('--saveEngine'),
  layers: value('--exportLayerInfo'),
  profile: value('--exportProfile'),
  caches: [value('--timingCacheFile')],
};
const polygraphy = {
  engine: next('-o'),
  layers: undefined,
  profile: undefined,
  caches: [next('--save-timing-cache'), next('--calibration-cache')],
};

function value(flag) {
  return args.find((arg) => arg.startsWith(`${flag}=`))?.slice(flag.length + 1);
}

function next(flag) {
  const at = args.indexOf(flag);
  return at < 0 ? undefined : args[at + 1];
}

if (env.PLAYER_HOSTILE && !args.includes('--help') && !args.includes('--version')) beHostile();
else process.exitCode = env.PLAYER_AS === 'polygraphy' ? await playPolygraphy() : await playTrtexec();

async function playTrtexec() {
  const help = text(`${version}/cli.help/log.txt`);
  const frame = /^&&&& RUNNING (TensorRT\.trtexec \[.*\]) # /.exec(help)?.[1];
  if (args.includes('--help') || args.includes('-h')) {
    print(help);
    return 0;
  }
  if (args.includes('--version')) {
    print(`&&&& RUNNING ${frame} # trtexec --version\n`);
    return 1;
  }
  const known = new Set(help.match(/--\w+/g));
  const stranger = args.find((arg) => !known.has(arg.split('=')[0]));
  if (stranger !== undefined) {
    print(text(`${version}/cli.disableMHA/log.txt`).replaceAll('--disableMHA', stranger));
    return 1;
  }
  return play(trtexec);
}

function playPolygraphy() {
  if (args.includes('--version')) {
    print('Polygraphy | Version: 0.53.6\n');
    return 0;
  }
  // What it can do is then not known, and every option is taken.
  if (args.includes('--help')) return 0;
  if (args[0] !== 'convert') {
    process.stderr.write(`polygraphy: error: argument Tools: invalid choice: '${args[0]}'\n`);
    return 2;
  }
  return play(polygraphy);
}

async function play(files) {
  const log = env.PLAYER_LOG ?? 'log.txt';
  const code = Number(env.PLAYER_CODE ?? JSON.parse(text('manifest.json'))[capture].rc[0]);
  // Worse than a real one: what it is to leave is half there from the beginning.
  const written = [files.engine, ...files.caches].filter((path) => path !== undefined);
  for (const path of written) appendFileSync(path, '<half');
  await printTimed(text(`${capture}/${log}`), Number(env.PLAYER_SECONDS ?? 0) * 1000);
  for (const [path, part] of [
    [files.layers, 'layers.json'],
    [files.profile, 'profile.json'],
  ]) {
    const bytes = path === undefined ? undefined : recorded(`${capture}/${part}`);
    if (bytes) writeFileSync(path, bytes);
  }
  // `timeout` gave 124: it was stopped from outside.
  if (code === 124) process.kill(process.pid, 'SIGKILL');
  if (code === 0) for (const path of written) appendFileSync(path, ` whole of ${basename(capture)}>`);
  return code;
}

/** Prints a log in `ms`: a line of trtexec's has its second in front, others pass evenly. */
async function printTimed(log, ms) {
  const lines = log.split(/(?<=\n)/);
  if (env.PLAYER_HOLD !== undefined) {
    const timed = [...lines.keys()].filter((at) => lines[at].includes('Tactic Name: '));
    print(lines.splice(0, timed[timed.length >> 1]).join(''));
    while (existsSync(env.PLAYER_HOLD)) await wait(50);
  }
  if (ms === 0) return print(lines.join(''));
  const seconds = lines.map((line) => {
    const [, hour, minute, second] = /^\[\d\d\/\d\d\/\d{4}-(\d\d):(\d\d):(\d\d)\]/.exec(line) ?? [];
    return hour === undefined ? undefined : (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  });
  const first = seconds.find((second) => second !== undefined);
  const last = seconds.findLast((second) => second !== undefined);
  const begun = performance.now();
  let share = 0;
  for (let at = 0; at < lines.length;) {
    let end = Math.min(lines.length, at + 200);
    if (first !== undefined && last > first) {
      // A part is what one second wrote, and lines without a time belong to the line before.
      end = at + 1;
      while (end < lines.length && (seconds[end] === undefined || seconds[end] === seconds[at])) end += 1;
      share = ((seconds[at] ?? first) - first) / (last - first);
    } else share = at / lines.length;
    const left = begun + share * ms - performance.now();
    if (left > 0) await wait(left);
    print(lines.slice(at, end).join(''));
    at = end;
  }
}

function beHostile() {
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE']) process.on(name, () => {});
  process.stdout.on('error', () => {});
  if (env.PLAYER_CHILD === undefined) {
    for (const path of [trtexec.engine, ...trtexec.caches]) if (path !== undefined) writeFileSync(path, '<half');
    const script = fileURLToPath(import.meta.url);
    const mark = args.find((arg) => arg.startsWith('--onnx=')) ?? '';
    for (const depth of ['1', '2'])
      spawn(process.execPath, [script, mark], { stdio: 'inherit', env: { ...env, PLAYER_CHILD: depth } });
  } else if (env.PLAYER_CHILD === '2') {
    const deeper = { ...env, PLAYER_CHILD: '1' };
    spawn(process.execPath, [fileURLToPath(import.meta.url), ...args], { stdio: 'inherit', env: deeper });
  }
  setInterval(() => process.stdout.write('[V] [TRT] *************** still here\n'.repeat(50)), 2);
}
