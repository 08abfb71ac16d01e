import type { Bench } from './bench.ts';
import type { MeasurePlan } from './windows.ts';

// The result of a row: a figure, what it is compared with, and its two targets.

export interface Line {
  quantity: string;
  /** Our measured figure, in words with a unit. */
  ours: string;
  /** The figure that it is compared with. */
  baseline: string;
  /** The value that the targets refer to; null if the row has no target. */
  value: number | null;
  /** The text after the value. */
  unit: string;
  better: 'higher' | 'lower';
  must: number | null;
  /** A better value, worth aiming at but not promised. */
  stretch: number | null;
}

export interface Row {
  id: string;
  about: string;
  /** Runs only if it is named. */
  long?: boolean;
  measure(bench: Bench, plan: MeasurePlan): Promise<Line[]>;
}

export type TargetGrade = 'stretch' | 'target' | 'within slack' | 'short' | 'info';

/** Machines vary from minute to minute; a figure this close to its target counts as met. */
const SLACK = 1.2;

export function gradeOf({ value, better, must, stretch }: Line): TargetGrade {
  if (value === null || must === null) return 'info';
  if (Number.isNaN(value)) return 'short';
  const meets = (target: number) => (better === 'higher' ? value >= target : value <= target);
  if (stretch !== null && meets(stretch)) return 'stretch';
  if (meets(must)) return 'target';
  return meets(better === 'higher' ? must / SLACK : must * SLACK) ? 'within slack' : 'short';
}

export const us = (value: number): string => `${value.toFixed(0)} us`;
export const ms = (value: number): string => `${value.toFixed(2)} ms`;
export const info = (quantity: string, ours: string, baseline = ''): Line => ({
  quantity,
  ours,
  baseline,
  value: null,
  unit: '',
  better: 'lower',
  must: null,
  stretch: null,
});
