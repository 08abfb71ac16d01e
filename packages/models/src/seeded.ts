import { hash } from 'node:crypto';

/**
 * Endless numbers that depend on the seed alone: a resumed poll draws the same labels, order and nonces again. One hash
 * makes the secret state, xoshiro128** draws from it.
 */
export function seededNumbers(seed: string): (below: number) => number {
  const digest = hash('sha256', seed, 'hex');
  const state = (word: number): number => Number.parseInt(digest.slice(word * 8, word * 8 + 8), 16) | 0;
  let [a, b, c, d] = [state(0), state(1), state(2), state(3) | 1];
  return (below) => {
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    // 32 bits against a bound of a few dozen: the bias of the remainder is below one in a hundred million.
    return result % below;
  };
}
