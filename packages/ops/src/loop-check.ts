import type { Check } from './readiness.ts';

// A loop that stands still for long serves nobody, and its probes come back late but green. So it is timed, and whoever
// stood still is not ready until a while has passed in which it turned.

const EVERY_MS = 500;
const MOST_LATE_MS = 2_000;
const REST_MS = 10_000;

export interface LoopCheck extends Check, Disposable {
  /** One turn of the timer. */
  turn(): void;
}

export function watchLoop(now: () => number = () => performance.now()): LoopCheck {
  let turnedAt = now();
  let stoodStillAt = Number.NEGATIVE_INFINITY;
  let lateMs = 0;
  const turn = (): void => {
    const late = now() - turnedAt - EVERY_MS;
    if (late > MOST_LATE_MS) {
      stoodStillAt = now();
      lateMs = late;
    }
    turnedAt = now();
  };
  const timer = setInterval(turn, EVERY_MS).unref();
  return {
    vital: true,
    turn,
    ask() {
      // The probe may come before the timer after a stall.
      if (now() - turnedAt - EVERY_MS > MOST_LATE_MS) turn();
      return now() - stoodStillAt < REST_MS ? `stood still for ${Math.round(lateMs)} ms a moment ago` : null;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
