// The rules, a gate file, its result as text and SARIF.
import type { FusionReport } from '../../kernel/fusion/fusionReport.ts';
import type { PrecisionType } from '../../kernel/rules/overrideFile.ts';
import { type Document, section, type State, table } from '../../kernel/document/document.ts';
import { counted, exactRelease, oneLine } from '../../kernel/base/text.ts';
import { profileWords } from '../../kernel/report/words.ts';
import { readSource } from '../../kernel/network/sourceLines.ts';

/**
 * The verdict of a gate on one build: `trtlens gate FILE --build FOLDER --json`; of a matrix, `{ "results": [ … ] }`.
 * Fields may be added; these keep their names and meaning.
 */
export interface GateResult {
  /** Version of this format. */
  schema: 1;
  /** Path of the gate file. */
  gate: string;
  /** The build folder or report that was judged. */
  source: string;
  /** File name of the model. */
  model: string;
  /** What the build was made with. */
  tensorrt: FusionReport['tensorrt'];
  /** GPU that it was made on; null: not known. */
  gpu: string | null;
  /** The optimization profile whose layers were judged, from 0, and how many the engine has; omitted: it has one. */
  optimizationProfile?: { shown: number; of: number };
  /** The report or build folder of the baseline; null: none. */
  baseline: string | null;
  /** No check failed. */
  passed: boolean;
  /** Number of checks with each verdict. */
  counts: Record<CheckVerdict, number>;
  /** The checks, in the order of the gate file. */
  checks: CheckResult[];
  /** What a reader could think was checked, but no rule looked at: one sentence each. */
  notChecked: string[];
}

export type CheckVerdict =
  /** the limit is kept */
  | 'passed'
  /** the limit is exceeded, or the check cannot be judged and is not optional */
  | 'failed'
  /** optional, and cannot be judged with what was given */
  | 'skipped';

/** What happened to one check of a gate. */
export interface CheckResult {
  /** The rule that it belongs to: `kernels`. */
  rule: string;
  /** Its name, unique in the gate file: `kernels.max`. It stays the same, for scripts and fingerprints. */
  check: string;
  /** Whether it passed. */
  verdict: CheckVerdict;
  /** false: it cannot be judged with what was given; the message says what is missing. */
  judged: boolean;
  /** What was found, for people. */
  message: string;
  /** The limit as it is written: `+5%`. */
  limit: string;
  /** In the rule's unit: counts, milliseconds, bytes, errors. null: not a number, or not known. */
  value: number | null;
  /** The same of the baseline; null: not compared with it. */
  baseline: number | null;
  /** Whether it fails on the baseline, too. null: no baseline, or it cannot be judged there. */
  failsOnBaseline: boolean | null;
  /** Ids of the nodes to blame. */
  nodes: string[];
  /** Their names, in the same order. */
  names: string[];
  /** The lines of the program that they come from, in the same order; null: not recorded. Absent: of none. */
  sources?: (string | null)[];
  /** Line of the build log that shows it; null: none. */
  logLine: number | null;
  /** What was found of each part, as of each Softmax: which kernel computes it, or where it is split. Omitted: nothing more. */
  details?: string[];
  /** Where the check is in the gate file. */
  place: Place;
}

/** A place in the gate file. */
export interface Place {
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 code units. */
  column: number;
  /** Column behind its last character. */
  endColumn: number;
}

/** A gate file: what a build must keep to. Lines and columns count from 1. */
export interface GateFile {
  /** Path of the model, as written; null: not named. */
  model: string | null;
  /** Path of the baseline report, as written; null: none. */
  baseline: string | null;
  checks: Check[];
}

/** One thing to check: a key of a rule with its limit. */
export interface Check {
  rule: RuleName;
  /** `kernels.max`, `time./blocks.*`, `attention`: unique in its file. */
  id: string;
  /** The key below the rule; '' for a rule that is one word. */
  key: string;
  limit: Limit;
  /** What cannot be judged does not fail. */
  optional: boolean;
  place: Place;
}

