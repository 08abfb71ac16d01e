import type { Progress } from '../eloquentpoll.ts';

// Numbers for people.

/** Rounded down, so that an open outcome is never shown as certain. */
export function percentText(probability: number): string {
  const whole = Math.floor(100 * probability + 1e-9);
  if (whole < 1 && probability > 0) return 'under 1%';
  return `${probability < 1 ? Math.min(99, whole) : whole}%`;
}

export const costText = (usd: number): string => `$${usd === 0 ? '0' : usd.toFixed(usd < 0.01 ? 6 : 4)}`;

export const plural = (many: number, noun: string): string => `${many} ${noun}${many === 1 ? '' : 's'}`;

export const elapsedText = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Rounded up, for waits. */
export function durationText(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  if (ms < 60_000) return `${Math.ceil(ms / 1_000)} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

export function howFar({ received, failed, total }: Progress): string {
  return `${received} of ${total} models${failed === 0 ? '' : ` · ${failed} failed`}`;
}
