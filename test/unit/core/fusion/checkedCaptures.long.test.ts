import { expect, it } from 'vitest';
import { formatReport } from '../../../../src/core/report/reportText.ts';
import { checkReport } from '../../../support/checker/checkReport.ts';
import { captures, rawInputOf, reportOf } from './loadCapture.ts';

it.each(captures())('nothing in the inputs of %s contradicts its report', { timeout: 60_000 }, async (capture) => {
  const report = await reportOf(capture);
  if (report) expect(checkReport(report, rawInputOf(capture), formatReport(report))).toEqual([]);
});
