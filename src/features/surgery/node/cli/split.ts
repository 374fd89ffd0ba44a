import { join } from 'node:path';
import { type Chain, splitFile } from '../splitFile.ts';
import { buildEachPart, type PartBuild } from '../buildEachPart.ts';
import { compareChain, type PartDifference } from '../runParts.ts';
import { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { networkOf } from '../../../../kernel/network/network.ts';
import { regionsText } from '../../../../kernel/report/words.ts';
import { type CutPoint, suggestCuts } from '../../splitModel.ts';
import { counted, sizeText, timeText } from '../../../../kernel/base/text.ts';
import { runtimeFor } from '../../../../kernel/node/cli/runtimeFor.ts';
import { allBut, forceOption, readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { type BuildValues, textOf, trialArguments } from '../../../../kernel/node/cli/buildOptions.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { printJson, type Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { buildRequest } from '../../../../kernel/node/cli/buildRequest.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';

const options = {
  ...trialArguments,
  at: { type: 'string', multiple: true },
  suggest: { type: 'boolean' },
  out: { type: 'string', short: 'o' },
  build: { type: 'boolean' },
  check: { type: 'boolean' },
  inputs: { type: 'string', multiple: true },
  ...forceOption,
} as const;

export const split: Command = {
  help: `trtlens cut split MODEL.onnx --at TENSOR[,TENSOR] -o DIR [--build [build options]] [--check] [--inputs F]… [--json]
trtlens cut split MODEL.onnx --suggest [--json]

Writes part-0.onnx, part-1.onnx … and chain.json. The first part computes the first tensor, each further part the next
tensor from those before it, the last part the rest. Other tensors that cross a cut become outputs and inputs as well.
Names stay, so an output of one part is the input of the same name in a later part.

  --at TENSOR,…  where to cut; may be repeated, for names with commas, too
  -o DIR         folder for the parts; weights stay where they are if it is the model's folder
  --build        build the model and each part, and compare their layers; options of trtlens build apply to all
  --check        run the parts one after the other with ONNX Runtime, and compare the outputs with those of the model;
                 exit status 1 if they differ by more than 1e-5; 0.004 if a cut is at an FP16 tensor, 0.03 at a
                 BF16 one: ONNX Runtime computes a chain of such nodes in FP32, and a cut rounds
  --inputs F     inputs for it (.npz, .npy, JSON, a folder) instead of random ones; may be repeated
  --suggest      list the cheapest places to cut, and write nothing
  --force        overwrite files that trtlens did not write
  --json         what chain.json has, with --build also "builds", with --check
                 "differences": [ { "name", "error" } ] and "limit"; with --suggest { "cuts": [ { "tensor", "crossing", "bytes", "exact", "nodes", "module" } ] }
`,
  options,
  run: async (args, terminal) => {
    const read = readArguments(args, options, ['MODEL.onnx'], {
      // Python's interpreter also runs the check.
      needs: Object.fromEntries(allBut(trialArguments, 'json', 'python').map((name) => [name, ['build']])),
      without: { suggest: allBut(options, 'suggest', 'json') },
    });
    const values: BuildValues = read.values;
    const model = read.positionals[0]!;
    const [at, out, json] = [values['at'] as string[] | undefined, textOf(values, 'out'), values['json'] === true];
    if (values['suggest'] === true) return suggest(model, json, terminal);
    if (at === undefined) throw new Usage('give --at TENSOR, or --suggest');
    if (out === undefined) throw new Usage('-o DIR is missing');
    const chain = await splitFile(model, await tensorsIn(model, at), out, terminal.signal);
    if (!json) await terminal.out(chain.parts.map((part) => partText(out, part)).join(''));
    const builds =
      values['build'] === true
        ? await buildEachPart(
            await buildRequest(model, values, terminal),
            chain,
            out,
            terminal.status,
            terminal.signal,
          ).finally(() => terminal.status(null))
        : null;
    const samples = values['inputs'] as string[] | undefined;
    const differences =
      values['check'] === true || samples !== undefined
        ? await compareChain(model, chain, out, {
            runtime: await runtimeFor({ python: textOf(values, 'python'), yes: values['yes'] === true }, terminal),
            script: driverScript('run_parts.py'),
            samples: samples ?? [],
            signal: terminal.signal,
          })
        : null;
    const limit = limitOf(chain);
    if (json)
      await printJson(terminal, {
        ...chain,
        ...(builds && { builds }),
        ...(differences && { differences, limit: limit.error }),
      });
    else
      await terminal.out(
        [...(builds ?? []).map(buildLine), ...(differences ?? []).map((one) => differenceLine(one, limit))].join(''),
      );
    const equal = (differences ?? []).every(({ error }) => error !== null && error <= limit.error);
    return equal ? exitCodes.done : exitCodes.checkFailed;
  },
};

/** Largest error of an output that passes, and why it is not the usual one. */
interface CheckLimit {
  error: number;
  why: string;
}

/**
 * Relative to the output's largest value: parts may be computed in another order, and a cut rounds to the type of its
 * tensor, by four times the distance of two neighboring numbers at most.
 */
export function limitOf({ parts }: Pick<Chain, 'parts'>): CheckLimit {
  const made = new Set(parts.flatMap(({ outputs }) => outputs.map(({ name }) => name)));
  const types = new Set(
    parts.flatMap(({ inputs }) => inputs.filter(({ name }) => made.has(name)).map(({ type }) => type)),
  );
  const why = (type: string) =>
    `, because ONNX Runtime computes a chain of ${type} nodes in FP32, and a cut rounds to ${type}`;
  if (types.has('bfloat16')) return { error: 2 ** -5, why: why('BF16') };
  return types.has('float16') ? { error: 2 ** -8, why: why('FP16') } : { error: 1e-5, why: '' };
}

function differenceLine({ name, error }: PartDifference, { error: limit, why }: CheckLimit): string {
  if (error === 0) return `${name}: identical to the model\n`;
  if (error === null) return `${name}: differs from the model\n`;
  return `${name}: differs by ${error.toPrecision(3)}; the limit is ${limit.toPrecision(1)}${why}\n`;
}

const partText = (folder: string, { model, nodes, inputs, outputs, bytes }: Chain['parts'][number]): string => {
  const ends = (tensors: readonly { name: string }[]) => tensors.map(({ name }) => name).join(', ');
  return `${join(folder, model)}: ${counted(nodes, 'node')}, ${sizeText(bytes)}\n  in  ${ends(inputs)}\n  out ${ends(outputs)}\n`;
};

const buildLine = ({ model, error, seconds, layers, foreignNodes, loadables, layerMs }: PartBuild): string => {
  if (error !== null) return `${model}: does not build: ${error}\n`;
  const time = layerMs === null ? '' : `, layers take ${timeText(layerMs)}`;
  const fusion = `${counted(layers ?? 0, 'layer')}, ${regionsText({ foreignNodes: foreignNodes ?? 0, loadables: loadables ?? 0 })}`;
  return `${model}: built in ${timeText((seconds ?? 0) * 1000)}: ${fusion}${time}\n`;
};

/** Commas separate tensors, unless a tensor has that very name. */
async function tensorsIn(model: string, given: readonly string[]): Promise<string[]> {
  const graph = networkOf((await new ParsedFiles().model(model)).value);
  return given.flatMap((text) => (graph.byName.has(text) ? [text] : text.split(',').filter(Boolean)));
}

async function suggest(model: string, json: boolean, terminal: Terminal): Promise<number> {
  const graph = networkOf((await new ParsedFiles().model(model)).value);
  const cuts = suggestCuts(graph, graph.inferred);
  if (json) await printJson(terminal, { cuts });
  else await terminal.out(cuts.length === 0 ? 'No place to cut was found.\n' : cuts.map(cutLine).join(''));
  return exitCodes.done;
}

function cutLine({ tensor, crossing, bytes, exact, nodes: [before, behind], module }: CutPoint): string {
  const others = crossing.length > 1 ? ` with ${counted(crossing.length - 1, 'other tensor')}` : '';
  const size = `${sizeText(bytes)}${exact ? '' : ' (unknown dimensions as 1)'}`;
  const end = module === null ? '' : `, end of ${module}`;
  return `${tensor}${others}: ${size} cross; ${before} + ${behind} nodes${end}\n`;
}
