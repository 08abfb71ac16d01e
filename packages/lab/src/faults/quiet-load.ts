import { sleepUnlessAborted } from '../fixture/sleep-unless-aborted.ts';
import { chance } from '../terminal/chance.ts';
import type { Load } from './caller-load.ts';
import type { CallersOptions } from './caller-options.ts';
import { callers } from './callers.ts';

const EVERY_MS = 1_000;

/**
 * Each account asks a poll about every second, whether or not its earlier ones were answered: callers that wait for an
 * answer before they ask again would ask less while polls are slow. The seed decides when and what each one asks.
 */
export function startQuietLoad(options: Omit<CallersOptions, 'chance'>, seed: string): Load {
  const over = new AbortController();
  const all = options.accounts.map(async (account, i) => {
    const draw = chance(`${seed}|quiet ${i}`);
    const asked: Promise<void>[] = [];
    const pause = (ms: number) => sleepUnlessAborted(ms, over.signal);
    await pause(draw.between(0, EVERY_MS));
    while (!over.signal.aborted) {
      // How often a poll is retried must not change what is asked next.
      const own = chance(`${seed}|quiet ${i}|${asked.length}`);
      asked.push(callers({ ...options, accounts: [account], chance: own })('sync'));
      await pause(EVERY_MS * draw.between(0.75, 1.25));
    }
    await Promise.all(asked);
  });
  const done = Promise.all(all).then(() => undefined);
  done.catch(() => undefined);
  return {
    finish() {
      over.abort();
      return done;
    },
  };
}
