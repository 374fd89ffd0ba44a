import { type RuleGrammar, commonKeys, gateKeys, gateRules, permissionKeys } from './gateRules.ts';
import { precisionTypes } from '../../precision/language/precisionType.ts';
import type { RuleName } from './gateFile.ts';

/** A word that may be at a place of a gate file. */
export interface GateWord {
  label: string;
  about: string;
  /** A key, or a value behind one. */
  kind: 'key' | 'value';
}

/** The words that may be at an offset: keys of the table there, or values of the key before it. */
export function completeGate(text: string, offset: number): GateWord[] {
  const path = gatePath(text, offset);
  const [top, second, key] = path.keys;
  if (path.value) return valuesOf(path.keys);
  if (top === undefined) return keys(gateKeys);
  if (top === 'allow') return keys(permissionKeys);
  if (top !== 'rules') return [];
  if (second === undefined)
    return keys(Object.fromEntries(Object.entries(gateRules).map(([name, { about }]) => [name, about])));
  const grammar = grammarOf(second);
  return grammar === undefined || key !== undefined ? [] : keys(keysOf(grammar));
}

/** What the word at an offset means; null if it is not a word of gate files. */
export function hoverGate(text: string, offset: number): { about: string; from: number; to: number } | null {
  const isWord = (at: number) => /[\w]/.test(text.charAt(at));
  let from = offset;
  while (from > 0 && isWord(from - 1)) from -= 1;
  let to = offset;
  while (to < text.length && isWord(to)) to += 1;
  const word = text.slice(from, to);
  const found = completeGate(text, from).find(({ label }) => label === word);
  return found && found.about !== '' ? { about: found.about, from, to } : null;
}

const keys = (known: Readonly<Record<string, string>>): GateWord[] =>
  Object.entries(known).map(([label, about]) => ({ label, about, kind: 'key' }));

const grammarOf = (name: string): RuleGrammar | undefined =>
  Object.hasOwn(gateRules, name) ? gateRules[name as RuleName] : undefined;

function keysOf(grammar: RuleGrammar): Record<string, string> {
  const own = Object.entries(grammar.keys ?? {}).map(([name, { about }]) => [name, about]);
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    ...(grammar.words && { is: grammar.about }),
    ...Object.fromEntries(Object.entries(grammar.settings ?? {}).map(([name, { about }]) => [name, about])),
    ...commonKeys,
  };
}

function valuesOf([top, rule = '', key]: readonly string[]): GateWord[] {
  const value = (label: string): GateWord => ({ label, about: '', kind: 'value' });
  if (top === 'allow' && rule === 'rule')
    return Object.entries(gateRules).map(([label, { about }]) => ({ label, about, kind: 'value' }));
  const grammar = top === 'rules' ? grammarOf(rule) : undefined;
  if (key === 'optional') return ['true', 'false'].map(value);
  if (grammar?.words && (key === undefined || key === 'is')) return grammar.words.map(value);
  if (grammar?.patterns === 'type' && key !== undefined) return precisionTypes.map(value);
  const setting = Object.entries(grammar?.settings ?? {}).find(([name]) => name === key)?.[1];
  if (setting?.values) return setting.values.map(value);
  return [];
}

/** The keys above a place, outermost first, and whether the place is behind the colon of the last one. */
export function gatePath(text: string, offset: number): { keys: string[]; value: boolean } {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(lineStart, offset);
  const outer: string[] = [];
  let indent = before.length - before.trimStart().length;
  let rest = before.trimStart();
  if (rest.startsWith('- ')) {
    indent += 1;
    rest = rest.slice(2);
  }
  // Lines above with less indentation hold the tables that this line is in.
  for (const line of text.slice(0, lineStart).split('\n').slice(0, -1).toReversed()) {
    const content = line.trim();
    const own = line.length - line.trimStart().length;
    if (content === '' || content.startsWith('#') || own >= indent) continue;
    const keyIndent = content.startsWith('- ') ? own + 2 : own;
    if (keyIndent >= indent) {
      // The first key of the same list item.
      indent = own;
      continue;
    }
    const key = /^(?:- )?\s*("[^"]*"|'[^']*'|[^\s:#,{}[\]]+)\s*:/.exec(content)?.[1];
    if (key !== undefined) outer.unshift(plain(key));
    indent = own;
    if (own === 0) break;
  }
  return flowPath(rest, outer);
}

/** Goes on through the flow tables of one line: `reformats: { max: 6, mic`. */
function flowPath(line: string, outer: string[]): { keys: string[]; value: boolean } {
  const path = [...outer];
  const depth: number[] = [];
  let value = false;
  for (const [token] of line.matchAll(/"[^"]*"|'[^']*'|[{}[\],:]|#.*$|[^\s{}[\],:"']+/g)) {
    if (token === ':') value = true;
    else if (token === '{' || token === '[') {
      depth.push(path.length);
      value = false;
    } else if (token === '}' || token === ']') {
      path.length = depth.pop() ?? path.length;
      value = true;
    } else if (token === ',') {
      path.length = depth.at(-1) ?? path.length;
      value = false;
    } else if (!value) {
      path.length = depth.at(-1) ?? outer.length;
      path.push(plain(token));
    }
  }
  // A word that is still being typed is no key yet.
  if (!value && path.length > (depth.at(-1) ?? outer.length)) path.pop();
  return { keys: path, value };
}

const plain = (key: string): string => key.replaceAll(/^["']|["']$/g, '');
