// What reading a file gives to a caller: its content with its problems; for a model also its facts and its index.
import type { Problem, Read } from '../../base/problem.ts';
import type { OnnxModel } from '../../read/onnx/onnxModel.ts';
import type { ModelFacts } from '../../rules/buildFacts.ts';
import type { NodeIndex } from '../../rules/resolveOverrides.ts';

/** What a file contains; its problems name the file. */
export interface Parsed<T> extends Read<T> {
  value: T;
}

/** A model that was read to be checked or rewritten. */
export interface IndexedModel {
  path: string;
  model: OnnxModel;
  problems: Problem[];
  facts: ModelFacts;
  index: NodeIndex;
}
