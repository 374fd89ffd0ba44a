import { totalMs } from '../../../kernel/fusion/fusionReport.ts';
import { fateWords, profileWords } from '../../../kernel/report/words.ts';
import { type Hover, MarkupKind, type Position } from 'vscode-languageserver';
import { verdictWords } from '../../../kernel/rules/precisionPlan.ts';
import type { BuiltLayer, SeenTensor } from '../../../kernel/rules/buildFacts.ts';
import { type Directive, type PrecisionType, typeOfEngineTensor } from '../../../kernel/rules/overrideFile.ts';
import { code, codeList, escapeHover } from '../../../kernel/server/markdown.ts';
import { isInside, toRange } from '../../../kernel/server/places.ts';
import { nodesAt, type OverrideAnalysis, ruleAt, type RulePlace, verdictOf } from './overrideAnalysis.ts';
import { counted, thousands, timeText } from '../../../kernel/base/text.ts';

/** The hover at a place of an override file: its nodes, their fates, the requested precision and the verdict. */
export function overrideHover(analysis: OverrideAnalysis, place: Position): Hover | null {
  const statement = analysis.file.lines[place.line]?.statement;
  if (!statement || !isInside(statement.range, place)) return null;
  if (statement.kind === 'directive') return hover(directiveText(statement), toRange(statement.range));
  const rule = ruleAt(analysis, place);
  if (!rule) return null;
  if (rule.selector) return hover(selectorText(analysis, rule), toRange(rule.selector.range));
  const word = [rule.facts.rule.type, ...rule.facts.rule.outputs].find((type) => type && isInside(type.range, place));
  if (!word) return null;
  return hover(typeText(analysis, rule, word.type), toRange(word.range));
}

function hover(value: string, range: Hover['range']): Hover {
  return { contents: { kind: MarkupKind.Markdown, value }, ...(range ? { range } : {}) };
}

function directiveText({ name }: Directive): string {
  const texts = {
    model: 'The model of these rules, relative to this file.',
    base: 'The type of nodes without a rule: `keep` (the type of the model), `fp16` or `bf16`.',
    scales:
      'Where the scales of `int8` rules are from, relative to this file: a calibration cache, or samples (`.npz`) that ONNX Runtime measures.',
    require:
      'For TensorRT 10 and earlier: `obey` fails the build if a rule cannot be obeyed, `prefer` lets TensorRT disobey it.',
  };
  return texts[name];
}

function selectorText(analysis: OverrideAnalysis, place: RulePlace): string {
  const { index } = analysis.facts;
  if (!index) return 'This file has no model, so its nodes are unknown. Add a line `model FILE`.';
  const nodes = nodesAt(analysis, place);
  const only = nodes[0];
  if (nodes.length === 1 && only !== undefined) return nodeText(analysis, only);
  if (nodes.length === 0) return 'Not a node of the model.';
  const names = Array.from(nodes.subarray(0, 60), (i) => index.names[i] ?? '');
  const lines = [`**${counted(nodes.length, 'node')}**, ${groupsText(analysis, nodes)}`];
  const averageMs = timeOf(analysis, nodes);
  if (averageMs !== null)
    lines.push(`Their layers take ${timeText(averageMs)} in the last build (shared layers counted once).`);
  lines.push(codeList(names).replace(/and (\d+) more$/, `and ${thousands(nodes.length - 8)} more`));
  return lines.join('\n\n');
}

