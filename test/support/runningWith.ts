import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

interface Process {
  pid: number;
  /** It only waits to be buried. */
  zombie: boolean;
  command: string;
}

/** Ids of the processes whose command line holds this text, a path of the test's own. */
export const runningWith = (text: string): number[] =>
  processes()
    .filter(({ zombie, command }) => !zombie && command.includes(text))
    .map(({ pid }) => pid);

/** Whether a process runs; a zombie does not. */
export const isRunning = (pid: number): boolean => processes().some((one) => one.pid === pid && !one.zombie);

/** Minimal systems have no `ps`; macOS has no /proc. */
function processes(): Process[] {
  if (!existsSync('/proc/self/stat')) return listed();
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const state = /\) (\S)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1];
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [{ pid: Number(name), zombie: state === 'Z', command }];
      } catch {
        return []; // gone in the meantime
      }
    });
}

function listed(): Process[] {
  const { stdout } = spawnSync('ps', ['-axww', '-o', 'pid=,stat=,args='], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, state, command] = /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return pid ? [{ pid: Number(pid), zombie: state!.startsWith('Z'), command: command! }] : [];
  });
}
