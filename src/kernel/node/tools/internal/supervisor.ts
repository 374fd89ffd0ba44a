/**
 * Program of the process between us and a tool; run by `node -e`. It reads lines from stdin: first the task as JSON, `{
 * program, args, cwd, environment, input, mark, taskkill, leftovers }`, later perhaps `cancel <ms>`, and `input <JSON string>` for the stdin of the tool. On descriptor 3 it says `{
 * pid }` and in the end `{ code, signal }` or `{ error }`, as lines of JSON. As long as its stdin is open, someone
 * wants the tool to run. When it closes, even because we were killed, the tool is cancelled. A cancel asks the tool's
 * process group to end, kills it after a while, on Linux kills what left the group, too (each such process has `mark` in
 * its environment), and removes the files `leftovers`, which no one will finish: here, because we may be killed before we
 * get to it. It must be self-contained text: it runs outside every bundle.
 */
export const supervisorProgram = `
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const windows = process.platform === 'win32';
// A signal to the whole terminal is for the tool; this process ends with it.
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => {});
let child, task, text = '', asked = false;
const say = (answer) => { try { fs.writeSync(3, JSON.stringify(answer) + '\\n'); } catch {} };
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
function group(signal) {
  if (!windows) { try { process.kill(-child.pid, signal); } catch {} }
  // The polite way there: our Python scripts end when their stdin does.
  else if (signal === 'SIGTERM') child.stdin.end();
  else spawn(task.taskkill, ['/pid', String(child.pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true })
    .on('error', () => child.kill())
    .on('exit', (code) => { if (code !== 0) child.kill(); });
}
function marked() {
  let found = [];
  try { found = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name) && Number(name) !== process.pid); } catch {}
  return found.filter((pid) => {
    try { return fs.readFileSync('/proc/' + pid + '/environ').includes(task.mark); } catch { return false; }
  });
}
async function sweep() {
  // What is killed may have forked a moment before.
  for (let tries = 0, clean = 0; tries < 50 && clean < 2; tries += 1) {
    const left = marked();
    clean = left.length === 0 ? clean + 1 : 0;
    for (const pid of left) try { process.kill(Number(pid), 'SIGKILL'); } catch {}
    if (left.length > 0) await later(5);
  }
}
async function cancel(graceMs) {
  if (asked || !child) return;
  asked = true;
  group('SIGTERM');
  await later(graceMs);
  group('SIGKILL');
  // What cannot be killed (a refused taskkill, a read that never returns) keeps no one waiting.
  await later(5000);
  await ended(null, 'SIGKILL');
}
async function ended(code, signal) {
  group('SIGKILL');
  if (asked) {
    await sweep();
    for (const path of task.leftovers) try { fs.rmSync(path, { recursive: true, force: true }); } catch {}
  }
  say({ code, signal });
  process.exit(0);
}
function start() {
  child = spawn(task.program, task.args, {
    cwd: task.cwd, env: task.environment, detached: !windows, windowsHide: true, stdio: ['pipe', 'inherit', 'inherit'],
  });
  child.stdin.on('error', () => {});
  if (task.input) child.stdin.write(task.input);
  child.once('error', ({ code, message }) => { say({ error: { code, message } }); process.exit(1); });
  child.once('spawn', () => say({ pid: child.pid }));
  child.once('exit', (code, signal) => void ended(code, signal));
}
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const lines = (text + chunk).split('\\n');
  text = lines.pop();
  for (const line of lines) {
    if (task && line.startsWith('input ')) child.stdin.write(JSON.parse(line.slice(6)));
    else if (task) void cancel(Number(line.split(' ')[1]));
    else { task = JSON.parse(line); start(); }
  }
});
function leave() {
  if (!child) process.exit(1);
  void cancel(1000);
}
process.stdin.on('error', leave);
process.stdin.on('end', leave);
`;
