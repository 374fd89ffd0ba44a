import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { freePort } from './freePort.ts';

/** A SLURM cluster of one node, this machine. */
export interface SlurmCluster {
  /** Variables with which `sbatch` reaches it. */
  environment: Record<string, string>;
  /** false: none can be had here (it needs root and Debian's packages), and stand-ins for `sbatch` and `srun` run the tasks. */
  real: boolean;
  /** Whether a job array is still at it. */
  busy: () => boolean;
  stop: () => void;
}

/** Starts a real SLURM from Debian's packages, which it installs where it may and must. */
export async function slurmCluster(folder: string): Promise<SlurmCluster> {
  const root = process.getuid?.() === 0;
  if (root && !installed() && existsSync('/usr/bin/apt-get')) {
    const install = 'apt-get install -y -qq --no-install-recommends slurm-wlm munge';
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    spawnSync('sh', ['-c', `${install} || { apt-get update -qq && ${install}; }`], { stdio: 'inherit', env });
  }
  if (!root || !installed()) return standIn(folder);
  return (await started(folder)) ?? standIn(folder);
}

const installed = (): boolean => ['slurmctld', 'slurmd', 'munged'].every((name) => existsSync(`/usr/sbin/${name}`));

async function started(folder: string): Promise<SlurmCluster | undefined> {
  for (const name of ['state', 'spool', 'munge']) mkdirSync(join(folder, name));
  const munge = join(folder, 'munge');
  const key = join(munge, 'key');
  const socket = join(munge, 'socket');
  writeFileSync(key, Buffer.alloc(128, 'a key of no secret'), { mode: 0o400 });
  chmodSync(folder, 0o755);
  chmodSync(munge, 0o755);
  const [controller, daemon] = [await freePort(), await freePort()];
  const host = hostname().split('.')[0]!;
  const settings = {
    ClusterName: 'local',
    SlurmctldHost: `${host}(127.0.0.1)`,
    SlurmctldPort: controller,
    SlurmdPort: daemon,
    SlurmUser: 'root',
    SlurmdUser: 'root',
    AuthType: 'auth/munge',
    AuthInfo: `socket=${socket}`,
    CryptoType: 'crypto/munge',
    ProctrackType: 'proctrack/linuxproc',
    TaskPlugin: 'task/none',
    SelectType: 'select/cons_tres',
    StateSaveLocation: join(folder, 'state'),
    SlurmdSpoolDir: join(folder, 'spool'),
    SlurmctldPidFile: join(folder, 'slurmctld.pid'),
    SlurmdPidFile: join(folder, 'slurmd.pid'),
    ReturnToService: 2,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  lines.push(
    `NodeName=${host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN`,
    'PartitionName=all Nodes=ALL Default=YES State=UP',
  );
  const configuration = join(folder, 'slurm.conf');
  writeFileSync(configuration, `${lines.join('\n')}\n`);
  const environment = { SLURM_CONF: configuration };
  const env = { ...process.env, ...environment };
  const daemons: ChildProcess[] = [];
  const start = (program: string, args: string[]) =>
    daemons.push(spawn(program, args, { env, stdio: 'ignore', detached: false }));
  start('/usr/sbin/munged', [
    '--foreground',
    '--force',
    `--key-file=${key}`,
    `--socket=${socket}`,
    `--pid-file=${join(munge, 'pid')}`,
    `--log-file=${join(munge, 'log')}`,
    `--seed-file=${join(munge, 'seed')}`,
  ]);
  await vi.waitUntil(() => existsSync(socket), { timeout: 10_000 });
  start('/usr/sbin/slurmctld', ['-D', '-f', configuration]);
  start('/usr/sbin/slurmd', ['-D', '-f', configuration]);
  const stop = () => {
    for (const one of daemons.toReversed()) one.kill('SIGKILL');
  };
  const said = (...command: string[]) => {
    const { stdout, stderr, status } = spawnSync(command[0]!, command.slice(1), { env, encoding: 'utf8' });
    return status === 0 ? stdout : `failed: ${stderr}`;
  };
  const isUp = () => /\bidle\b/.test(said('sinfo', '-h', '-o', '%T'));
  if (await vi.waitUntil(isUp, { timeout: 20_000, interval: 200 }).catch(() => false))
    return { environment, real: true, busy: () => said('squeue', '-h').trim() !== '', stop };
  console.log(`SLURM does not come up: ${said('sinfo')}`);
  stop();
  return undefined;
}

/** Runs every task of the array at once, as far as a job file of ours asks for it. */
function standIn(folder: string): SlurmCluster {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(
    join(bin, 'sbatch'),
    `#!/bin/sh
for file; do :; done
cd "\${1#--chdir=}" || exit 1
last=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\)%.*/\\1/p' "$file")
for n in $(seq 0 "$last"); do SLURM_ARRAY_TASK_ID=$n sh "$file" > "slurm-1_$n.txt" 2>&1; done
echo 'Submitted batch job 1'
`,
    { mode: 0o755 },
  );
  writeFileSync(join(bin, 'srun'), '#!/bin/sh\nwhile [ "${1#--}" != "$1" ]; do shift; done\nexec "$@"\n', {
    mode: 0o755,
  });
  return { environment: { PATH: `${bin}:${process.env['PATH']}` }, real: false, busy: () => false, stop: () => {} };
}
