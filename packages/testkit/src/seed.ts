import { randomInt } from 'node:crypto';

// Randomised tests do the same in every run of the gate, so that a failure is caused by the change under test.
// TEST_SEED=random finds new cases (in long runs), TEST_SEED=NUMBER repeats a failed one.

const GATE_SEED = 20_260;

export const seed: number = seedFrom(process.env.TEST_SEED);

export function seedFrom(given: string | undefined): number {
  if (!given) return GATE_SEED;
  if (given === 'random') return randomInt(1, 2 ** 31);
  const number = Number(given);
  if (!Number.isInteger(number)) throw new Error(`TEST_SEED is "${given}": use a whole number, or random.`);
  return number;
}

let state = seed;

/** A whole number from 0 to `end - 1`, drawn from the seed (mulberry32). */
export function randomBelow(end: number): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
}

/** Bytes drawn from the seed. */
export const randomBuffer = (bytes: number): Buffer =>
  Buffer.from(Array.from({ length: bytes }, () => randomBelow(256)));
