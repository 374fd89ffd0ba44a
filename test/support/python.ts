import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../../src/kernel/node/files/cacheFolder.ts';
import { findPython, type Python } from '../../src/kernel/node/tools/findPython.ts';
import { withFolderLock } from '../../src/kernel/node/files/folderLock.ts';
import { LineSplitter } from '../../src/kernel/node/files/lineSplitter.ts';
import { runProcess } from '../../src/kernel/node/tools/runProcess.ts';

/** ONNX's own library and ONNX Runtime, at versions at which the tests' expectations were seen to hold. */
const packages = [
  'onnx==1.23.2',
  'onnxruntime==1.31.1',
  'numpy==2.4.6',
  'ml_dtypes==0.6.0',
  'protobuf==7.36.2',
  'flatbuffers==25.12.19',
  'packaging==26.3',
  'typing_extensions==4.16.0',
];

/** What is asked of one model; see check_models.py. */
export interface ModelJob {
  model: string;
  run?: boolean;
  /** Shapes of inputs; what is not named has its own, with 2 for every dynamic axis. */
  shapes?: Record<string, number[]>;
  /** Scale of the random floating-point inputs; default 1. */
  largest?: number;
  /** A model whose outputs on the same inputs are the reference. */
  against?: string;
  /** With ONNX Runtime's optimizations, as people run it; else as the model is written. */
  optimized?: boolean;
  /** With ONNX's own evaluator, which knows BF16, instead of ONNX Runtime. */
  reference?: boolean;
}

export interface ModelAnswer {
  /** Of `onnx.checker` with full shape inference: true, or what it says. */
  checked: true | string;
  inputs: Record<string, string>;
  /** Types that the model declares of its outputs. */
  declared: Record<string, string>;
  ran?: true | string;
  outputs?: Record<string, { type: string; shape: number[]; finite?: boolean; error?: number; largest?: number }>;
}

export interface CutAnswer {
  checked: true | string;
  ran: true | string;
  /** Largest difference of each output to the whole model's; 0: byte for byte. */
  same: Record<string, number>;
}

/** A model that TensorRT-RTX rejects, and what is expected of its repair; see repair_models.py. */
export interface RepairCase {
  name: string;
  status: string;
  repairs: string[];
  allow: string[];
  /** The class that the outputs have; null: it depends on the machine. */
  shown: string | null;
  /** The version whose tables decide; null: builds do. */
  tensorrt: string | null;
}

/** See accuracy_oracle.py. */
export interface AccuracyTruth {
  names: string[];
  /** Worst error of the outputs, by set of exact nodes (a bit a node); null: not finite. */
  errors: (number | null)[];
}

/** See accuracy_bodies_oracle.py. */
export interface BodiesTruth extends AccuracyTruth {
  /** Errors that are not finite are null; a node that did not run is null. */
  nodes: Record<string, { max: number; local: number | null; run: number | null } | null>;
}

export interface OperatorTypes {
  op: string;
  opset: number;
  /** Of each formal input and output: among float, float16 and bfloat16; null: none of them. */
  inputs: (string[] | null)[];
  outputs: (string[] | null)[];
}

/** CUDA's headers, and its compiler for kernels at run time. */
const cudaPackages = [
  'nvidia-cuda-runtime-cu12==12.9.79',
  'nvidia-cuda-nvcc-cu12==12.9.86',
  'nvidia-cuda-nvrtc-cu12==12.9.86',
];

export const interpreter = (): Promise<Python> =>
  findPython({
    reject: ({ version: [major, minor], modules }) =>
      major !== 3 || minor < 11 || minor > 13
        ? 'the tests need Python 3.11 to 3.13'
        : modules.includes('pip')
          ? undefined
          : 'it has no pip',
    advice: 'Install Python 3.11 with pip.',
  });

let tools: Promise<PythonTools> | undefined;

/** Python with `onnx` and `onnxruntime`, installed once into the user's cache. */
export const pythonForTests = (): Promise<PythonTools> => (tools ??= installPython());

