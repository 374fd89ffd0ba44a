/** What the parser's log says of one ONNX node. */
export interface ParsedNode {
  /** The name that the parser used: the node's own, or `node_of_<first output>`. */
  name: string;
  op: string;
  line: number;
  /** Names of the TensorRT layers registered for it, and of helpers registered while it was parsed. */
  layers: string[];
  helpers: string[];
}
