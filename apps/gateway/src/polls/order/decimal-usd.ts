/** Micro-USD as an exact decimal: at least two places, without trailing zeros beyond them. */
export function decimalUsd(microUsd: bigint): string {
  const size = microUsd < 0n ? -microUsd : microUsd;
  const places = (size % 1_000_000n)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${microUsd < 0n ? '-' : ''}${size / 1_000_000n}.${places}`;
}
