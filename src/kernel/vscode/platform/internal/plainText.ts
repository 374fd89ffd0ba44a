/**
 * A text for messages, progress and questions in its current state: the editor makes links of `[label](command:…)` in
 * them, and a click would run that command. Names in models, lines of logs and paths are other people's texts.
 */
export const plainText = (text: string): string => text.replaceAll('](', ']\u200b(');
