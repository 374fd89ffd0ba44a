import { usualShapes } from '../../../../kernel/build/buildManifest.ts';
import { changeText, costText, type Candidate, type SearchKind, versionNote } from '../../searchChange.ts';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import type { BuildOptions } from '../../../../kernel/node/run/runBuild.ts';
import { searchChange, type SearchResult } from '../../node/searchChange.ts';
import { keepDynamicShapesCost } from '../../node/dynamicShapesCost.ts';
import { whatIf } from '../../node/whatIf.ts';
import { listBuilds } from '../../../../kernel/node/store/buildHistory.ts';
import { toComparison } from '../../../diff/node/toComparison.ts';
import { modelChanged } from '../../../../kernel/node/store/modelChanged.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import type { BuildManifest } from '../../../../kernel/build/buildManifest.ts';
import type { BuildDiff } from '../../../../kernel/report/buildDiff.ts';
import { counted } from '../../../../kernel/base/text.ts';
import { pickItem } from '../../../../kernel/vscode/platform/askUser.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { askChange, type Trial } from './askChange.ts';
import { keepChange } from './keepChange.ts';
import type { ChosenNodes, SurgeryParts } from './chosenNodes.ts';
import { optionsOf } from '../../../../kernel/vscode/builds/optionsOf.ts';
import { temporaryFolder, writeWhole } from '../../../../kernel/node/files/writeWhole.ts';
import { removeTree } from '../../../../kernel/node/files/persist.ts';
import { showInformation } from '../../../../kernel/vscode/platform/messages.ts';

/** As many changes a search tries in the editor. */
const mostBuilds = 24;

/** How the model is built as it is, and such a build. */
interface Base {
  options: BuildOptions;
  /** undefined: there is none, or the model has changed since. */
  folder: string | undefined;
}

/**
 * Asks for a change, builds the model with it and shows the difference next to the graph; or looks for changes that
 * reach what the user wants, and tries the one that they pick.
 * @param given what to try without asking
 */
export async function tryChange(parts: SurgeryParts, chosen: ChosenNodes, given: unknown): Promise<unknown> {
  const { context, sessions } = parts;
  const { graph, newest } = sessions.find(chosen.model)?.state ?? { graph: null, newest: null };
  const asked = await askChange(chosen, graph, context.asAbsolutePath('dist/driver/convert_opset.py'), given);
  if (asked === undefined) return undefined;
  const shown = newest?.build ?? null;
  return 'search' in asked
    ? searchAndShow(parts, chosen, shown, asked.search)
    : tryAndShow(parts, chosen.model, shown, asked.trial);
}

/** @throws {UserError} if the options of that build are none that can be used again */
async function baseOf({ context }: SurgeryParts, model: vscode.Uri, manifest: BuildManifest | null): Promise<Base> {
  const own = manifest?.origin === 'built' ? manifest : null;
  const options = optionsOf(context, model, own);
  const builds = own?.result === 'passed' ? await listBuilds(model.fsPath) : [];
  const built = builds.find((build) => build.manifest.id === own?.id);
  const usable = built !== undefined && !(await modelChanged(model.fsPath, built.manifest, new ParsedFiles()));
  return { options, folder: usable ? built.folder : undefined };
}

async function tryAndShow(
  parts: SurgeryParts,
  model: vscode.Uri,
  shown: BuildManifest | null,
  trial: Trial,
): Promise<BuildDiff | undefined> {
  const { words, change, changed, rules } = trial;
  const made = await withProgress(`What if: ${nameOf(model)}`, parts.log, async (signal, say) => {
    const { options, folder } = await baseOf(parts, model, shown);
    say(
      folder === undefined ? 'building the model as it is and with the change' : 'building the model with the change',
    );
    const tried = await withRules(rules, options, (overrides) =>
      whatIf({ options, changed: { ...changed, ...overrides }, change, base: folder }, {}, signal),
    );
    const fixed = changed.profiles?.length === 1 ? changed.profiles[0]! : {};
    const isFixed = Object.values(fixed).every(({ min, max }) => min === max);
    // The report on the build says from then on what its open dimensions cost.
    if (change === null && folder !== undefined && Object.keys(fixed).length > 0 && isFixed && isDynamic(shown))
      await keepDynamicShapesCost(folder, tried.sides, fixed);
    return tried;
  });
  if (made === undefined) return undefined;
  const { a, b } = made.sides;
  parts.comparisons.openTried(
    `What If: ${words}`,
    model,
    toComparison(a, b, { a: `${nameOf(model)} as it is`, b: words }),
  );
  const keep = 'Keep This Change';
  void showInformation(`${words}: ${effectOf(made.diff)} ${versionNote(made.diff.b)}`, keep).then((answer) =>
    answer === keep ? keepChange(parts, model, trial) : undefined,
  );
  return made.diff;
}

