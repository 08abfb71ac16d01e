// Formats numbers. An unknown value is a dash with a label for screen readers.

const DASH = '–';

/** Rounded to the nearest, but a rate below 1 never shows as 100%. */
export function percent(rate: number | null, digits = 0): string {
  if (rate === null) return DASH;
  const shown = (100 * rate).toFixed(digits);
  return `${rate < 1 && Number(shown) >= 100 ? (100 - 10 ** -digits).toFixed(digits) : shown}%`;
}

export const seconds = (ms: number | null): string => (ms === null ? DASH : `${Number((ms / 1_000).toPrecision(2))} s`);

/** Three significant digits without exponents, as in `$0.00123`; whole cents from one dollar up. */
export function usd(amount: number | null): string {
  if (amount === null) return DASH;
  if (amount === 0) return '$0';
  const digits = Math.max(2, 2 - Math.floor(Math.log10(Math.abs(amount))));
  return `$${amount.toFixed(Math.min(digits, 8))}`;
}

/** Like `usd`, but rounded down, for an amount that is available in full. */
export function usdDown(amount: number): string {
  const shown = usd(amount);
  const digits = shown.includes('.') ? shown.length - shown.indexOf('.') - 1 : 0;
  const floor = Math.floor(Number((amount * 10 ** digits).toPrecision(15))) / 10 ** digits;
  return usd(floor);
}

/** A list price in micro-USD per million tokens, as dollars. */
export function perMillion(microUsd: bigint): string {
  const [dollars, digits = ''] = String(Number(microUsd) / 1_000_000).split('.');
  return `$${dollars}.${digits.padEnd(2, '0')}`;
}

export const whole = (count: number): string => count.toLocaleString('en-US');

/** The period that figures cover, in words. */
export const windowText = ({ from, days, isWhole }: { from: Date; days: number; isWhole: boolean }): string =>
  isWhole ? `of the last ${days} days` : `since ${moment(from)}`;

/** Date and minute in UTC. */
export const moment = (date: Date): string => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
