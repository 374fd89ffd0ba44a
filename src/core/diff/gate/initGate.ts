import type { NetworkNode } from '../diffInput.ts';
import { timeOf } from '../groups.ts';
import { isPlanned, listsEngine } from '../../report/layers.ts';
import { attentions } from '../../model/attentions.ts';
import { judgeAttention } from './judgeAttention.ts';
import type { GateSide } from './judgeGate.ts';

/**
 * The text of a gate file that a build passes: what holds today, with some room for what varies.
 * @param model path of the model, relative to the gate file
 * @param baseline path that the baseline report gets, relative to the gate file
 */
export function initGate(model: string, baseline: string, side: GateSide): string {
  const { report, network = [], figures } = side;
  const { layers, foreignNodes, accounting, nodes } = report;
  const lines = ['rules:'];
  const add = (line: string, why: string) => lines.push(`  ${line.padEnd(44)} # ${why}`);
  if (attentions(network as NetworkNode[]).length > 0) {
    const { kept } = judgeAttention(side);
    if (kept === true) add('attention: fused', 'each attention is one kernel');
    else add('# attention: fused', kept === false ? 'not the case in this build' : 'this build does not list kernels');
  }
  if (listsEngine(report)) {
    add(`foreignNodes: { max: ${foreignNodes.length} }`, 'Myelin regions');
    if (layers.every(({ kind }) => kind !== 'foreign'))
      add('kernels: { max: +5% }', `${layers.length} in the baseline`);
    add(`reformats: { max: ${layers.filter(({ kind }) => kind === 'reformat').length} }`, 'layers that only copy');
  }
  if (!isPlanned(report)) add(`nodes: { unknown: ${accounting.unknown} }`, 'nodes with an unknown fate');
  if (nodes.some(({ op }) => op === 'QuantizeLinear'))
    add('quantised: { unfused: 0, optional: true }', 'Q/DQ nodes with kernels of their own');
  if (timeOf(layers) !== null) add("time: { total: '+10%' }", 'pass several profiles if times vary');
  if (figures?.activationMemory) add("memory: { activation: '+10%' }", 'according to the build log');
  return `# The rules for a build of this model. To check one: trtlens gate FILE --build FOLDER\nmodel: ${JSON.stringify(model)}\nbaseline: ${JSON.stringify(baseline)}\n${lines.join('\n')}\n`;
}
