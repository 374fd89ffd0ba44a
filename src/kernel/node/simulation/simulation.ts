import {
  modelNames,
  type Chunk,
  type ComparedOutput,
  type InputSource,
  type JudgeChunk,
  type Measured,
  type MeasuredNode,
  type PlannedOutput,
  type SwitchedChunk,
  type TimedRun,
} from '../../simulation/simulated.ts';
import type { DeclaredInput } from '../../build/randomInputs.ts';
import type { PythonWithRuntime } from '../tools/pythonWithRuntime.ts';
import { absoluteInput } from '../files/inputFile.ts';
import { resolve } from 'node:path';
import type { OnnxNode, Segment } from '../../read/onnx/onnxModel.ts';
import { PythonSession, Refused } from '../tools/pythonSession.ts';
import { UserError } from '../files/userError.ts';

/** Another model file, and where its external data is. */
export interface OtherModel {
  model: string;
  folder: string;
}

/** ONNX Runtime with one model, its samples and its sessions, in a process of its own. */
export class Simulation {
  private readonly session: PythonSession;
  /** Those of the model, for messages. */
  private nodes: readonly OnnxNode[] = [];

  /** `script`: path of `simulate.py`. */
  constructor({ python, environment }: PythonWithRuntime, script: string, signal?: AbortSignal) {
    this.session = new PythonSession({ python, script, signal, ...(environment && { environment }) });
  }

  /** Ends the process; never throws. */
  close(): Promise<void> {
    return this.session.close();
  }

  /** @throws {UserError} in the words of what was asked */
  private async ask<Result>(request: object): Promise<Result> {
    try {
      return await this.session.ask<Result>(request);
    } catch (error) {
      throw error instanceof Refused ? new UserError(inWords(error, this.nodes)) : error;
    }
  }

  /** `nodes`: those of the model, which messages name. */
  open(model: string, folder: string, nodes: readonly OnnxNode[]): Promise<void> {
    this.nodes = nodes;
    return this.ask({ do: 'open', ...absolute({ model, folder }) });
  }

  /** Reads the input files; none: makes random inputs. */
  samples(files: string[], inputs: DeclaredInput[]): Promise<{ samples: number; inputs: InputSource[] }> {
    const declared = inputs.map(({ name, type, shape, random }) => ({ name, type, shape, random }));
    return this.ask({ do: 'samples', files: files.map(absoluteInput), inputs: declared });
  }

  /**
   * What a chunk measures, sample by sample; or why its low-precision copies cannot be run, for example because a rounded
   * index is outside its table.
   */
  async judge({
    segments,
    feeds,
    keeps,
    drops,
    measures,
  }: JudgeChunk): Promise<MeasuredNode[][] | { refused: string }> {
    const numbers = measures.flatMap(({ numbers: names }) => Object.values(names));
    const request = { do: 'judge', pieces: pieces(segments), feeds, keeps, drops, numbers };
    const answer = await this.session.ask<{ samples: (number | string)[][] }>(request).catch((error: unknown) => {
      if (!(error instanceof Refused)) throw error;
      if (error.stage !== 'failed') throw new UserError(inWords(error, this.nodes));
      return { refused: inWords(error, this.nodes) };
    });
    if ('refused' in answer) return answer;
    return answer.samples.map((values) => {
      let at = 0;
      return measures.map(({ node, numbers: names }) => {
        const measured = Object.keys(names).map((key) => [key, Number(readNumber(values[at++]!))]);
        return { node, outputs: [Object.fromEntries(measured) as Measured] };
      });
    });
  }

  /** The values of scalar outputs of a model that is made from the opened one, sample by sample. */
  async scalars(segments: Chunk['segments'], feeds: string[], names: string[]): Promise<number[][]> {
    const request = { do: 'judge', pieces: pieces(segments), feeds, keeps: [], drops: [], numbers: names };
    const { samples } = await this.ask<{ samples: (number | string)[][] }>(request);
    return samples.map((values) => values.map(readNumber));
  }

  add({ segments, feeds, keeps, switched, flags }: SwitchedChunk): Promise<void> {
    return this.ask({ do: 'chunk', pieces: pieces(segments), feeds, keeps, switched, flags });
  }

  /** Forgets the chunks that were added. */
  reset(): Promise<void> {
    return this.ask({ do: 'reset' });
  }

