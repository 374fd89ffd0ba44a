/** What was thrown, as text: an error's message, or the value itself. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));
