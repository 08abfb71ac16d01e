// What model providers may charge the whole fleet per hour and day, whatever its callers do.

export interface ProviderSpendLimits {
  /** Null where the operator names none. */
  readonly hourU: bigint | null;
  readonly dayU: bigint | null;
  /** The part of both that what callers do not pay for may come to. */
  readonly freeShare: number;
}

/** Of both, what flex polls may bring the fleet to: the rest is for polls whose callers wait. */
const FLEX_PPM = 800_000n;

const DEFAULT = { hourU: 200_000_000n, dayU: 2_000_000_000n };

/** Undefined where there is none: simulated models charge nothing unless an operator plays that they do. */
export function spendCeiling(
  { hourU, dayU, freeShare }: ProviderSpendLimits,
  simulated: boolean,
  share: 'all' | 'free' | 'flex',
): { hourU: bigint; dayU: bigint } | undefined {
  if (simulated && hourU === null && dayU === null) return undefined;
  const sharePpm = { all: 1_000_000n, free: BigInt(Math.round(freeShare * 1_000_000)), flex: FLEX_PPM }[share];
  const part = (amountU: bigint) => (amountU * sharePpm) / 1_000_000n;
  return { hourU: part(hourU ?? DEFAULT.hourU), dayU: part(dayU ?? DEFAULT.dayU) };
}
