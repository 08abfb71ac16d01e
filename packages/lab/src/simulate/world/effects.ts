import type { VirtualClock } from '@eloquentpoll/testkit/virtual-clock';
import type { SimulatedProcess } from './process.ts';

// Every operation of a process on the outside is a step: it is sent, takes effect on the other side, and its answer
// returns. A fault may hit before it is sent, on the way, or between effect and answer. Steps are numbered in order, so
// that a fault can be placed at each of them.

export type Link = 'store' | 'bus' | 'models';

export interface Step {
  readonly n: number;
  readonly at: number;
  readonly process: string;
  readonly link: Link;
  readonly what: string;
  readonly pollId: string | null;
}

/** What happens to a step. */
export type Fate =
  | { readonly kind: 'well' }
  /** The process dies before the step is sent, or before its answer is read. */
  | { readonly kind: 'crash'; readonly when: 'before' | 'after' }
  /** The process is paused before the step is sent, or before its answer is read, and resumes later. */
  | { readonly kind: 'pause'; readonly when: 'before' | 'after'; readonly ms: number }
  /** The other side returns an error, either without an effect or after it. */
  | { readonly kind: 'fails'; readonly when: 'before' | 'after' };

export interface Weather {
  fate(step: Step): Fate;
  /** The delays of a step to the other side and of its answer. */
  delays(step: Step): readonly [number, number];
  /** Whether the other side is down at this time. */
  away(link: Link, now: number): boolean;
}

/** The other side did not answer, or reported that it is unavailable. */
export class Unavailable extends Error {
  override name = 'Unavailable';
}

export interface Effects {
  perform<T>(process: SimulatedProcess, link: Link, what: string, pollId: string | null, effect: () => T): Promise<T>;
  readonly steps: readonly Step[];
  /** Called for each step that is hit by a fault. */
  onFault(listener: (step: Step, how: string) => void): void;
}

export function effects(world: VirtualClock, weather: Weather): Effects {
  const steps: Step[] = [];
  const listeners: ((step: Step, how: string) => void)[] = [];
  /** Commands on one connection arrive in the order in which they were sent. */
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
          // A process that dies while paused never sends it.
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