async function installPython(): Promise<PythonTools> {
  const python = await interpreter();
  const version = packages.slice(0, 2).join('-').replaceAll('==', '-');
  const folder = join(cacheFolder(), `test-${version}-${python.tag}-${python.platform}`);
  await withFolderLock(folder, async () => {
    if (!existsSync(join(folder, '.complete'))) await install(python, folder, packages);
  });
  return new PythonTools(python, join(folder, 'site'));
}

/** The oldest ONNX Runtime that may be the user's own, with NumPy, installed once: the folder with both. */
export async function oldestRuntimeForTests(): Promise<string> {
  const python = await interpreter();
  const numpy = python.version[1] < 13 ? '1.26.4' : '2.1.3';
  const folder = join(cacheFolder(), `test-onnxruntime-1.21.0-numpy-${numpy}-${python.tag}-${python.platform}`);
  await withFolderLock(folder, async () => {
    if (!existsSync(join(folder, '.complete')))
      await install(python, folder, ['onnxruntime==1.21.0', `numpy==${numpy}`]);
  });
  return join(folder, 'site');
}

/** An interpreter with Pillow and NumPy, installed once. */
export async function pillowForTests(): Promise<{ python: string; environment: Record<string, string> }> {
  const python = await interpreter();
  const folder = join(cacheFolder(), `test-pillow-12.0.0-${python.tag}-${python.platform}`);
  await withFolderLock(folder, async () => {
    if (!existsSync(join(folder, '.complete'))) await install(python, folder, ['pillow==12.0.0', 'numpy==2.3.4']);
  });
  return { python: python.program, environment: { PYTHONPATH: join(folder, 'site') } };
}

/** Triton's messages, and what parses them. */
const tritonPackages = ['tritonclient==2.73.0', 'protobuf==7.36.2'];

/** Python with `tritonclient`, installed once into the user's cache. */
export async function tritonForTests(): Promise<PythonTools> {
  const python = await interpreter();
  const folder = join(cacheFolder(), `test-triton-2.73.0-${python.tag}-${python.platform}`);
  await withFolderLock(folder, async () => {
    if (!existsSync(join(folder, '.complete'))) await install(python, folder, tritonPackages);
  });
  return new PythonTools(python, join(folder, 'site'));
}

/** CUDA's headers and NVRTC, installed once into the user's cache: the folder with their packages. */
export async function cudaForTests(): Promise<string> {
  const python = await interpreter();
  const folder = join(cacheFolder(), `test-cuda-12.9-2-${python.platform}`);
  await withFolderLock(folder, async () => {
    if (!existsSync(join(folder, '.complete'))) await install(python, folder, cudaPackages);
  });
  return join(folder, 'site/nvidia');
}

