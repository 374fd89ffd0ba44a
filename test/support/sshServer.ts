import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { freePort } from './freePort.ts';

/** An ssh server of the test's own, on this machine and for this user alone. */
export interface SshServer {
  /** First elements of a command line that reaches it, and of one that copies: `scp … from to`, hosts are `here`. */
  ssh: string[];
  scp: string[];
  /** false: no server can be had here, and a stand-in runs what it is told by a shell, as a server would. */
  real: boolean;
  stop: () => void;
}

/** Starts Debian's OpenSSH server, which it installs where it may and must. */
export async function sshServer(folder: string): Promise<SshServer> {
  if (!hasServer() && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    const install = 'apt-get install -y -qq --no-install-recommends openssh-server openssh-client';
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    spawnSync('sh', ['-c', `${install} || { apt-get update -qq && ${install}; }`], { stdio: 'inherit', env });
  }
  if (!hasServer()) return standIn(folder);
  const key = (name: string) => {
    spawnSync('/usr/bin/ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)]);
    return join(folder, name);
  };
  const [host, own, port] = [key('host'), key('own'), await freePort()];
  // As root the server wants this folder, empty.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const settings = [`Port ${port}`, 'ListenAddress 127.0.0.1', `HostKey ${host}`, `AuthorizedKeysFile ${own}.pub`];
  settings.push('StrictModes no', 'PermitRootLogin yes', 'PidFile none', 'Subsystem sftp internal-sftp');
  writeFileSync(join(folder, 'sshd_config'), `${settings.join('\n')}\n`);
  const server = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', join(folder, 'sshd_config')], { stdio: 'ignore' });
  const known = ['StrictHostKeyChecking no', `UserKnownHostsFile ${join(folder, 'known')}`, 'LogLevel ERROR'];
  const client = ['Host here', 'HostName 127.0.0.1', `Port ${port}`, `User ${userInfo().username}`, ...known];
  writeFileSync(join(folder, 'ssh_config'), `${[...client, `IdentityFile ${own}`, 'BatchMode yes'].join('\n')}\n`);
  const options = ['-F', join(folder, 'ssh_config')];
  const answers = () => spawnSync('ssh', [...options, 'here', 'true']).status === 0;
  await vi.waitUntil(answers, { timeout: 60_000, interval: 100 });
  return { ssh: ['ssh', ...options], scp: ['scp', ...options], real: true, stop: () => server.kill() };
}

const hasServer = (): boolean => existsSync('/usr/sbin/sshd') && spawnSync('ssh', ['-V']).status === 0;

function standIn(folder: string): SshServer {
  const write = (name: string, body: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    return [join(folder, name)];
  };
  return {
    ssh: write('ssh', 'shift; exec sh -c "$*"'),
    scp: write('scp', 'exec cp -- "${2#here:}" "${3#here:}"'),
    real: false,
    stop: () => {},
  };
}