  /**
   * Runs the chunks that were added with every node exact; the outputs, sample by sample. `tie`: how close two choices are
   * equally good; `against`: a model file whose outputs are the reference instead.
   */
  async reference(planned: readonly PlannedOutput[], tie: number, against?: OtherModel): Promise<ComparedOutput[][]> {
    const outputs = planned.map(({ name, measure }) => ({ name, measure }));
    const request = { do: 'reference', outputs, tie, against: against ? absolute(against) : null };
    return (await this.ask<{ samples: ComparedOutput[][] }>(request)).samples;
  }

  /** The outputs of another model file, such as a Q/DQ copy, compared with the reference. */
  async other(model: string, folder: string): Promise<ComparedOutput[][]> {
    return (await this.ask<{ samples: ComparedOutput[][] }>({ do: 'other', ...absolute({ model, folder }) })).samples;
  }

  /** How fast ONNX Runtime runs a model file on these samples, with its optimizations: on each device that it has. */
  async timed(model: string, folder: string): Promise<TimedRun[]> {
    return (await this.ask<{ rows: TimedRun[] }>({ do: 'timed', ...absolute({ model, folder }) })).rows;
  }

  /** Outputs that an engine gave, of the first sample, compared with the reference. */
  async measured(path: string): Promise<ComparedOutput[][]> {
    return (await this.ask<{ samples: ComparedOutput[][] }>({ do: 'measured', path: resolve(path) })).samples;
  }

  /**
   * The outputs when these nodes are exact (a character a node, `1` or `0`), up to the first sample above `limit`.
   * @param judged names of the outputs that count
   */
  async trial(exact: string, limit: number | null, judged: readonly string[]): Promise<ComparedOutput[][]> {
    const { samples } = await this.ask<{ samples: ComparedOutput[][] }>({ do: 'trial', exact, limit, judged });
    const words = (text: string) => inWords(new Refused('failed', text), this.nodes);
    return samples.map((outputs) =>
      outputs.map((one) => (one.refused === undefined ? one : { ...one, refused: words(one.refused) })),
    );
  }
}

/** The script runs in another folder. */
const absolute = ({ model, folder }: OtherModel): OtherModel => ({ model: resolve(model), folder: resolve(folder) });

const readNumber = (value: number | string): number =>
  typeof value === 'number' ? value : value === 'nan' ? NaN : value === '-inf' ? -Infinity : Infinity;

/** Pieces of the model file by their place, so that weights never come here. */
function pieces(segments: Chunk['segments']): (string | [number, number])[] {
  return segments.map((segment: Segment) => {
    if ('bytes' in segment) return Buffer.from(segment.bytes).toString('base64');
    if ('copy' in segment && segment.copy.file === undefined) return [segment.copy.offset, segment.copy.length];
    throw new Error('a simulated model holds only bytes of the model');
  });
}

/** The id of the first node with an operator. */
const idOf = (op: string, nodes: readonly OnnxNode[]): string => nodes.find((node) => node.op === op)?.id ?? '';

/** A message without the place in ONNX Runtime's source that threw it. */
const withoutSource = (reason: string): string => reason.replace(/^\S+\.(?:cc|h):\d+ .*?\)(?: \[with [^\]]*\])? /s, '');

/** ONNX Runtime's message without its codes, about the model's own nodes. */
function inWords({ stage, message }: Refused, nodes: readonly OnnxNode[]): string {
  const text = modelNames(message)
    .replace(/^\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : /, '')
    .trimEnd();
  if (stage === 'memory') return `Not enough memory for this model: ${text}`;
  // Ahead of the reason, ONNX Runtime prints the node with tensors that the simulation has added.
  const [, name, op, why] = /In Node, \("([^"]*)", ([^,]+), .* Error (.*)$/s.exec(text) ?? [];
  if (why !== undefined) return `ONNX Runtime cannot run node "${name || idOf(op!, nodes)}" (${op}): ${why}`;
  const [, ranOp, ran, reason] = /while running (\S+) node\. Name:'([^']*)' Status Message: (.*)$/s.exec(text) ?? [];
  if (reason !== undefined)
    return `ONNX Runtime cannot run node "${ran || idOf(ranOp!, nodes)}" (${ranOp}): ${withoutSource(reason)}`;
  if (stage !== 'operator') return text === message ? text : `ONNX Runtime cannot run this model: ${text}`;
  const [, unknown, other] = /No Op registered for (\S+)|([^\s:]+)\(-?\d+\)/.exec(text) ?? [];
  const user = nodes.find(({ op }) => op === (unknown ?? other));
  const which = user ? ` node "${user.name || user.id}" (${user.op})` : ' this model';
  return `ONNX Runtime cannot run${which}: ${text}`;
}