async function install(python: Python, folder: string, wheels: readonly string[]): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const lines: string[] = [];
  const keep = (line: string) => lines.push(line);
  const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', '--progress-bar=off'];
  const { code } = await runProcess({
    program: python.program,
    args: [...python.args, ...pip, '--only-binary=:all:', '--no-deps', '--target', join(folder, 'site'), ...wheels],
    environment: { PYTHONPATH: undefined, PIP_USER: undefined, PIP_REQUIRE_VIRTUALENV: undefined },
    stdout: keep,
    stderr: keep,
  });
  if (code !== 0) throw new Error(`pip cannot install ${wheels.join(' ')}:\n${lines.slice(-20).join('\n')}`);
  await writeFile(join(folder, '.complete'), '');
}

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export class PythonTools {
  private readonly python: Python;
  private readonly site: string;

  constructor(python: Python, site: string) {
    this.python = python;
    this.site = site;
  }

  /** To run other scripts with: it has ONNX Runtime, NumPy and onnx. */
  get runtime(): { python: string; environment: Record<string, string> } {
    return { python: this.python.path, environment: { PYTHONPATH: this.site } };
  }

  /** Answers of check_models.py, in the order of the jobs. */
  async check(jobs: ModelJob[]): Promise<ModelAnswer[]> {
    const answers = (await this.run('check_models.py', [], jobs)) as ModelAnswer[];
    if (answers.length !== jobs.length) throw new Error(`check_models.py ended at ${jobs[answers.length]?.model}`);
    return answers;
  }

  /** Compares extracted models with the models that they came from; see cut_models.py. */
  async compareCuts(jobs: { whole: string; pieces: string[] }[]): Promise<CutAnswer[][]> {
    return (await this.run('cut_models.py', [], jobs)) as CutAnswer[][];
  }

  /** Writes a small random model and its inputs into each folder; what each set of exact nodes gives, by brute force. */
  async accuracyOracle(jobs: { folder: string; seed: number }[]): Promise<AccuracyTruth[]> {
    return (await this.run('accuracy_oracle.py', [], jobs)) as AccuracyTruth[];
  }

  /** Random models with If, Loop and Scan, and what FP16 does to the nodes inside; see accuracy_bodies_oracle.py. */
  async accuracyBodiesOracle(jobs: { folder: string; seed: number }[]): Promise<BodiesTruth[]> {
    return (await this.run('accuracy_bodies_oracle.py', [], jobs)) as BodiesTruth[];
  }

  /** Writes models that a judgment of accuracy could get wrong into a folder; see odd_models.py. */
  async oddModels(folder: string): Promise<string[]> {
    return (await this.run('odd_models.py', [folder], [])) as string[];
  }

  /** Writes networks of several tasks with planted faults into a folder; see task_models.py. */
  async taskModels(folder: string): Promise<string[]> {
    return (await this.run('task_models.py', [folder], [])) as string[];
  }

  /** Writes ONNX's own test models of single operators into a folder, and gives their names. */
  async operatorModels(folder: string): Promise<string[]> {
    return (await this.run('operator_models.py', [folder], [])) as string[];
  }

  /** Which floating-point types ONNX's operators take, opset by opset. */
  async operatorTypes(): Promise<OperatorTypes[]> {
    return (await this.run('operator_types.py', [], [])) as OperatorTypes[];
  }

  /** Writes models that TensorRT-RTX rejects into a folder. */
  async repairModels(folder: string): Promise<RepairCase[]> {
    return (await this.run('repair_models.py', [folder], [])) as RepairCase[];
  }

  /** The largest magnitude of each float tensor on random inputs, by name; see calibrate_model.py. */
  async calibrate(model: string): Promise<Record<string, number>> {
    const [answer] = await this.run('calibrate_model.py', [], [{ model }]);
    return answer as Record<string, number>;
  }

  /** Writes a model with the arithmetic of a migrated cache written out; see fake_quantize.py. */
  async fakeQuantize(job: {
    model: string;
    quantized: string;
    cache: string;
    out: string;
  }): Promise<{ activations: number; weights: number }> {
    const [answer] = await this.run('fake_quantize.py', [], [job]);
    return answer as { activations: number; weights: number };
  }

  /** What tritonclient makes of each `config.pbtxt`: its fields, or `error`. */
  async tritonConfigs(texts: string[]): Promise<object[]> {
    return (await this.run('parse_triton_configs.py', [], texts)) as object[];
  }

  /** Compiles a kernel with NVRTC; see compile_kernel.py. */
  async compileKernel(job: {
    library: string;
    include: string;
    source: string;
  }): Promise<{ log: string; kernels: string[] | null }> {
    const [answer] = await this.run('compile_kernel.py', [], [job]);
    return answer as { log: string; kernels: string[] | null };
  }

  /** Runs a script of this folder with one JSON value a line on its stdin; gives those of its stdout. */
  private async run(name: string, args: string[], input: unknown[]): Promise<unknown[]> {
    const { program, args: first } = this.python;
    const child = spawn(program, [...first, '-B', script(name), ...args], {
      env: { ...process.env, PYTHONPATH: this.site, PYTHONHOME: undefined },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const answers: unknown[] = [];
    const errors: string[] = [];
    const [out, err] = [
      new LineSplitter((line) => answers.push(JSON.parse(line))),
      new LineSplitter((line) => errors.push(line)),
    ];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.stdin.on('error', () => {});
    child.stdin.end(input.map((value) => `${JSON.stringify(value)}\n`).join(''));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code !== 0) throw new Error(`${name} ended with ${code}:\n${errors.slice(-20).join('\n')}`);
    return answers;
  }
}
