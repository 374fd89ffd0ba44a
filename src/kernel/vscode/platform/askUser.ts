import * as vscode from 'vscode';
import { allowReplacing } from '../../node/files/replacing.ts';
import { plainText } from './internal/plainText.ts';

// Questions, for texts that contain what others wrote: nothing else calls the editor's own functions, in which such a
// text can contain a link that runs a command.
// They stay open without the focus: VS Code gives a webview the focus back some time after its list of commands has
// closed, and a question that came up meanwhile would close unanswered.

/** The options of a question, with the texts that the editor makes links in made plain. */
function plainOptions<T extends { title?: string; prompt?: string }>(options: T): T {
  const { title, prompt } = options;
  return {
    ...options,
    ...(title !== undefined && { title: plainText(title) }),
    ...(prompt !== undefined && { prompt: plainText(prompt) }),
  };
}

/** One line of a list; undefined when the user closes it. */
export const pickItem = <T extends vscode.QuickPickItem>(
  items: readonly T[],
  options: vscode.QuickPickOptions,
): Thenable<T | undefined> => vscode.window.showQuickPick(items, { ...plainOptions(options), ignoreFocusOut: true });

/** Several lines of a list; undefined when the user closes it. */
export const pickItems = <T extends vscode.QuickPickItem>(
  items: readonly T[],
  options: vscode.QuickPickOptions,
): Thenable<T[] | undefined> =>
  vscode.window.showQuickPick(items, { ...plainOptions(options), ignoreFocusOut: true, canPickMany: true });

/** What is wrong with a text that was typed; nothing: it can be used. */
type Validate = (text: string) => string | null | undefined;

/** A line of text; undefined when the user closes the box. */
export const enterText = ({
  validateInput,
  ...options
}: Omit<vscode.InputBoxOptions, 'validateInput'> & { validateInput?: Validate }): Thenable<string | undefined> =>
  vscode.window.showInputBox({
    ...plainOptions(options),
    ignoreFocusOut: true,
    validateInput: (text) => {
      const wrong = validateInput?.(text);
      return wrong && plainText(wrong);
    },
  });

/** One of some words. */
export async function pickWord<W extends string>(words: readonly W[], placeHolder: string): Promise<W | undefined> {
  const items = words.map((label) => ({ label }));
  return (await pickItem(items, { placeHolder }))?.label;
}

/** A list that is filled while it is shown. */
export function createPicker<T extends vscode.QuickPickItem>(title = ''): vscode.QuickPick<T> {
  const picker = vscode.window.createQuickPick<T>();
  picker.title = plainText(title);
  return picker;
}

/** A line of text that is read while it is typed. `validate` gives what is wrong with it. */
export function createBox(prompt: string, value: string, validate?: Validate): vscode.InputBox {
  const box = vscode.window.createInputBox();
  box.prompt = plainText(prompt);
  box.value = value;
  box.onDidChangeValue((text) => {
    box.validationMessage = plainText(validate?.(text) ?? '');
  });
  return box;
}

/** Files or folders that exist; undefined when the user closes the dialog. */
export const pickFiles = (options: vscode.OpenDialogOptions): Thenable<vscode.Uri[] | undefined> =>
  vscode.window.showOpenDialog(plainOptions(options));

/** A file to write, which the dialog asks to replace if it exists; undefined when the user closes the dialog. */
export async function pickTarget(options: vscode.SaveDialogOptions): Promise<vscode.Uri | undefined> {
  const target = await vscode.window.showSaveDialog(plainOptions(options));
  if (target?.scheme === 'file') allowReplacing(target.fsPath);
  return target;
}
