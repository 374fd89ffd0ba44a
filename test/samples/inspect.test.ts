import { basename } from 'node:path';
import { expect, test } from 'vitest';
import type { FileKind } from '../../src/kernel/inspect/inspection.ts';
import { inspectFile } from '../../src/kernel/inspect/inspectFile.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { sampleBytes, sampleText } from '../support/samples.ts';

/** Samples that are something else than their folder's kind: documents, schemas, metadata, scripts' own output. */
const ODD_SAMPLES: Record<string, FileKind> = {
  'issues/precision_ignored_8.6_cmd_3889.txt': 'unknown',
  'issues/profile_foreignnode_8.4_2308.txt': 'profile',
  'layerinfo/SCHEMA_trt11.1_perf_analysis.schema.json': 'unknown',
  'logs/cookbook_py_8.4_AlgorithmSelector.log': 'unknown',
  'nsys/cookbook_8.4_result.log': 'unknown',
  'polygraphy/cookbook_10.16.1_API_result-02.log': 'unknown',
  'polygraphy/cookbook_10.16.1_Run_result-06.log': 'unknown',
};

function kindOfSample(path: string, what: string): FileKind {
  const odd = ODD_SAMPLES[path];
  if (odd !== undefined) return odd;
  if (what.startsWith('INT8 calibration cache')) return 'calibration-cache';
  if (what.startsWith('ONNX test model')) return 'onnx';
  if (what.startsWith('exportTimes JSON')) return 'timing';
  if (what.startsWith('exportProfile JSON')) return 'profile';
  if (/tactic replay/i.test(what) && path.startsWith('replay/')) return 'replay';
  if (path.startsWith('layerinfo/')) return 'layer-info';
  if (
    /metadata|layer latency|help text|^README with quoted|^README: diff|trtexec README|Triton|RunResults|saved inputs/i.test(
      what,
    )
  )
    return 'unknown';
  if (/^(?:logs|nsys|issues|polygraphy)\//.test(path)) return 'build-log';
  return 'unknown';
}

test('every sample is recognized as what the manifest says', async () => {
  const [, ...rows] = sampleText('MANIFEST.tsv').trimEnd().split('\n');
  expect(rows.length).toBeGreaterThan(200);
  for (const row of rows) {
    const [path = '', what = ''] = row.split('\t');
    // oxlint-disable-next-line no-await-in-loop -- one after the other keeps memory low
    const { kind } = await inspectFile(bytesOf(sampleBytes(path)), { name: basename(path) });
    expect([path, kind]).toEqual([path, kindOfSample(path, what)]);
  }
});
