import { editDistance } from './closestWords.ts';
import { compileGlob, matchesGlob } from './glob.ts';
import { NodesByName } from '../../model/nodesByName.ts';
import { parserName } from '../../model/parserName.ts';
import type { ModelFacts, NodeFacts } from '../plan/modelFacts.ts';
import { addTo } from '../../text/addTo.ts';

const none = new Int32Array(0);

/**
 * A model's nodes by name, operator and pattern. Positions are positions in `facts.nodes`; every answer is sorted.
 * Patterns are narrowed down by their rarest three characters before any name is tried, and answers are kept, so that
 * thousands of rules cost little at each keystroke.
 */
export class NodeIndex {
  readonly facts: ModelFacts;
  readonly nodes: readonly NodeFacts[];
  /** Parser names by position. */
  readonly names: readonly string[];
  /** Nodes by exact name. */
  readonly byName: NodesByName;
  /** By position: 1 for nodes that accept a precision. */
  readonly computes: Uint8Array;
  /** How many nodes accept a precision. */
  readonly computing: number;
  private readonly byOp = new Map<string, number[]>();
  private readonly opAnswers = new Map<string, Int32Array>();
  private readonly answers = new Map<string, Int32Array>();
  private readonly nearest = new Map<string, string[]>();
  private distinctNames: string[] | null = null;
  private lazyTrigrams: Map<string, number[]> | null = null;
  private lazyOutputs: Map<string, number> | null = null;
  /** Counts of `similar`, all zero between its calls. */
  private lazyHits: Uint8Array | null = null;

  constructor(facts: ModelFacts) {
    this.facts = facts;
    this.nodes = facts.nodes;
    this.names = facts.nodes.map(parserName);
    this.byName = new NodesByName(facts.nodes);
    this.computes = Uint8Array.from(facts.nodes, ({ exempt }) => (exempt === null ? 1 : 0));
    this.computing = this.computes.reduce((sum, one) => sum + one, 0);
    for (const [i, node] of facts.nodes.entries()) addTo(this.byOp, node.op, i);
  }

  /** Whether a node has this name exactly. */
  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** Positions of the nodes with this name exactly: several where the model repeats a name. */
  named(name: string): Int32Array {
    const found = this.byName.nodesOf(name);
    return found.length > 0 ? Int32Array.from(found) : none;
  }

  /** Positions of the nodes of an operator type; `domain` null means any domain. */
  ofOp(op: string, domain: string | null): Int32Array {
    const key = domain === null ? op : `${domain}::${op}`;
    let answer = this.opAnswers.get(key);
    if (!answer) {
      const found = this.byOp.get(op) ?? [];
      const kept = domain === null ? found : found.filter((i) => sameDomain(this.nodes[i]?.domain ?? '', domain));
      answer = Int32Array.from(kept);
      if (this.byOp.has(op)) this.opAnswers.set(key, answer);
    }
    return answer;
  }

  /** Operator types of the model with their number of nodes. */
  ops(): { op: string; count: number }[] {
    return [...this.byOp].map(([op, found]) => ({ op, count: found.length }));
  }

  /** Positions of the nodes whose name matches a glob pattern. */
  matching(pattern: string): Int32Array {
    let answer = this.answers.get(pattern);
    if (!answer) {
      answer = this.search(pattern);
      if (this.answers.size > 50_000) this.answers.clear();
      this.answers.set(pattern, answer);
    }
    return answer;
  }

  /** Position of the node that makes a tensor; undefined for no node's output. */
  makerOf(tensor: string): number | undefined {
    if (!this.lazyOutputs) {
      this.lazyOutputs = new Map();
      for (const [i, node] of this.nodes.entries()) for (const name of node.outputs) this.lazyOutputs.set(name, i);
    }
    return this.lazyOutputs.get(tensor);
  }

  /** Up to three names that are closest to a text that is none: they share its rarest parts and differ little. */
  nearestNames(text: string): string[] {
    let found = this.nearest.get(text);
    if (!found) {
      found = this.findNearest(text);
      if (this.nearest.size > 50_000) this.nearest.clear();
      this.nearest.set(text, found);
    }
    return found;
  }

  private search(pattern: string): Int32Array {
    const glob = compileGlob(pattern);
    const candidates = this.candidates(glob.literals);
    const found: number[] = [];
    if (candidates) {
      for (const i of candidates) if (matchesGlob(glob, this.names[i] ?? '')) found.push(i);
    } else {
      for (const [i, name] of this.names.entries()) if (matchesGlob(glob, name)) found.push(i);
    }
    return Int32Array.from(found);
  }

  /** Positions that contain the rarest trigram of the plain parts; null: no part is long enough. */
  private candidates(literals: readonly string[]): readonly number[] | null {
    let best: readonly number[] | null = null;
    for (const literal of literals) {
      for (let at = 0; at + 3 <= literal.length; at++) {
        const found = this.trigrams().get(literal.slice(at, at + 3));
        if (!found) return [];
        if (!best || found.length < best.length) best = found;
      }
    }
    return best;
  }

  private trigrams(): Map<string, number[]> {
    if (this.lazyTrigrams) return this.lazyTrigrams;
    const index = new Map<string, number[]>();
    for (const [i, name] of this.names.entries()) {
      for (let at = 0; at + 3 <= name.length; at++) {
        const key = name.slice(at, at + 3);
        const found = index.get(key);
        if (!found) index.set(key, [i]);
        else if (found[found.length - 1] !== i) found.push(i);
      }
    }
    this.lazyTrigrams = index;
    return index;
  }

  private findNearest(text: string): string[] {
    this.distinctNames ??= [...this.byName.names()];
    const pool = this.distinctNames.length <= 400 ? this.distinctNames : this.similar(text);
    const limit = Math.max(2, Math.floor(text.length * 0.4));
    const lower = text.toLowerCase();
    return pool
      .map((name) => ({ name, distance: distanceOf(lower, name, limit) }))
      .filter(({ distance }) => distance <= limit)
      .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
      .slice(0, 3)
      .map(({ name }) => name);
  }

  /** Names that share most of the text's twelve rarest trigrams. */
  private similar(text: string): string[] {
    const lists: number[][] = [];
    for (let at = 0; at + 3 <= text.length; at++) {
      const found = this.trigrams().get(text.slice(at, at + 3));
      if (found) lists.push(found);
    }
    lists.sort((a, b) => a.length - b.length);
    const hits = (this.lazyHits ??= new Uint8Array(this.names.length));
    const touched: number[] = [];
    let budget = 4000;
    for (const list of lists.slice(0, 12)) {
      for (const i of list) {
        if (budget-- < 0) break;
        if (hits[i] === 0) touched.push(i);
        hits[i] = (hits[i] ?? 0) + 1;
      }
    }
    const byHits: number[][] = [];
    for (const i of touched) (byHits[12 - (hits[i] ?? 0)] ??= []).push(i);
    for (const i of touched) hits[i] = 0;
    return byHits
      .flat()
      .slice(0, 24)
      .map((i) => this.names[i] ?? '');
  }
}

/** A name that ends like the text (another module, or the module omitted) counts as close. */
function distanceOf(lower: string, name: string, limit: number): number {
  const candidate = name.toLowerCase();
  if (candidate === lower) return 0;
  if (candidate.endsWith(`/${lower.replace(/^\//, '')}`)) return 1;
  return editDistance(lower, candidate, limit);
}

function sameDomain(a: string, b: string): boolean {
  return (a === '' ? 'ai.onnx' : a) === (b === '' ? 'ai.onnx' : b);
}
