import { strings } from '../shared/strings.ts';

/** The two ways to see a build. */
export type FusionTab = 'charts' | 'table';

const names: readonly FusionTab[] = ['charts', 'table'];

/** Tabs and their panels, one of which is shown; arrow keys change the tab. `below` is the space between tabs and panels, `changed` is called after each change. */
export function fusionTabs(parent: HTMLElement, first: FusionTab, changed: () => void) {
  const list = document.createElement('div');
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', strings.fusion.tabs.label);
  const below = document.createElement('div');
  parent.append(list, below);
  let current = first;
  const parts = names.map((name) => {
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.id = `fusion-tab-${name}`;
    tab.textContent = strings.fusion.tabs[name];
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-controls', `fusion-panel-${name}`);
    tab.addEventListener('click', () => choose(name));
    list.append(tab);
    const panel = document.createElement('div');
    panel.id = `fusion-panel-${name}`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', tab.id);
    parent.append(panel);
    return { name, tab, panel };
  });
  const show = () => {
    for (const { name, tab, panel } of parts) {
      tab.setAttribute('aria-selected', String(name === current));
      tab.tabIndex = name === current ? 0 : -1;
      panel.hidden = name !== current;
    }
  };
  const choose = (name: FusionTab) => {
    if (name === current) return;
    current = name;
    show();
    changed();
  };
  list.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    event.preventDefault();
    choose(current === 'charts' ? 'table' : 'charts');
    parts.find(({ name }) => name === current)?.tab.focus();
  });
  show();
  const [charts, table] = parts;
  return { below, panels: { charts: charts!.panel, table: table!.panel }, current: () => current };
}
