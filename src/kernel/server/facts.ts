import { type BuildFacts, targetOfBuild, type TensorrtTarget } from '../rules/buildFacts.ts';
import type { KnownScales } from '../rules/precisionPlan.ts';
import { NodeIndex } from '../rules/resolveOverrides.ts';
import type { ReplayMismatch } from '../read/replay/readReplay.ts';
import type { Choices } from '../read/replay/readChoices.ts';
import type { FactsParams } from '../protocol/language.ts';

/** What the server knows for one document. */
export interface DocumentFacts {
  modelUri: string | null;
  modelProblem: string;
  index: NodeIndex | null;
  build: BuildFacts | null;
  target: TensorrtTarget;
  choices: Choices[];
  mismatches: ReplayMismatch[];
  recorded: FactsParams['recorded'];
  /** Paths of models near the document, as a `model` line writes them. */
  models: readonly string[];
  /** Of the file of the `scales` line; null: there is none, or it is not known yet. */
  scales: (KnownScales & { problem: string }) | null;
}

/** Facts of a document before the host has sent any. */
export const noFacts: DocumentFacts = {
  modelUri: null,
  modelProblem: '',
  index: null,
  build: null,
  target: { product: null, version: null, capability: null },
  choices: [],
  mismatches: [],
  recorded: null,
  models: [],
  scales: null,
};

/** Prepares what the host sent for look-ups. */
export function readFacts(params: FactsParams): DocumentFacts {
  const { build, target } = params;
  return {
    modelUri: params.modelUri,
    modelProblem: params.modelProblem,
    index: params.model ? new NodeIndex(params.model) : null,
    build,
    target: targetOfBuild(target ?? build),
    choices: params.choices.map(({ source, offered, chosen, lines }) => ({
      source,
      offered: new Map(offered),
      chosen: new Map(chosen),
      ...(lines ? { lines: new Map(lines) } : {}),
    })),
    mismatches: params.mismatches,
    recorded: params.recorded,
    models: params.models ?? [],
    scales: params.scales
      ? { tensors: params.scales.tensors && new Set(params.scales.tensors), problem: params.scales.problem }
      : null,
  };
}
