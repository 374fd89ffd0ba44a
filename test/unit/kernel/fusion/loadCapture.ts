import { existsSync, readFileSync } from 'node:fs';
import { readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { readLayerInfo, readProfile } from '../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import type { FusionReport, ReportInput } from '../../../../src/kernel/fusion/fusionReport.ts';
import type { OnnxModel } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import type { CheckInput } from '../../../support/checker/checkReport.ts';
import { type Capture, captureIndex, captureText, modelPath } from '../../../support/fixtures.ts';

/** Folders of all captured builds, `tensorrt-10.6.0/vit_tiny.fp16`. */
export const captures = (): string[] => Object.keys(captureIndex).toSorted();

export const metaOf = (capture: string): Capture => captureIndex[capture]!;

const models = new Map<string, Promise<OnnxModel | undefined>>();

/** One of the captured models; undefined where there is none of that name. */
export function modelOf(name: string): Promise<OnnxModel | undefined> {
  let model = models.get(name);
  if (!model) {
    const path = modelPath(name);
    model = existsSync(path)
      ? readModel(bytesOf(readFileSync(path))).then(({ value }) => value)
      : Promise.resolve(undefined);
    models.set(name, model);
  }
  return model;
}

const logTextOf = (capture: string): string | undefined =>
  captureText(`${capture}/log.txt`) ?? captureText(`${capture}/log0.txt`);

/** The same, as bytes and text. */
export const rawInputOf = (capture: string): CheckInput => ({
  model: readFileSync(modelPath(metaOf(capture).model!)),
  log: logTextOf(capture),
  layerInfo: captureText(`${capture}/layers.json`),
});

/** What a capture has, read; undefined where it has no model or neither layers nor log. */
export async function inputOf(capture: string): Promise<(ReportInput & { model: OnnxModel }) | undefined> {
  const name = metaOf(capture).model;
  const model = name ? await modelOf(name) : undefined;
  const logText = logTextOf(capture);
  const layersText = captureText(`${capture}/layers.json`);
  const profileText = captureText(`${capture}/profile.json`);
  if (!model || (logText === undefined && layersText === undefined)) return undefined;
  const log = logText === undefined ? undefined : readBuildLog(logText);
  const layers = layersText === undefined ? undefined : readLayerInfo(layersText);
  const profile = profileText === undefined ? undefined : readProfile(profileText);
  return {
    model,
    modelFile: `${name}.onnx`,
    layerInfo: layers?.value,
    log: log?.value,
    profile: profile?.value,
    problems: [...(layers?.problems ?? []), ...(log?.problems ?? []), ...(profile?.problems ?? [])],
  };
}

const reports = new Map<string, Promise<FusionReport | undefined>>();

/** The report on a capture, made once; undefined where there is nothing to report on. */
export function reportOf(capture: string): Promise<FusionReport | undefined> {
  let report = reports.get(capture);
  if (!report) {
    report = inputOf(capture).then((input) => input && createReport(input));
    reports.set(capture, report);
  }
  return report;
}
