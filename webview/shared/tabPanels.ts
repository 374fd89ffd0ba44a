export interface TabOptions<Name extends string> {
  label: string;
  names: readonly Name[];
  title(name: Name): string;
  first: Name;
  /** Called after each change. */
  changed(): void;
}

/** Tabs and their panels in `parent`, one of which is shown; arrow keys change the tab. `below` is the space between them. */
export function tabPanels<Name extends string>(parent: HTMLElement, options: TabOptions<Name>) {
  const list = document.createElement('div');
  list.className = 'tab-list';
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', options.label);
  const below = document.createElement('div');
  parent.append(list, below);
  let current = options.first;
  const panels = {} as Record<Name, HTMLElement>;
  const tabs = options.names.map((name) => {
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.id = `tab-${name}`;
    tab.textContent = options.title(name);
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-controls', `panel-${name}`);
    tab.addEventListener('click', () => choose(name));
    list.append(tab);
    const panel = document.createElement('div');
    panel.id = `panel-${name}`;
    panel.className = 'tab-panel';
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', tab.id);
    parent.append(panel);
    panels[name] = panel;
    return { name, tab };
  });
  const show = () => {
    for (const { name, tab } of tabs) {
      tab.setAttribute('aria-selected', String(name === current));
      tab.tabIndex = name === current ? 0 : -1;
      panels[name].hidden = name !== current;
    }
  };
  const choose = (name: Name) => {
    if (name === current) return;
    current = name;
    show();
    options.changed();
  };
  list.addEventListener('keydown', (event) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const at = (options.names.indexOf(current) + by + options.names.length) % options.names.length;
    choose(options.names[at]!);
    tabs[at]?.tab.focus();
  });
  show();
  return { below, panels, choose, current: () => current };
}
