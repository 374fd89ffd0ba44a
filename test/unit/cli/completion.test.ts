import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { commandTable } from '../../../src/cli/commandTable.ts';
import { completionOf } from '../../../src/cli/completion.ts';
import { runCommand } from './runCommand.ts';

const folder = mkdtempSync(join(tmpdir(), 'trtlens-completion-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const scriptFor = async (shell: string) => (await runCommand(completionOf(commandTable), shell)).out;

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
    expect(await offered('')).toEqual([...Object.keys(commandTable), 'help', 'version']);
    expect(await offered('di')).toEqual(['diff', 'diagnose']);
    expect(await offered('help', 'tor')).toEqual(['torch-hook']);
  });

  test('completes options of a command, and subcommands', async () => {
    expect(await offered('gate', '--ba')).toEqual(['--baseline']);
    expect(await offered('gate', 'x.yaml', '--init', '--bu')).toEqual(['--build']);
    expect(await offered('precision', 'v')).toEqual(['verify']);
    expect(await offered('precision', 'apply', '--gr')).toEqual(['--grow']);
    expect(await offered('setup', '--onnx')).toEqual([]);
  });

  test('leaves values and other words to the files of bash', async () => {
    expect(await offered('fusion', '--onnx', '')).toEqual([]);
    expect(await offered('fusion', '--log', '--js')).toEqual([]);
    expect(await offered('inspect', '')).toEqual([]);
    const registered = spawnSync('bash', ['-c', `source ${join(folder, 'trtlens.bash')}; complete -p trtlens`], {
      encoding: 'utf8',
    });
    expect(registered.stdout).toBe('complete -o default -F _trtlens trtlens\n');
  });
});

test.each([
  ['zsh', ['-n']],
  ['fish', ['--no-execute']],
])('%s reads its script without errors, if it is installed', async (shell, flags) => {
  const script = await scriptFor(shell);
  const path = join(folder, `trtlens.${shell}`);
  writeFileSync(path, script);
  if (has(shell))
    expect(spawnSync(shell, [...flags, path], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  expect(script.split('\n').filter((line) => /precision\b.*verify|verify import/.test(line)).length).toBeGreaterThan(0);
});

describe('scripts of other shells', () => {
  test('fish: one line an option, with a file after those that take a value', async () => {
    const lines = (await scriptFor('fish')).split('\n');
    expect(lines.filter((line) => line.includes('from triton'))).toEqual([
      "complete -c trtlens -n '__fish_seen_subcommand_from triton' -l out -r -F",
      "complete -c trtlens -n '__fish_seen_subcommand_from triton' -s o -r -F",
      "complete -c trtlens -n '__fish_seen_subcommand_from triton' -l name -r -F",
      "complete -c trtlens -n '__fish_seen_subcommand_from triton' -l check -r -F",
      "complete -c trtlens -n '__fish_seen_subcommand_from triton' -l force",
      "complete -c trtlens -n '__fish_seen_subcommand_from triton' -l json",
      "complete -c trtlens -n '__fish_seen_subcommand_from triton' -l help",
      "complete -c trtlens -n '__fish_seen_subcommand_from triton' -s h",
    ]);
  });

  test('zsh and PowerShell', async () => {
    expect(await scriptFor('zsh')).toContain(`    triton)
      subcommands=()
      options=(--out -o --name --check --force --json --help -h)
      valued=(--out -o --name --check) ;;`);
    expect(await scriptFor('powershell')).toContain(
      "    'triton' = @{ Subcommands = @(); Options = @('--out', '-o', '--name', '--check', '--force', '--json', '--help', '-h'); Valued = @('--out', '-o', '--name', '--check') }",
    );
  });

  test('an unknown shell is answered with the one that was probably meant', async () => {
    await expect(scriptFor('bsh')).rejects.toThrow("unknown subcommand 'bsh'; did you mean 'bash'?");
  });
});
