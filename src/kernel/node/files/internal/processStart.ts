import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { win32 } from 'node:path';
import { promisify } from 'node:util';

/** When the process with an id began; undefined where the system does not say. */
export async function processStart(
  pid: number,
  platform: NodeJS.Platform = process.platform,
): Promise<Date | undefined> {
  try {
    if (platform === 'linux') return (await stat(`/proc/${pid}`)).ctime;
    const [program, args] = command(pid, platform);
    const { stdout } = await promisify(execFile)(program, args, {
      timeout: 5000,
      env: { ...process.env, LC_ALL: 'C' },
    });
    return readStart(stdout);
  } catch {
    return undefined;
  }
}

function command(pid: number, platform: NodeJS.Platform): [program: string, args: string[]] {
  if (platform !== 'win32') return ['/bin/ps', ['-o', 'lstart=', '-p', String(pid)]];
  const windows = process.env['SystemRoot'] ?? 'C:\\Windows';
  const question = `(Get-Process -Id ${pid}).StartTime.ToUniversalTime().ToString('o')`;
  const powershell = win32.join(windows, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe');
  return [powershell, ['-NoProfile', '-NonInteractive', '-Command', question]];
}

/** A time as `ps -o lstart=` (local) or PowerShell (ISO 8601) print it. */
export function readStart(text: string): Date | undefined {
  const time = new Date(text.trim());
  return text.trim() === '' || Number.isNaN(time.getTime()) ? undefined : time;
}
