import { checkOutput, filesOfModel, writeResult } from '../../../../kernel/node/files/writeResult.ts';
import { suggestRepairs } from '../suggestRepairs.ts';
import { repairModel } from '../repairModel.ts';
import { catalogue } from '../../planRepair.ts';
import type { CheckTarget } from '../../../diagnose/checkModel.ts';
import { renderHtml } from '../../../../kernel/document/render.ts';
import { repairDocument, repairText, suggestionText } from '../../repairResult.ts';
import { counted } from '../../../../kernel/base/text.ts';
import { allBut, forceOption, readArguments } from '../../../../kernel/node/cli/arguments.ts';
import { runtimeFor } from '../../../../kernel/node/cli/runtimeFor.ts';
import {
  type BuildValues,
  readBuildOptions,
  textOf,
  trialArguments,
} from '../../../../kernel/node/cli/buildOptions.ts';
import { buildRequest } from '../../../../kernel/node/cli/buildRequest.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';
import { readTarget } from '../../../../kernel/node/cli/readTarget.ts';
import { printJson, type Terminal } from '../../../../kernel/node/cli/terminal.ts';

const options = {
  ...trialArguments,
  out: { type: 'string', short: 'o' },
  inputs: { type: 'string', multiple: true },
  allow: { type: 'string', multiple: true },
  only: { type: 'string', multiple: true },
  suggest: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  tensorrt: { type: 'string' },
  html: { type: 'string' },
  ...forceOption,
} as const;

const classes = ['rounding', 'signature', 'float', 'unproved'];

export const repair: Command = {
  help: `trtlens repair MODEL.onnx [-o REPAIRED.onnx] [--allow CLASS,…] [--inputs FILE]… [--only ID,…]
               [--tensorrt 10.6|11.2|rtx] [--suggest] [--dry-run] [--html FILE] [build options] [--json]

Finds the smallest set of repairs with which a rejected model builds, compares original and repaired model in ONNX Runtime,
and writes the repaired model. What a repair doesn't concern stays byte for byte as it is. Builds with TensorRT-RTX on the
CPU by default. Exit status 1: not repairable, or not with what is allowed.

  -o REPAIRED.onnx    where the repaired model goes (default: MODEL.repaired.onnx)
  --allow CLASS,…     repairs that are not exact: rounding (sums in another order), signature (types or names of inputs and
                      outputs), float (floating point in place of quantization), unproved (what ONNX Runtime cannot
                      compare), or the id of one repair. Repairs that
                      change what the model computes need their id here, or a yes at the terminal
  --inputs FILE       real inputs for the comparison: .npz, .npy, .json, .raw, or a folder (default: made values)
  --tensorrt VERSION  a TensorRT that is not installed here (also --target): the tables of trtlens check decide what it
                      rejects, and nothing is built (default: build with what is installed)
  --only ID,…         make these repairs wherever they apply, whatever the build says
  --suggest           only list the repairs that apply, without building anything
  --dry-run           write no model
  --html FILE         also write a page: each place before and after, and the proof
  --force             overwrite files that trtlens did not write
  --json              { "status", "repairs", "notAllowed", "failure", "proof", "verdict", "written", "builds", "seconds" }

Other options are those of trtlens build.
`,
  options,
  run: async (args, terminal) => {
    const read = readArguments(args, options, ['MODEL.onnx'], {
      without: {
        suggest: allBut(options, 'suggest', 'json', 'shapes', 'min-shapes', 'opt-shapes', 'max-shapes'),
        'dry-run': ['out'],
      },
    });
    const values: BuildValues = read.values;
    const model = read.positionals[0]!;
    const only = listOf(values, 'only');
    const unknown = only.find((id) => !catalogue.some((one) => one.id === id));
    if (unknown !== undefined) throw new Usage(`--only: unknown repair '${unknown}'`);
    if (values['suggest']) return suggest(model, values, terminal);
    const allow = allowed(listOf(values, 'allow'));
    const out = values['dry-run']
      ? null
      : (textOf(values, 'out') ?? model.replace(/(?:\.onnx)?(?:\.gz)?$/i, '.repaired.onnx'));
    const request = await buildRequest(model, values, terminal);
    const html = textOf(values, 'html');
    if (html !== undefined) {
      await checkOutput(html, [...(await filesOfModel(model)), out ?? undefined], 'page');
    }
    const result = await repairModel(
      {
        options: request,
        target: targetOf(textOf(values, 'tensorrt')),
        out,
        allow,
        ...(only.length > 0 && { only }),
        samples: (values['inputs'] as string[] | undefined) ?? [],
        runtime: () => runtimeFor({ yes: values['yes'] === true, buildPython: request.python }, terminal),
        script: driverScript('repair_model.py'),
      },
      { progress: (text) => terminal.status(text), ask: (one, places) => asks(terminal, one.title, places) },
      terminal.signal,
    ).finally(() => terminal.status(null));
    if (html !== undefined) await writeResult(html, renderHtml(repairDocument(result)), 'page');
    if (values['json']) await printJson(terminal, result);
    else await terminal.out(repairText(result));
    return result.status === 'repaired' || result.status === 'builds' ? exitCodes.done : exitCodes.checkFailed;
  },
};

/** A version to check for by tables; undefined: TensorRT is here, so that builds decide. */
function targetOf(text: string | undefined): CheckTarget | undefined {
  if (text === undefined || /^(?:tensorrt-)?rtx$/i.test(text)) return undefined;
  const { product, version } = readTarget(text);
  return { product: product ?? 'tensorrt', version: version && `${version[0]}.${version[1]}`, capability: null };
}

/** @throws {Usage} for a word that is neither a class nor a repair */
function allowed(words: readonly string[]): Set<string> {
  const known = new Set([...classes, ...catalogue.map(({ id }) => id)]);
  const wrong = words.find((word) => !known.has(word));
  if (wrong !== undefined)
    throw new Usage(`--allow: unknown class or repair '${wrong}'; classes are ${classes.join(', ')}`);
  return new Set(words);
}

/** A question at the terminal; no if it is not interactive. */
const asks = async (terminal: Terminal, title: string, places: number): Promise<boolean> =>
  (await terminal.ask(`${title} (${counted(places, 'place')})? This changes what the model computes.`)) ?? false;

/** Lists what applies; nothing is built or written. */
async function suggest(model: string, values: BuildValues, terminal: Terminal): Promise<number> {
  const found = await suggestRepairs(model, readBuildOptions(values).profiles);
  if (values['json']) await printJson(terminal, { repairs: found });
  else await terminal.out(found.length === 0 ? 'No repair applies to this model.\n' : suggestionText(found));
  return exitCodes.done;
}

const listOf = (values: BuildValues, flag: string): string[] =>
  ((values[flag] as string[] | undefined) ?? []).flatMap((text) => text.split(',')).filter(Boolean);
