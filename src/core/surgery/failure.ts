import type { Diagnosis, DiagnosisCode } from '../diagnose/diagnosis.ts';
import type { OnnxModel } from '../onnx/onnxModel.ts';
import { isForeignNodeName } from '../model/layerNameParts.ts';

/** What two builds that fail alike have in common. */
export interface Failure {
  code: DiagnosisCode;
  /** Operator of the node concerned; null: the log names no node, or a ForeignNode, whose nodes differ from part to part. */
  operator: string | null;
  /** TensorRT's text without names and numbers, where the code is only `internal`; otherwise null. */
  text: string | null;
}

/** The failure that a diagnosis stands for. */
export function failureOf({ code, layer, nodes, message }: Diagnosis, model: OnnxModel): Failure {
  const [first] = nodes;
  const foreign = layer !== null && isForeignNodeName(layer);
  const node = foreign || first === undefined ? undefined : model.nodes.find(({ id }) => id === first);
  return { code, operator: node?.op ?? null, text: code === 'internal' ? plain(message) : null };
}

/** Whether one of the errors of another build is this failure. */
export const failsAlike = (failure: Failure, found: readonly Diagnosis[], model: OnnxModel): boolean =>
  found
    .filter(({ severity }) => severity === 'error')
    .map((diagnosis) => failureOf(diagnosis, model))
    .some(
      ({ code, operator, text }) =>
        code === failure.code && (failure.operator === null || operator === failure.operator) && text === failure.text,
    );

/** A message without what differs between a network and a part of it: quoted names, lists, paths and numbers. */
const plain = (message: string): string =>
  message.replaceAll(/"[^"]*"|'[^']*'|\[[^\]]*\]|\([^)]*\)|\S*\/\S*|\d+/g, '#').replaceAll(/\s+/g, ' ');
