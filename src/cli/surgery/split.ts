import { join } from 'node:path';
import { splitFile } from '../../builder/files/splitFile.ts';
import { ParsedFiles } from '../../builder/files/parsedFiles.ts';
import { inferTensors } from '../../core/model/inferTensors.ts';
import { createModelGraph } from '../../core/model/modelGraph.ts';
import { type CutPoint, suggestCuts } from '../../core/surgery/splitModel.ts';
import { counted, sizeText } from '../../core/text/numbers.ts';
import { readArguments } from '../arguments.ts';
import { type Command, exitCodes, Usage } from '../command.ts';
import { printJson, type Terminal } from '../terminal.ts';

const options = {
  at: { type: 'string', multiple: true },
  suggest: { type: 'boolean' },
  output: { type: 'string', short: 'o' },
  json: { type: 'boolean' },
} as const;

export const split: Command = {
  name: 'split',
  summary: 'cut a model at tensors into models that run one after the other',
  help: `trtlens split MODEL.onnx --at TENSOR[,TENSOR] -o DIR [--json]
trtlens split MODEL.onnx --suggest [--json]

Writes part-0.onnx, part-1.onnx … and chain.json. The first part is all that the first tensor needs, the next what the
next tensor needs beyond that, the last one the rest. What else crosses a cut becomes an output and an input, too. Names
stay, so the outputs of one part are the inputs of the same name of the next ones.

  --at TENSOR,…  where to cut; may be repeated, for names with commas, too
  -o DIR         folder for the parts; weights stay where they are if it is the model's folder
  --suggest      list the cheapest places to cut, and write nothing
  --json         what chain.json has; with --suggest { "cuts": [ { "tensor", "crossing", "bytes", "exact", "nodes", "module" } ] }
`,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['MODEL.onnx']);
    const model = positionals[0]!;
    if (values.suggest) {
      if (values.at !== undefined || values.output !== undefined)
        throw new Usage('--suggest cannot be combined with --at or -o');
      return suggest(model, values.json === true, terminal);
    }
    if (values.at === undefined) throw new Usage('give --at TENSOR, or --suggest');
    if (values.output === undefined) throw new Usage('-o DIR is missing');
    const chain = await splitFile(model, await tensorsIn(model, values.at), values.output, terminal.signal);
    if (values.json) await printJson(terminal, chain);
    else
      for (const { model: name, nodes, inputs, outputs, bytes } of chain.parts) {
        const ends = (tensors: { name: string }[]) => tensors.map((tensor) => tensor.name).join(', ');
        await terminal.out(
          `${join(values.output, name)}: ${counted(nodes, 'node')}, ${sizeText(bytes)}\n  in  ${ends(inputs)}\n  out ${ends(outputs)}\n`,
        );
      }
    return exitCodes.done;
  },
};

/** Commas separate tensors, unless a tensor has that very name. */
async function tensorsIn(model: string, given: readonly string[]): Promise<string[]> {
  const graph = createModelGraph((await new ParsedFiles().model(model)).value);
  return given.flatMap((text) => (graph.byName.has(text) ? [text] : text.split(',').filter(Boolean)));
}

async function suggest(model: string, json: boolean, terminal: Terminal): Promise<number> {
  const graph = createModelGraph((await new ParsedFiles().model(model)).value);
  const cuts = suggestCuts(graph, inferTensors(graph));
  if (json) await printJson(terminal, { cuts });
  else await terminal.out(cuts.length === 0 ? 'No place to cut was found.\n' : cuts.map(cutLine).join(''));
  return exitCodes.done;
}

function cutLine({ tensor, crossing, bytes, exact, nodes: [before, behind], module }: CutPoint): string {
  const others = crossing.length > 1 ? ` with ${counted(crossing.length - 1, 'other tensor')}` : '';
  const size = `${sizeText(bytes)}${exact ? '' : ' (symbolic dimensions as 1)'}`;
  const end = module === null ? '' : `, end of ${module}`;
  return `${tensor}${others}: ${size} cross; ${before} + ${behind} nodes${end}\n`;
}
