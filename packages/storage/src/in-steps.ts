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

/** Repeats `step` while it does a full portion, up to about `limit`; returns how much was done. */
export async function untilShort(
  limit: number,
  atOnce: number,
  step: (atOnce: number) => Promise<number>,
): Promise<number> {
  let done = 0;
  for (let last = atOnce; last >= atOnce && done < limit; done += last) last = await step(atOnce);
  return done;
}
