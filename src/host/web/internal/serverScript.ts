/** What the language server's worker starts from: `activate` sets its text. */
export const serverScript = { text: '' };
