const colors = {
  error: '\u001b[31m',
  warning: '\u001b[33m',
  info: '',
  verbose: '\u001b[2m',
  step: '\u001b[1m',
} as const;

/** How a line looks: by its severity in the log, or `step`, which is not of the log but about it. */
export type LineKind = keyof typeof colors;

/**
 * A line of a log for a terminal. Names in it come from models: a control character could move the cursor or change
 * the terminal, so each shows as a space (U+001E and U+001F separate names in TensorRT's own text) or a dot.
 */
export function terminalText(line: string, severity: LineKind): string {
  const safe = line
    .replaceAll(/[\u001e\u001f]/g, ' ')
    .replaceAll('\r\n', '\n')
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '·')
    .replaceAll('\n', '\r\n');
  return colors[severity] === '' ? `${safe}\r\n` : `${colors[severity]}${safe}\u001b[0m\r\n`;
}
