import type { RepairClass } from '../../../kernel/network/repairMap.ts';
import type { RepairDraft } from './draft.ts';

/** One thing that can be done for a model that TensorRT rejects. */
export interface Repair {
  /** Kebab-case and stable: diagnoses and scripts name it. */
  id: string;
  /** What it does, as a command: "Write the axes of Squeeze into the model". */
  title: string;
  class: RepairClass;
  /** TensorRT builds what it repairs, and computes it wrong: it is no answer to a failed build. */
  builds?: true;
  /** What TensorRT rejects, in one sentence. */
  rejected: string;
  /** How the edit keeps the results as its class says, and when it refuses. */
  proof: string;
  /** Products and versions that need it. */
  versions: string;
  /** Public issues that it answers. */
  issues: readonly string[];
  /** Texts of failures that it answers although they don't name a node. */
  answers?: RegExp;
  /** Operators of failing nodes that it can answer elsewhere in the graph than at these nodes. */
  operators?: readonly string[];
  /** Makes the edit wherever it applies. Leaves the draft as it is where nothing applies. */
  apply: (draft: RepairDraft) => Promise<void> | void;
}
