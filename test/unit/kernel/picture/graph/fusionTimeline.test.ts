import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReport } from '../../../../../src/kernel/fusion/createReport.ts';
import { readLayerInfo } from '../../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { readModel } from '../../../../../src/kernel/read/onnx/readModel.ts';
import { engineMs } from '../../../../../src/kernel/report/words.ts';
import {
  including,
  moved,
  rangeBetween,
  rangeEnds,
  timelineBars,
  toRecordedTimeline,
  toTimeline,
  zoomed,
} from '../../../../../src/kernel/picture/page/fusionTimeline.ts';
import { sumOf, toFusionUnits, unitsInRange } from '../../../../../src/kernel/picture/page/layerRows.ts';
import { bytesOf } from '../../../../../src/kernel/base/problem.ts';
import { readFixture } from '../../../../support/fixtures.ts';
import { captureData } from '../../../../webview/support/captureData.ts';
import { handLayer, handReport } from './handReport.ts';

/** Four kernels of 1, 2, 0 and 3 ms, the third and fourth on stream 1. */
const streams = handReport(
  [['/a/Add', 'Add', 'single']],
  [1, 2, null, 3].map((averageMs, id) =>
    handLayer(id, 'other', [], { averageMs, name: `k${id}`, ...(id > 1 && { stream: 1 }) }),
  ),
);

describe('the timeline of kernels', () => {
  it('lays them end to end, with a lane a stream', () => {
    const timeline = toTimeline(streams);
    expect(timeline).toMatchObject({ end: 6, timed: true, streams: [0, 1] });
    expect(timeline.slots.map(({ from, to, stream }) => [from, to, stream])).toEqual([
      [0, 1, 0],
      [1, 3, 0],
      [3, 3, 1],
      [3, 6, 1],
    ]);
  });

  it('has one unit a kernel where nothing was measured', () => {
    const untimed = handReport([], [handLayer(0, 'other', []), handLayer(1, 'other', [])]);
    expect(toTimeline(untimed)).toMatchObject({ end: 2, timed: false });
    expect(timelineBars(toTimeline(untimed), [0, 2], 100, 4).map(({ ms }) => ms)).toEqual([0, 0]);
    expect(toTimeline(handReport([], []))).toEqual({ slots: [], streams: [0], end: 0, timed: false });
  });

  it('joins what is too narrow, never across streams, and takes it apart closer up', () => {
    const timeline = toTimeline(streams);
    const layers = (view: [number, number], perUnit: number) =>
      timelineBars(timeline, view, perUnit, 4).map((bar) => bar.layers);
    expect(layers([0, 6], 100)).toEqual([[0], [1], [2], [3]]);
    expect(layers([0, 6], 1)).toEqual([
      [0, 1],
      [2, 3],
    ]);
    expect(layers([0, 1.5], 100)).toEqual([[0], [1]]);
  });

  it.each([
    ['vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16'],
    ['deep_encoder_11k', 'tensorrt-10.6.0/deep_encoder_11k.fp32'],
    ['vit_tiny', 'tensorrt-8.6.1/vit_tiny.fp16'],
  ])('of %s as in %s has every layer in exactly one bar, and the time of the engine', async (name, capture) => {
    const report = (await captureData(name, capture)).report!;
    const timeline = toTimeline(report);
    if (timeline.timed) expect(timeline.end).toBeCloseTo(engineMs(report)!, 6);
    const bars = timelineBars(timeline, [0, timeline.end], 800 / timeline.end, 4);
    expect(bars.flatMap(({ layers }) => layers).toSorted((a, b) => a - b)).toEqual(report.layers.map(({ id }) => id));
    expect(bars.length).toBeLessThan(300);
    if (timeline.timed) expect(bars.reduce((sum, { ms }) => sum + ms, 0)).toBeCloseTo(engineMs(report)!, 6);
  });

  it('draws the median pass of a trace as it was recorded: gaps, and streams that overlap', () => {
    const report = handReport(
      [],
      [
        handLayer(0, 'other', [], { averageMs: 1, ran: { startMs: 0, endMs: 1, stream: 23 } }),
        handLayer(1, 'other', [], { averageMs: 2, ran: { startMs: 4, endMs: 7, stream: 7 } }),
        handLayer(2, 'other', []),
        handLayer(3, 'other', [], { averageMs: 3, ran: { startMs: 2, endMs: 5, stream: 23 } }),
      ],
    );
    const timeline = toRecordedTimeline(report)!;
    expect(timeline).toMatchObject({ streams: [7, 23], end: 7, timed: true, recorded: true });
    const bars = timelineBars(timeline, [0, 7], 100, 4).filter(({ to, from }) => to > from);
    expect(bars.map(({ layers, from, to, ms, stream }) => [layers, from, to, ms, stream])).toEqual([
      [[0], 0, 1, 1, 23],
      [[1], 4, 7, 2, 7],
      [[3], 2, 5, 3, 23],
    ]);
    // Together they are as long as what is between the first and the last of them.
    expect(timelineBars(timeline, [0, 7], 0.1, 4).map(({ layers, ms }) => [layers, ms])).toEqual([
      [[0, 3], 4],
      [[1, 2], 2],
    ]);
    expect(rangeBetween(timeline, 1.5, 3)).toEqual({ first: 3, last: 3 });
    expect(rangeEnds(timeline, { first: 1, last: 3 })).toEqual([2, 7]);
    expect(toRecordedTimeline(streams)).toBeNull();
  });

  it('selects whole kernels, in either direction', () => {
    const timeline = toTimeline(streams);
    expect(rangeBetween(timeline, 1.5, 0.5)).toEqual({ first: 0, last: 1 });
    expect(rangeBetween(timeline, 3, 3)).toBeNull();
    expect(rangeEnds(timeline, { first: 1, last: 3 })).toEqual([1, 6]);
    expect(rangeBetween(timeline, ...rangeEnds(timeline, { first: 1, last: 3 }))).toEqual({ first: 1, last: 3 });
  });

  it('gives the charts the work of the range only', async () => {
    const report = (await captureData('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16')).report!;
    const units = toFusionUnits(report);
    const range = { first: 3, last: 40 };
    const inside = unitsInRange(units, range);
    const [from, to] = rangeEnds(toTimeline(report), range);
    expect(sumOf(inside.units, 'time')).toBeCloseTo(to - from, 9);
    expect(unitsInRange(units, null)).toBe(units);
  });
});

