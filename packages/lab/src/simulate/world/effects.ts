import type { VirtualClock } from '@eloquentpoll/testkit/virtual-clock';
import type { SimulatedProcess } from './process.ts';

// Every step out of a process goes through here: it leaves, takes effect on the other side, and its answer comes back.
// Before it leaves, between effect and answer, and while it is on its way the world may do its worst. Steps are
// numbered in the order in which they are made, so that a fault can be put at each of them.

export type Link = 'store' | 'bus' | 'models';

export interface Step {
  readonly n: number;
  readonly at: number;
  readonly process: string;
  readonly link: Link;
  readonly what: string;
  readonly pollId: string | null;
}

/** What becomes of a step. */
export type Fate =
  | { readonly kind: 'well' }
  /** The process is gone before it leaves, or before its answer is read. */
  | { readonly kind: 'crash'; readonly when: 'before' | 'after' }
  /** The process is paused before it leaves, or before its answer is read, and goes on. */
  | { readonly kind: 'pause'; readonly when: 'before' | 'after'; readonly ms: number }
  /** The other side answers an error: nothing happened, or it happened without an answer. */
  | { readonly kind: 'fails'; readonly when: 'before' | 'after' };

export interface Weather {
  fate(step: Step): Fate;
  /** How long a step takes to the other side, and how long its answer takes back. */
  delays(step: Step): readonly [number, number];
  /** Whether the other side is away at this moment. */
  away(link: Link, now: number): boolean;
}

/** The other side did not answer, or said that it cannot. */
export class Unavailable extends Error {
  override name = 'Unavailable';
}

export interface Effects {
  perform<T>(process: SimulatedProcess, link: Link, what: string, pollId: string | null, effect: () => T): Promise<T>;
  readonly steps: readonly Step[];
  /** Hears of each step that does not go well, and how. */
  onFault(listener: (step: Step, how: string) => void): void;
}

export function effects(world: VirtualClock, weather: Weather): Effects {
  const steps: Step[] = [];
  const listeners: ((step: Step, how: string) => void)[] = [];
  /** Commands of one connection arrive in the order in which they were sent. */
  const arrivals = new WeakMap<SimulatedProcess, number>();

  const report = (step: Step, how: string) => {
    for (const listener of listeners) listener(step, how);
  };

  function arrivalOf(process: SimulatedProcess, link: Link, at: number): number {
    if (link !== 'bus') return at;
    const inOrder = Math.max(at, arrivals.get(process) ?? 0);
    arrivals.set(process, inOrder);
    return inOrder;
  }

  return {
    steps,
    onFault: (listener) => void listeners.push(listener),
    perform<T>(
      process: SimulatedProcess,
      link: Link,
      what: string,
      pollId: string | null,
      effect: () => T,
    ): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        if (process.dead) return;
        const step: Step = { n: steps.length, at: world.now(), process: process.name, link, what, pollId };
        steps.push(step);
        const fate = weather.fate(step);
        if (fate.kind !== 'well') report(step, `${fate.kind} ${fate.when}`);
        if (fate.kind === 'crash' && fate.when === 'before') return process.kill();
        if (fate.kind === 'pause' && fate.when === 'before') process.pause(fate.ms);

        const [there, back] = weather.delays(step);
        const leavesAt = Math.max(world.now(), process.pausedUntil);
        const arrivesAt = arrivalOf(process, link, leavesAt + there);
        const answer = (settle: () => void) => world.after(back, () => process.deliver(settle));

        world.after(arrivesAt - world.now(), () => {
          // A process that dies while paused never sent it.
          if (process.dead && leavesAt > step.at) return;
          const away = weather.away(link, world.now());
          if (away) report(step, 'away');
          if (away || (fate.kind === 'fails' && fate.when === 'before')) {
            answer(() => reject(new Unavailable(`${link}: ${what}`)));
            return;
          }
          let settle: () => void;
          try {
            const value = effect();
            settle = () => resolve(value);
          } catch (error) {
            settle = () => reject(error);
          }
          if (fate.kind === 'crash') process.kill();
          if (fate.kind === 'pause' && fate.when === 'after') process.pause(fate.ms);
          if (fate.kind === 'fails') settle = () => reject(new Unavailable(`${link}: ${what}, and it happened`));
          answer(settle);
        });
      });
    },
  };
}
