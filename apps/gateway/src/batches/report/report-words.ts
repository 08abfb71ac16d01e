import type { MeasuredShare } from '@eloquentpoll/contracts';

// Formats figures for sentences.

export const percentText = (share: number, digits = 1): string => `${(100 * share).toFixed(digits)}%`;

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
