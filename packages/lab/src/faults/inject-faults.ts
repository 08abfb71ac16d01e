import { sleepUnlessAborted } from '../fixture/sleep-unless-aborted.ts';
import { chance, weightedName } from '../terminal/chance.ts';
import { type Fault, type InjectedKind, inject, type Target } from './fault-kinds.ts';

/** Injects one fault after the other; several injectors run in parallel. */
export interface Injector {
  readonly name: string;
  readonly gapMs: readonly [number, number];
  /** Relative frequencies. */
  readonly faults: Partial<Record<InjectedKind, number>>;
  /** Stop after so many faults; without it, at the end of the campaign. */
  readonly times?: number;
}

export interface Injection {
  readonly injected: readonly Fault[];
  /** Faults that could not be injected, such as a flush while Redis was down. */
  readonly skipped: ReadonlyMap<string, number>;
  /** Resolves when all injectors are done, after `target.signal` was aborted or `enough` returned true. */
  readonly done: Promise<void>;
}

/** The seed determines what is injected, when and where. */
export function injectFaults(
  injectors: readonly Injector[],
  target: Target,
  seed: string,
  enough: (faults: readonly Fault[]) => boolean,
): Injection {
  const injected: Fault[] = [];
  const skipped = new Map<string, number>();
  const skip = (kind: string) => skipped.set(kind, (skipped.get(kind) ?? 0) + 1);

  async function run({ name, gapMs, faults, times = Number.POSITIVE_INFINITY }: Injector): Promise<void> {
    const draw = chance(`${seed}|${name}`);
    for (let done = 0; done < times && !enough(injected); ) {
      await sleepUnlessAborted(draw.whole(gapMs[0], gapMs[1]), target.signal);
      if (target.signal.aborted) return;
      const kind = weightedName(faults, draw);
      try {
        const fault = await inject(kind, target, draw);
        if (fault) injected.push(fault);
        else skip(kind);
        if (fault) done += 1;
      } catch (error) {
        if (kind !== 'flushall') throw new Error(`${kind} failed`, { cause: error });
        skip(kind);
      }
    }
  }

  const done = Promise.all(injectors.map(run)).then(() => undefined);
  done.catch(() => undefined);
  return { injected, skipped, done };
}
