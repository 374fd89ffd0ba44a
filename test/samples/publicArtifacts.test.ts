import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { inspectFile } from '../../src/kernel/inspect/inspectFile.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { sampleBytes, sampleText } from '../support/samples.ts';

/** What the files in `../shared/round5/public` are by their contents, where their folder does not say it: kind and counts. */
const expected: Readonly<Record<string, [kind: string, counts?: Record<string, number>]>> = {
  'calib/lix_inception_v1_6.0.1.cache': ['calibration-cache', { tensors: 148 }],
  'layerinfo/detr_r50_int8_names.layerinfo.json': ['layer-info', { layers: 840, bindings: 4 }],
  'layerinfo/fuzzylabs_jetson_torchtrt_mobilenet_v2.engine_info.json.gz': ['layer-info', { layers: 167 }],
  'layerinfo/ivit_mlp_int8_per_layer.layer_info.json': ['layer-info', { layers: 6, kernels: 6 }],
  'layerinfo/trt2023_controlnet_8.6.1_trim.layerinfo.json': ['layer-info', { layers: 6 }],
  'logs/lix_mnist_best_8.5.10.log.gz': ['build-log', { parsedNodes: 12 }],
  'logs/lix_orin_if_myelin_abort_8.4.10.log': ['build-log', { parsedNodes: 14 }],
  'logs/torchtrt_dinov2_10.x.log.gz': ['build-log', { profileRows: 249 }],
  'logs/xavier_googlenet_loadengine_profile_7.x.log': ['build-log', { profileRows: 85 }],
  // Another program's log, with nothing of TensorRT in it.
  'logs/kumar_python_wrapper.log': ['unknown'],
  'onnx/lix_mnist.onnx': ['onnx', { nodes: 12 }],
  'profile/detr_r50_int8.profile.json': ['profile', { layers: 840, iterations: 641 }],
  // A script's own form.
  'profile/hax_filtered_own_form.json': ['unknown'],
};
/** Files of TensorRT 8.0 and earlier, which are named and not read. */
const old = /^profile\/(?:hax_googlenet|jetson_resnet50)/;

test('each of the public artifacts is read as its contents say', async () => {
  const [, ...rows] = sampleText('../round5/public/MANIFEST.tsv').trimEnd().split('\n');
  const files = rows.map((row) => row.split('\t')[0]!);
  expect(files).toHaveLength(45);
  for (const file of files) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other keeps memory low
    const found = await inspectFile(bytesOf(sampleBytes(`../round5/public/${file}`)), { name: basename(file) });
    const [kind, counts = {}] = expected[file] ?? [old.test(file) ? 'profile' : 'build-log'];
    expect([file, found.kind]).toEqual([file, kind]);
    expect(found.counts, file).toMatchObject(counts);
    expect(found.counts, file).not.toHaveProperty('unknownKeys');
    if (old.test(file)) expect(found.problems.map(({ code }) => code)).toEqual(['old-version']);
  }
});
