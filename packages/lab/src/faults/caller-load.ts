import { chance, weightedName } from '../terminal/chance.ts';
import type { CallersOptions } from './caller-options.ts';
import { callers } from './callers.ts';
import type { Kind } from './operations.ts';

export interface Load {
  /** Callers start nothing new; resolves when each has its answer or has given up. */
  finish(): Promise<void>;
}

/** Runs so many callers at once; each starts a new operation as soon as it has its answer. */
export function startLoad(
  options: Omit<CallersOptions, 'chance'>,
  kinds: Partial<Record<Kind, number>>,
  atOnce: number,
  seed: string,
): Load {
  let over = false;
  const all = Array.from({ length: atOnce }, async (_, i) => {
    const draw = chance(`${seed}|caller ${i}`);
    const call = callers({ ...options, chance: draw });
    while (!over) await call(weightedName(kinds, draw));
  });
  const done = Promise.all(all).then(() => undefined);
  done.catch(() => undefined);
  return {
    finish() {
      over = true;
      return done;
    },
  };
}