export type RuleName =
  | 'attention'
  | 'foreignNodes'
  | 'kernels'
  | 'layers'
  | 'reformats'
  | 'nodes'
  | 'unaccounted'
  | 'precision'
  | 'time'
  | 'memory'
  | 'quantized'
  | 'heldBack'
  | 'marked'
  | 'tensorrt'
  | 'gpu'
  | 'dynamicShapes'
  | 'accuracy';

/** Counts, milliseconds, bytes or shares, by the rule's unit. */
export type Limit =
  | { kind: 'max' | 'min'; value: number; text: string }
  /** Against the baseline: a share of its value in percent, or a difference. */
  | { kind: 'percent' | 'difference'; value: number; text: string }
  | { kind: 'word'; text: string }
  | { kind: 'type'; type: PrecisionType; text: string }
  /** A largest error, and how to find it: paths as written, and the precision. */
  | { kind: 'accuracy'; value: number; text: string; inputs?: string; rules?: string; low?: string };

/** What a number of a gate file measures. */
export type Unit = 'count' | 'ms' | 'bytes' | 'error';

export type AccuracySetting = 'inputs' | 'low' | 'rules';

/** What may stand below a rule. */
export interface RuleGrammar {
  /** One sentence; shown on hover, in completion and in the schema. */
  about: string;
  /** Words that the rule may be instead of a table: `attention: fused`. */
  words?: readonly string[];
  /** Keys with fixed names: what they limit. `low`: the value is a least, not a most. */
  keys?: Readonly<Record<string, { unit: Unit; about: string; low?: true; absolute?: true; scale?: number }>>;
  /** Other keys are patterns of node names; what stands after them. */
  patterns?: 'type' | 'ms';
  /** The key that a single value stands for: `kernels: 12`. */
  short?: string;
  /** Keys that say how to find the number: paths relative to the gate file, or one of `values`. */
  settings?: Readonly<Record<AccuracySetting, { about: string; values?: readonly string[] }>>;
}

const counts = (what: string) =>
  ({
    max: { unit: 'count', about: `Most ${what}: a number, or against the baseline \`+5%\` or \`+2\`.` },
    min: { unit: 'count', about: `Fewest ${what}.`, low: true, absolute: true },
  }) as const;

const fateCount = (about: string) => ({ unit: 'count', about }) as const;

