import { hash } from 'node:crypto';

/**
 * An endless sequence of numbers that depends only on the seed: a resumed poll draws the same labels, order and nonces
 * again. A hash produces the secret state, and xoshiro128** draws from it.
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
    // With 32 bits and a bound of a few dozen, the modulo bias is below one in a hundred million.
    return result % below;
  };
}
