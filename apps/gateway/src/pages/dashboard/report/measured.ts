import type { MeasuredMean, MeasuredShare } from '@eloquentpoll/contracts';
import { percent, usd } from '../../figures.ts';
import { type Html, html } from '../../html.ts';
import { interval } from '../../trust/trust-tables.ts';

type Measured = Pick<MeasuredShare, 'share' | 'low' | 'high'>;

/** A share with its interval under it. */
export const measured = (share: Measured, digits = 0): Html =>
  html`${percent(share.share, digits)}${share.share === null ? '' : html`<span class="muted small under">${interval(share)}</span>`}`;

export const perRight = ({ mean, low, high }: MeasuredMean): Html =>
  html`${usd(mean)}${low === null || high === null ? '' : html`<span class="muted small under">${usd(low)} to ${usd(high)}</span>`}`;

/** A difference of two shares, in points, with its sign. */
export function signedPoints(difference: number | null): string {
  if (difference === null) return percent(null);
  const text = Math.abs(100 * difference).toFixed(1);
  if (text === '0.0') return '0.0';
  return `${difference > 0 ? '+' : '−'}${text}`;
}
