import type { EngineLayer } from '../engine/engineLayer.ts';
import type { LayerInfo } from '../engine/layerInfo.ts';
import type { Profile } from '../engine/profile.ts';
import { bareLayer } from '../engine/readLayerLine.ts';
import { createModelGraph } from '../model/modelGraph.ts';
import { createNodeNames } from '../model/nodeNames.ts';
import { createReport, noModel } from './createReport.ts';
import { createEngineView } from './engineView.ts';
import type { FusionReport } from './fusionReport.ts';
import type { ReportInput } from './reportInput.ts';

/** What can be said about an engine without the ONNX file that it was built from. */
export interface EngineReport {
  /** `subject` is `engine`: layers and ForeignNodes with their times; nothing about nodes. */
  report: FusionReport;
  /** The engine's layers, in the report's order, with all that was recorded of them. */
  layers: EngineLayer[];
  /** Names of the engine's inputs and outputs; empty where the inputs do not say. */
  bindings: string[];
}

/** The files of a build without its model; `file` names the one that lists the layers. */
export type EngineInput = Omit<ReportInput, 'model' | 'modelFile' | 'modelProblems' | 'added'> & { file: string };

/**
 * A report on an engine alone, from layer info, a log, a profile or several of them. Where only a profile lists layers,
 * they are its rows: names and times in the engine's order.
 */
export function createEngineReport({ file, ...given }: EngineInput): EngineReport {
  const names = createNodeNames(createModelGraph(noModel), given.log?.parsedNodes ?? []);
  const first = createEngineView(given.layerInfo, given.log, names);
  const rows = layersOfProfile(given.profile);
  const input = first.source === 'none' && rows !== undefined ? { ...given, layerInfo: rows } : given;
  const view = input === given ? first : createEngineView(rows, given.log, names);
  const report = createReport({ ...input, model: null, modelFile: file });
  return { report, layers: view.layers, bindings: [...view.bindings] };
}

function layersOfProfile(profile: Profile | undefined): LayerInfo | undefined {
  if (profile === undefined || profile.rows.length === 0) return undefined;
  return {
    detail: 'names',
    layers: profile.rows.map(({ name }) => bareLayer(name, null)),
    bindings: [],
    ioTensors: [],
    documents: 1,
    unknownKeys: {},
  };
}