/** Every rule of a gate file. Reader, completion, JSON Schema and documentation are made from it. */
export const gateRules: Readonly<Record<RuleName, RuleGrammar>> = {
  attention: {
    about:
      'Each Softmax between two MatMuls (with only scale, mask or casts before it) is computed with both by one kernel.',
    words: ['fused'],
  },
  foreignNodes: {
    about: 'Number of ForeignNodes (Myelin regions) in the engine, without the loadables of a DLA.',
    keys: counts('ForeignNodes'),
    short: 'max',
  },
  kernels: {
    about: 'Number of kernels and layers that run in the engine, including those inside ForeignNodes.',
    keys: counts('kernels'),
    short: 'max',
  },
  layers: {
    about: 'Number of layers in the engine; a ForeignNode counts as one.',
    keys: counts('layers'),
    short: 'max',
  },
  reformats: {
    about: 'Layers that only change the memory layout or type of a tensor.',
    keys: {
      ...counts('reformat layers'),
      microseconds: { unit: 'ms', about: 'Their total time in microseconds.', scale: 1 / 1000 },
    },
    short: 'max',
  },
  nodes: {
    about: 'Most nodes with a fate, as the fusion report counts them.',
    keys: {
      unknown: fateCount('Nodes whose fate is unknown.'),
      foreign: fateCount('Nodes inside ForeignNodes.'),
      fused: fateCount('Nodes computed by an engine layer together with others.'),
      single: fateCount('Nodes that are an engine layer of their own.'),
      folded: fateCount('Constant-folded nodes.'),
      removed: fateCount('Nodes that need no work.'),
      shape: fateCount('Nodes that compute shapes on the host.'),
    },
  },
  unaccounted: {
    about:
      'Nodes that change values and that TensorRT names nowhere: lost, or computed by another kernel without their name. `unaccounted: 0` fails for an engine that may be wrong.',
    keys: { max: counts('such nodes').max },
    short: 'max',
  },
  precision: {
    about: 'The compute type of nodes, by selectors as in a .trtprec file: `op:Softmax`, `/blocks.*/mlp/**`.',
    patterns: 'type',
  },
  time: {
    about: 'Time of the layers that compute the nodes: `total`, or a pattern of node or module names.',
    keys: {
      total: { unit: 'ms', about: 'All layers: `1.2 ms`, or against the baseline `+3%`.' },
      p50: { unit: 'ms', about: 'The median of the passes of a trace: `1.2 ms`, or `+3%`.' },
      p90: { unit: 'ms', about: 'The 90th percentile of the passes of a trace: `1.5 ms`, or `+5%`.' },
      p99: { unit: 'ms', about: 'The 99th percentile of the passes of a trace: `1.8 ms`, or `+10%`.' },
      modules: { unit: 'ms', about: 'Each module, by the names of its nodes: `+25%`.' },
    },
    patterns: 'ms',
  },
  memory: {
    about: 'Memory according to the build log.',
    keys: {
      activation: { unit: 'bytes', about: 'Activation memory: `512 MiB`, or against the baseline `+5%`.' },
      weights: { unit: 'bytes', about: 'Memory of the weights.' },
      engine: { unit: 'bytes', about: 'Size of the engine.' },
    },
  },
  quantized: {
    about: 'QuantizeLinear and DequantizeLinear nodes.',
    keys: { unfused: { unit: 'count', about: 'Most Q/DQ nodes with a kernel of their own.' } },
    short: 'unfused',
  },
  heldBack: {
    about: 'Kernels of what holds the build back, as the report finds it. `heldBack: 0` fails for each cause.',
    keys: {
      max: { unit: 'count', about: 'Most kernels of all causes: a number, or against the baseline `+5%` or `+2`.' },
      attention: fateCount('Most kernels of attentions that are not one kernel.'),
      normalization: fateCount('Most kernels of split normalizations.'),
      activation: fateCount('Most kernels of split activations.'),
      quantization: fateCount('Most kernels that quantization leaves in floating point.'),
    },
    short: 'max',
  },
  marked: {
    about: 'Tensors that are outputs or debug tensors of the engine only: a release has none.',
    keys: {
      outputs: { unit: 'count', about: 'Most tensors marked as outputs.' },
      debug: { unit: 'count', about: 'Most tensors marked for debugging.' },
    },
  },
  tensorrt: { about: 'The version of TensorRT is that of the baseline.', words: ['same'] },
  gpu: { about: 'The GPU is that of the baseline.', words: ['same'] },
  dynamicShapes: {
    about: 'What open dimensions cost, as `trtlens show --build FOLDER --fixed-shapes` found it.',
    keys: {
      kernels: { unit: 'count', about: 'Kernels that a build for fixed shapes saves.', absolute: true },
      fused: { unit: 'count', about: 'Nodes that share a kernel with others only with fixed shapes.', absolute: true },
    },
    short: 'kernels',
  },
  accuracy: {
    about: 'Largest error of an output compared with FP32, found by simulation as `trtlens accuracy` does.',
    keys: { error: { unit: 'error', about: 'Largest max|d| / max|reference| of any output.', absolute: true } },
    short: 'error',
    settings: {
      inputs: {
        about:
          'Input values for `trtlens accuracy`, a file or a folder relative to this file: the gate runs it by itself.',
      },
      low: {
        about: 'The low precision to simulate. Default: the one that the build was made in.',
        values: ['fp16', 'bf16', 'int8', 'fp8'],
      },
      rules: { about: 'Override rules (*.trtprec), relative to this file. Default: those of the build.' },
    },
  },
};

/** Keys of a rule other than those that limit something. */
export const commonKeys: Readonly<Record<string, string>> = {
  optional: 'If true, a rule that cannot be checked with the given files does not fail.',
};

/** The keys of a gate file. */
export const gateKeys: Readonly<Record<string, string>> = {
  model: 'Path of the ONNX model, relative to this file.',
  baseline: 'Path of the report (`trtlens show --json`) of the last good build, relative to this file.',
  rules: 'The rules for a build.',
};

