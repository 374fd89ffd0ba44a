import { emptyBuildLog } from '../../../../src/kernel/read/tensorrt/internal/logState.ts';
import type { BuildLog, EngineLayer, LayerInfo } from '../../../../src/kernel/read/tensorrt/buildOutput.ts';

/** A layer as a reader would give it. */
export function engineLayer(
  name: string,
  more: Partial<Omit<EngineLayer, 'inputs' | 'outputs'>> & {
    inputs?: string[];
    outputs?: string[];
  } = {},
): EngineLayer {
  const { inputs = [], outputs = [], ...rest } = more;
  const tensor = (tensorName: string) => ({ name: tensorName, dims: null, type: 'Float', format: 'Float' });
  return {
    name,
    type: '',
    metadata: null,
    tacticName: null,
    tactic: null,
    streamId: null,
    profile: 0,
    line: null,
    extra: {},
    ...rest,
    inputs: inputs.map(tensor),
    outputs: outputs.map(tensor),
  };
}

export function layerInfo(layers: EngineLayer[], bindings: string[] = []): LayerInfo {
  return { detail: 'detailed', layers, bindings, ioTensors: [], documents: 1, unknownKeys: {} };
}

/** A verbose log as a reader would give it, empty but for what is given. */
export function buildLog(more: Partial<BuildLog> = {}): BuildLog {
  return {
    ...emptyBuildLog(),
    product: 'tensorrt',
    version: '10.6.0',
    writer: 'trtexec',
    outcome: 'passed',
    lines: 1,
    ...more,
  };
}

/** One build in a log. */
export function buildPhase(more: Partial<BuildLog['phases'][number]> = {}): BuildLog['phases'][number] {
  return {
    line: 1,
    calibration: false,
    funnel: [],
    events: [],
    foreignNodes: [],
    tactics: [],
    reformats: [],
    ...more,
  };
}
