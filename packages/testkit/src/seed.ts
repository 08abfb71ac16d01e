import { randomInt } from 'node:crypto';

// Randomised tests do the same in every run of the gate, so that a failure belongs to the change that is tested.
// TEST_SEED=random finds new cases (long runs), TEST_SEED=NUMBER repeats one that failed.

const GATE_SEED = 20_260;

export const seed: number = seedFrom(process.env.TEST_SEED);

export function seedFrom(given: string | undefined): number {
  if (!given) return GATE_SEED;
  if (given === 'random') return randomInt(1, 2 ** 31);
  const number = Number(given);
  if (!Number.isInteger(number)) throw new Error(`TEST_SEED is "${given}": use a whole number, or random.`);
  return number;
}
