import { dataTypeNumber, type OnnxNode } from '../../../kernel/read/onnx/onnxModel.ts';
import type { NewAttribute, NewNode } from '../../../kernel/read/onnx/writeModel.ts';
import { calledName } from './nodeName.ts';
import type { RepairSubject } from '../subject.ts';

/** Where the nodes of a place go: a `RepairDraft`. */
interface PlaceDraft {
  readonly subject: RepairSubject;
  readonly repair: string;
  fresh(base: string): string;
  constant(type: string, shape: readonly number[], values: ArrayLike<number>, base: string): string;
  replace(node: OnnxNode, by: NewNode[], note?: string | null): void;
}

interface Options {
  /** Names of the outputs; default: one new name. */
  outputs?: readonly string[];
  attributes?: Record<string, NewAttribute>;
  domain?: string;
  like?: OnnxNode;
}

/**
 * New nodes in the place of one, in the order in which they are added. The methods give the name of the tensor that the
 * new node writes. The last node gets the name of the one that it replaces, unless `keepName` was said earlier.
 */
export class NewPlace {
  readonly node: OnnxNode;
  readonly subject: RepairSubject;
  readonly #draft: PlaceDraft;
  readonly #nodes: NewNode[] = [];
  #main = -1;

  constructor(draft: PlaceDraft, node: OnnxNode) {
    this.#draft = draft;
    this.node = node;
    this.subject = draft.subject;
  }

  /** Adds a node. */
  op(op: string, inputs: readonly string[], { outputs, attributes, domain, like }: Options = {}): string {
    const base = `${calledName(this.node)}/${this.#draft.repair}/${op}`;
    const name = this.#draft.fresh(base);
    const made = outputs ?? [this.#draft.fresh(`${name}_output`)];
    this.#nodes.push({
      op,
      name,
      inputs: [...inputs],
      outputs: [...made],
      ...(attributes && { attributes }),
      ...(domain !== undefined && { domain }),
      ...(like && { like }),
    });
    return made[0]!;
  }

  /** A name for a tensor that `op` is to write. */
  name(): string {
    return this.#draft.fresh(`${calledName(this.node)}/${this.#draft.repair}/output`);
  }

  /** The node that was added last gets the name of the one that is replaced: it is what TensorRT will call it. */
  keepName(): void {
    this.#main = this.#nodes.length - 1;
  }

  constant(type: string, shape: readonly number[], values: ArrayLike<number>): string {
    return this.#draft.constant(type, shape, values, `${calledName(this.node)}/${this.#draft.repair}/constant`);
  }

  scalar(type: string, value: number): string {
    return this.constant(type, [], [value]);
  }

  ints(...values: number[]): string {
    return this.constant('int64', [values.length], values);
  }

  cast(input: string, to: string, outputs?: readonly string[]): string {
    return this.op('Cast', [input], { attributes: { to: { int: dataTypeNumber(to)! } }, ...(outputs && { outputs }) });
  }

  transpose(input: string, perm: number[], outputs?: readonly string[]): string {
    return this.op('Transpose', [input], { attributes: { perm: { ints: perm } }, ...(outputs && { outputs }) });
  }

  reshape(input: string, shape: number[], outputs?: readonly string[]): string {
    return this.op('Reshape', [input, this.ints(...shape)], outputs ? { outputs } : {});
  }

  gather(input: string, indices: string, axis: number, outputs?: readonly string[]): string {
    return this.op('Gather', [input, indices], { attributes: { axis: { int: axis } }, ...(outputs && { outputs }) });
  }

  concat(inputs: readonly string[], axis: number, outputs?: readonly string[]): string {
    return this.op('Concat', inputs, { attributes: { axis: { int: axis } }, ...(outputs && { outputs }) });
  }

  squeeze(input: string, axes: number[], outputs?: readonly string[]): string {
    return this.#withAxes('Squeeze', input, axes, 13, {}, outputs);
  }

  unsqueeze(input: string, axes: number[], outputs?: readonly string[]): string {
    return this.#withAxes('Unsqueeze', input, axes, 13, {}, outputs);
  }

  /** ReduceMax, ReduceSum and their like. */
  reduce(op: string, input: string, axes: number[] | null, keep: boolean, outputs?: readonly string[]): string {
    const since = op === 'ReduceSum' ? 13 : 18;
    return this.#withAxes(op, input, axes, since, { keepdims: { int: keep ? 1 : 0 } }, outputs);
  }

  #withAxes(
    op: string,
    input: string,
    axes: number[] | null,
    since: number,
    attributes: Record<string, NewAttribute>,
    outputs: readonly string[] | undefined,
  ): string {
    const made = outputs ? { outputs } : {};
    if (axes === null) return this.op(op, [input], { attributes, ...made });
    if (this.subject.opset >= since) return this.op(op, [input, this.ints(...axes)], { attributes, ...made });
    return this.op(op, [input], { attributes: { ...attributes, axes: { ints: axes } }, ...made });
  }

  split(input: string, sizes: number[], axis: number, outputs: readonly string[]): void {
    const attributes = { axis: { int: axis } };
    if (this.subject.opset >= 13) this.op('Split', [input, this.ints(...sizes)], { attributes, outputs });
    else this.op('Split', [input], { attributes: { ...attributes, split: { ints: sizes } }, outputs });
  }

  /** Bounds of a float tensor. */
  clip(input: string, type: string, low: number, high: number, outputs?: readonly string[]): string {
    const made = outputs ? { outputs } : {};
    if (this.subject.opset >= 11)
      return this.op('Clip', [input, this.scalar(type, low), this.scalar(type, high)], made);
    return this.op('Clip', [input], { attributes: { min: { float: low }, max: { float: high } }, ...made });
  }

  /** Puts the nodes in the place of the old one. @param note what is special about this place, as a sentence */
  done(note: string | null = null): void {
    const main = this.#nodes[this.#main < 0 ? this.#nodes.length - 1 : this.#main];
    if (main && this.node.name !== '') main.name = this.node.name;
    this.#draft.replace(this.node, this.#nodes, note);
  }
}
