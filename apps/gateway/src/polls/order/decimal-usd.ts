/** Micro-USD as a decimal, exact to the last digit; at least two places, and no zeros that say nothing. */
export function decimalUsd(microUsd: bigint): string {
  const size = microUsd < 0n ? -microUsd : microUsd;
  const places = (size % 1_000_000n)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${microUsd < 0n ? '-' : ''}${size / 1_000_000n}.${places}`;
}
