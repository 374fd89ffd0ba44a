/** How grave a line of a build log is, by its prefix: `[V] [TRT] …`, `[11/21/2026-10:00:00] [E] …`. */
export function severityOf(line: string): 'error' | 'warning' | 'info' | 'verbose' {
  const letter = /^(?:\[[\d/:-]+\] )?\[([VIWEF])\]/.exec(line)?.[1];
  if (letter === 'E' || letter === 'F') return 'error';
  if (letter === 'W') return 'warning';
  return letter === 'I' || letter === undefined ? 'info' : 'verbose';
}
