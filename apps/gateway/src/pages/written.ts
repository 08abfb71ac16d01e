import type { Shape } from './browser/shape.ts';
import { type Html, html } from './html.ts';

/** Renders shapes as HTML. In the browser, the view of a running poll draws the same shapes. */
export const written = (shapes: readonly (Shape | string)[]): Html =>
  html`${shapes.map((each) => (typeof each === 'string' ? html`${each}` : elementOf(each)))}`;

const elementOf = ({ name, attributes, children }: Shape): Html =>
  html`<${name}${Object.entries(attributes).map(([key, value]) => html` ${key}="${value}"`)}>${written(children)}${
    VOID.has(name) ? '' : html`</${name}>`
  }`;

const VOID = new Set(['br', 'hr', 'img', 'input']);
