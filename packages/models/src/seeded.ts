import { createHash } from 'node:crypto';

/** Endless numbers that depend on the seed alone: a resumed poll draws the same labels, order and nonces again. */
export function seededNumbers(seed: string): (below: number) => number {
  let block = Buffer.alloc(0);
  let used = 0;
  let count = 0;
  return (below) => {
    // 32 bits against a bound of at most a few hundred: the bias of the remainder is below one in ten million.
    if (used + 4 > block.length) {
      block = createHash('sha256').update(`${seed}\n${count}`).digest();
      count += 1;
      used = 0;
    }
    const value = block.readUInt32BE(used);
    used += 4;
    return value % below;
  };
}

export function shuffled<T>(items: readonly T[], next: (below: number) => number): T[] {
  const result = [...items];
  for (let i = result.length - 1; i > 0; i -= 1) {
    const j = next(i + 1);
    [result[i], result[j]] = [result[j]!, result[i]!];
  }
  return result;
}
