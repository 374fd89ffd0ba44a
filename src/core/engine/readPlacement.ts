import type { Problem } from '../text/problem.ts';

/** Where ONNX Runtime put the nodes of a session, as its verbose log lists them (`session_state.cc`, "Node placements"). */
export interface Placement {
  /** The execution providers with what they run, in the order of the log. */
  providers: PlacedProvider[];
  /** The TensorRT provider says that it runs the whole graph. */
  wholeGraph: boolean;
  /** Why a node is not where it could be, by its name. */
  reasons: Map<string, string>;
  /** Names of nodes that a TensorRT parser inside ONNX Runtime read. */
  parsed: Set<string>;
}

export interface PlacedProvider {
  /** `TensorrtExecutionProvider`. */
  name: string;
  /** How many nodes it runs, of ONNX Runtime's graph: a part that TensorRT runs is one node. */
  count: number;
  /** Its nodes; null: the log does not list them, because one provider runs all. */
  nodes: { op: string; name: string }[] | null;
  /** Line of the log, from 1. */
  line: number;
}

const prefix = /^(?:\u001b\[[\d;]*m)?(?:\S+ \S+ )?\[[VIWEF]:onnxruntime:[^\]]*\] ?/;

/**
 * Reads the verbose log of ONNX Runtime (`log_severity_level=0`), of 1.0 and later. Of several sessions the last one counts.
 * @returns no value where the log has no placements; the problem says what to do
 */
export function readPlacement(text: string): { value: Placement | undefined; problems: Problem[] } {
  let providers: PlacedProvider[] | undefined;
  let open: PlacedProvider | undefined;
  // A session says these before its placements, or when it builds an engine behind them.
  let facts = noFacts();
  let next = noFacts();
  for (const [at, raw] of text.split(/\r?\n/).entries()) {
    const message = raw.replace(prefix, '').replace(/\u001b\[m$/, '');
    const isPrefixed = message.length < raw.length;
    if (message.trim() === 'Node placements') {
      facts = next;
      next = noFacts();
      providers = [];
      open = undefined;
    } else if (providers !== undefined && isPrefixed) {
      const provider = providerOf(message, at + 1);
      if (provider !== undefined) {
        providers.push(provider);
        open = provider.nodes === null || provider.nodes.length > 0 ? undefined : provider;
      } else if (open !== undefined) {
        const node = nodeOf(message.trim());
        if (node === undefined || open.nodes!.length >= open.count) open = undefined;
        else open.nodes!.push(node);
      }
    }
    noteReason(message, next.reasons);
    if (/\[(?:TensorRT|NvTensorRTRTX) EP\] Whole graph will run/.test(message)) next.wholeGraph = true;
    const read = /Parsing node: (.+) \[[\w.:]+\]/.exec(message);
    if (read) next.parsed.add(read[1]!);
  }
  if (providers === undefined || providers.length === 0) {
    const message =
      'The log of ONNX Runtime does not say where nodes run: create the session with log_severity_level=0.';
    return { value: undefined, problems: [{ severity: 'error', code: 'no-placements', message }] };
  }
  const value: Placement = {
    providers,
    wholeGraph: facts.wholeGraph || next.wholeGraph,
    reasons: new Map([...facts.reasons, ...next.reasons]),
    parsed: new Set([...facts.parsed, ...next.parsed]),
  };
  return { value, problems: [] };
}

const noFacts = (): Omit<Placement, 'providers'> => ({ wholeGraph: false, reasons: new Map(), parsed: new Set() });

/** `All nodes placed on [P]. Number of nodes: 7`, ` Node(s) placed on [P]. Number of nodes: 2`, older ` Provider: [P]: [Op (name), ]`. */
function providerOf(message: string, line: number): PlacedProvider | undefined {
  const all = /^ ?All nodes (?:have been )?placed on \[([^\]]+)\]\.(?: Number of nodes: (\d+))?/.exec(message);
  if (all) return { name: all[1]!, count: Number(all[2] ?? 0), nodes: null, line };
  const some = /^ ?Node\(s\) placed on \[([^\]]+)\]\. Number of nodes: (\d+)/.exec(message);
  if (some) return { name: some[1]!, count: Number(some[2]), nodes: [], line };
  const list = /^ ?Provider: \[([^\]]+)\]: \[(.*)\]$/.exec(message);
  if (!list) return undefined;
  const nodes = [...list[2]!.matchAll(/([\w.:]+) \((.*?)\), /g)].map(([, op, name]) => ({ op: op!, name: name! }));
  return { name: list[1]!, count: nodes.length, nodes, line };
}

/** `Gather (Gather_1067)`; the name may be empty. */
function nodeOf(text: string): { op: string; name: string } | undefined {
  const found = /^([\w.:-]+) \((.*)\)$/.exec(text);
  return found ? { op: found[1]!, name: found[2]! } : undefined;
}

function noteReason(message: string, reasons: Map<string, string>): void {
  const preferred = /Force fallback to CPU execution for node: (.+?) because (.+)$/.exec(message);
  if (preferred) reasons.set(preferred[1]!, `ONNX Runtime runs it on the CPU because ${preferred[2]!}`);
  const missing = /(\w+) kernel not found in registries for Op type: (\S+) node name: (.+)$/i.exec(message);
  if (missing) reasons.set(missing[3]!, `ONNX Runtime has no ${missing[1]!} kernel for ${missing[2]!}`);
}
