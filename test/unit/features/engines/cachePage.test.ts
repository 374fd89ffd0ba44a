import { describe, expect, it } from 'vitest';
import type { TimingCacheReading } from '../../../../src/kernel/node/run/timingCaches.ts';
import { inspectFile } from '../../../../src/kernel/inspect/inspectFile.ts';
import { readCalibrationCache } from '../../../../src/kernel/quantization/quantization.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { renderHtml } from '../../../../src/kernel/document/render.ts';
import { cacheDocument, type CachePage, mostRows } from '../../../../src/features/engines/vscode/internal/cachePage.ts';
import { standInTimingCache } from '../../../support/standInTensorrt.ts';

const cachePage = (page: CachePage) =>
  renderHtml(cacheDocument(page), { hrefOf: () => 'command:read?[]', most: mostRows });
const textOf = (html: string) =>
  html
    .replace(/<style[^]*?<\/style>/, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');
const inspect = (content: string | Uint8Array) =>
  inspectFile(bytesOf(typeof content === 'string' ? new TextEncoder().encode(content) : content));

async function calibrationPage(content: string): Promise<string> {
  const page = {
    name: 'calib.cache',
    found: await inspect(content),
    calibration: readCalibrationCache(content),
    reading: null,
  };
  return cachePage(page);
}

describe('the page of a calibration cache', () => {
  it('has the algorithm, the version, and each tensor with its scale', async () => {
    const text = textOf(
      await calibrationPage('TRT-8601-EntropyCalibration2\n(Unnamed: 0) [Conv]_output: 3c010a14\nzero: 00000000\n'),
    );
    expect(text).toContain('Algorithm EntropyCalibration2 Made by TensorRT 8.6.1 Tensors 2');
    expect(text).toContain('(Unnamed: 0) [Conv]_output 0.00787594 ±1');
    expect(text).toContain('Without a Usable Scale zero');
  });

  it('takes names only as text, and shows the first of very many', async () => {
    const html = await calibrationPage('TRT-8601-MinMaxCalibration\n<img src=x>: 3c010a14\n');
    expect(html).not.toContain('<img');
    const many = Array.from({ length: 2003 }, (_, index) => `tensor${index}: 3c010a14`).join('\n');
    expect(textOf(await calibrationPage(`TRT-8601-MinMaxCalibration\n${many}\n`))).toContain('… and 3 more tensors.');
  });
});

describe('the page of a timing cache', () => {
  const page = async (reading: TimingCacheReading | null) => {
    const found = await inspect(standInTimingCache({ [`0x${'1'.repeat(32)}`]: [7, 0.25] }));
    return textOf(cachePage({ name: 't.cache', found, calibration: null, reading }));
  };
  const reading: TimingCacheReading = {
    version: '10.8.0',
    gpu: 'Some GPU',
    entries: [{ key: `0x${'1'.repeat(32)}`, tacticHash: '0x7', milliseconds: 0.25 }],
    bytes: 100,
    messages: [],
  };

  it('has what the file shows by itself, and how to see the entries', async () => {
    const text = await page(null);
    expect(text).toContain('Entries 1 Size');
    expect(text).toContain('Read by not read by TensorRT');
    expect(text).toContain('Read with TensorRT');
  });

  it('lists the entries that TensorRT reads, or says that its version cannot', async () => {
    expect(await page(reading)).toContain(`Key Tactic Time 0x${'1'.repeat(32)} 0x7 0.250 ms`);
    expect(await page({ ...reading, version: '10.6.0', entries: null })).toContain(
      'TensorRT 10.6.0 cannot list entries; 10.8 and later can.',
    );
  });
});
