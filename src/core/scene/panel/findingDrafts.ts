import type { FusionReport } from '../../fusion/fusionReport.ts';
import { findingTitle } from '../../report/findingText.ts';
import { aboutTime, phrase } from '../../report/labels.ts';
import { shareOf } from '../../report/times.ts';
import type { PanelDraft } from './fusionPanel.ts';

/** Time that may be avoidable: one line, and a line for each finding, which selects its layers; null: nowhere. */
export function findingDrafts(report: FusionReport): { whole: PanelDraft; lines: PanelDraft[] } | null {
  const { findings = [] } = report;
  if (findings.length === 0) return null;
  const lines = findings.map((finding): PanelDraft => ({
    id: `finding-${finding.code}`,
    kind: 'layers',
    label: findingTitle(finding),
    description: phrase([
      aboutTime(shareOf(report, finding.ms), finding.ms),
      [finding.layers.length, 'layer'],
      !finding.exact && 'derived',
    ]),
    tooltip: [finding.message, ...finding.evidence].join('\n'),
    share: null,
    exact: finding.exact,
    selection: { kind: 'layers', ids: finding.layers },
  }));
  const whole: PanelDraft = {
    id: 'findings',
    kind: 'layers',
    label: `Where time goes (${findings.length})`,
    description: '',
    tooltip: 'What takes time and need not, by the times of the profile or trace.',
    share: null,
    exact: true,
    selection: { kind: 'none' },
  };
  return { whole, lines };
}
