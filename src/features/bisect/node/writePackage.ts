import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { exists } from '../../../kernel/node/files/exists.ts';
import { makeFolder } from '../../../kernel/node/files/persist.ts';
import { writeWhole } from '../../../kernel/node/files/writeWhole.ts';
import { quoteCommand } from '../../../kernel/base/text.ts';
import { patternText } from '../bisectDocument.ts';
import type { CheckedOutput, WrongPiece } from '../bisectReport.ts';
import { planAnonymous, planEdit } from '../../../kernel/read/onnx/editModel.ts';
import { subgraphOf } from '../../surgery/extractModel.ts';
import { withFile } from '../../../kernel/node/files/fileSource.ts';
import { checkOutput, moveResult, type OutputKind, writeResult } from '../../../kernel/node/files/writeResult.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { writeModel } from '../../../kernel/node/files/writeModel.ts';
import { extractSubgraph } from '../../surgery/node/extractSubgraph.ts';
import { UserError } from '../../../kernel/node/files/userError.ts';
import type { WorkerInfo } from './engineWorker.ts';
import type { TriedPiece } from './pieces.ts';
import type { Reference } from './reference.ts';

export interface PackageRequest {
  /** Folder; it is made if it is missing. */
  out: string;
  piece: TriedPiece;
  info: WorkerInfo;
  /** Names become numbers. */
  anonymize: boolean;
  reference: Reference;
  /** Where files are made before they get their place. */
  folder: string;
}

/** Names in the folder of the result. */
const names = {
  model: 'model.onnx',
  fixed: 'fixed.onnx',
  inputs: 'inputs.npz',
  expected: 'expected.npz',
  engine: 'engine.npz',
  log: 'build.log',
  script: 'show.py',
  readme: 'README.md',
  journal: 'search.jsonl',
};

/** What may be replaced in the folder of a search, by its name there. */
const kinds: Record<keyof typeof names, OutputKind> = {
  model: 'model',
  fixed: 'model',
  inputs: 'zip',
  expected: 'zip',
  engine: 'zip',
  log: 'log',
  script: 'script',
  readme: 'markdown',
  journal: 'data',
};

/** The file of a search's answers, in the folder of its result. */
export const journalName = names.journal;

/** Every file that a search may leave in its folder, and what may be replaced there. */
export const packageFiles = (out: string): [path: string, kind: OutputKind][] =>
  (Object.keys(names) as (keyof typeof names)[]).map((name) => [join(out, names[name]), kinds[name]]);

/**
 * Writes what shows the fault to someone else: the piece with its weights, its inputs, the right outputs and the
 * engine's, the build log, one line of Polygraphy and one Python file. The fixed model is next to it.
 * @throws {UserError} if a file cannot be written, or one is there that is not ours
 */
export async function writePackage(request: PackageRequest): Promise<Pick<WrongPiece, 'model' | 'inputs' | 'output'>> {
  const { out, piece, reference, anonymize, info, folder } = request;
  const path = (name: keyof typeof names) => join(out, names[name]);
  await extractSubgraph({
    path: piece.model,
    pick: (graph) =>
      subgraphOf(
        graph,
        [...graph.nodes.keys()].filter((node) => graph.owner[node]! < 0),
        graph.graphOutputs,
      ),
    out: path('model'),
    weights: 'embed',
    anyRank: true,
  });
  const details = await reference.compare(piece.expected, piece.values, { tolerances: {} }, { details: true });
  const output = details.find(({ name }) => name === piece.worst?.name) ?? null;
  const renamed: ReadonlyMap<string, string> = anonymize ? await anonymized(path('model')) : new Map();
  const namesOf = (side: 'inputs' | 'outputs') => piece.border[side].map(({ name }) => name);
  for (const [name, from, side] of [
    ['inputs', piece.inputs, 'inputs'],
    ['expected', piece.expected, 'outputs'],
    ['engine', piece.values, 'outputs'],
  ] as const) {
    const made = join(folder, names[name]);
    await reference.pick(from, namesOf(side), made, renamed);
    await moveResult(made, path(name), 'zip');
  }
  if (!anonymize) await moveResult(piece.log, path('log'), 'log');
  const worst = piece.worst && { ...piece.worst, name: renamed.get(piece.worst.name) ?? piece.worst.name };
  await writeResult(path('script'), script(info), 'script');
  await writeResult(path('readme'), readme(info, worst, anonymize), 'markdown');
  return { model: path('model'), inputs: path('inputs'), output };
}

/** Writes the whole model with a change after which it is right into the folder of the result. @returns its path */
export async function writeFixed(model: string, out: string): Promise<string> {
  const path = join(out, names.fixed);
  await copyModel(model, path);
  return path;
}

/**
 * Copies the result of a search into another folder.
 * @throws {UserError} if a file there is not ours
 */
export async function copyPackage(folder: string, out: string): Promise<void> {
  const there = new Map(packageFiles(out).map(([path, kind]) => [basename(path), { path, kind }]));
  there.delete(names.journal);
  for (const [name, { path, kind }] of there) {
    const from = join(folder, name);
    if (!(await exists(from))) continue;
    if (kind === 'model') await copyModel(from, path);
    else {
      await checkOutput(path, [], kind);
      await makeFolder(out);
      await writeWhole(path, await readFile(from));
    }
  }
}

