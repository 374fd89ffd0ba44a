import type { BuildFacts } from '../check/buildFacts.ts';
import type { NodeIndex } from './nodeIndex.ts';
import type { OverrideFile, Rule, Selector } from './overrideFile.ts';
import { fromFirstLayer } from '../../model/layerNameParts.ts';

/** What each rule selects and which rule applies to each node: the last usable one that selects it. */
export interface ResolvedRules {
  /** One entry a rule, in order; unusable rules select nothing. */
  matches: RuleMatch[];
  /** By position of the node: position of the deciding rule in `matches`, or -1. */
  winner: Int32Array;
}

export interface RuleMatch {
  rule: Rule;
  /** Positions of the nodes that each selector names by itself, in the selectors' order. */
  selected: Int32Array[];
  /** Positions of the nodes that the rule selects, `not:` taken away. */
  nodes: Int32Array;
  /** How many of them it applies to. */
  effective: number;
}

/** A `group:` text against the ForeignNodes of a build: their positions, one when it is right. */
export function groupsNamed(text: string, build: BuildFacts): number[] {
  const names = build.foreignNodes.map(({ name }) => name);
  const exact = names.indexOf(text);
  if (exact >= 0) return [exact];
  const positions = names.map((_, i) => i);
  return positions.filter((i) => names[i]?.startsWith(text) || fromFirstLayer(names[i] ?? '').startsWith(text));
}

const none = new Int32Array(0);

/** Positions of the nodes that one selector names, without regard to `not:`. */
export function selectNodes(selector: Selector, index: NodeIndex, build: BuildFacts | null): Int32Array {
  switch (selector.kind) {
    case 'name':
      return index.named(selector.text);
    case 'glob':
      return index.matching(selector.text);
    case 'op':
      return index.ofOp(selector.text, selector.domain);
    case 'group': {
      const found = build ? groupsNamed(selector.text, build) : [];
      return build && found.length === 1 ? membersOf(found[0] ?? -1, build) : none;
    }
  }
}

function membersOf(group: number, build: BuildFacts): Int32Array {
  const members: number[] = [];
  for (const [i, node] of build.nodes.entries()) if (node.foreign === group) members.push(i);
  return Int32Array.from(members);
}

/** Applies a file's rules to a model. `group:` selectors need the build. */
export function resolveOverrides(file: OverrideFile, index: NodeIndex, build: BuildFacts | null): ResolvedRules {
  const size = index.nodes.length;
  const winner = new Int32Array(size).fill(-1);
  const marks = new Marks(size);
  const matches = file.rules.map((rule): RuleMatch => {
    const { selected, nodes } = select(rule, index, build, marks);
    return { rule, selected, nodes, effective: 0 };
  });
  for (const [r, match] of matches.entries()) for (const node of match.nodes) winner[node] = r;
  for (const r of winner) {
    const match = matches[r];
    if (match) match.effective++;
  }
  return { matches, winner };
}

type Selected = Pick<RuleMatch, 'selected' | 'nodes'>;

/** What was selected by rules of this text, in whatever line: the next keystroke asks for nearly all of them again. */
const selections = new WeakMap<NodeIndex, { build: BuildFacts | null; found: Map<string, Selected> }>();

function select(rule: Rule, index: NodeIndex, build: BuildFacts | null, marks: Marks): Selected {
  let known = selections.get(index);
  if (known?.build !== build || known.found.size > 50_000) selections.set(index, (known = { build, found: new Map() }));
  let answer = known.found.get(rule.text);
  if (!answer) {
    const selected = rule.selectors.map((selector) => selectNodes(selector, index, build));
    const [first = none] = selected;
    const nodes = !rule.usable ? none : selected.length === 1 ? first : combine(rule, selected, marks);
    known.found.set(rule.text, (answer = { selected, nodes }));
  }
  return answer;
}

function combine(rule: Rule, selected: Int32Array[], marks: Marks): Int32Array {
  marks.clear();
  for (const [i, selector] of rule.selectors.entries()) {
    for (const node of selected[i] ?? none) marks.set(node, !selector.negated);
  }
  return marks.list();
}

/** A set of positions that can be emptied without touching every entry. */
class Marks {
  private readonly state: Uint8Array;
  private touched: number[] = [];

  constructor(size: number) {
    this.state = new Uint8Array(size);
  }

  clear(): void {
    for (const node of this.touched) this.state[node] = 0;
    this.touched = [];
  }

  set(node: number, on: boolean): void {
    if (this.state[node] === 0) this.touched.push(node);
    this.state[node] = on ? 2 : 1;
  }

  list(): Int32Array {
    return Int32Array.from(this.touched.filter((node) => this.state[node] === 2)).sort();
  }
}
