// What `--json` prints, a type for each command; `npm run generate` makes schemas/NAME.schema.json of them, and tests
// check what the commands print against these. A command with a contract of its own is not here: fusion, diff, gate.
import type { AccuracyReport } from '../../kernel/simulation/simulated.ts';
import type { EngineRun } from '../../features/accuracy/node/runEngine.ts';
import type { Comparison, PrecisionSweep } from '../../features/accuracy/precisionSweep.ts';
import type { BisectResult } from '../../features/bisect/bisectReport.ts';

import type { BuildDiff } from '../../kernel/report/buildDiff.ts';
import type { Migration } from '../../features/quantization/node/migrateCalibration.ts';
import type { RepairResult } from '../../features/repair/repairResult.ts';
import type { ReducedModel } from '../../features/trials/node/reduceModel.ts';
import type { SearchResult } from '../../features/trials/node/searchChange.ts';
import type { Chain } from '../../features/surgery/node/splitFile.ts';
import type { WrittenPlugin } from '../../features/surgery/node/writePlugin.ts';
import type { BuildManifest } from '../../kernel/build/buildManifest.ts';
import type { CheckFinding, Diagnosis } from '../../kernel/build/diagnosis.ts';
import type { FusionReport } from '../../kernel/fusion/fusionReport.ts';
import type { Inspection } from '../../kernel/inspect/inspection.ts';
import type { RepairStep } from '../../kernel/network/repairMap.ts';
import type { Quantization } from '../../kernel/quantization/quantization.ts';

/** A version of TensorRT or TensorRT-RTX. */
interface Version {
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  version: string | null;
}

/** A message about a place in a text file. */
interface PlacedMessage {
  code: string;
  severity: 'error' | 'warning' | 'info';
  message: string;
  /** From 1; absent: the whole file. */
  line?: number;
  column?: number;
  endColumn?: number;
}

/** A tensor at the border of a part. */
interface Tensor {
  name: string;
  type: string | null;
  shape: (number | string | null)[] | null;
}

/** By the name of the command; several forms where the command has several. */
export interface CommandOutputs {
  diagnose: { diagnoses: Diagnosis[] };
  check: {
    /** No error but those of known faults. */
    accepted: boolean;
    /** Builds, and computes wrong values. */
    wrong: boolean;
    target: Version & { capability: string | null };
    /** What the tables rest on. */
    tables: unknown;
    findings: CheckFinding[];
    /** What TensorRT's own parser says; null: not asked. */
    parser: { version: string; accepted: boolean; errors: unknown[] } | null;
  };
  lint: {
    tensorrt: string;
    files: {
      file: string;
      findings: {
        code: 'gone' | 'perhaps-gone' | 'too-new' | 'deprecated';
        name: string;
        message: string;
        advice: string;
        start: number;
        end: number;
        line: number;
        column: number;
        fix?: unknown;
        text?: string;
        step?: unknown;
      }[];
    }[];
  };
  inspect: Inspection & { engine?: unknown; calibration?: unknown; timingCache?: unknown };
  build: {
    build: BuildManifest;
    /** null: the build failed. */
    fusion: FusionReport | null;
    precision: unknown;
  };
  matrix: {
    jobs: {
      name: string;
      model: string;
      precision: string;
      target: string;
      result?: 'passed' | 'failed' | 'cancelled' | 'running' | 'missing';
      seconds?: number | null;
      nodes?: number | null;
      foreign?: number | null;
      foreignNodes?: number | null;
      savedByFixedShapes?: number | null;
      error?: string | null;
      folder?: string | null;
    }[];
  };
  extract: { nodes: string[]; inputs: Tensor[]; outputs: Tensor[]; bytes: number; samples?: string[] };
  split:
    | (Chain & {
        builds?: {
          model: string;
          error: string | null;
          seconds: number | null;
          layers: number | null;
          foreignNodes: number | null;
          loadables?: number | null;
          layerMs: number | null;
        }[];
        differences?: { name: string; error: number | null }[];
        limit?: number;
      })
    | {
        cuts: {
          tensor: string;
          crossing: string[];
          bytes: number;
          exact: boolean;
          nodes: number[];
          module: string | null;
        }[];
      };
  'what-if': (BuildDiff & { tensorrt: Version; change: string }) | Omit<SearchResult, 'candidates'>;
  reduce: ReducedModel;
  repair: RepairResult | { repairs: RepairStep[] };
  plugin: WrittenPlugin;
  quantization: Quantization | Migration | { by: string; model: string };
  'precision-check': {
    diagnostics: PlacedMessage[];
    rules: { line: number; nodes: number; foreign: number | null }[];
  };
  'precision-verify': {
    tensorrt: Version;
    optimizationProfile?: { shown: number; of: number };
    rules: {
      line: number;
      verdict: 'obeyed' | 'disobeyed' | 'unseen' | 'unbuilt';
      certain: boolean;
      counts: Record<string, number>;
      message: string;
      nodes: {
        id: string;
        name: string;
        asked: string;
        verdict: 'obeyed' | 'disobeyed' | 'unseen' | 'unbuilt';
        certain: boolean;
        reason: string;
        layer: string | number | null;
        logLine: number | null;
      }[];
    }[];
    diagnostics: PlacedMessage[];
  };
  'replay-check': { diagnostics: (PlacedMessage & { layer: string | null; fixes: string[] })[]; entries: number };
  'replay-diff': {
    same: number;
    ignored: number;
    differences: { layer: string; kind: 'added' | 'removed' | 'changed'; changes: string[] }[];
  };
  run: EngineRun;
  compare: Comparison;
  accuracy: AccuracyReport;
  sweep: PrecisionSweep;
  bisect: BisectResult;
  triton: { problems: PlacedMessage[] };
}
