import type { CheckFinding } from '../../../../kernel/build/diagnosis.ts';
import { missingData } from '../../../../kernel/node/files/externalFile.ts';
import { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { askOnnxParser, type ParserAnswer } from '../../../../kernel/node/run/askOnnxParser.ts';
import { findPackages } from '../../../../kernel/node/tools/ensurePackages.ts';
import { buildSteps } from '../../../../kernel/node/run/buildSteps.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import {
  checkModel,
  type CheckTarget,
  computeCapability,
  type GivenShape,
  tableBasis,
} from '../../../diagnose/checkModel.ts';
import type { OnnxModel } from '../../../../kernel/read/onnx/onnxModel.ts';
import { namedShapes, readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { driverFolder } from '../../../../kernel/node/cli/driverScript.ts';
import { readTarget } from '../../../../kernel/node/cli/readTarget.ts';
import { printJson, type Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { errorText } from '../../../../kernel/base/problem.ts';
import { productName } from '../../../../kernel/base/text.ts';

const options = {
  tensorrt: { type: 'string' },
  'compute-capability': { type: 'string' },
  shapes: { type: 'string' },
  'min-shapes': { type: 'string' },
  'opt-shapes': { type: 'string' },
  'max-shapes': { type: 'string' },
  'no-parser': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

export const check: Command = {
  help: `trtlens check MODEL.onnx [--tensorrt 10.6|11.2|rtx-1.7] [--compute-capability 6.1] [--shapes …] [--no-parser] [--json]

Checks a model before a build: operators, types, forms, the GPU and the shapes that this version of TensorRT refuses, from
tables of what its parser accepts, and forms that it is known to build and compute wrong. For TensorRT-RTX, the default, its own parser is asked, too, where it is installed.

  --tensorrt VERSION     the version to check for (default: rtx)
  --compute-capability N  the GPU: 6.1 or sm_61
  --shapes, --min-shapes, --opt-shapes, --max-shapes INPUT:1x3x224x224[,…]
                         the shapes that the build will get
  --no-parser            only the tables

The exit status is 0 if the model will be accepted as far as is known, 1 if it will be rejected, lacks something or its engine will be wrong,
2 if it cannot be checked.
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['MODEL.onnx']);
    const path = positionals[0]!;
    const target = targetFrom(values.tensorrt ?? 'rtx', values['compute-capability']);
    const { value: model, problems } = await new ParsedFiles().model(path);
    const broken = problems.find(({ severity }) => severity === 'error');
    if (broken) throw new UserError(`${path}: ${broken.message}`);
    const findings = [
      ...(await buildSteps.withApplyingRepairs(path, checkModel(model, target, givenShapes(values)))),
      ...(await missingData(path, model)),
    ];
    const parser = values['no-parser'] ? undefined : await askParser(path, target, terminal);
    const errors = findings.filter(({ severity }) => severity === 'error');
    const wrong = errors.some(isKnownFault);
    const rejected = !errors.every(isKnownFault) || parser?.accepted === false;
    const incomplete = findings.some(isMissing);
    if (values.json)
      await printJson(terminal, {
        accepted: !rejected,
        wrong,
        target,
        tables: tableBasis(target),
        findings,
        parser: parser ?? null,
      });
    else await terminal.out(text(findings, target, model, parser, rejected));
    return rejected || wrong || incomplete ? exitCodes.checkFailed : exitCodes.done;
  },
};

/** What a build needs and does not find. */
const isMissing = ({ code, severity }: CheckFinding): boolean =>
  severity !== 'unknown' && (code === 'weights-missing' || code === 'shape-values-missing');

const isKnownFault = ({ code }: CheckFinding): boolean => code === 'known-fault';

function targetFrom(version: string, gpu: string | undefined): CheckTarget {
  const { product, version: read } = readTarget(version);
  const capability = gpu === undefined ? null : computeCapability(gpu);
  if (gpu !== undefined && capability === null)
    throw new Usage(`--compute-capability: '${gpu}' is not a compute capability. Use one such as sm_89 or 8.9`);
  return {
    product: product ?? 'tensorrt',
    version: read === null ? null : `${read[0]}.${read[1]}`,
    capability,
  };
}

function givenShapes(values: Record<string, unknown>): GivenShape[] {
  const read = (kind: string) =>
    new Map(
      namedShapes(`--${kind}`, values[kind] as string | undefined).map(([name, shape]) => [
        name,
        shape.split('x').map(Number),
      ]),
    );
  const fixed = read('shapes');
  const [min, opt, max] = [read('min-shapes'), read('opt-shapes'), read('max-shapes')];
  const names = [...new Set([fixed, min, opt, max].flatMap((map) => [...map.keys()]))];
  return names.map((input) => {
    const best = fixed.get(input) ?? opt.get(input) ?? max.get(input) ?? min.get(input)!;
    return { input, min: min.get(input) ?? best, opt: best, max: max.get(input) ?? best };
  });
}

/** The answer of TensorRT-RTX's parser, where it is installed; undefined: it was not asked. */
async function askParser(path: string, target: CheckTarget, terminal: Terminal): Promise<ParserAnswer | undefined> {
  if (target.product !== 'tensorrt-rtx') return undefined;
  const installed = await findPackages('tensorrt-rtx').catch(() => undefined);
  if (installed === undefined) return undefined;
  const { signal } = terminal;
  const place = { scripts: driverFolder, python: installed.python, signal };
  // A parser that crashes must not take what the tables say with it.
  const answer = await askOnnxParser(path, place).catch((error: unknown) => {
    if (signal.aborted) throw error;
    terminal.note(`The parser of TensorRT-RTX stopped without an answer: ${errorText(error)}`);
  });
  if (answer === undefined) return undefined;
  // Without its weights a model says nothing of what TensorRT accepts.
  const lacksWeights = answer.errors.every(
    ({ message }) => message.includes('Failed to import initializer') && !message.includes('duplicate'),
  );
  return !answer.accepted && lacksWeights ? undefined : answer;
}

function text(
  findings: CheckFinding[],
  target: CheckTarget,
  model: OnnxModel,
  parser: ParserAnswer | undefined,
  rejected: boolean,
): string {
  const names = new Map(model.nodes.map(({ id, name, op }) => [id, `${name || `node ${id}`} (${op})`]));
  const product = `${productName(target.product)}${target.version === null ? '' : ` ${target.version}`}`;
  const lines = findings.flatMap(({ severity, code, message, advice, nodes, repair }) => [
    `${severity} ${code}: ${message}`,
    ...(nodes.length === 0
      ? []
      : [
          `  nodes: ${nodes
            .slice(0, 5)
            .map((id) => names.get(id) ?? id)
            .join(', ')}${nodes.length > 5 ? `, and ${nodes.length - 5} more` : ''}`,
        ]),
    `  ${advice}`,
    ...(repair === undefined ? [] : [`  repair: ${repair} (trtlens repair)`]),
  ]);
  const said =
    parser === undefined
      ? []
      : parser.accepted
        ? [`The parser of TensorRT-RTX ${parser.version} accepts the model.`]
        : parser.errors.map(
            ({ operator, nodeName, message }) =>
              `The parser of TensorRT-RTX ${parser.version} rejects it${operator ? ` at ${nodeName ?? '?'} (${operator})` : ''}: ${message}`,
          );
  const verdict = rejected
    ? `${product} will reject this model.`
    : findings.some((one) => one.severity === 'error' && isKnownFault(one))
      ? `${product} will build this model, and the engine will give wrong values.`
      : findings.some(isMissing)
        ? `${product} cannot build this model without what is missing.`
        : `${product} will accept this model as far as is known; what a build does with memory, kernels and plugins is not checked.`;
  return `${[...lines, ...said, tableBasis(target), verdict].filter(Boolean).join('\n')}\n`;
}
