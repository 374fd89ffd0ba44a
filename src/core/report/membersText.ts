import type { FusionReport, ReportForeignNode, ReportLayer, ReportNode } from '../fusion/fusionReport.ts';
import { parseMetadata } from '../model/layerMetadata.ts';
import { counted, percentText, timeText } from '../text/numbers.ts';
import { oneLine, shorten } from '../text/oneLine.ts';
import { longestName } from './labels.ts';
import { layerOf } from './layers.ts';
import { width, wrap } from './textLines.ts';
import { shareOf } from './times.ts';

/**
 * The members of a ForeignNode for a terminal: its kernels in order with the nodes that each computes (a node in several
 * kernels is listed in each), then the members that no kernel names. A kernel for which the inputs name no node says so.
 */
export function formatMembers(report: FusionReport, foreign: ReportForeignNode): string {
  const byId = new Map(report.nodes.map((node) => [node.id, node]));
  const kernels = foreign.layers.flatMap((id) => layerOf(report, id) ?? []).filter(({ kind }) => kind === 'kernel');
  const inKernels = new Set(kernels.flatMap(({ nodes }) => nodes));
  const rest = foreign.nodes.filter((id) => !inKernels.has(id)).flatMap((id) => byId.get(id) ?? []);
  const members = (ids: readonly string[]) => ids.flatMap((id) => byId.get(id) ?? []).map(memberLine);
  const sections = [
    headLines(report, foreign, kernels),
    ...kernels.map((kernel) => [
      ...wrap(kernelTitle(report, kernel), '', '  '),
      ...(report.subject === 'engine' ? namedNodes(kernel) : members(kernel.nodes)),
    ]),
    rest.length === 0
      ? []
      : [
          kernels.length === 0
            ? 'Members (the inputs do not list the kernels)'
            : `Members without a known kernel: ${counted(rest.length, 'node')}`,
          ...rest.map(memberLine),
        ],
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function headLines(report: FusionReport, foreign: ReportForeignNode, kernels: readonly ReportLayer[]): string[] {
  const share = shareOf(report, foreign.averageMs);
  const empty = kernels.filter(({ nodes }) => nodes.length === 0).length;
  const engine = report.subject === 'engine';
  const facts = [
    engine ? '' : counted(foreign.nodes.length, 'node'),
    kernels.length === 0 ? '' : counted(kernels.length, 'kernel'),
    engine || empty === 0 ? '' : `${counted(empty, 'kernel')} without a known node`,
    foreign.averageMs === null ? '' : timeText(foreign.averageMs),
    share === null ? '' : `${percentText(share * 100)} of the time`,
    engine ? '' : foreign.exact ? 'exact' : 'derived',
    foreign.line === null ? '' : `log line ${foreign.line}`,
  ].filter((fact) => fact !== '');
  return [
    ...wrap(`ForeignNode ${foreign.id}: ${oneLine(foreign.name)}`, '', '  '),
    ...wrap(facts.join(', '), '  '),
    ...wrap(`Inputs: ${foreign.inputs.map(oneLine).join(', ') || 'none'}`, '  ', '    '),
    ...wrap(`Outputs: ${foreign.outputs.map(oneLine).join(', ') || 'none'}`, '  ', '    '),
  ];
}

function kernelTitle(report: FusionReport, kernel: ReportLayer): string {
  const share = shareOf(report, kernel.averageMs);
  const time = kernel.averageMs === null ? '' : `, ${timeText(kernel.averageMs)}`;
  const part = share === null ? '' : ` (${percentText(share * 100)})`;
  const nodes = kernel.nodes.length === 0 ? ', no known node' : `, ${counted(kernel.nodes.length, 'node')}`;
  return `layer ${kernel.id}: ${shorten(kernel.name, longestName)}${time}${part}${report.subject === 'engine' ? '' : nodes}`;
}

/** Without a model: the names of ONNX nodes in TensorRT's metadata of a kernel. */
const namedNodes = ({ metadata }: ReportLayer): string[] =>
  [...new Set(parseMetadata(metadata ?? '').tokens.map(({ text }) => text))].map((name) =>
    shorten(`  ${oneLine(name)}`, width),
  );

const memberLine = ({ id, op, name, exact, source }: ReportNode): string =>
  shorten(
    `  ${op} ${oneLine(name) || `(node ${id})`}${source === undefined ? '' : ` @ ${oneLine(source)}`}${exact ? '' : ', derived'}`,
    width,
  );
