import { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { streamedLog } from '../../../../kernel/node/files/streamedLog.ts';
import { buildSteps } from '../../../../kernel/node/run/buildSteps.ts';
import { shell } from '../../../../kernel/node/tools/shell.ts';
import { withCommands } from '../../../../kernel/node/cli/problemLines.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import { counted, quoteCommand } from '../../../../kernel/base/text.ts';
import { diagnoseLog, howItEnds, isAboutTensorRT } from '../../diagnoseLog.ts';
import type { Diagnosis } from '../../../../kernel/build/diagnosis.ts';
import type { Document, DocumentFinding } from '../../../../kernel/document/document.ts';
import { renderText } from '../../../../kernel/document/render.ts';
import type { BuildLog } from '../../../../kernel/read/tensorrt/buildOutput.ts';
import { inspectLog } from '../../../../kernel/inspect/inspection.ts';
import type { OnnxModel } from '../../../../kernel/read/onnx/onnxModel.ts';
import { readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes } from '../../../../kernel/node/cli/command.ts';
import { printJson } from '../../../../kernel/node/cli/terminal.ts';

const options = { onnx: { type: 'string' }, json: { type: 'boolean' } } as const;

export const diagnose: Command = {
  help: `trtlens diagnose LOG [--onnx MODEL.onnx] [--json]

Reads a build log, or any excerpt of one, and reports what failed or caused a warning, on which line, and what to do
next: the cause first, and what followed from it. Reads what trtexec, Polygraphy, Python, trtlens, ONNX Runtime, Triton,
Torch-TensorRT, TF-TRT, TensorRT-LLM, DeepStream and other programs print. LOG - reads standard input. With --onnx it
also names the affected nodes.
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['LOG']);
    const files = new ParsedFiles();
    const model = values.onnx === undefined ? undefined : (await files.model(values.onnx)).value;
    const path = positionals[0]!;
    const registered = model !== undefined;
    const { value: log, problems } =
      path === '-' ? await streamedLog(process.stdin, registered) : await files.log(path, { times: false, registered });
    const found = diagnoseLog(log, model);
    const diagnoses = values.onnx === undefined ? found : await buildSteps.withApplyingRepairs(values.onnx, found);
    // Without output of TensorRT's tools, the absence of errors proves nothing.
    if (diagnoses.length === 0 && !isAboutTensorRT(log) && inspectLog(log, problems) === null)
      throw new UserError(
        `${path === '-' ? 'standard input' : path} is not a TensorRT build log: no line has a prefix or a phrase of TensorRT, its parser, CUDA or a program that runs it, and none is a known error. Build with --verbose and save the output`,
      );
    if (values.json) await printJson(terminal, { diagnoses });
    else await terminal.out(renderText(toDocument(diagnoses, log, model, values.onnx, path)));
    return exitCodes.done;
  },
};

function toDocument(
  diagnoses: Diagnosis[],
  log: BuildLog,
  model: OnnxModel | undefined,
  path = '',
  logPath = '-',
): Document {
  if (diagnoses.length === 0) return { title: nothing(log), blocks: [] };
  const counts = (['error', 'warning'] as const).flatMap((kind) => {
    const count = diagnoses.filter(({ severity }) => severity === kind).length;
    return count === 0 ? [] : [counted(count, kind)];
  });
  const names = new Map(model?.nodes.map(({ id, name, op }) => [id, `${name || `node ${id}`} (${op})`]));
  return {
    title: counts.join(', '),
    blocks: [
      {
        kind: 'findings',
        findings: diagnoses.map((diagnosis) => toFinding(diagnosis, names, path, memoryCommand(log, path, logPath))),
      },
    ],
  };
}

function toFinding(
  diagnosis: Diagnosis,
  names: ReadonlyMap<string, string>,
  path: string,
  memory: string,
): DocumentFinding {
  const { severity, code, message, advice, line, nodes, layer, evidence, sure, follows, repair } = diagnosis;
  const affected = nodes.slice(0, 5).map((id) => names.get(id) ?? id);
  const more = nodes.length > affected.length ? `, and ${nodes.length - affected.length} more` : '';
  const facts = [
    { label: 'log', value: message.includes(evidence) ? '' : evidence },
    { label: 'layer', value: layer === null || (message + evidence).includes(layer) ? '' : layer },
    { label: 'nodes', value: affected.length === 0 ? '' : affected.join(', ') + more },
    { label: 'certainty', value: sure === 'stated' ? '' : `${sure}, not certain` },
    { label: 'and', value: follows.length === 0 ? '' : followText(follows) },
  ].filter(({ value }) => value !== '');
  const plugin = code === 'plugin-missing' && nodes[0] !== undefined;
  const actions =
    repair !== undefined
      ? [{ label: 'Repair the Model', command: repairCommand(path, repair) }]
      : plugin
        ? [{ label: 'Write a Plugin', command: pluginCommand(path, nodes[0]!) }]
        : code === 'out-of-memory' || code === 'workspace-too-small'
          ? [{ label: 'Show What Needs the Memory', command: memory }]
          : [];
  return { severity, code, place: `line ${line}`, text: message, facts, advice: withCommands(advice), actions };
}

/** What a log without a finding says. */
function nothing(log: BuildLog): string {
  if (log.outcome === 'passed') return 'Nothing to report: the build passed.';
  return `No errors found in the log. ${howItEnds(log)}`;
}

const followText = (follows: Diagnosis['follows']): string =>
  `${counted(follows.length, 'error')} that ${follows.length === 1 ? 'follows' : 'follow'} from it (line ${follows
    .slice(0, 5)
    .map(({ line }) => line)
    .join(', ')}${follows.length > 5 ? ', …' : ''})`;

/** What repairs the model. */
const repairCommand = (model: string, repair: string): string =>
  `${quoteCommand(['trtlens', 'repair', model || 'MODEL.onnx'], shell)}   (${repair})`;

/** What says where the memory goes: of this log if it has an engine, otherwise of a build that succeeds. */
function memoryCommand(log: BuildLog, model: string, path: string): string {
  const own = log.engineLayers.length > 0 && path !== '-';
  const files = ['--onnx', model || 'MODEL.onnx', '--log', own ? path : 'SMALLER_BUILD.log'];
  const hint = own ? '' : '   (of a build that succeeds, such as one with a smaller batch)';
  return quoteCommand(['trtlens', 'show', ...files, '--memory'], shell) + hint;
}

/** What writes a plugin for a node. */
const pluginCommand = (model: string, node: string): string =>
  quoteCommand(['trtlens', 'cut', 'plugin', model, '--nodes', node, '--name', 'MyPlugin', '-o', 'MyPlugin'], shell);
