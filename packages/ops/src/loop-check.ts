import type { ReadinessCheck } from './readiness.ts';

// Not ready for 10 s after the event loop was blocked for more than 2 s. Without this, probes would be answered late
// but positively.

const EVERY_MS = 500;
const MAX_LATE_MS = 2_000;
const RECOVERY_MS = 10_000;

export interface LoopCheck extends ReadinessCheck, Disposable {
  /** One tick of the timer. */
  turn(): void;
}

export function watchLoop(now: () => number = () => performance.now()): LoopCheck {
  let turnedAt = now();
  let blockedAt = Number.NEGATIVE_INFINITY;
  let lateMs = 0;
  const turn = (): void => {
    const late = now() - turnedAt - EVERY_MS;
    if (late > MAX_LATE_MS) {
      blockedAt = now();
      lateMs = late;
    }
    turnedAt = now();
  };
  const timer = setInterval(turn, EVERY_MS).unref();
  return {
    vital: true,
    turn,
    ask() {
      // After a stall, the probe may run before the timer.
      if (now() - turnedAt - EVERY_MS > MAX_LATE_MS) turn();
      return now() - blockedAt < RECOVERY_MS ? `the event loop was blocked for ${Math.round(lateMs)} ms` : null;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