/** How many of them are inside which ForeignNode. */
function groupsText({ build }: OverrideAnalysis, nodes: Int32Array): string {
  if (!build) return 'this model has no build yet';
  const counts = new Map<number, number>();
  for (const node of nodes) {
    const group = build.nodes[node]?.foreign ?? -1;
    if (group >= 0) counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  if (counts.size === 0) return 'none inside a ForeignNode of the last build';
  const parts = [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([group, count]) => `${count} inside ${code(build.foreignNodes[group]?.name ?? '')}`);
  return parts.slice(0, 3).join(', ');
}

function timeOf({ build }: OverrideAnalysis, nodes: Int32Array): number | null {
  const layers = new Set<number>();
  for (const node of nodes) for (const layer of build?.nodes[node]?.layers ?? []) layers.add(layer);
  return totalMs([...layers].flatMap((layer) => build?.layers[layer] ?? []));
}

/** One node: its operator, fate, group and time, the precision requested for it and the verdict. */
export function nodeText(analysis: OverrideAnalysis, position: number): string {
  const { index } = analysis.facts;
  const node = index?.nodes[position];
  if (!index || !node) return '';
  const types = node.types.map((type) => type ?? 'unknown').join(', ');
  const lines = [`**${code(node.op)}** ${code(index.names[position] ?? '')}`, `Outputs ${escapeHover(types)}.`];
  const built = analysis.build?.nodes[position];
  if (built && analysis.build) {
    lines.push(`Last build: it ${fateWords[built.fate].predicate}.`);
    const group = analysis.build.foreignNodes[built.foreign];
    if (group) lines.push(`ForeignNode ${code(group.title ?? group.name)}${group.exact ? '' : ' (derived)'}`);
    const layers = built.layers.map((layer) => analysis.build?.layers[layer]).filter((layer) => layer !== undefined);
    const first = layers[0];
    if (first) {
      const time = built.averageMs === null ? '' : `, ${timeText(built.averageMs)}`;
      const others = first.nodes.length > 1 ? ` with ${counted(first.nodes.length - 1, 'other node')}` : '';
      lines.push(
        `Layer ${code(first.name)}${others}${layers.length > 1 ? ` and ${layers.length - 1} more` : ''}${time}`,
        ...borderText(layers),
      );
    }
  } else {
    lines.push('This model has no build yet.');
  }
  lines.push(askedText(analysis, position));
  return lines.join('\n\n');
}

/** The types at the borders of a node's layers: what it got, where it has a layer to itself. */
function borderText(layers: readonly BuiltLayer[]): string[] {
  const typesOf = (tensors: readonly SeenTensor[]) =>
    [...new Set(tensors.map(({ type }) => typeOfEngineTensor(type)).filter((type) => type !== null))].sort();
  const reads = typesOf(layers.flatMap(({ inputs }) => inputs));
  const writes = typesOf(layers.flatMap(({ outputs }) => outputs));
  if (reads.length + writes.length === 0) return [];
  const own = layers.every(({ nodes }) => nodes.length <= 1) ? 'It' : layers.length > 1 ? 'These layers' : 'This layer';
  const verbs = own === 'These layers' ? ['read', 'write'] : ['reads', 'writes'];
  return [`${own} ${verbs[0]} ${reads.join(' and ') || 'nothing'}, ${verbs[1]} ${writes.join(' and ') || 'nothing'}.`];
}

/** `Last build, optimization profile 1 (the engine has 2)` */
const lastBuild = ({ build }: OverrideAnalysis): string =>
  build?.optimizationProfile ? `Last build, ${profileWords(build.optimizationProfile)}` : 'Last build';

function askedText(analysis: OverrideAnalysis, position: number): string {
  const winner = analysis.check.resolution?.winner[position] ?? -1;
  const rule = analysis.check.rules[winner];
  if (!rule?.rule.type?.type) return 'No rule applies to it.';
  const outputs = rule.rule.outputs.map(({ type }) => type).join(', ');
  const asked = `Requested: ${rule.rule.type.type}${outputs ? `, outputs ${outputs}` : ''} (line ${rule.line}).`;
  const verdict = verdictOf(analysis, position);
  if (!verdict) return asked;
  if (verdict.verdict === 'unbuilt') return `${asked} ${escapeHover(verdict.reason)}`;
  const sure = verdict.verdict === 'obeyed' && !verdict.certain ? 'probably ' : '';
  return `${asked} ${lastBuild(analysis)}: ${sure}${verdictWords[verdict.verdict]}. ${escapeHover(verdict.reason)}`;
}

const typeTexts: Readonly<Record<PrecisionType, string>> = {
  fp32: 'Single precision (32 bits).',
  fp16: 'Half precision (16 bits): numbers up to 65,504.',
  bf16: 'Brain float (16 bits): the range of single precision with three significant digits.',
  int8: '8-bit integers: need scales from calibration or Q/DQ nodes.',
  fp8: '8-bit floating point: only between Q/DQ nodes.',
  int4: '4-bit integers: only for weights between Q/DQ nodes.',
  int32: '32-bit integers.',
  int64: '64-bit integers.',
  bool: 'Booleans.',
};

function typeText(analysis: OverrideAnalysis, place: RulePlace, type: PrecisionType | null): string {
  const lines = [type ? `**${type}** ${typeTexts[type]}` : 'Not a TensorRT type.'];
  const { nodes, effective, eligible, foreign } = place.facts;
  if (analysis.facts.index) {
    const skipped = nodes - eligible;
    lines.push(
      `The rule selects ${counted(nodes, 'node')} and applies to ${thousands(effective)}${skipped > 0 ? `; ${thousands(skipped)} of them ${skipped === 1 ? 'does' : 'do'} not accept a precision (integers, shapes, constants, casts)` : ''}${foreign > 0 ? `; ${thousands(foreign)} ${foreign === 1 ? 'is' : 'are'} inside ForeignNodes of the last build` : ''}.`,
    );
  }
  const verdict = analysis.verdicts().find(({ line }) => line === place.facts.line);
  if (verdict && verdict.nodes.length > 0) lines.push(`${lastBuild(analysis)}: ${escapeHover(verdict.message)}`);
  return lines.join('\n\n');
}
