import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import { shell } from '../../../../kernel/node/tools/shell.ts';
import { counted, quoteCommand, thousands } from '../../../../kernel/base/text.ts';
import {
  languageOf,
  type LintFinding,
  lintSource,
  newestTarget,
  type SourceLanguage,
  type TypedStep,
} from '../../lint/lintSource.ts';
import { readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { problemLine } from '../../../../kernel/node/cli/problemLines.ts';
import { printJson } from '../../../../kernel/node/cli/terminal.ts';

const options = { tensorrt: { type: 'string' }, json: { type: 'boolean' } } as const;

export const lint: Command = {
  help: `trtlens check FILES… [--tensorrt 11.4|10.0|8.6] [--json]

Finds what a version of TensorRT does not have in programs that build and run engines: names of the Python and C++ API,
flags of trtexec and Polygraphy in scripts, YAML and strings, each with the version that dropped it and what to do
instead. In a folder, it reads the Python, C++, shell and YAML files, except in hidden folders and packages.

  --tensorrt VERSION     the version that the code must run on (default: ${newestTarget}); an old one, such as 8.6, finds flags
                         that are too new

The exit status is 0 if nothing is missing for sure, 1 if something is, 2 if a file cannot be read.
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['FILE', ...args.map(() => '[FILE]')]);
    const target = values.tensorrt ?? newestTarget;
    if (!/^\d{1,2}(?:\.\d{1,3}){0,3}$/.test(target))
      throw new Usage(`--tensorrt: '${target}' is not a version. Use a version such as 10.6 or 11`);
    const found: FileFindings[] = [];
    let read = 0;
    for (const path of positionals)
      for await (const [file, language] of sourceFiles(path)) {
        read += 1;
        const text = await readFile(file, 'utf8');
        const findings = lintSource(text, language, target);
        if (findings.length > 0) found.push({ file, findings: withPlaces(text, findings) });
      }
    if (read === 0)
      throw new UserError(
        `${positionals.join(', ')}: no Python, C++, shell or YAML file. Name the files that build or run engines`,
      );
    if (values.json) await printJson(terminal, { tensorrt: target, files: found });
    else await terminal.out(textOf(found, read, target));
    const missing = found.some(({ findings }) => findings.some(isSure));
    return missing ? exitCodes.checkFailed : exitCodes.done;
  },
};

interface FileFindings {
  file: string;
  findings: PlacedFinding[];
}

interface PlacedFinding extends Omit<LintFinding, 'step'> {
  step: TypedStep | undefined;
  line: number;
  column: number;
}

const isSure = ({ code }: Pick<LintFinding, 'code'>): boolean => code === 'gone' || code === 'too-new';

/** Of findings in the order of the text. */
function withPlaces(text: string, findings: readonly LintFinding[]): PlacedFinding[] {
  let [line, lineStart] = [1, 0];
  return findings.map((finding) => {
    for (
      let end = text.indexOf('\n', lineStart);
      end >= 0 && end < finding.start;
      end = text.indexOf('\n', lineStart)
    ) {
      line += 1;
      lineStart = end + 1;
    }
    return { ...finding, step: finding.step?.() ?? undefined, line, column: finding.start - lineStart + 1 };
  });
}

/** A larger file was made by a program, and is none that people migrate. */
const mostBytes = 4 << 20;

/** A file, whatever its name is; of a folder, those that are named as sources are. */
async function* sourceFiles(path: string): AsyncGenerator<[file: string, language: SourceLanguage]> {
  const kind = await stat(path).catch(() => null);
  if (kind === null) throw new UserError(`${path}: no such file or folder`);
  if (!kind.isDirectory()) {
    const language = languageOf(path);
    if (language === null) throw new UserError(`${path}: neither Python, C++, a shell script nor YAML by its name`);
    yield [path, language];
    return;
  }
  const entries = await readdir(path, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => a.name.localeCompare(b.name))) {
    const inner = join(path, entry.name);
    // Links are left out: they may lead back, or out of the folder.
    if (entry.isDirectory() && !/^\.|^(?:node_modules|site-packages|venv|__pycache__)$/.test(entry.name))
      yield* sourceFiles(inner);
    else if (entry.isFile() && languageOf(inner) !== null && (await stat(inner)).size <= mostBytes)
      yield [inner, languageOf(inner)!];
  }
}

const severities = { gone: 'error', 'too-new': 'error', 'perhaps-gone': 'warning', deprecated: 'info' } as const;

/** As compilers print it, so that editors and continuous integration find the places. */
function textOf(found: readonly FileFindings[], read: number, target: string): string {
  const lines = found.flatMap(({ file, findings }) =>
    findings.flatMap(({ code, message, advice, step, line, column }) => [
      problemLine(file, { severity: severities[code], code, message, line, column }),
      ...(advice === '' ? [] : [`    ${advice}`]),
      ...(step === undefined ? [] : [`    In one step: ${quoteCommand(['trtlens', ...step.trtlens], shell)}`]),
    ]),
  );
  const all = found.flatMap(({ findings }) => findings);
  const [sure, perhaps] = [all.filter(isSure).length, all.filter(({ code }) => code === 'perhaps-gone').length];
  const verdict =
    sure + perhaps === 0
      ? `nothing that TensorRT ${target} does not have`
      : `${counted(sure, 'place')} with what TensorRT ${target} does not have${perhaps === 0 ? '' : `, ${thousands(perhaps)} more perhaps`}`;
  return [...lines, `${counted(read, 'file')}: ${verdict}`, ''].join('\n');
}
