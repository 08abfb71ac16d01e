import type { Shape } from './shape.ts';

// Creates elements from data. Text is always set as text, so nothing from outside is ever parsed as markup.

type Attributes = Record<string, string | number | boolean>;

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (value !== false) made.setAttribute(key, value === true ? '' : String(value));
  made.append(...children);
  return made;
}

/**
 * Replaces the children of `place` with these shapes. An existing element of the same type at the same position is kept
 * and updated, so that bars animate and the focus is not lost.
 */
export function draw(place: Element, shapes: readonly (Shape | string)[]): void {
  for (const [i, next] of shapes.entries()) {
    const old = place.childNodes[i];
    if (typeof next === 'string') {
      if (old instanceof Text) old.data = next;
      else if (old) old.replaceWith(next);
      else place.append(next);
      continue;
    }
    const kept = old instanceof Element && old.localName === next.name ? old : create(place, next.name);
    if (kept !== old) {
      if (old) old.replaceWith(kept);
      else place.append(kept);
    }
    setAttributes(kept, next.attributes);
    draw(kept, next.children);
  }
  while (place.childNodes.length > shapes.length) place.lastChild!.remove();
}

const SVG = 'http://www.w3.org/2000/svg';

const create = (place: Element, name: string): Element =>
  name === 'svg' || place.namespaceURI === SVG ? document.createElementNS(SVG, name) : document.createElement(name);

/** `open` of a details element stays as the reader left it. */
function setAttributes(made: Element, attributes: Shape['attributes']): void {
  for (const name of made.getAttributeNames())
    if (!Object.hasOwn(attributes, name) && name !== 'open') made.removeAttribute(name);
  for (const [name, value] of Object.entries(attributes))
    if (made.getAttribute(name) !== String(value)) made.setAttribute(name, String(value));
}
