import type { AccuracyReport } from '../../simulation/simulated.ts';
import { basename } from 'node:path';
import type * as vscode from 'vscode';
import type { BuildManifest } from '../../build/buildManifest.ts';
import type { Build } from '../../node/store/buildFolder.ts';
import { type BuildNotice, type BuildState, nearNotice } from '../../build/diagnosis.ts';
import type { PrecisionShare } from '../../report/words.ts';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import type { Quantization } from '../../quantization/quantization.ts';
import type { RequestedPrecision, GraphData, ViewData } from '../../picture/graph/viewData.ts';
import type { Selection } from '../../protocol/views.ts';
import { nameOf } from '../platform/nameOf.ts';

/** What was read of a model file: its structure, or why there is none, as text for the user. */
export interface LoadedModel {
  graph: GraphData | null;
  /** The graph with inferred types, for views without a report; absent: the graph has all that is known. */
  typed?: () => GraphData;
  /** Why the model cannot be shown, and where in the file; '' if it can. */
  problem: string;
  hints: string[];
  /** The file is of an engine, not of a model. */
  engine?: LoadedEngine;
}

/** What a file of an engine says of its layers, and what the views say about it. */
export interface LoadedEngine {
  report: FusionReport;
  state: BuildState;
}

/** What was read of a model's newest build, or of the one that the user chose. */
export interface ShownBuild {
  build: BuildManifest;
  /** null: the build left nothing to report on; `problem` says why. */
  report: FusionReport | null;
  problem: string;
  hints: string[];
  /** What its override rules asked for, node by node. */
  asked: RequestedPrecision[];
  /** How much of the requested precision it has; null: nothing shows types. */
  precision: PrecisionShare | null;
  /** Path of the build's log on disk. */
  log: string | null;
  /** How the builds of the model stand. */
  state: BuildState;
  /** The build that did not pass, which may be a newer one; null: the newest, or the chosen one, passed. */
  unsuccessful: Build | null;
}

/** The optimization profile that the user chose of one build; `build`: its id, null of an engine without its model. */
export interface ChosenProfile {
  build: string | null;
  number: number;
}

export type Origin = 'graph' | 'tree' | 'page' | 'host';

/** Everything known about one model at one moment. Replaced as a whole, never changed in place. */
export interface SessionState {
  /** `missing`: the file is gone. */
  model: 'loading' | 'ready' | 'unreadable' | 'missing';
  graph: GraphData | null;
  /** As of `LoadedModel`. */
  typed?: (() => GraphData) | undefined;
  problem: string;
  newest: ShownBuild | null;
  hints: string[];
  /** null for a model. */
  engine: LoadedEngine | null;
  /** null: the model has no Q/DQ nodes, and no calibration cache is in use. */
  quantization: Quantization | null;
}

/** One model that is shown somewhere: its state, and what is selected in it. `Sessions` makes and updates it. */
export class Session {
  readonly uri: vscode.Uri;
  state: SessionState = {
    model: 'loading',
    graph: null,
    problem: '',
    newest: null,
    hints: [],
    engine: null,
    quantization: null,
  };
  selection: Selection = { kind: 'none' };
  /** What a search for culprits in low precision found last; null: none was made of this file. */
  accuracy: AccuracyReport | null = null;
  /** Id of the build that the user chose in the history; null: the newest is shown. */
  chosenBuild: string | null = null;
  /** Another build is shown with its first one. null: none was chosen. */
  chosenProfile: ChosenProfile | null = null;
  /** Path of the calibration cache whose scales are shown; null: none. */
  calibrationCache: string | null = null;
  /** Paths of files next to a model without builds that a build of it left. */
  near: readonly string[] = [];
  /** What a check of this state, without a build, says in its views. */
  checked: { of: SessionState; notice: BuildNotice } | null = null;
  /** Counts loads, so that a late result of an earlier one is dropped. */
  generation = 0;
  #data:
    | {
        of: SessionState;
        judged: AccuracyReport | null;
        near: readonly string[];
        checked: Session['checked'];
        data: ViewData | null;
      }
    | undefined;

  constructor(uri: vscode.Uri) {
    this.uri = uri;
  }

  get key(): string {
    return this.uri.toString();
  }

  get title(): string {
    return nameOf(this.uri);
  }

  /** The report on the build that is shown, or on the engine where there is no model; null: there is none. */
  get report(): FusionReport | null {
    return this.state.newest?.report ?? this.state.engine?.report ?? null;
  }

  /** What the views get; null while there is nothing to show. The same object until something in it changes. */
  get viewData(): ViewData | null {
    const { state, accuracy, near, checked } = this;
    const known = this.#data;
    if (known?.of !== state || known.judged !== accuracy || known.near !== near || known.checked !== checked)
      this.#data = { of: state, judged: accuracy, near, checked, data: this.#viewData() };
    return this.#data!.data;
  }

  #viewData(): ViewData | null {
    const { newest, hints, quantization, typed } = this.state;
    const graph = this.report === null && typed !== undefined ? typed() : this.state.graph;
    if (graph === null && this.report === null) return null;
    const judged = this.accuracy?.nodes;
    const requested = newest?.precision?.requested ?? null;
    return {
      title: this.title,
      graph,
      report: this.report,
      build: newest?.build ?? null,
      hints: [...hints, ...(newest?.hints ?? [])],
      asked: newest?.asked ?? [],
      ...(requested !== null && { requested }),
      ...(judged && { accuracy: judged }),
      ...(quantization && { quantization }),
      ...this.#buildState(),
    };
  }

  #buildState(): Pick<ViewData, 'state'> {
    const { newest, engine } = this.state;
    if (engine !== null) return { state: engine.state };
    if (newest !== null) return { state: newest.state };
    const notices = [
      ...(this.near.length === 0 ? [] : [nearNotice(this.near.map((path) => basename(path)))]),
      ...(this.checked?.of === this.state ? [this.checked.notice] : []),
    ];
    return notices.length === 0 ? {} : { state: { notices, faults: [], line: null } };
  }
}
