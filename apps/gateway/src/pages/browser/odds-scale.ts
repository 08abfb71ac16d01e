// Positions in the odds chart: votes in percent of its width, chances in pixels of its height.

export const HEIGHT = 236;
export const TOP = 12;
export const BOTTOM = 196;

export const yOf = (chance: number): number => Number((BOTTOM - (BOTTOM - TOP) * chance).toFixed(1));

export const xOf = (received: number, panelSize: number): string =>
  `${(1 + (98 * received) / Math.max(1, panelSize)).toFixed(2)}%`;

/** The number of votes at a horizontal position, which is given as a fraction of the width. */
export const receivedAt = (part: number, panelSize: number): number =>
  Math.min(panelSize, Math.max(0, Math.round(((part - 0.01) / 0.98) * panelSize)));

export function shortened(name: string, longest: number): string {
  const characters = [...name];
  return characters.length <= longest ? name : `${characters.slice(0, longest - 1).join('')}…`;
}

/** Cuts a name to a width in pixels, so that the ellipsis itself is never cut off. */
export function cutToWidth(name: string, width: number): string {
  const characters = [...name];
  const widths = characters.map(widthOf);
  if (sum(widths) <= width) return name;
  while (widths.length > 0 && sum(widths) + ELLIPSIS_WIDTH > width) widths.pop();
  return `${characters.slice(0, widths.length).join('')}…`;
}

const sum = (widths: readonly number[]): number => widths.reduce((all, one) => all + one, 0);

const ELLIPSIS_WIDTH = 10;

/** Estimated width of a bold character at 12 pixels, rather too wide than too narrow. */
function widthOf(character: string): number {
  if (/[ .,:;!|'()[\]fijltrI]/.test(character)) return 4.5;
  if (/[mwMW@%]/.test(character) || character > '\u{10ff}') return 12;
  return /[A-Z]/.test(character) ? 9 : 7.6;
}
