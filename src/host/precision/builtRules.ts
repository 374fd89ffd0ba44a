import type { KnownFacts } from '../language/knownFacts.ts';

/**
 * Tells for a line of an override file whether the last build was made with it. A rule that was written later was never
 * asked for: a verdict on it would be about another request. True for every line where the build's rules are not known.
 */
export function builtRules(facts: KnownFacts | undefined): (line: string) => boolean {
  if (!facts?.overrides) return () => true;
  const built = new Set(facts.overrides.rules.split('\n').map(statementOf));
  return (line) => built.has(statementOf(line));
}

/** A line without comment and spacing: what it says. */
const statementOf = (line: string): string =>
  line
    .replace(/(?:^|\s)#.*$/, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
