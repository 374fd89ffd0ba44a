import type { ImportOptions } from '../../../../kernel/node/run/importBuild.ts';

/** A model that ships with the extension. */
interface Sample {
  label: string;
  detail: string;
  /** Its recorded build: its files, and what these do not say; absent: there is none. */
  build?: { files: readonly string[]; known: NonNullable<ImportOptions['known']> };
}

const on10 = (command: string): NonNullable<ImportOptions['known']> => ({
  origin: 'recorded',
  backend: 'trtexec',
  tensorrt: { product: 'tensorrt', version: '10.6.0' },
  gpu: 'NVIDIA H200',
  command: ['trtexec', ...command.split(' ')],
});

/** By the name of the model, which is also that of its folder in dist/samples (`scripts/samples.mjs`). */
export const samples: Readonly<Record<string, Sample>> = {
  vit_tiny: {
    label: 'Transformer',
    detail: 'vit_tiny, FP16, TensorRT 10.6: one ForeignNode contains 367 of 636 nodes; with times',
    build: {
      files: ['layers.json', 'profile.json'],
      known: {
        ...on10('--onnx=vit_tiny.onnx --fp16 --verbose --profilingVerbosity=detailed'),
        options: { precision: 'fp16' },
        started: '2026-11-21T09:00:00.000Z',
      },
    },
  },
  convnext_tiny: {
    label: 'CNN with Many Groups',
    detail: 'convnext_tiny, FP16, TensorRT 10.6: 20 ForeignNodes contain 269 of 346 nodes; with times',
    build: {
      files: ['layers.json', 'profile.json'],
      known: {
        ...on10('--onnx=convnext_tiny.onnx --fp16 --verbose --profilingVerbosity=detailed'),
        options: { precision: 'fp16' },
        started: '2026-11-22T06:57:06.256Z',
        seconds: 59.518,
      },
    },
  },
  yolo_like: {
    label: 'Detector',
    detail: 'yolo_like, TensorRT-RTX 1.7.1 without a GPU: 226 of 251 nodes in one ForeignNode',
    build: { files: ['build.log'], known: { origin: 'recorded', started: '2026-11-24T14:02:59.000Z' } },
  },
  resnet_int8: {
    label: 'INT8 with Q/DQ Nodes',
    detail: 'the first half of a quantized ResNet, TensorRT-RTX 1.7.1 without a GPU: 67 of 67 nodes in one ForeignNode',
    build: { files: ['build.log'], known: { origin: 'recorded', started: '2026-11-24T14:05:03.000Z' } },
  },
  unsupported_op: {
    label: 'Failed Build',
    detail: 'TensorRT 10.6 has no importer for a node: what it is, where, and what helps',
    build: {
      files: ['build.log'],
      known: { ...on10('--onnx=unsupported_op.onnx --verbose'), started: '2026-11-21T09:30:14.000Z' },
    },
  },
  fusion_zoo: { label: 'Model to Build', detail: 'fusion_zoo, without a build: one of each fusion' },
};
