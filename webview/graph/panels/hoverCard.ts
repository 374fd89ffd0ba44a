import type { GraphModel } from '../view/graphModel.ts';
import { factList } from './details.ts';
import { element } from '../../shared/element.ts';
import { hoverText } from './hoverText.ts';
import type { HoverTarget } from './hoverText.ts';

/** The pointer has to rest this long, so that a card does not flicker by while it passes. */
const rest = 180;
/** Space between the card and what it is about. */
const apart = 14;

/** A rectangle of the stage that a card must leave free, in CSS pixels. */
export interface Spot {
  /** Of a box, whose neighbors above and below are where the reader goes next. */
  isBox: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The card next to the pointer or the focused box. The pointer goes through it, and it never covers its spot. */
export class HoverCard {
  static readonly id = 'graph-hover';
  readonly root = element('div', { class: 'graph-hover', id: HoverCard.id, role: 'tooltip', hidden: true });
  #timer: ReturnType<typeof setTimeout> | undefined;
  #about = '';

  /** The pointer is on something, or on nothing (null): its card comes as soon as the pointer rests, and moves with it. */
  hover(model: GraphModel, target: HoverTarget | null, spot: Spot): void {
    const about = target === null ? '' : JSON.stringify(target);
    if (about === this.#about && !this.root.hidden) this.#place(spot);
    else {
      this.hide();
      if (target !== null) this.#timer = setTimeout(() => this.show(model, target, spot), rest);
    }
  }

  /** Shows a card at once. */
  show(model: GraphModel, target: HoverTarget, spot: Spot): void {
    this.hide();
    if (model.picture === null) return;
    const text = hoverText(model, target);
    this.root.append(
      element('div', { class: 'hover-title' }, text.title),
      ...(text.name === '' ? [] : [element('div', { class: 'mono wrap' }, text.name)]),
      ...text.sentences.map((sentence) => element('p', {}, sentence)),
      ...(text.facts.length === 0 ? [] : [factList(text.facts)]),
    );
    this.#about = JSON.stringify(target);
    this.root.hidden = false;
    this.#place(spot);
  }

  hide(): void {
    clearTimeout(this.#timer);
    this.#about = '';
    this.root.hidden = true;
    // It describes the focused box: what is not seen is not to be read.
    this.root.replaceChildren();
  }

  #place({ isBox, x, y, width, height }: Spot): void {
    const { clientWidth, clientHeight } = this.root.parentElement!;
    const { offsetWidth, offsetHeight } = this.root;
    const below = y + height + apart;
    const above = y - apart - offsetHeight;
    const right = x + width + apart;
    const fitsRight = right + offsetWidth <= clientWidth;
    const atSide = (isBox && fitsRight) || (below + offsetHeight > clientHeight && above < 0);
    const left = !atSide ? x : fitsRight ? right : x - apart - offsetWidth;
    const top = atSide ? y : below + offsetHeight <= clientHeight ? below : above;
    this.root.style.setProperty('left', `${Math.max(4, Math.min(left, clientWidth - offsetWidth - 4))}px`);
    this.root.style.setProperty('top', `${Math.max(4, Math.min(top, clientHeight - offsetHeight - 4))}px`);
  }
}
