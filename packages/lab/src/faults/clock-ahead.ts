/** What another clock said between two looks at ours, which shows whole milliseconds. */
export interface ClockLook {
  readonly asked: number;
  readonly other: number;
  readonly answered: number;
}

/**
 * How far the other clock is ahead: nothing where it may be the same clock, which it is on one machine, however late its
 * answers came. Else the middle of what all looks allow.
 */
export function aheadMs(looks: readonly ClockLook[]): number {
  const least = Math.max(...looks.map(({ other, answered }) => other - answered - 1));
  const most = Math.min(...looks.map(({ other, asked }) => other - asked));
  return least <= 0 && most >= 0 ? 0 : (least + most) / 2;
}
