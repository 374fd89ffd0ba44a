import type { PlannedNode } from '../plan/precisionPlan.ts';

/**
 * What happened to a request: the engine computes so, it does not, nothing that the build left says so, or the build
 * was not made with this request, so it says nothing about it.
 */
export type Verdict = 'obeyed' | 'disobeyed' | 'unseen' | 'unbuilt';

/** What the user reads; `unseen` stays the value in JSON. */
export const verdictWords: Record<Verdict, string> = {
  obeyed: 'obeyed',
  disobeyed: 'disobeyed',
  unseen: 'unverifiable',
  unbuilt: 'unbuilt',
};

export interface NodeVerdict {
  node: PlannedNode;
  verdict: Verdict;
  /** False if TensorRT's own words leave room: "probably". */
  certain: boolean;
  /** One sentence with the evidence. */
  reason: string;
  /** Name of the layer or kernel that says so; null if it is not about a layer. */
  layer: string | null;
  /** Line of the log that says so. */
  logLine: number | null;
}

export interface RuleVerdict {
  line: number;
  /** Disobeyed if one node is, else unbuilt if one node is, else unseen. */
  verdict: Verdict;
  /** False if one of the nodes that have this verdict has it only probably. */
  certain: boolean;
  counts: Record<Verdict, number>;
  message: string;
  nodes: NodeVerdict[];
}
