import type { PythonWithRuntime } from '../../../kernel/node/tools/pythonWithRuntime.ts';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { networkOf } from '../../../kernel/network/network.ts';
import type { RuntimeUsed } from '../../../kernel/base/runtimeUsed.ts';
import type { OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import type { Proof, ProofPlan } from '../repairResult.ts';
import type { ComputedTensor } from '../subject.ts';
import { extractModel, subgraphBetween } from '../../surgery/extractModel.ts';
import type { ByteSource } from '../../../kernel/base/problem.ts';
import { writeModel } from '../../../kernel/node/files/writeModel.ts';
import { PythonSession, Refused } from '../../../kernel/node/tools/pythonSession.ts';
import { Cancelled, UserError } from '../../../kernel/node/files/userError.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';

/** Constants of more bytes are not folded. */
const largestConstant = 64 << 20;

/** ONNX Runtime for one repair: computes constants, compares models. Started when it is first needed. */
export class RuntimeSession {
  readonly #runtime: () => Promise<PythonWithRuntime>;
  readonly #script: string;
  readonly #folder: string;
  readonly #signal: AbortSignal | undefined;
  #session: Promise<PythonSession> | undefined;
  /** What runs it; undefined: it was not needed yet. */
  used: RuntimeUsed | undefined;

  /** @param script path of `repair_model.py` @param folder for files that go back and forth */
  constructor(
    runtime: () => Promise<PythonWithRuntime>,
    script: string,
    folder: string,
    signal: AbortSignal | undefined,
  ) {
    this.#runtime = runtime;
    this.#script = script;
    this.#folder = resolve(folder);
    this.#signal = signal;
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => undefined);
    await session?.close();
  }

  async #ask<Result>(request: object): Promise<Result> {
    this.#session ??= this.#start();
    return (await this.#session).ask<Result>(request);
  }

  async #start(): Promise<PythonSession> {
    const { python, environment, used } = await this.#runtime();
    this.used = used;
    return new PythonSession({
      python,
      script: this.#script,
      signal: this.#signal,
      ...(environment && { environment }),
    });
  }

  /** Tensors of the main graph that depend on no input. What ONNX Runtime cannot compute is missing. @param linked path next to which the weights are */
  async compute(
    { model, source }: { model: OnnxModel; source: ByteSource },
    names: readonly string[],
    linked: string,
  ): Promise<ReadonlyMap<string, ComputedTensor>> {
    const graph = networkOf(model);
    const { inferred } = graph;
    const wanted = names.filter((name) => (inferred.types[graph.byName.get(name) ?? -1] ?? null) !== null);
    const piece = wanted.length === 0 ? null : subgraphBetween(graph, [], wanted);
    if (!piece || 'reason' in piece || piece.inputs.length > 0) return new Map();
    // Shapes that the model declares may be stale.
    const open = { types: inferred.types, shapes: inferred.shapes.map(() => null) };
    const made = extractModel(graph, source.size, piece, open, { kind: 'embed' });
    if ('reason' in made) return new Map();
    const path = join(this.#folder, 'trtlens-constants.onnx');
    await writeModel(made, { path: linked, source }, path, this.#signal);
    try {
      const request = { do: 'compute', model: path, folder: this.#folder, limit: largestConstant };
      const { tensors } = await this.#ask<{ tensors: { name: string; type: string; shape: number[]; path: string }[] }>(
        request,
      );
      const computed = new Map<string, ComputedTensor>();
      for (const { name, type, shape, path: file } of tensors) {
        computed.set(name, { type, shape, bytes: await readFile(file) });
        await removeTree(file);
      }
      return computed;
    } catch (error) {
      if (error instanceof Refused) return new Map();
      throw error;
    } finally {
      await removeTree(path);
    }
  }

  /** Original and repaired model side by side; a reason where ONNX Runtime cannot load or run one of them. */
  async prove(request: {
    original: string;
    repaired: string;
    files: readonly string[];
    plan: ProofPlan;
    /** A copy of the original with weights moved by a rounding step; null: there is none. */
    noisy: string | null;
    renamed: ReadonlyMap<string, string | null>;
    texts: readonly string[];
  }): Promise<Proof | { reason: string }> {
    const { plan, renamed, ...rest } = request;
    try {
      return await this.#ask<Proof>({
        do: 'prove',
        ...rest,
        ...plan,
        renamed: Object.fromEntries(renamed),
        seconds: 120,
      });
    } catch (error) {
      if (error instanceof Cancelled || !(error instanceof UserError)) throw error;
      // ONNX Runtime itself can crash on a model.
      if (!(error instanceof Refused)) return { reason: error.message };
      const which = { original: 'the original', repaired: 'the repaired model' }[error.stage] ?? 'these inputs';
      const text = error.message.replaceAll(`${this.#folder}/`, '');
      return {
        reason: `ONNX Runtime cannot run ${which}: ${text.replace(/^\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : /, '')}`,
      };
    }
  }
}
