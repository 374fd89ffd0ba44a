import { type BuildComparison, type Change, changeStates } from '../../src/kernel/report/buildDiff.ts';
import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import { type ChangeGroup, evidenceOf, toChangeGroups } from '../../src/features/diff/changeRows.ts';
import { deltaText, thousands } from '../../src/kernel/base/text.ts';
import { strings } from '../shared/strings.ts';
import { statePaint } from './statePaint.ts';

const texts = strings.compare;
const page = 100;
/** What the sentence is about: the names in front of its first colon. */
const subjectOf = ({ message }: Pick<Change, 'message'>): string =>
  message.slice(0, Math.max(0, message.indexOf(': '))) || message;

/** Layers and single changes that one entry names. */
const mostNamed = 12;

/** The changes, what costs most first; the selected one shows its evidence of both sides, and its members. */
export function changeList(
  parent: HTMLElement,
  events: { select(changes: readonly Change[]): void; openLine(side: 'a' | 'b', line: number): void },
) {
  const make = <K extends keyof HTMLElementTagNameMap>(tag: K, name: string, text = ''): HTMLElementTagNameMap[K] => {
    const element = document.createElement(tag);
    element.className = name;
    element.textContent = text;
    return element;
  };
  const title = make('h2', '', texts.list.title);
  const list = make('ol', 'change-list');
  const more = make('button', 'more');
  more.type = 'button';
  parent.append(title, list, more);
  let groups: ChangeGroup[] = [];
  let reports: { before: FusionReport; after: FusionReport } | null = null;
  let selected: ReadonlySet<Change> = new Set();
  let room = page;
  /** Members of the selected group that are named. */
  let named = mostNamed;

  function draw(): void {
    title.textContent = texts.list.titled(
      groups.length,
      groups.some(({ deltaMs }) => deltaMs !== null),
    );
    list.replaceChildren(...groups.slice(0, room).map(entry));
    more.hidden = groups.length <= room;
    more.textContent = texts.list.more(groups.length - room);
    if (groups.length === 0) list.replaceChildren(make('li', 'muted', texts.list.none));
  }

  const isOn = ({ changes }: ChangeGroup): boolean => changes.some((change) => selected.has(change));

  function entry(group: ChangeGroup): HTMLLIElement {
    const item = make('li', '');
    const button = make('button', 'change');
    button.type = 'button';
    const { sign, label } = changeStates[group.state];
    const mark = make('span', 'sign', sign);
    mark.title = label;
    mark.setAttribute('aria-label', label);
    mark.setAttribute('role', 'img');
    mark.style.setProperty('--state', statePaint(group.state === 'unknown' ? null : group.state));
    const delta = make('b', 'delta', group.deltaMs === null ? '' : deltaText(group.deltaMs));
    delta.classList.toggle('slower', (group.deltaMs ?? 0) > 0);
    const times = group.changes.length > 1 ? `${thousands(group.changes.length)} × ` : '';
    const sentence = make('span', 'sentence');
    const subject = subjectOf({ message: group.sentence });
    sentence.append(make('b', ''), ...breakable(group.sentence.slice(subject.length)));
    sentence.firstElementChild!.append(...breakable(`${times}${subject}`));
    button.append(mark, delta, sentence);
    const on = isOn(group);
    button.setAttribute('aria-pressed', String(on));
    button.addEventListener('click', () => events.select(on ? [] : group.changes));
    item.append(button);
    if (on) item.append(evidence(group));
    return item;
  }

  function evidence({ first, changes }: ChangeGroup): HTMLElement {
    const box = make('div', 'change-evidence');
    const one = changes.find((change) => selected.size === 1 && selected.has(change)) ?? first;
    box.append(make('p', 'muted', `${one.exact ? texts.list.exact : texts.list.derived}`));
    const facts = reports === null ? [] : evidenceOf(one, reports.before, reports.after);
    const lines = make('ul', '');
    for (const { side, text, line } of facts.slice(0, mostNamed)) {
      const item = make('li', '');
      item.append(make('b', 'badge', side.toUpperCase()), make('span', 'mono', text));
      if (line !== null) {
        const open = make('button', 'link', texts.list.line(line));
        open.type = 'button';
        open.addEventListener('click', () => events.openLine(side, line));
        item.append(open);
      }
      lines.append(item);
    }
    if (facts.length > mostNamed) lines.append(make('li', 'muted', texts.list.moreLayers(facts.length - mostNamed)));
    box.append(lines);
    if (changes.length > 1) {
      const members = make('ul', 'members');
      for (const change of changes.slice(0, named)) {
        const time = change.deltaMs === null ? '' : ` ${deltaText(change.deltaMs)}`;
        const button = make('button', 'link', `${subjectOf(change)}${time}`);
        button.type = 'button';
        button.addEventListener('click', () => events.select([change]));
        const item = make('li', '');
        item.append(button);
        members.append(item);
      }
      if (changes.length > named) {
        const rest = make('button', 'link', texts.list.moreMembers(changes.length - named));
        rest.type = 'button';
        rest.addEventListener('click', () => {
          named += page;
          draw();
        });
        const item = make('li', '');
        item.append(rest);
        members.append(item);
      }
      box.append(members);
    }
    return box;
  }

  more.addEventListener('click', () => {
    room += page;
    draw();
  });
  list.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const all = [...list.querySelectorAll<HTMLElement>('.change')];
    const at = all.findIndex((button) => button === document.activeElement);
    const next = all[at + (event.key === 'ArrowDown' ? 1 : -1)];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    next.focus();
  });

  return {
    show(comparison: BuildComparison, after: FusionReport): void {
      groups = toChangeGroups(comparison);
      reports = { before: comparison.before, after };
      selected = new Set();
      room = page;
      draw();
    },
    /** Marks the changes that are selected, and shows the first of them. */
    mark(changes: ReadonlySet<Change>): void {
      const before = groups.find(isOn);
      selected = changes;
      if (groups.find(isOn) !== before) named = mostNamed;
      const first = groups.findIndex((group) => group.changes.some((change) => changes.has(change)));
      if (first >= room) room = first + 1;
      const index = [...list.querySelectorAll('.change')].findIndex((button) => button === document.activeElement);
      draw();
      const buttons = list.querySelectorAll<HTMLElement>('.change');
      if (index >= 0) buttons[index]?.focus();
      if (first >= 0) buttons[first]?.scrollIntoView({ block: 'nearest' });
    },
  };
}

/** Names longer than this, in characters, take one line at most. */
const longest = 28;

/**
 * The parts of a sentence with names in it: paths may break in front of their slashes, and a longer name without any is cut
 * where the line ends, with all of it as its title. The text stays the same.
 */
function breakable(sentence: string): Node[] {
  return sentence.split(/(?<=\s)/).flatMap((word): Node[] => {
    const name = word.trimEnd();
    if (name.length <= longest) return [document.createTextNode(word)];
    if (name.includes('/')) {
      const parts = name
        .split(/(?=\/)/)
        .flatMap((part) => [document.createElement('wbr'), document.createTextNode(part)]);
      return [...parts, document.createTextNode(word.slice(name.length))];
    }
    const cut = document.createElement('span');
    cut.className = 'cut-name';
    cut.textContent = name;
    cut.title = name;
    return [cut, document.createTextNode(word.slice(name.length))];
  });
}
