import type { BuildFacts, ModelFacts } from '../rules/buildFacts.ts';
import type { Algorithm, OfferedChoice } from '../read/replay/replayFile.ts';
import type { ReplayMismatch } from '../read/replay/readReplay.ts';

/**
 * Messages between the host and the language server in addition to LSP's own. The server reads no files: what it knows of a
 * model and its builds comes from the host. Lines and characters count from 0 here, as in LSP.
 */
export const languageMessages = {
  /** Host → server, notification `FactsParams`: the whole of what is known for one document; again after every change. */
  facts: 'tensorrtLens/facts',
  /** Server → host, notification `ModelPathParams`: which model an override file names; when it is opened and when that changes. */
  modelPath: 'tensorrtLens/modelPath',
  /** Host → server, request `DocumentParams` → `RuleVerdictInfo[]`: what happened to each rule in the last build. */
  verify: 'tensorrtLens/verify',
  /** Host → server, request `PlaceParams` → `string[]`: ids, as in the fusion report, of the nodes that a place in the text is about. */
  nodesAt: 'tensorrtLens/nodesAt',
  /** Host → server, request `KeepParams` → `KeepInfo`: the edit that gives nodes a type. */
  keep: 'tensorrtLens/keep',
  /** Host → server, request `DocumentParams` → `ReplayEntryInfo[]`: the entries of a replay, for decorations. */
  replayEntries: 'tensorrtLens/replayEntries',
} as const;

/** Language ids that the server answers for. Replay files are JSON; the server looks into them before it says anything. */
export const overrideLanguageId = 'trtprec';
export const replayLanguageIds: readonly string[] = ['json', 'jsonc'];

/** Commands that code lenses and code actions name; the host registers them. Each gets `CommandArguments`. */
export const languageCommands = {
  /** Select these nodes in the graph and show it. */
  showNodes: 'tensorrtLens.showNodes',
  /** Build the model with this override file. */
  buildWithOverrides: 'tensorrtLens.buildWithOverrides',
  /** Write a rewritten model next to the original. */
  applyOverrides: 'tensorrtLens.applyOverrides',
  /** Compare the rules with the last build and show the result. */
  verifyOverrides: 'tensorrtLens.verifyOverrides',
  /** Open the log of the last build, or of the last one that passed, at a line (from 1). */
  openLogLine: 'tensorrtLens.openLogLine',
  /** Build with this replay. */
  buildWithReplay: 'tensorrtLens.buildWithReplay',
} as const;

export interface CommandArguments {
  /** The document that the command comes from. */
  uri: string;
  /** Ids of nodes, as in the fusion report. */
  nodes?: string[];
  /** Line of the log, from 1. */
  line?: number;
  /** The log is that of the newest build that passed, not of the newest one. */
  passed?: boolean;
}

/** What is known for one open document (an override file or a replay). `null` parts are not known. */
export interface FactsParams {
  uri: string;
  /** URI of the model file; null: no model was found. */
  modelUri: string | null;
  /** Why there is no model, as text for the user; '' if there is one. */
  modelProblem: string;
  model: ModelFacts | null;
  build: BuildFacts | null;
  /** The TensorRT to check for, where it is not the last build's: from settings, or the one that was found. */
  target: { product: 'tensorrt' | 'tensorrt-rtx' | null; version: string | null; gpu: string | null } | null;
  /** For replays: records of offered choices, the most trusted first. */
  choices: ChoicesData[];
  /** For replays: what the last log says about a replay. */
  mismatches: ReplayMismatch[];
  /** For replays: where the file was recorded. */
  recorded: { version: string | null; gpu: string | null } | null;
  /** For override files: what the file of the `scales` line has scales for (null: it is measured), or why it cannot be read. */
  scales?: { tensors: string[] | null; problem: string } | null;
  /** For override files: models near the document, relative to it and with `/`, the nearest first. */
  models?: string[];
}

/** `Choices` as plain JSON. */
export interface ChoicesData {
  source: 'sidecar' | 'mismatch' | 'log';
  offered: [layer: string, choices: OfferedChoice[]][];
  chosen: [layer: string, algorithm: Algorithm][];
  /** Where the log of the newest build that passed starts to describe a layer, from 1. */
  lines?: [layer: string, line: number][];
}

export interface ModelPathParams {
  uri: string;
  /** As written in the file, relative to it; null: the file names none. */
  path: string | null;
  /** The path of the `scales` line; null: there is none. */
  scales: string | null;
}

export interface DocumentParams {
  uri: string;
}

export interface PlaceParams {
  uri: string;
  line: number;
  character: number;
}

export interface RuleVerdictInfo {
  line: number;
  verdict: 'obeyed' | 'disobeyed' | 'unseen' | 'unbuilt';
  /** False: probably. */
  certain: boolean;
  message: string;
  /** Of an engine with several optimization profiles: which one the layers are of. */
  profile?: string;
  counts: { obeyed: number; disobeyed: number; unseen: number; unbuilt: number };
}

export interface KeepParams {
  uri: string;
  /** Ids of the nodes. */
  nodes: string[];
  /** `fp32`, … */
  type: string;
}

export interface KeepInfo {
  /** Text to insert at the end of the file; '' if every node is kept so already. */
  text: string;
  /** The selectors that it uses. */
  selectors: string[];
}

export interface ReplayEntryInfo {
  /** Place of the key, the layer's name. */
  range: { startLine: number; startCharacter: number; endLine: number; endCharacter: number };
  kind: 'foreign' | 'fused' | 'single' | 'unknown';
}