describe('streams', () => {
  const layer = (name: string, stream: number) =>
    `{"Name":"${name}","LayerType":"kgen","Inputs":[],"Outputs":[],"StreamId":${stream}}`;
  const streamsOf = async (...ids: number[]) => {
    const text = `{"Layers":[${ids.map((id, index) => layer(`k${index}`, id)).join()}],"Bindings":[]}`;
    const { value } = await readModel(bytesOf(readFixture('models/unnamed.onnx')));
    const report = createReport({ model: value!, modelFile: 'm.onnx', layerInfo: readLayerInfo(text).value });
    return report.layers.map(({ stream }) => stream);
  };

  it('are those of the layer info, where it has several', async () => {
    expect(await streamsOf(0, 1, 0)).toEqual([0, 1, 0]);
    expect(await streamsOf(0, 0)).toEqual([undefined, undefined]);
  });
});

describe('the view of an axis', () => {
  const end = 100;

  it('keeps the point under the pointer, and stays on the axis', () => {
    expect(zoomed([0, 100], end, 50, 0.5)).toEqual([25, 75]);
    expect(zoomed([25, 75], end, 50, 4)).toEqual([0, 100]);
    expect(moved([0, 10], end, -5)).toEqual([0, 10]);
    expect(moved([80, 95], end, 20)).toEqual([85, 100]);
    expect(including([0, 10], end, [20, 22])).toEqual([16, 26]);
    expect(including([0, 10], end, [2, 3])).toEqual([0, 10]);
  });

  it('is part of the axis whatever is done to it', () => {
    const act = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      factor: fc.double({ min: 0.01, max: 9, noNaN: true }),
      by: fc.integer({ min: -99, max: 99 }),
    });
    fc.assert(
      fc.property(fc.array(act), (acts) => {
        let view: readonly [number, number] = [0, end];
        for (const { at, factor, by } of acts) {
          view = moved(zoomed(view, end, view[0] + at * (view[1] - view[0]), factor), end, by);
          expect(view[0]).toBeGreaterThanOrEqual(0);
          expect(view[1]).toBeLessThanOrEqual(end + 1e-9);
          expect(view[1]).toBeGreaterThan(view[0]);
        }
      }),
    );
  });
});
