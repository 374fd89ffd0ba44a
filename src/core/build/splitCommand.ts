/** Words of a shell: what is in single quotes, in double quotes, behind an escape, blank, plain. */
const pieces = {
  posix: /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|(\s+)|([^\s'"\\]+|.)/gsu,
  powershell: /'((?:[^']|'')*)'|"((?:[^"`]|`.|"")*)"|`(.)|(\s+)|([^\s'"`]+|.)/gsu,
};

/** Stands between commands, or sends what one of them prints elsewhere. */
const operator = /^(?:&&?|\|\|?|;|\d*[<>].*)$/s;

/**
 * The commands of a text as people copy it from a terminal, a script or a log, one argument per element: `quoteCommand`
 * the other way. A line's end is a space, with or without the character that makes a command go on. Nothing is
 * expanded.
 * @param shell `posix`: sh, bash, zsh; `powershell`: PowerShell
 */
export function splitCommand(text: string, shell: 'posix' | 'powershell' = 'posix'): string[][] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  let plain = true;
  const end = () => {
    if (word !== undefined) {
      if (plain && operator.test(word)) commands.push([]);
      // By itself, the character that makes a command go on in the next line, in any shell.
      else if (!plain || !/^[\\^`]$/.test(word)) commands.at(-1)!.push(word);
    }
    word = undefined;
    plain = true;
  };
  for (const [, single, double, escaped, blank, bare] of text.matchAll(pieces[shell])) {
    const goesOn = escaped !== undefined && /\s/.test(escaped);
    if (blank !== undefined || (goesOn && word === undefined)) {
      end();
    } else if (!goesOn || !/[\r\n]/.test(escaped)) {
      plain &&= bare !== undefined;
      word = (word ?? '') + (bare ?? escaped ?? unquote(single, double, shell));
    }
  }
  end();
  return commands.filter((command) => command.length > 0);
}

function unquote(single: string | undefined, double = '', shell: 'posix' | 'powershell'): string {
  if (shell === 'powershell') return single?.replaceAll("''", "'") ?? double.replaceAll(/`(.)|"(")/gs, '$1$2');
  return single ?? double.replaceAll(/\\([\\"$`])|\\\n/g, '$1');
}
