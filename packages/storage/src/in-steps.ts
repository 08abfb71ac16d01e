import { tookTooLong } from './errors.ts';

// Work in short transactions, each of which may fail independently of the others.

/** Runs all steps even if some fail, then throws the first failure. Returns the sum of their results. */
export async function inSteps(steps: readonly (() => Promise<number>)[]): Promise<number> {
  const failures: unknown[] = [];
  let done = 0;
  for (const step of steps)
    await step().then(
      (count) => {
        done += count;
      },
      (error: unknown) => {
        failures.push(error);
      },
    );
  if (failures.length > 0) throw failures[0];
  return done;
}

/**
 * Repeats `step` while it does a full portion, up to about `limit`; returns how much was done. If a portion takes longer
 * than a statement may, portions become smaller: the same one would fail each time. The limit becomes smaller with them,
 * so that there are not more steps.
 */
export async function untilShort(
  limit: number,
  atOnce: number,
  step: (atOnce: number) => Promise<number>,
): Promise<number> {
  let done = 0;
  let portion = atOnce;
  let most = limit;
  while (done < most) {
    try {
      const last = await step(portion);
      done += last;
      if (last < portion) break;
    } catch (error) {
      if (portion === 1 || !tookTooLong(error)) throw error;
      portion = Math.ceil(portion / SMALLER);
      most = Math.ceil(most / SMALLER);
    }
  }
  return done;
}

const SMALLER = 4;
