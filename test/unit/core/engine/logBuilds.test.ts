import { describe, expect, it } from 'vitest';
import type { LoggedBuild } from '../../../../src/core/formats/tensorrt/buildOutput.ts';
import { BuildLogReader, readBuildLog } from '../../../../src/core/formats/tensorrt/readBuildLog.ts';
import { captureText } from '../../../support/fixtures.ts';
import { recordedLog } from '../../../support/hardModels/builtModels.ts';

const lineCount = (text: string): number => text.trimEnd().split('\n').length;
const trtexec = captureText('tensorrt-10.6.0/loop_if.fp32/log.txt')!;
const rtx = recordedLog('twins');

function readOnly(text: string, only: LoggedBuild) {
  const reader = new BuildLogReader({ only });
  reader.push(text);
  return reader.end().value;
}

describe('a log of several builds', () => {
  it.each([
    ['one build', trtexec, 1],
    ['a program that ran twice', `${rtx}${rtx}`, 2],
    ['logs of two programs', `${trtexec}${rtx}`, 2],
    ['three builds without frames', rtx.replaceAll(/^&&&&.*\n/gm, '').repeat(3), 3],
    ['a build, and a run that loads its engine', captureText('tensorrt-10.6.0/keep.engine/log.txt')!, 1],
    ['a build that calibrates first', captureText('tensorrt-10.6.0/poly.int8_calib/log.txt')!, 1],
  ])('%s', (_, text, count) => {
    expect(readBuildLog(text).value.builds?.length ?? 1).toBe(count);
  });

  it('is cut where the second program begins, with its frame', () => {
    const text = `${trtexec}${rtx}`;
    const first = lineCount(trtexec);
    expect(readBuildLog(text).value.builds).toEqual([
      { line: 1, end: first },
      { line: first + 1, end: first + lineCount(rtx) },
    ]);
  });

  it('gives each build as if it were alone, with the lines of the whole', () => {
    const text = `${trtexec}${rtx}`;
    const [first, second] = readBuildLog(text).value.builds as [LoggedBuild, LoggedBuild];
    expect(readOnly(text, first)).toEqual(readBuildLog(trtexec).value);
    const shifted = readOnly(text, second);
    const alone = readBuildLog(rtx).value;
    expect(shifted).toMatchObject({ product: 'tensorrt-rtx', version: alone.version, outcome: 'passed' });
    expect(shifted.engineLayers.map(({ name }) => name)).toEqual(alone.engineLayers.map(({ name }) => name));
    expect(shifted.parsedNodes[0]!.line).toBe(alone.parsedNodes[0]!.line + first.end);
  });
});
