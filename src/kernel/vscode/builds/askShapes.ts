import * as vscode from 'vscode';
import { ParsedFiles } from '../../node/files/parsedFiles.ts';
import { builtShapes, type ShapeRange, shapesText } from '../../build/buildManifest.ts';
import { suggestedShapes, suggestSizes } from '../../build/buildCommand.ts';
import { type GraphTensor, toGraphData } from '../../picture/graph/viewData.ts';
import { type OpenSize, openSizes, readSizeRange, type SizeRange, toProfile } from './dynamicShapes.ts';
import { askPick, askText, back, type Back, type QuickStep, runSteps, type StepPlace } from '../platform/quickSteps.ts';

/** Optimization profiles: the shapes of each input. [] for none. */
export type Profiles = Record<string, ShapeRange>[];

/** What is known about the shapes of a model that is to be built. */
export interface ShapeQuestion {
  inputs: GraphTensor[];
  /** The sizes that it leaves open; []: there is nothing to ask. */
  sizes: OpenSize[];
  /** Suggested sizes, by the name of the open dimension. */
  suggested: ReadonlyMap<string, number>;
  /** The suggested shapes as one profile. */
  profile: Profiles;
  /** What is built without a profile. */
  ones: string;
}

/** @throws {UserError} if the model cannot be read */
export async function shapeQuestion(uri: vscode.Uri): Promise<ShapeQuestion> {
  const { value } = await new ParsedFiles().model(uri.fsPath);
  const { inputs } = toGraphData(value);
  const [shapes = []] = builtShapes(value);
  const texts = suggestedShapes(value, shapes);
  return {
    inputs,
    sizes: openSizes(inputs),
    suggested: new Map(suggestSizes(value).map(({ name, size }) => [name, size])),
    profile: texts.length === 0 ? [] : [profileOf(texts)],
    ones: shapesText([shapes]),
  };
}

/** Asks for the shapes to build for, with those of the last time first. */
export async function askShapes(
  question: ShapeQuestion,
  last: Profiles,
  place: StepPlace,
): Promise<Profiles | Back | undefined> {
  const suggested = profilesText(question.profile);
  const items: (vscode.QuickPickItem & { profiles: Profiles | null })[] = [
    ...(last.length > 0 ? [{ label: 'Last Shapes', detail: profilesText(last), profiles: last }] : []),
    { label: 'Suggested Shapes', detail: suggested, profiles: question.profile },
    { label: 'Choose Shapes…', detail: 'Asks for a range of each open dimension', profiles: null },
    ...(question.ones === suggested
      ? []
      : [{ label: '1 Along Each Open Dimension', detail: question.ones, profiles: [] }]),
  ];
  const placeholder = 'This model leaves dimensions open: select the shapes to build for';
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one question after the other
    const picked = await askPick(place, items, { placeholder });
    if (picked === undefined || picked === back) return picked;
    const { profiles } = picked[0]!;
    if (profiles !== null) return profiles;
    // oxlint-disable-next-line no-await-in-loop -- as above
    const chosen = await chooseShapes(question, place.title, true);
    if (chosen !== back) return chosen;
  }
}

/** Asks for the range of each open dimension, for one optimization profile or more. */
export async function chooseShapes(
  { inputs, sizes, suggested }: ShapeQuestion,
  title: string,
  canGoBack = false,
): Promise<Profiles | Back | undefined> {
  const profiles: Profiles = [];
  for (;;) {
    const steps = [...sizes.map((size, index) => rangeStep(size, index, suggested)), nextStep(inputs, sizes)];
    const named = `${title}, Profile ${profiles.length + 1}`;
    const first = { ranges: [], more: false };
    // oxlint-disable-next-line no-await-in-loop -- one question after the other
    const answers = await runSteps<ShapeAnswers>(first, steps, named, canGoBack || profiles.length > 0);
    if (answers === undefined) return undefined;
    if (answers === back) {
      if (profiles.pop() === undefined) return back;
      continue;
    }
    profiles.push(toProfile(inputs, sizes, answers.ranges));
    if (!answers.more) return profiles;
  }
}

interface ShapeAnswers {
  ranges: SizeRange[];
  /** Another profile follows. */
  more: boolean;
}

/** Several profiles in a line: `x 1×8 to 8×256`. */
export const profilesText = (profiles: Profiles): string =>
  shapesText(profiles.map((profile) => Object.entries(profile).map(([input, range]) => ({ input, ...range }))));

/** One profile that is these shapes and no others. */
const profileOf = (texts: readonly string[]): Record<string, ShapeRange> =>
  Object.fromEntries(
    texts.map((text) => {
      const at = text.lastIndexOf(':');
      const shape = text.slice(at + 1);
      return [text.slice(0, at), { min: shape, opt: shape, max: shape }];
    }),
  );

function rangeStep(
  { name, places }: OpenSize,
  index: number,
  suggested: ReadonlyMap<string, number>,
): QuickStep<ShapeAnswers> {
  const where = places.slice(0, 4).map(({ input, axis }) => `${input}[${axis}]`);
  const listed = (places.length > where.length ? [...where, '…'] : where).join(', ');
  return {
    ask: async (answers, place) => {
      const text = await askText(place, {
        question: `${name}: minimum, optimum and maximum of ${listed}, for example 1 8 32, or one number for all three`,
        value: String(suggested.get(name) ?? ''),
        validate: (value) =>
          readSizeRange(value) === undefined
            ? 'Enter three integers in ascending order, for example 1 8 32, or one integer'
            : undefined,
      });
      if (text === undefined || text === back) return text;
      return { ...answers, ranges: [...answers.ranges.slice(0, index), readSizeRange(text)!] };
    },
  };
}

function nextStep(inputs: GraphTensor[], sizes: OpenSize[]): QuickStep<ShapeAnswers> {
  return {
    ask: async (answers, place) => {
      const items = [
        { label: 'Use These Shapes', detail: profilesText([toProfile(inputs, sizes, answers.ranges)]), more: false },
        { label: 'Add Another Profile', detail: 'For shapes that are far apart', more: true },
      ];
      const picked = await askPick(place, items, { placeholder: 'Select what to do next' });
      return picked === undefined || picked === back ? picked : { ...answers, more: picked[0]!.more };
    },
  };
}
