// Part of a page as a value: the result page renders it as HTML, the view of a running poll draws it into the document.
// Attributes and names are ours; texts from outside are children or values, and are escaped or set as text.

export interface Shape {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly children: readonly (Shape | string)[];
}

export const shape = (
  name: string,
  attributes: Shape['attributes'] = {},
  ...children: readonly (Shape | string)[]
): Shape => ({ name, attributes, children });

/** Keeps its own text direction, whatever surrounds it. */
export const isolated = (text: string): Shape => shape('bdi', {}, text);
