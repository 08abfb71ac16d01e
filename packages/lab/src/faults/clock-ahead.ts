/** What another clock showed between two readings of ours, which has whole milliseconds. */
export interface ClockLook {
  readonly asked: number;
  readonly other: number;
  readonly answered: number;
}

/**
 * How far the other clock is ahead. 0 if the readings allow that it is the same clock, as on one machine; otherwise the
 * middle of the range that all readings allow.
 */
export function aheadMs(looks: readonly ClockLook[]): number {
  const least = Math.max(...looks.map(({ other, answered }) => other - answered - 1));
  const most = Math.min(...looks.map(({ other, asked }) => other - asked));
  return least <= 0 && most >= 0 ? 0 : (least + most) / 2;
}
