type Child = Node | string | null | false;

/** An element with attributes and children; strings become text, never markup. `on…` takes a listener, `class` a class. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number | boolean | ((event: Event) => void)> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name.replace(/^on/, ''), value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== false) made.setAttribute(name, String(value));
  }
  for (const child of children) if (child !== null && child !== false) made.append(child);
  return made;
}

/** A button with a text and what it does. */
export const button = (
  text: string,
  click: () => void,
  attributes: Record<string, string | number | boolean> = {},
): HTMLButtonElement => element('button', { type: 'button', onclick: click, ...attributes }, text);
