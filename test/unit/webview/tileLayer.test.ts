import { afterEach, expect, test, vi } from 'vitest';
import type { Frame } from '../../../webview/graph/draw/drawView.ts';
import { TileLayer } from '../../../webview/graph/draw/internal/tileLayer.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Tiles that each of some frames makes while one zooms; after each that made any, the next one comes so late. */
function tilesPerFrame(paintMs: number): number[] {
  const context = { setTransform() {}, drawImage() {} } as unknown as CanvasRenderingContext2D;
  vi.stubGlobal('document', { createElement: () => ({ getContext: () => context }) });
  let now = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const layer = new TileLayer();
  const stamp = {};
  let k = 1;
  return Array.from({ length: 12 }, () => {
    let made = 0;
    const frame = { camera: { k, x: 0, y: 0 }, width: 1280, height: 800 } as Frame;
    layer.draw(context, frame, 1, stamp, { heavy: true, zooming: true }, () => {
      made += 1;
      // What the script itself takes: the browser paints later.
      now += 4;
    });
    now += made > 0 ? paintMs * made : 1000 / 60;
    k *= 1.4;
    return made;
  });
}

test('tiles that take the browser long are not made while one zooms', () => {
  const made = tilesPerFrame(80);
  expect(made[0]).toBeGreaterThan(0);
  expect(made.slice(1)).toEqual(made.slice(1).map(() => 0));
});

test('tiles that take no time are made while one zooms', () => {
  expect(
    tilesPerFrame(5)
      .slice(1)
      .some((made) => made > 0),
  ).toBe(true);
});
