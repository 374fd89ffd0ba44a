/**
 * The name that TensorRT's parser uses for a node in logs, layers and metadata: its own, or `node_of_<first output>`.
 * An unused first output gives `node_of_`, a node without outputs '' (observed with TensorRT-RTX 1.7.1).
 */
export function parserName({ name, outputs }: { name: string; outputs: readonly string[] }): string {
  return name === '' && outputs.length > 0 ? `node_of_${outputs[0] ?? ''}` : name;
}
