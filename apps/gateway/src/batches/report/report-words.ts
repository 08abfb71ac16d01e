import type { MeasuredShare } from '@eloquentpoll/contracts';

// Formats figures for sentences.

/** Rounded to the nearest, but a share below 1 is never 100%. */
export function percentText(share: number, digits = 1): string {
  const shown = (100 * share).toFixed(digits);
  return `${share < 1 && Number(shown) >= 100 ? (100 - 10 ** -digits).toFixed(digits) : shown}%`;
}

export const sharePercent = ({ share, low, high }: MeasuredShare): string =>
  share === null ? 'none' : `${percentText(share)} (95% interval ${rangeOf(low!, high!, percentText)})`;

/** A difference between two shares. */
export const points = (difference: number): string => {
  const value = (100 * difference).toFixed(1);
  return `${value === '-0.0' ? '0.0' : value} points`;
};

export const rangeOf = (low: number, high: number, as: (value: number) => string): string =>
  `${as(low)} to ${as(high)}`;

export const count = (of: number, what: string): string =>
  `${of.toLocaleString('en-US')} ${what}${of === 1 ? '' : 's'}`;
