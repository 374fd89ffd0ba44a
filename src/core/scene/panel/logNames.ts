import type { FusionReport, ReportLayer } from '../../fusion/fusionReport.ts';
import type { PanelSelection } from './fusionPanel.ts';
import type { GraphData } from './viewData.ts';

/** A name in a log ends where TensorRT's separators between names begin. */
const nameInLog = /[^\s,;"'`()[\]{}+|]+/g;

/** What a place of a log names. */
export interface LogName {
  /** Where the name is in its line. */
  start: number;
  end: number;
  selection: PanelSelection;
}

/** The node or layer of a model whose name is at a place of a line; null: there is no such name. */
export function nameAt(
  graph: GraphData | null,
  report: FusionReport | null,
  line: string,
  character: number,
): LogName | null {
  for (const { 0: word, index: start } of line.matchAll(nameInLog)) {
    if (character < start || character > start + word.length) continue;
    // A sentence may go on right after a name.
    for (const name of [word, word.replace(/[.:]+$/, '')]) {
      const end = start + name.length;
      const node = graph?.nodes.find((one) => one.name !== '' && one.name === name);
      if (node !== undefined) return { start, end, selection: { kind: 'nodes', ids: [node.id] } };
      const layer = report?.layers.find((one) => one.name !== '' && one.name === name);
      if (layer !== undefined) return { start, end, selection: { kind: 'layers', ids: [layer.id] } };
    }
  }
  return null;
}

/** The layers that compute nodes and that the log lists, each with its line, from 1. */
export const listedLayers = ({ layers }: FusionReport): (ReportLayer & { line: number })[] =>
  layers.filter((layer): layer is ReportLayer & { line: number } => layer.line !== null && layer.nodes.length > 0);
