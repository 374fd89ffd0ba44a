import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findPython } from '../../../../src/kernel/node/tools/findPython.ts';
import { PythonSession } from '../../../../src/kernel/node/tools/pythonSession.ts';
import { JobFailed, type PythonJob, runPythonJob } from '../../../../src/kernel/node/tools/runPythonJob.ts';
import { Cancelled } from '../../../../src/kernel/node/files/userError.ts';
import { isRunning } from '../../../support/runningWith.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const folder = temporaryFolder();
const python = (await findPython({ reject: () => undefined, advice: 'Install Python 3.8 or newer.' })).path;
const driver = fileURLToPath(new URL('../../../../src/driver', import.meta.url));

// A job as the scripts of src/driver are: what it does is in its request.
const script = join(folder, 'example.py');
writeFileSync(
  script,
  `import os, subprocess, sys, time
sys.path.insert(0, ${JSON.stringify(driver)})
import job

def handle(request, channel, stop):
    what = request["do"]
    if what == "add":
        for number in request["numbers"]:
            channel.send("step", number=number)
        print("not an event")
        return sum(request["numbers"])
    if what == "fail":
        raise job.JobError("reading", "x.npy: no such file", [{"input": "x"}])
    if what == "crash":
        return [][0]
    if what == "nan":
        return float("nan")
    if what == "exit":
        os.write(2, b"libexample.so: symbol lookup error\\n")
        os._exit(7)
    if what == "abort":
        os.abort()
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    channel.send("pids", pids=[os.getpid(), child.pid])
    if what == "hang":
        time.sleep(600)
    while True:
        stop.check()
        time.sleep(0.01)

job.serve(handle)
`,
);

interface Step {
  event: 'step' | 'pids';
  number?: number;
  pids?: number[];
}
const run = (request: object, more: Partial<PythonJob<Step>> = {}) =>
  runPythonJob<unknown, Step>({ python, script, request, ...more });

test('a session answers what was asked before its script had started', async () => {
  const echo = join(folder, 'echo.py');
  writeFileSync(
    echo,
    `import json, sys
sys.path.insert(0, ${JSON.stringify(driver)})
import job

def handle(request, channel, stop):
    for line in stop.lines():
        asked = json.loads(line)
        if asked["do"] == "close":
            return
        channel.send("answer", result=asked["do"])

job.serve(handle)
`,
  );
  const session = new PythonSession({ python, script: echo });
  expect(await Promise.all([session.ask({ do: 'first' }), session.ask({ do: 'second' })])).toEqual(['first', 'second']);
  await session.close();
});

test('sends the request, streams the events in their order, and resolves to the result', async () => {
  const events: Step[] = [];
  const lines: string[] = [];
  const numbers = [1, 2, 39];
  const job = { event: (event: Step) => void events.push(event), output: (line: string) => void lines.push(line) };
  expect(await run({ do: 'add', numbers, name: 'ä\n"' }, job)).toBe(42);
  expect(events).toEqual(numbers.map((number) => ({ event: 'step', number })));
  expect(lines).toEqual(['not an event']);
});

test('a request of megabytes arrives whole', async () => {
  const numbers = Array.from({ length: 300_000 }, (_, index) => index);
  expect(await run({ do: 'add', numbers })).toBe((300_000 * 299_999) / 2);
});

test('an error of the job has its stage and details', async () => {
  const failed = await run({ do: 'fail' }).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(JobFailed);
  expect(failed).toMatchObject({ stage: 'reading', message: 'x.npy: no such file', details: [{ input: 'x' }] });
});

test.each([
  ['crash', /IndexError: list index out of range/],
  ['nan', /ValueError: Out of range float values/],
  ['exit', /example\.py exited with 7 but returned no result: libexample\.so: symbol lookup error/],
  ['abort', /example\.py was killed \(possibly out of memory\)/],
])('a job that ends badly (%s) says how', async (what, message) => {
  await expect(run({ do: what })).rejects.toThrow(message);
});

test.each(['poll', 'hang'])('cancelled (%s): it is gone with what it started', async (what) => {
  const cancel = new AbortController();
  let pids: number[] = [];
  const event = (one: Step) => {
    pids = one.pids!;
    cancel.abort();
  };
  await expect(run({ do: what }, { event, signal: cancel.signal })).rejects.toThrow(Cancelled);
  expect(pids).toHaveLength(2);
  for (const pid of pids) expect(isRunning(pid)).toBe(false);
});

test('a job that takes too long is ended', async () => {
  await expect(run({ do: 'hang' }, { timeoutMs: 300 })).rejects.toThrow('example.py did not finish within 0.3 s');
});

test('a script that is not there, and an interpreter that is not', async () => {
  const none = join(folder, 'none.py');
  await expect(run({}, { script: none })).rejects.toThrow(/none\.py exited with 2 but returned no result/);
  await expect(run({}, { python: join(folder, 'python') })).rejects.toThrow(/cannot be started/);
});

test('the driver is a script of the same kind: what it imports from its folder is copied with it', async () => {
  const { driverModules } = await import('../../../../src/kernel/node/files/driverModules.ts');
  const imports = ['build_engine.py', ...driverModules].flatMap((name) =>
    [...readFileSync(join(driver, name), 'utf8').matchAll(/^(?:from|import) (\w+)/gm)].map(([, module]) => module!),
  );
  const own = [...new Set(imports)].map((module) => `${module}.py`).filter((name) => existsSync(join(driver, name)));
  expect(own.toSorted()).toEqual(driverModules.toSorted());
});
