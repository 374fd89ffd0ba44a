import arrowDown from '../../icons/arrow-down.svg';
import arrowUp from '../../icons/arrow-up.svg';
import chevronDown from '../../icons/chevron-down.svg';
import close from '../../icons/close.svg';
import collapse from '../../icons/collapse-all.svg';
import fit from '../../icons/screen-full.svg';
import flat from '../../icons/list-flat.svg';
import help from '../../icons/question.svg';
import png from '../../icons/file-media.svg';
import svg from '../../icons/file-code.svg';
import zoomIn from '../../icons/zoom-in.svg';
import zoomOut from '../../icons/zoom-out.svg';
import { element } from '../../../shared/element.ts';

const icons = { arrowDown, arrowUp, chevronDown, close, collapse, fit, flat, help, png, svg, zoomIn, zoomOut };
export type Icon = keyof typeof icons;

/** A button with an editor's icon; its name is for screen readers and, without a `title`, its tooltip. */
export function iconButton(
  icon: Icon,
  name: string,
  click: () => void,
  attributes: Record<string, string | number | boolean> = {},
): HTMLButtonElement {
  const made = element('button', {
    type: 'button',
    onclick: click,
    'aria-label': name,
    title: name,
    ...attributes,
    class: `icon-button ${attributes['class'] ?? ''}`.trim(),
  });
  // A parser of XML would make a document of each.
  made.append(document.createRange().createContextualFragment(icons[icon]));
  made.firstElementChild!.setAttribute('aria-hidden', 'true');
  return made;
}
