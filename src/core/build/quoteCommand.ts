/**
 * A command as one line that can be pasted into a terminal and runs with exactly these arguments.
 * @param shell `posix`: sh, bash, zsh; `powershell`: PowerShell
 */
export function quoteCommand(command: string[], shell: 'posix' | 'powershell' = 'posix'): string {
  if (shell === 'powershell') {
    const [program = '', ...args] = command.map((one) =>
      /^[\w\-./\\:=+]+$/.test(one) ? one : `'${one.replaceAll("'", "''")}'`,
    );
    // A quoted text alone would be printed, not run.
    return [program.startsWith("'") ? `& ${program}` : program, ...args].join(' ');
  }
  return command.map((one) => (/^[\w\-./:=+,@%]+$/.test(one) ? one : `'${one.replaceAll("'", `'\\''`)}'`)).join(' ');
}
