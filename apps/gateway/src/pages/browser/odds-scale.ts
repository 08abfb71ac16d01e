// Where things are in the chart of odds: votes in percent of its width, chances in pixels of its height.

export const HEIGHT = 236;
export const TOP = 12;
export const BOTTOM = 196;

export const yOf = (chance: number): number => Number((BOTTOM - (BOTTOM - TOP) * chance).toFixed(1));

export const xOf = (received: number, panelSize: number): string =>
  `${(1 + (98 * received) / Math.max(1, panelSize)).toFixed(2)}%`;

/** The vote that is nearest to a place, given as a part of the width. */
export const receivedAt = (part: number, panelSize: number): number =>
  Math.min(panelSize, Math.max(0, Math.round(((part - 0.01) / 0.98) * panelSize)));

export function shortened(name: string, longest: number): string {
  const characters = [...name];
  return characters.length <= longest ? name : `${characters.slice(0, longest - 1).join('')}…`;
}