/** Files as a code host shows them: relative to the repository's root, with `/`. */
export interface SarifPaths {
  gate: string;
  /** Log of the build; null: not inside the repository, or not there. */
  log: string | null;
  /** Files of the repository by the paths that the exporter wrote. */
  sources?: ReadonlyMap<string, string>;
}

/** What GitHub takes: 25,000 results of a run, 1,000 locations of a result, of which it shows 100. */
const mostResults = 25_000;
const mostNodes = 100;

/** One finding of a gate that a code host shows. */
interface Shown {
  check: CheckResult;
  result: GateResult;
  paths: SarifPaths;
  /** The same for the same check of the same model, whatever its line and value; unique in a file. */
  fingerprint: string;
}

/** What failed. */
function shown(results: readonly { result: GateResult; paths: SarifPaths }[], hash: (text: string) => string): Shown[] {
  const seen = new Map<string, number>();
  return results.flatMap(({ result, paths }) =>
    result.checks
      .filter(({ verdict }) => verdict === 'failed')
      .map((check) => {
        const key = `${paths.gate}\n${result.model}\n${check.check}`;
        const count = (seen.get(key) ?? 0) + 1;
        seen.set(key, count);
        // Builds of one model by several versions, in the order of the matrix.
        return { check, result, paths, fingerprint: hash(count === 1 ? key : `${key}\n${count}`) };
      }),
  );
}

/**
 * SARIF 2.1.0 of what failed: the rule's line in the gate file, the nodes as logical locations, the log's
 * line as a related one. Fingerprints do not change with line numbers or values.
 * @param unbuilt jobs of a matrix without a build: they fail the run, and belong to no rule
 * @param version of trtlens
 * @param hash gives a short text the same hexadecimal hash everywhere
 */
export function gateSarif(
  results: readonly { result: GateResult; paths: SarifPaths }[],
  version: string,
  hash: (text: string) => string,
  unbuilt: readonly Unbuilt[] = [],
): object {
  const rules = Object.entries(gateRules).map(([id, { about }]) => ({
    id,
    shortDescription: { text: about },
    defaultConfiguration: { level: 'error' },
  }));
  const all = shown(results, hash);
  const omitted = all.length - mostResults;
  const notes = [
    ...unbuilt.map((job) => ({ level: 'error', message: { text: `${job.name}: ${reasonOf(job)}` } })),
    ...(omitted > 0
      ? [
          {
            level: 'warning',
            message: {
              text: `${omitted} of ${all.length} results are omitted: GitHub accepts ${mostResults} of a run`,
            },
          },
        ]
      : []),
  ];
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'trtlens gate', version, rules } },
        columnKind: 'utf16CodeUnits',
        ...(notes.length > 0 && {
          invocations: [{ executionSuccessful: unbuilt.length === 0, toolExecutionNotifications: notes }],
        }),
        results: all.slice(0, mostResults).map(sarifResult),
      },
    ],
  };
}

function sarifResult({ check, result, paths, fingerprint }: Shown): object {
  const { line, column, endColumn } = check.place;
  const name = `${result.model}, ${builtWith(result)}`;
  const rule = {
    physicalLocation: {
      artifactLocation: { uri: uriOf(paths.gate) },
      region: { startLine: line, startColumn: column, endColumn: Math.max(endColumn, column + 1) },
    },
  };
  const code = codePlaces(check, paths);
  const logicalLocations = check.names.slice(0, mostNodes).map((node, index) => ({
    name: node,
    fullyQualifiedName: `${result.model}/${check.nodes[index]}`,
    kind: 'element',
  }));
  const related = [
    ...(code.length > 0 ? [{ message: { text: 'The rule of the gate' }, ...rule }] : []),
    ...code.slice(1).map((place) => ({ message: { text: 'Another line that it concerns' }, ...place })),
    ...(check.logLine !== null && paths.log !== null
      ? [
          {
            message: { text: 'The line of the build log that shows it' },
            physicalLocation: { artifactLocation: { uri: uriOf(paths.log) }, region: { startLine: check.logLine } },
          },
        ]
      : []),
  ];
  return {
    ruleId: check.rule,
    ruleIndex: Object.keys(gateRules).indexOf(check.rule as RuleName),
    level: 'error',
    message: { text: `${check.check} (${name}): ${check.message}` },
    // Code hosts annotate the first location: the line of Python is where a pull request changes it.
    locations: [{ ...(code[0] ?? rule), logicalLocations }],
    ...(related.length > 0 && { relatedLocations: related.map((place, index) => ({ id: index + 1, ...place })) }),
    // GitHub looks at the first only, and would compute it from the line's text.
    partialFingerprints: { primaryLocationLineHash: fingerprint, 'trtlensCheck/v1': fingerprint },
    ...(check.failsOnBaseline !== null && { baselineState: check.failsOnBaseline ? 'unchanged' : 'new' }),
  };
}