/** Writes a model, with its weights where they are in other files, somewhere else. */
export async function copyModel(path: string, out: string): Promise<void> {
  const { value: model } = await new ParsedFiles().model(path, { spans: true });
  await checkOutput(out, [path], 'model');
  await withFile(path, async (source) => {
    const { value, problems } = await planEdit(model, source, {});
    if (!value) throw new UserError(problems[0]?.message ?? 'the fixed model cannot be written');
    await writeModel(value, { path, source }, out);
  });
}

/** Renames nodes and tensors of a model in place. @returns new names of tensors by their old ones */
const anonymized = (path: string): Promise<ReadonlyMap<string, string>> =>
  withFile(path, async (source) => {
    const made = await planAnonymous(source);
    await writeModel(made, { path, source }, path);
    return made.tensors;
  });

/** One line of Polygraphy that shows the fault, in the folder of the result. */
export const polygraphy = (): string =>
  quoteCommand([
    'polygraphy',
    'run',
    names.model,
    '--trt',
    '--no-tf32',
    '--onnxrt',
    '--load-inputs',
    'inputs.json',
    '--check-error-stat',
    'max',
    '--rtol',
    '1e-3',
    '--atol',
    '1e-3',
  ]);

function readme(info: WorkerInfo, worst: CheckedOutput | undefined, anonymous: boolean): string {
  const error = worst?.error === null ? 'not finite' : `${((worst?.error ?? 0) * 100).toPrecision(3)} %`;
  const pattern = worst?.pattern && worst.pattern.kind !== 'other' ? ` (${patternText(worst.pattern)})` : '';
  return `# Wrong output of a TensorRT engine

TensorRT ${info.version} on ${info.gpu}${info.computeCapability ? ` (compute capability ${info.computeCapability})` : ''}: output
\`${worst?.name ?? ''}\` of \`${names.model}\` differs from ONNX Runtime by ${error} of its largest value${pattern}, in FP32 with TF32 off.

- \`${names.model}\`, \`${names.inputs}\`: the network and its inputs
- \`${names.expected}\`: its outputs by ONNX Runtime on the CPU; \`${names.engine}\`: those of the engine${anonymous ? '' : `\n- \`${names.log}\`: the verbose build log`}

To see it: \`python3 ${names.script}\` (TensorRT, NumPy, ONNX Runtime and a GPU), or, after \`python3 ${names.script} --convert\`:

    ${polygraphy()}
`;
}

/** A script without anything of ours. */
const script = ({
  module,
}: WorkerInfo): string => `"""Builds ${names.model} with TensorRT, runs it, and compares with ${names.expected}."""
import ctypes
import json
import sys

import numpy as np

inputs, expected = dict(np.load("${names.inputs}")), dict(np.load("${names.expected}"))
if "--convert" in sys.argv:  # for Polygraphy
    from polygraphy.json import save_json

    save_json([inputs], "inputs.json")
    sys.exit()

import ${module} as trt

logger = trt.Logger(trt.Logger.WARNING)
builder = trt.Builder(logger)
network = builder.create_network(0 if trt.__version__ >= "10" else 1)
parser = trt.OnnxParser(network, logger)
assert parser.parse_from_file("${names.model}"), parser.get_error(0)
config = builder.create_builder_config()
config.clear_flag(trt.BuilderFlag.TF32)
profile = builder.create_optimization_profile()
for name, value in inputs.items():
    profile.set_shape(name, value.shape, value.shape, value.shape)
config.add_optimization_profile(profile)
engine = trt.Runtime(logger).deserialize_cuda_engine(builder.build_serialized_network(network, config))
context = engine.create_execution_context()

cuda = ctypes.CDLL("libcuda.so.1")
device, primary, stream = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()


def call(name, *args):
    status = getattr(cuda, name)(*args)
    assert status == 0, (name, status)


def upload(array):
    address = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(1, array.nbytes)))
    call("cuMemcpyHtoD_v2", address, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))
    return address


call("cuInit", 0)
call("cuDeviceGet", ctypes.byref(device), 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(primary), device)
call("cuCtxSetCurrent", primary)
call("cuStreamCreate", ctypes.byref(stream), 0)
outputs = {}
for name, value in inputs.items():
    context.set_input_shape(name, value.shape)
    context.set_tensor_address(name, upload(np.ascontiguousarray(value)).value)
for name, value in expected.items():
    array = np.zeros_like(value)
    outputs[name] = (array, upload(array))
    context.set_tensor_address(name, outputs[name][1].value)
assert context.execute_async_v3(stream.value)
call("cuStreamSynchronize", stream)
for name, (array, address) in outputs.items():
    call("cuMemcpyDtoH_v2", array.ctypes.data_as(ctypes.c_void_p), address, ctypes.c_size_t(array.nbytes))
    right = expected[name]
    print(name, "max |d| / max |reference|:", np.abs(array - right).max() / np.abs(right).max())
`;
