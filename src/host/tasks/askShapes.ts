import * as vscode from 'vscode';
import { ParsedFiles } from '../../builder/files/parsedFiles.ts';
import { builtShapes, shapesText } from '../../core/build/builtShapes.ts';
import type { ShapeRange } from '../../core/build/optionKind.ts';
import { suggestedShapes, suggestSizes } from '../../core/build/suggestSizes.ts';
import { toGraphData } from '../../core/scene/graph/graphData.ts';
import type { GraphTensor } from '../../core/scene/panel/viewData.ts';
import { openSizes, readSizeRange, toProfile } from '../builds/dynamicShapes.ts';
import type { OpenSize, SizeRange } from '../builds/dynamicShapes.ts';
import { plainText } from '../platform/plainText.ts';
import type { Sessions } from '../workspace/sessions.ts';
import { errorText } from '../../core/text/errorText.ts';

/** Asks for the sizes that a model leaves open, for one optimization profile or more; undefined: the user cancelled. */
export async function askShapes(
  uri: vscode.Uri,
  sessions: Sessions,
): Promise<Record<string, ShapeRange>[] | undefined> {
  const inputs = await inputsOf(uri, sessions);
  if (inputs === undefined) return undefined;
  const sizes = openSizes(inputs);
  if (sizes.length === 0) {
    const build = 'Build Without Profile';
    const text = 'Every input of this model has a fixed shape, so there are no shapes to choose.';
    return (await vscode.window.showInformationMessage(plainText(text), build)) === build ? [] : undefined;
  }
  const suggested = await suggestionsOf(uri);
  const profiles: Record<string, ShapeRange>[] = [];
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one question after the other
    const ranges = await askRanges(sizes, profiles.length + 1, suggested);
    if (ranges === undefined) return undefined;
    const profile = toProfile(inputs, sizes, ranges);
    profiles.push(profile);
    // oxlint-disable-next-line no-await-in-loop -- as above
    const next = await askNext(profile);
    if (next === undefined) return undefined;
    if (next === 'build') return profiles;
  }
}

/**
 * Before a usual build of a model with open dimensions: the suggested sizes, others, or 1 for each as TensorRT's tools take
 * it. [] for no profile; undefined: the user cancelled.
 */
export async function shapesFirst(
  uri: vscode.Uri,
  sessions: Sessions,
): Promise<Record<string, ShapeRange>[] | undefined> {
  const read = await new ParsedFiles().model(uri.fsPath).catch(() => undefined);
  // The build itself says best what is wrong with the file.
  if (!read) return [];
  const [shapes = []] = builtShapes(read.value);
  const texts = suggestedShapes(read.value, shapes);
  if (texts.length === 0) return [];
  const items = [
    { label: 'Build for Suggested Shapes', detail: texts.join(', '), next: 'suggested' as const },
    { label: 'Choose Shapes…', detail: 'Asks for a range of each open dimension', next: 'ask' as const },
    { label: 'Build for 1 Along Each Open Dimension', detail: shapesText([shapes]), next: 'ones' as const },
  ];
  const placeHolder = 'This model leaves dimensions open: select the shapes to build for';
  const picked = await vscode.window.showQuickPick(items, { placeHolder, matchOnDetail: true, ignoreFocusOut: true });
  if (picked === undefined) return undefined;
  if (picked.next === 'ask') return askShapes(uri, sessions);
  return picked.next === 'ones' ? [] : [profileOf(texts)];
}

/** One profile that is these shapes and no others. */
const profileOf = (texts: readonly string[]): Record<string, ShapeRange> =>
  Object.fromEntries(
    texts.map((text) => {
      const at = text.lastIndexOf(':');
      const shape = text.slice(at + 1);
      return [text.slice(0, at), { min: shape, opt: shape, max: shape }];
    }),
  );

async function inputsOf(uri: vscode.Uri, sessions: Sessions): Promise<GraphTensor[] | undefined> {
  const graph = sessions.find(uri)?.state.graph;
  if (graph !== null && graph !== undefined) return graph.inputs;
  try {
    return toGraphData((await new ParsedFiles().model(uri.fsPath)).value).inputs;
  } catch (error) {
    await vscode.window.showErrorMessage(plainText(errorText(error)));
    return undefined;
  }
}

/** By the name of the open dimension. */
async function suggestionsOf(uri: vscode.Uri): Promise<Map<string, number>> {
  const read = await new ParsedFiles().model(uri.fsPath).catch(() => undefined);
  return new Map(read ? suggestSizes(read.value).map(({ name, size }) => [name, size]) : []);
}

async function askRanges(
  sizes: OpenSize[],
  profile: number,
  suggested: ReadonlyMap<string, number>,
): Promise<SizeRange[] | undefined> {
  const ranges: SizeRange[] = [];
  for (const [index, { name, places }] of sizes.entries()) {
    const where = places.slice(0, 4).map(({ input, axis }) => `${input}[${axis}]`);
    // oxlint-disable-next-line no-await-in-loop -- one question after the other
    const text = await vscode.window.showInputBox({
      title: `Profile ${profile}, dimension ${index + 1} of ${sizes.length}: ${name}`,
      prompt: plainText(
        `Minimum, optimum and maximum of ${places.length > where.length ? [...where, '…'].join(', ') : where.join(', ')}, for example 1 8 32, or one number for all three`,
      ),
      ignoreFocusOut: true,
      ...(suggested.has(name) && { value: String(suggested.get(name)) }),
      validateInput: (value) =>
        readSizeRange(value) === undefined
          ? 'Enter three integers in ascending order, for example 1 8 32, or one integer'
          : undefined,
    });
    const range = text === undefined ? undefined : readSizeRange(text);
    if (range === undefined) return undefined;
    ranges.push(range);
  }
  return ranges;
}

async function askNext(profile: Record<string, ShapeRange>): Promise<'build' | 'more' | undefined> {
  const shapes = Object.entries(profile).map(([name, { min, opt, max }]) => `${name} ${min} … ${opt} … ${max}`);
  const items = [
    { label: 'Build', detail: shapes.join('; '), next: 'build' as const },
    { label: 'Add Another Profile', next: 'more' as const },
  ];
  return (await vscode.window.showQuickPick(items, { ignoreFocusOut: true }))?.next;
}
