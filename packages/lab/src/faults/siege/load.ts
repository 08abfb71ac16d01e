import { type Chance, chance } from '../../terminal/chance.ts';
import { type CallersOptions, callers } from './callers.ts';
import type { Kind } from './operations.ts';

// So many callers at once; each begins something new as soon as it has its answer.

export interface Load {
  readonly running: number;
  /** Nobody begins anything new; resolves when everybody has an answer, or has given up. */
  finish(): Promise<void>;
}

export function startLoad(
  options: Omit<CallersOptions, 'chance'>,
  kinds: Partial<Record<Kind, number>>,
  atOnce: number,
  seed: string,
): Load {
  let over = false;
  let running = 0;
  const everybody = Array.from({ length: atOnce }, async (_, i) => {
    const draw = chance(`${seed}|caller ${i}`);
    const call = callers({ ...options, chance: draw });
    while (!over) {
      running += 1;
      try {
        await call(anyKind(kinds, draw));
      } finally {
        running -= 1;
      }
    }
  });
  const done = Promise.all(everybody).then(() => undefined);
  done.catch(() => undefined);
  return {
    get running() {
      return running;
    },
    finish() {
      over = true;
      return done;
    },
  };
}

function anyKind(kinds: Partial<Record<Kind, number>>, draw: Chance): Kind {
  const entries = Object.entries(kinds) as [Kind, number][];
  let at = draw.share() * entries.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [kind, weight] of entries) {
    at -= weight;
    if (at < 0) return kind;
  }
  return entries.at(-1)![0];
}
