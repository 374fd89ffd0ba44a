import { spawnSync } from 'node:child_process';

/** Ids of the processes whose command line holds this text, a path of the test's own. */
export function runningWith(text: string): number[] {
  const { stdout } = spawnSync('ps', ['-eww', '-o', 'pid=,args='], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  return stdout
    .split('\n')
    .filter((line) => line.includes(text))
    .map((line) => Number.parseInt(line, 10));
}

/** Whether a process runs; one that only waits to be buried (a zombie) does not. */
export function isRunning(pid: number): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return /^\s*[^Z\s]/.test(stdout);
}
