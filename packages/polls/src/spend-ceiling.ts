// The maximum that model providers may charge the whole fleet per hour and day.

export interface ProviderSpendLimits {
  /** Null if the operator sets none. */
  readonly hourU: bigint | null;
  readonly dayU: bigint | null;
  /** The share of both limits that may be spent on polls that callers do not pay for. */
  readonly freeShare: number;
}

/** The share of both limits up to which flex polls may fill the ceiling. The rest is for polls whose callers wait. */
const FLEX_PPM = 800_000n;

const DEFAULT = { hourU: 200_000_000n, dayU: 2_000_000_000n };

/** Undefined if there is no ceiling. Simulated models charge nothing, so they have one only if an operator sets it. */
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
