import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { bytesOf } from '../../../src/kernel/base/problem.ts';
import { createReport } from '../../../src/kernel/fusion/createReport.ts';
import { toGraphData } from '../../../src/kernel/picture/graph/viewData.ts';
import { readModel } from '../../../src/kernel/read/onnx/readModel.ts';
import { readBuildLog } from '../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { readLayerInfo, readProfile } from '../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { drawFrame } from '../../../webview/graph/draw/internal/drawFrame.ts';
import { cameraOn, type Stage } from '../../../webview/graph/draw/stage.ts';
import { GraphModel } from '../../../webview/graph/view/graphModel.ts';
import { firstOpen } from '../../../webview/graph/view/internal/firstOpen.ts';
import { wholeGraph, wholeScale } from '../../../webview/graph/view/internal/navigate.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { frameOf, silent } from './frameOf.ts';

const unpacked = (file: string): string => gunzipSync(readFileSync(fixturePath(`convnext_tiny/${file}.gz`))).toString();

/** About as wide as the letters of common fonts. */
const widthOf = (text: string, size: number, bold: boolean): number => text.length * size * (bold ? 0.62 : 0.56);
/** Cuts as the page does. */
const fit = Object.assign(
  (text: string, width: number, size: number, bold: boolean): string => {
    const length = Math.floor(width / widthOf('x', size, bold));
    return text.length <= length ? text : length < 4 ? '' : `…${text.slice(1 - length)}`;
  },
  { width: widthOf },
);

// The graph's part of a window of 1280 × 800, of one of 1920 × 1080, and of an editor next to the side bar.
test.each([
  { width: 1280, height: 676 },
  { width: 1920, height: 950 },
  { width: 924, height: 474 },
])('all 20 groups of ConvNeXt have outline and name in a window of $width × $height before any click', async (size) => {
  const { value } = await readModel(bytesOf(readFileSync(fixturePath('convnext_tiny/model.onnx'))));
  const report = createReport({
    model: value!,
    modelFile: 'model.onnx',
    log: readBuildLog(unpacked('log.txt')).value,
    layerInfo: readLayerInfo(unpacked('layers.json')).value,
    profile: readProfile(readFileSync(fixturePath('convnext_tiny/profile.json'), 'utf8')).value,
  });
  const data = { title: 'model.onnx', graph: toGraphData(value!), report, build: null, hints: [] };
  const model = new GraphModel(data, 'fusion');
  const scaleFor = (width: number, height: number, around = 24) =>
    Math.min((size.width - 2 * around) / width, (size.height - 2 * around) / height);
  const { drawn } = firstOpen(model, { size, scaleFor } as Stage);
  model.setPicture(drawn!.scene, drawn!.layout);
  const { totalWidth, totalHeight } = drawn!.layout;
  const camera = cameraOn(size, wholeGraph(totalWidth, totalHeight), { readable: true, whole: wholeScale(model) });
  const texts: { text: string; x: number; y: number }[] = [];
  const brush = { ...silent, text: (text: string, x: number, y: number) => texts.push({ text, x, y }) };
  drawFrame(brush, { ...frameOf(model), ...size, camera, fit });
  const isInside = (left: number, top: number, right: number, bottom: number) =>
    left >= 0 && top >= 0 && right <= size.width && bottom <= size.height;
  const named = report.foreignNodes.filter(({ id, title }) => {
    const group = model.fusion.groups.findIndex(({ kind, ref }) => kind === 'foreign' && ref === id);
    const region = model.regions.find((one) => one.group === group)!;
    const { k, x, y } = camera;
    const [left, top] = [region.left * k + x, region.top * k + y];
    const [right, bottom] = [region.right * k + x, region.bottom * k + y];
    if (!isInside(left, top, right, bottom)) return false;
    const written = texts
      .filter((one) => one.x >= left - 4 && one.x < right && one.y > top - 4 && one.y < bottom)
      .map(({ text }) => text)
      .join('');
    // Where blocks are small, without the stage that they are in.
    return written.includes(title!.split(' · ')[0]!.split('/').at(-1)!);
  });
  expect(named.length).toBe(20);
});