/** The lines of the program that a check's nodes come from, each once, as far as the repository has the files. */
function codePlaces({ sources = [] }: CheckResult, { sources: files }: SarifPaths): { physicalLocation: object }[] {
  const places = new Map<string, { physicalLocation: object }>();
  for (const source of sources.slice(0, mostNodes)) {
    const read = source === null ? null : readSource(source);
    const file = read === null ? undefined : files?.get(read.path);
    if (read === null || file === undefined) continue;
    const physicalLocation = { artifactLocation: { uri: uriOf(file) }, region: { startLine: read.line } };
    places.set(`${file}:${read.line}`, { physicalLocation });
  }
  return [...places.values()];
}

/** A path as a relative URI reference. */
const uriOf = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/**
 * GitLab's code quality report (a subset of Code Climate's): a list of issues.
 * @param gate path of the gate file, where jobs of a matrix without a build are reported
 */
export function gateCodeQuality(
  results: readonly { result: GateResult; paths: SarifPaths }[],
  hash: (text: string) => string,
  gate = '',
  unbuilt: readonly Unbuilt[] = [],
): object[] {
  const jobs = unbuilt.map((job) => ({
    description: `${job.name}: ${reasonOf(job)}`,
    check_name: 'trtlens-build',
    fingerprint: hash(`${gate}\n${job.name}\nbuild`),
    severity: 'major',
    location: { path: gate, lines: { begin: 1 } },
  }));
  const checks = shown(results, hash).map(({ check, result, paths, fingerprint }) => ({
    description: `${check.check} (${result.model}): ${check.message}`,
    check_name: `trtlens-${check.rule}`,
    fingerprint,
    severity: 'major',
    location: { path: paths.gate, lines: { begin: check.place.line } },
  }));
  return [...checks, ...jobs];
}

const states: Record<CheckVerdict, State> = { passed: 'good', failed: 'bad', skipped: 'skipped' };

/** `2 of 9 checks failed`, `9 checks passed`. */
export function gateSummary({ checks, counts }: GateResult): string {
  const total = counted(checks.length, 'check');
  const rest = [counts.skipped > 0 && `${counts.skipped} not checked (optional)`].filter(Boolean);
  const head = counts.failed > 0 ? `${counts.failed} of ${total} failed` : `${counted(counts.passed, 'check')} passed`;
  return rest.length > 0 ? `${head}, ${rest.join(', ')}` : head;
}

/** `TensorRT 10.6.0, NVIDIA H200`; of an engine with several optimization profiles also the one that was judged. */
export const builtWith = ({ tensorrt, gpu, optimizationProfile: profile }: GateResult): string =>
  [exactRelease(tensorrt), ...(gpu === null ? [] : [gpu]), ...(profile ? [profileWords(profile)] : [])].join(', ');

/** A job of a matrix that left no build to judge. */
export interface Unbuilt {
  /** Name of the job: model, precision and target. */
  name: string;
  /** `failed`, `cancelled`, `missing`. */
  result: string;
  /** One line; null: not known. */
  error: string | null;
}

/** Why a job was not judged. */
export const reasonOf = ({ result, error }: Unbuilt): string => {
  const what = { failed: 'the build failed', cancelled: 'the build was cancelled' }[result] ?? 'it was not built';
  return `not judged, because ${what}${error === null ? '' : `: ${error}`}`;
};

/** One build: the verdict, and each check with what it found. */
export const gateDocument = (result: GateResult): Document => ({
  title: titleOf(result),
  blocks: resultBlocks(result),
});

