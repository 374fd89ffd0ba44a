import { readArguments, subcommandOf } from '../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes } from '../../kernel/node/cli/command.ts';

/** What a shell needs to know of a command. */
export interface CompletedCommand {
  name: string;
  summary: string;
  subcommands: readonly string[];
  /** `--onnx`, `-o`, in order; those that take a value are completed with a file after them. */
  options: readonly { text: string; takesValue: boolean }[];
}

/** The scripts, which know every command and option: a shell starts nothing to complete a word. */
const scripts: Record<string, (commands: readonly CompletedCommand[]) => string> = {
  bash: bashScript,
  zsh: zshScript,
};

/** How each shell is told, for the help. */
const uses = [
  ['bash', 'trtlens setup completion bash > ~/.local/share/bash-completion/completions/trtlens'],
  ['zsh', 'trtlens setup completion zsh > DIR/_trtlens, where DIR is in $fpath'],
] as const;

const usage = uses.map(([shell, use]) => `  ${shell.padEnd(6)}${use}`).join('\n');

interface Row {
  summary: string;
  /** Absent: not listed, and not completed. */
  group?: string;
}

/** A table of commands, and what its rows take. */
export interface CommandSource<T extends Row> {
  table: Readonly<Record<string, T>>;
  optionsOfCommand: (row: T) => Promise<Command['options']>;
  subcommandsOf: (row: T) => Promise<string[]>;
}

/** The command that prints the completion of a table of commands. */
export const completionOf = <T extends Row>(source: CommandSource<T>): Command => ({
  help: `trtlens setup completion bash|zsh

Prints a script with which a shell completes commands, subcommands, options and files of trtlens. To install it:

${usage}
`,
  options: {},
  subcommands: Object.keys(scripts),
  run: async (args, terminal) => {
    const { positionals } = readArguments(args, {}, ['SHELL']);
    const shell = subcommandOf(Object.keys(scripts), positionals[0]);
    await terminal.out(scripts[shell]!(await completedCommands(source)), 'data');
    return exitCodes.done;
  },
});

export async function completedCommands<T extends Row>({
  table,
  optionsOfCommand,
  subcommandsOf,
}: CommandSource<T>): Promise<CompletedCommand[]> {
  const listed = Object.entries(table).filter(([, { group }]) => group !== undefined);
  const commands = listed.map(async ([name, row]) => {
    const [options, subcommands] = [await optionsOfCommand(row), await subcommandsOf(row)];
    const words = Object.entries({ ...options, help: { type: 'boolean', short: 'h' } }).flatMap(
      ([long, { type, short }]) =>
        [`--${long}`, ...(short === undefined ? [] : [`-${short}`])].map((text) => ({
          text,
          takesValue: type === 'string',
        })),
    );
    return { name, summary: row.summary, subcommands, options: words };
  });
  const all = await Promise.all(commands);
  const topics = { name: 'help', summary: 'explain a command or a topic', subcommands: all.map(({ name }) => name) };
  return [
    ...all,
    { ...topics, options: [] },
    { name: 'version', summary: 'print the version', subcommands: [], options: [] },
  ];
}

const textsOf = ({ options }: CompletedCommand): string[] => options.map(({ text }) => text);
const valueTexts = ({ options }: CompletedCommand): string[] =>
  options.flatMap(({ text, takesValue }) => (takesValue ? [text] : []));

/** Nothing to complete leaves the word to `-o default`: a file. */
function bashScript(commands: readonly CompletedCommand[]): string {
  const cases = commands.map(
    (command) => `    ${command.name})
      subcommands='${command.subcommands.join(' ')}'
      options='${textsOf(command).join(' ')}'
      valued='${valueTexts(command).join(' ')}' ;;`,
  );
  return `# Completion of trtlens for bash: source this file.
_trtlens() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} subcommands= options= valued=
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')}' -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac
  if [[ " $valued " == *" $before "* ]]; then return; fi
  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ $COMP_CWORD -eq 2 ]]; then COMPREPLY=($(compgen -W "$subcommands" -- "$word")); fi
}
complete -o default -F _trtlens trtlens
`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function zshScript(commands: readonly CompletedCommand[]): string {
  const described = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(':', '\\:')}`)}`);
  const cases = commands.map(
    (command) => `    ${command.name})
      subcommands=(${command.subcommands.join(' ')})
      options=(${textsOf(command).join(' ')})
      valued=(${valueTexts(command).join(' ')}) ;;`,
  );
  return `#compdef trtlens
_trtlens() {
  local -a commands subcommands options valued
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2] in
${cases.join('\n')}
  esac
  if (( $valued[(Ie)$words[CURRENT-1]] )); then _files
  elif [[ $PREFIX == -* ]]; then compadd -- $options
  else
    (( CURRENT == 3 )) && compadd -- $subcommands
    _files
  fi
}
if [[ $funcstack[1] == _trtlens ]]; then _trtlens "$@"; else compdef _trtlens trtlens; fi
`;
}