const isDynamic = (shown: BuildManifest | null): boolean => shown !== null && usualShapes(shown) !== null;

/** `42 → 46 kernels, 4 nodes split.` */
function effectOf({ totals: { kernels, states } }: BuildDiff): string {
  const words = Object.entries({ split: states.split, merged: states.merged, moved: states.moved })
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${counted(count, 'node')} ${state}`);
  const count = kernels.a === null || kernels.b === null ? [] : [`${kernels.a} → ${kernels.b} kernels`];
  return `${[...count, ...(words.length === 0 ? ['the same nodes are fused'] : words)].join(', ')}.`;
}

async function withRules<Result>(
  rules: string | undefined,
  options: BuildOptions,
  run: (overrides: Partial<BuildOptions>) => Promise<Result>,
): Promise<Result> {
  if (rules === undefined) return run({});
  if (options.overrides !== undefined)
    throw new UserError('The last build used an override file. Change its rules and build again to try another type.');
  const folder = await temporaryFolder(tmpdir(), 'tensorrt-lens-');
  try {
    const overrides = join(folder, 'what-if.trtprec');
    await writeWhole(overrides, `${rules}\n`);
    return await run({ overrides });
  } finally {
    await removeTree(folder);
  }
}

async function searchAndShow(
  parts: SurgeryParts,
  { model, nodes }: ChosenNodes,
  shown: BuildManifest | null,
  kind: SearchKind,
): Promise<SearchResult | undefined> {
  const found = await withProgress(`What if: ${nameOf(model)}`, parts.log, async (signal, say) => {
    const { options, folder } = await baseOf(parts, model, shown);
    return searchChange(
      { options, kind, nodes: [nodes.join(',')], base: folder, maxBuilds: mostBuilds, keepsTried: true },
      (done, of, reached) => say(`${done} of ${of} changes tried, ${reached} work`),
      signal,
    );
  });
  if (found === undefined) return undefined;
  const works = found.tried.filter(({ reached }) => reached);
  const summary = `${found.goal.before} ${works.length} of ${counted(found.tried.length, 'change')} ${works.length === 1 ? 'works' : 'work'}. ${versionNote(found.tensorrt)}`;
  if (works.length === 0) {
    void showInformation(summary);
    return found;
  }
  // Whoever searched has the result; the user may take their time.
  void offerFound(parts, { model, shown, found, works, summary });
  return found;
}

interface FoundChanges {
  model: vscode.Uri;
  shown: BuildManifest | null;
  found: SearchResult;
  works: SearchResult['tried'];
  summary: string;
}

/** Lists the changes that work; a list that is closed can be shown again, since it took minutes to find. */
async function offerFound(parts: SurgeryParts, changes: FoundChanges): Promise<unknown> {
  const { model, shown, found, works, summary } = changes;
  const items = works.map((one) => ({ label: changeText(one), detail: costText(one), one }));
  const picked = await pickItem(items, {
    title: summary,
    placeHolder: 'Select a change to see what it does',
    matchOnDetail: true,
  });
  if (picked === undefined) {
    const again = 'Show Changes';
    return (await showInformation(summary, again)) === again ? offerFound(parts, changes) : undefined;
  }
  const candidate = found.candidates.get(picked.one);
  return candidate && tryAndShow(parts, model, shown, trialOf(candidate, picked.label));
}

const trialOf = ({ change, rules, profiles }: Candidate, words: string): Trial => ({
  words,
  change,
  changed: profiles ? { profiles } : {},
  ...(rules !== undefined && { rules }),
});
