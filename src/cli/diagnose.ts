import { ParsedFiles } from '../builder/files/parsedFiles.ts';
import { shell } from '../builder/tools/shell.ts';
import { withCommands } from './commandHints.ts';
import { UserError } from '../builder/userError.ts';
import { quoteCommand } from '../core/build/quoteCommand.ts';
import type { Diagnosis } from '../core/diagnose/diagnosis.ts';
import { diagnoseLog } from '../core/diagnose/diagnoseLog.ts';
import { inspectLog } from '../core/inspect/inspectText.ts';
import type { OnnxModel } from '../core/onnx/onnxModel.ts';
import { readArguments } from './arguments.ts';
import { type Command, exitCodes } from './command.ts';
import { printJson } from './terminal.ts';

export const diagnose: Command = {
  help: `trtlens diagnose LOG [--onnx MODEL.onnx] [--json]

Reads a build log of trtexec, Polygraphy, Python or trtlens and reports what failed or caused a warning, on which line,
and what to do next. With --onnx it also names the affected nodes.
`,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, { onnx: { type: 'string' }, json: { type: 'boolean' } }, [
      'LOG',
    ]);
    const model = values.onnx === undefined ? undefined : (await new ParsedFiles().model(values.onnx)).value;
    const path = positionals[0]!;
    const { value: log, problems } = await new ParsedFiles().log(path);
    const diagnoses = diagnoseLog(log, model);
    // Without output of TensorRT's tools, the absence of errors proves nothing.
    if (diagnoses.length === 0 && (log.runs ?? []).length === 0 && inspectLog(log, problems) === null)
      throw new UserError(`${path} is not a TensorRT build log. Build with --verbose and save the output`);
    if (values.json) await printJson(terminal, { diagnoses });
    else await terminal.out(text(diagnoses, log.outcome, model, values.onnx));
    return exitCodes.done;
  },
};

function text(diagnoses: Diagnosis[], outcome: string, model: OnnxModel | undefined, path = ''): string {
  if (diagnoses.length === 0)
    return `Nothing to report: ${outcome === 'passed' ? 'the build passed' : 'no errors found in the log'}.\n`;
  const names = new Map(model?.nodes.map(({ id, name, op }) => [id, `${name || `node ${id}`} (${op})`]));
  return diagnoses
    .map(({ severity, code, message, advice, line, nodes }) => {
      const affected = nodes.slice(0, 5).map((id) => names.get(id) ?? id);
      const more = nodes.length > affected.length ? `, and ${nodes.length - affected.length} more` : '';
      return [
        `${severity} ${code}, line ${line}: ${message}`,
        ...(affected.length > 0 ? [`  nodes: ${affected.join(', ')}${more}`] : []),
        `  ${withCommands(advice)}`,
        ...(code === 'plugin-missing' && nodes[0] !== undefined ? [`  next: ${pluginCommand(path, nodes[0])}`] : []),
        '',
      ].join('\n');
    })
    .join('\n');
}

/** What writes a plugin for a node. */
const pluginCommand = (model: string, node: string): string =>
  quoteCommand(['trtlens', 'plugin', model, '--nodes', node, '--name', 'MyPlugin', '-o', 'MyPlugin'], shell);
