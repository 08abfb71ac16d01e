import type { Stage } from './stage.ts';
import type { WindowPlan } from './windows.ts';

// What a row says: a figure, what it is compared with, and the two targets that it has.

export interface Line {
  quantity: string;
  /** What was measured of ours, in words with a unit. */
  ours: string;
  /** What it is held against. */
  anchor: string;
  /** What the targets are about; null where the row has no target. */
  value: number | null;
  /** How the value is written. */
  unit: string;
  better: 'higher' | 'lower';
  must: number | null;
  moonshot: number | null;
}

export interface Row {
  id: string;
  about: string;
  /** Left out of a run that does not name it. */
  long?: boolean;
  measure(stage: Stage, course: WindowPlan): Promise<Line[]>;
}

export type TargetGrade = 'moonshot' | 'must' | 'within slack' | 'short' | 'info';

/** Machines differ from minute to minute; a figure this close to its target has met it. */
const SLACK = 1.2;

export function gradeOf({ value, better, must, moonshot }: Line): TargetGrade {
  if (value === null || must === null) return 'info';
  if (Number.isNaN(value)) return 'short';
  const meets = (target: number) => (better === 'higher' ? value >= target : value <= target);
  if (moonshot !== null && meets(moonshot)) return 'moonshot';
  if (meets(must)) return 'must';
  return meets(better === 'higher' ? must / SLACK : must * SLACK) ? 'within slack' : 'short';
}

export const us = (value: number): string => `${value.toFixed(0)} us`;
export const ms = (value: number): string => `${value.toFixed(2)} ms`;
export const info = (quantity: string, ours: string, anchor = ''): Line => ({
  quantity,
  ours,
  anchor,
  value: null,
  unit: '',
  better: 'lower',
  must: null,
  moonshot: null,
});