/** Several builds of a matrix: one line each, those that were not built last, then the checks of each. */
export const matrixDocument = (results: readonly GateResult[], unbuilt: readonly Unbuilt[]): Document => {
  const failed = results.filter(({ passed }) => !passed).length + unbuilt.length;
  const total = counted(results.length + unbuilt.length, 'build');
  return {
    title: failed === 0 ? `${total} passed` : `${failed} of ${total} failed`,
    blocks: [
      ...table(
        ['build', 'made of', 'checks'],
        [
          ...results.map((result) => ({
            cells: [result.source, `${result.model}, ${builtWith(result)}`, gateSummary(result)],
            state: stateOf(result),
          })),
          ...unbuilt.map((job) => ({ cells: [job.name, '', reasonOf(job)], state: 'bad' as const })),
        ],
        'build',
      ),
      ...results.flatMap((result) => section(titleOf(result), resultBlocks(result))),
    ],
  };
};

const titleOf = (result: GateResult): string =>
  `${result.model}, ${builtWith(result)}${result.baseline === null ? '' : ` against ${result.baseline}`}`;

const stateOf = ({ passed }: GateResult): State => (passed ? 'good' : 'bad');

const resultBlocks = (result: GateResult): Document['blocks'] => [
  { kind: 'verdict', state: stateOf(result), text: `${gateSummary(result)}.` },
  ...table(
    ['check', 'result'],
    result.checks.map((check) => ({
      cells: [check.check, [check.message, someNames(check)].filter((text) => text !== '').join('\n')],
      state: states[check.verdict],
    })),
    'check',
  ),
  ...result.checks
    .filter(({ verdict, details = [] }) => verdict !== 'passed' && details.length > 0)
    .flatMap(({ check, details = [] }) =>
      section(
        check,
        details.map((text) => ({ kind: 'text', text }) as const),
      ),
    ),
  ...section(
    'Not checked',
    result.notChecked.map((text) => ({ kind: 'text', text })),
  ),
];

/** The nodes that a failed check blames, up to five. */
function someNames({ verdict, names }: CheckResult): string {
  if (verdict !== 'failed') return '';
  const shown = names.slice(0, 5).map(oneLine).join(', ');
  return names.length > 5 ? `${shown}, and ${names.length - 5} more` : shown;
}

/** JUnit XML: a suite a build, a test case a check. */
export function gateJunit(results: readonly GateResult[], unbuilt: readonly Unbuilt[] = []): string {
  const suites = results.map((result) => {
    const cases = result.checks.map((check) => {
      const head = `    <testcase classname="${escapeXml(result.gate)}" name="${escapeXml(check.check)}" file="${escapeXml(result.gate)}" line="${check.place.line}"`;
      const text = escapeXml(check.message);
      if (check.verdict === 'failed')
        return `${head}>\n      <failure message="${text}">${escapeXml(check.names.join('\n'))}</failure>\n    </testcase>`;
      if (check.verdict === 'passed') return `${head}/>`;
      return `${head}>\n      <skipped message="${text}"/>\n    </testcase>`;
    });
    const { failed, skipped } = result.counts;
    const name = escapeXml(`${result.model} ${builtWith(result)}`);
    return `  <testsuite name="${name}" tests="${result.checks.length}" failures="${failed}" errors="0" skipped="${skipped}">\n${cases.join('\n')}\n  </testsuite>`;
  });
  const missing = unbuilt.map((job) => {
    const name = escapeXml(job.name);
    return `  <testsuite name="${name}" tests="1" failures="1" errors="0" skipped="0">\n    <testcase classname="${name}" name="build">\n      <failure message="${escapeXml(reasonOf(job))}"/>\n    </testcase>\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${[...suites, ...missing].join('\n')}\n</testsuites>\n`;
}

// XML 1.0 has no way to write most control characters.
// oxlint-disable-next-line no-control-regex -- these are what is to go
const notXml =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A text as XML content or attribute value. */
const escapeXml = (text: string): string =>
  text
    .replaceAll(notXml, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(/[\r\n\t]/g, (character) => `&#${character.charCodeAt(0)};`);
