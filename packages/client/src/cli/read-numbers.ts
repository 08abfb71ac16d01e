import { UsageError } from './usage-error.ts';

// Reads numbers and days from the command line. Errors name the value that was probably meant.

export function threshold(text: string): number {
  const value = decimal('--threshold', text);
  if (value <= 1) return value;
  const meant = value <= 100 ? ` Did you mean ${value / 100}?` : '';
  throw new UsageError(`--threshold must be 0 to 1.${meant}`);
}

export function dollars(text: string, most: number): number {
  const value = decimal('--max-cost', text.replace(/^\$/, ''));
  if (value > 0 && value <= most) return value;
  throw new UsageError(`--max-cost must be more than 0 and at most ${most} dollars.`);
}

export function amount(name: string, text: string): number {
  return decimal(name, text.replace(/^\$/, ''));
}

function decimal(name: string, text: string): number {
  const value = /^\d*\.?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw new UsageError(`${name} must be a number such as 0.5.`);
  return value;
}

/** Whether the calendar has the day. `Date` takes February 31 for March 3. */
export function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

interface Range {
  least: number;
  most: number;
  otherwise: number;
}

export function whole(name: string, text: string | undefined, { least, most, otherwise }: Range): number {
  if (text === undefined) return otherwise;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most))
    throw new UsageError(`${name} must be a whole number from ${least} to ${most}.`);
  return value;
}
