import * as vscode from 'vscode';
import { createBox, createPicker } from './askUser.ts';
import { plainText } from './internal/plainText.ts';

/** Where a question is in a row of questions. */
export interface StepPlace {
  title: string;
  step: number;
  totalSteps: number;
  /** Whether there is a question before it. */
  canGoBack: boolean;
}

/** The user wants the question before. */
export const back = Symbol('back');
export type Back = typeof back;

/** One question: gives the answers with its own among them, `back`, or undefined when the user closed it. */
export interface QuickStep<T> {
  /** Whether it has to be asked after these answers. Default: always. */
  applies?: (answers: T) => boolean;
  ask: (answers: T, place: StepPlace) => Promise<T | Back | undefined>;
}

/** Asks one question after the other, each with a way back. @returns all answers; `back` from the first; undefined: closed */
export async function runSteps<T>(
  first: T,
  steps: readonly QuickStep<T>[],
  title: string,
  canGoBack = false,
): Promise<T | Back | undefined> {
  const asked: { index: number; before: T }[] = [];
  let answers = first;
  for (let index = 0; index < steps.length;) {
    const step = steps[index]!;
    if (step.applies?.(answers) === false) {
      index += 1;
      continue;
    }
    const rest = steps.slice(index).filter(({ applies }) => applies?.(answers) !== false).length;
    const place = {
      title,
      step: asked.length + 1,
      totalSteps: asked.length + rest,
      canGoBack: canGoBack || asked.length > 0,
    };
    // oxlint-disable-next-line no-await-in-loop -- one question after the other
    const given = await step.ask(answers, place);
    if (given === undefined) return undefined;
    if (given === back) {
      const last = asked.pop();
      if (last === undefined) return back;
      ({ index, before: answers } = last);
      continue;
    }
    asked.push({ index, before: answers });
    answers = given;
    index += 1;
  }
  return answers;
}

/**
 * A list to pick one line from, or several with `many`. `chosen`: the lines that are picked already. Without `many` the
 * answer has one line: Enter takes the active one, the first at the beginning, and nothing where the filter matches none.
 */
export function askPick<I extends vscode.QuickPickItem>(
  place: StepPlace,
  items: readonly I[],
  { placeholder, chosen = [], many = false }: { placeholder: string; chosen?: readonly I[]; many?: boolean },
): Promise<I[] | Back | undefined> {
  const picker = createPicker<I>();
  picker.canSelectMany = many;
  picker.items = items;
  picker.placeholder = placeholder;
  picker.matchOnDetail = true;
  if (many) picker.selectedItems = chosen;
  else picker.activeItems = chosen.length > 0 ? chosen : items.slice(0, 1);
  return shown(picker, place, () => {
    if (many) return [...picker.selectedItems];
    const [one] = picker.selectedItems.length > 0 ? picker.selectedItems : picker.activeItems;
    return one && [one];
  });
}

export interface TextQuestion {
  question: string;
  value: string;
  validate: (text: string) => string | undefined;
}

/** A line of text. `validate` says what is wrong with it, or gives undefined. */
export function askText(
  place: StepPlace,
  { question, value, validate }: TextQuestion,
): Promise<string | Back | undefined> {
  const box = createBox(question, value, validate);
  return shown(box, place, () => (validate(box.value) === undefined ? box.value : undefined));
}

function shown<R>(
  input: vscode.QuickPick<vscode.QuickPickItem> | vscode.InputBox,
  { title, step, totalSteps, canGoBack }: StepPlace,
  read: () => R | undefined,
): Promise<R | Back | undefined> {
  input.title = plainText(title);
  input.step = step;
  input.totalSteps = totalSteps;
  input.ignoreFocusOut = true;
  if (canGoBack) input.buttons = [vscode.QuickInputButtons.Back];
  return new Promise((resolve) => {
    const done = (result: R | Back | undefined) => {
      resolve(result);
      input.dispose();
    };
    input.onDidAccept(() => {
      const result = read();
      if (result !== undefined) done(result);
    });
    input.onDidTriggerButton(() => done(back));
    input.onDidHide(() => done(undefined));
    input.show();
  });
}
