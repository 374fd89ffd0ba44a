import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { commandTable, optionsOfCommand, subcommandsOf } from '../../../../src/shell/cli/commandTable.ts';
import { completionOf } from '../../../../src/shell/cli/completion.ts';
import { runCommand } from './runCommand.ts';

const folder = mkdtempSync(join(tmpdir(), 'trtlens-completion-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const listed = Object.entries(commandTable).flatMap(([name, { group }]) => (group === undefined ? [] : [name]));

const scriptFor = async (shell: string) =>
  (await runCommand(completionOf({ table: commandTable, optionsOfCommand, subcommandsOf }), shell)).out;

const has = (program: string) => spawnSync(program, ['--version']).status === 0;

describe.skipIf(!has('bash'))('bash', () => {
  /** What bash offers for the last word. */
  async function offered(...words: string[]): Promise<string[]> {
    const script = join(folder, 'trtlens.bash');
    writeFileSync(script, await scriptFor('bash'));
    const code = `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _trtlens; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr, status } = spawnSync('bash', ['-c', code, 'bash', 'trtlens', ...words], {
      encoding: 'utf8',
    });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    return stdout.split('\n').filter((line) => line !== '');
  }

  test('completes commands', async () => {
    expect(await offered('')).toEqual([...listed, 'help', 'version']);
    expect(await offered('di')).toEqual(['diagnose', 'diff']);
    expect(await offered('help', 'qu')).toEqual(['quantize']);
  });

  test('completes options of a command, and subcommands', async () => {
    expect(await offered('gate', '--ba')).toEqual(['--baseline']);
    expect(await offered('gate', 'x.yaml', '--init', '--bu')).toEqual(['--build']);
    expect(await offered('precision', 'v')).toEqual(['verify']);
    expect(await offered('cut', 're')).toEqual(['reduce']);
    expect(await offered('precision', 'apply', '--gr')).toEqual(['--grow']);
    expect(await offered('setup', '--onnx')).toEqual([]);
  });

  test('leaves values and other words to the files of bash', async () => {
    expect(await offered('show', '--onnx', '')).toEqual([]);
    expect(await offered('show', '--log', '--js')).toEqual([]);
    expect(await offered('inspect', '')).toEqual([]);
    const registered = spawnSync('bash', ['-c', `source ${join(folder, 'trtlens.bash')}; complete -p trtlens`], {
      encoding: 'utf8',
    });
    expect(registered.stdout).toBe('complete -o default -F _trtlens trtlens\n');
  });
});

test('zsh reads its script without errors, if it is installed', async () => {
  const script = await scriptFor('zsh');
  const path = join(folder, 'trtlens.zsh');
  writeFileSync(path, script);
  if (has('zsh')) expect(spawnSync('zsh', ['-n', path], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  expect(script).toContain(`    diagnose)
      subcommands=()
      options=(--onnx --json --help -h)
      valued=(--onnx) ;;`);
  expect(script).toMatch(/precision\)\n {6}subcommands=\(.*verify/);
});

test('an unknown shell is answered with the one that was probably meant', async () => {
  await expect(scriptFor('bsh')).rejects.toThrow("unknown subcommand 'bsh'; did you mean 'bash'?");
});
