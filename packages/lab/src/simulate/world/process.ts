import type { VirtualClock } from '@eloquentpoll/testkit/virtual-clock';
import type { Clock } from '@eloquentpoll/worker/clock';

// A simulated process: it can be killed, or paused and resumed without noticing. Callbacks do not reach a dead process,
// and reach a paused one when it resumes. Its clock has its own origin, as on another machine.

export interface SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly dead: boolean;
  /** World time when it resumes; in the past if it is running. */
  readonly pausedUntil: number;
  kill(): void;
  pause(ms: number): void;
  /** Runs the callback now, when the process resumes, or never if it is dead. */
  deliver(callback: () => void): void;
}

export function simulatedProcess(name: string, world: VirtualClock, clockOffsetMs: number): SimulatedProcess {
  let dead = false;
  let pausedUntil = Number.NEGATIVE_INFINITY;

  function deliver(callback: () => void): void {
    if (dead) return;
    if (world.now() < pausedUntil) world.after(pausedUntil - world.now(), () => deliver(callback));
    else callback();
  }

  return {
    name,
    clock: {
      now: () => world.now() + clockOffsetMs,
      after(ms, callback) {
        let cancelled = false;
        const cancel = world.after(ms, () => deliver(() => cancelled || callback()));
        return () => {
          cancelled = true;
          cancel();
        };
      },
    },
    get dead() {
      return dead;
    },
    get pausedUntil() {
      return pausedUntil;
    },
    kill() {
      dead = true;
    },
    pause(ms) {
      pausedUntil = Math.max(pausedUntil, world.now() + ms);
    },
    deliver,
  };
}
