import type { MeasuredMean, MeasuredShare } from '@eloquentpoll/contracts';
import { percent, usd } from '../../figures.ts';
import { type Html, html } from '../../html.ts';

type Measured = Pick<MeasuredShare, 'share' | 'low' | 'high'>;

/** A share with its interval below it. */
export const measured = (share: Measured, digits = 1): Html =>
  html`${percent(share.share, digits)}${share.share === null ? '' : html`<span class="muted small under">${between(share, digits)}</span>`}`;

export const between = ({ low, high }: Pick<Measured, 'low' | 'high'>, digits = 1): string =>
  `${percent(low, digits)} to ${percent(high, digits)}`;

export const perRight = ({ mean, low, high }: MeasuredMean): Html =>
  html`${usd(mean)}${low === null || high === null ? '' : html`<span class="muted small under">${usd(low)} to ${usd(high)}</span>`}`;

/** The difference of two shares in percentage points, with its sign. */
export function signedPoints(difference: number | null): string {
  if (difference === null) return percent(null);
  const text = Math.abs(100 * difference).toFixed(1);
  if (text === '0.0') return '0.0';
  return `${difference > 0 ? '+' : '−'}${text}`;
}
