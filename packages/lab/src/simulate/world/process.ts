import type { VirtualClock } from '@eloquentpoll/testkit/virtual-clock';
import type { Clock } from '@eloquentpoll/worker/clock';

// A process as the world sees it: it can be killed, and it can be paused and go on without knowing. Nothing reaches a
// dead one; what reaches a paused one waits until it goes on. Its clock has an origin of its own, as on another machine.

export interface SimulatedProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly dead: boolean;
  /** World time at which it goes on; in the past when it runs. */
  readonly pausedUntil: number;
  kill(): void;
  pause(ms: number): void;
  /** Calls back now, later, or never. */
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
