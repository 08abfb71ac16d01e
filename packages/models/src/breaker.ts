// A circuit breaker: open for a while after too many failures, then half-open for one probe. Only failures of the line
// count, never what a model answered: a question that all models refuse must not switch them off.

const WINDOW = 10;
const FAILURES_TO_OPEN = 5;
const FIRST_REST_MS = 5_000;
const MAX_REST_MS = 120_000;
/** A process that received an answer this recently ignores reports from others that the model is down. */
const OWN_EVIDENCE_MS = 10_000;

export type Admission = 'go' | 'probe' | 'no';

export interface BreakerChange {
  /** 0: closed. Each failed probe adds one. */
  level: number;
  restMs: number;
}

export interface Breaker {
  /**
   * `probe`: the caller makes the one call that tests the model, and must end it with one of the next three methods.
   */
  admit(now: number): Admission;
  succeeded(now: number): BreakerChange | null;
  failed(now: number, probe: boolean): BreakerChange | null;
  /** The call ended without information about the model. */
  ended(probe: boolean): void;
  /** Another process is probing, so wait. */
  postpone(until: number): void;
  /** Applies a change that another process reported. */
  adopt(change: BreakerChange, now: number): void;
}

export function breaker(random: () => number): Breaker {
  let outcomes: boolean[] = [];
  let level = 0;
  let restUntil = Number.NEGATIVE_INFINITY;
  let probing = false;
  let answeredAt = Number.NEGATIVE_INFINITY;

  function open(now: number): BreakerChange {
    level += 1;
    outcomes = [];
    const restMs = Math.min(MAX_REST_MS, FIRST_REST_MS * 2 ** (level - 1)) * (0.8 + 0.4 * random());
    restUntil = now + restMs;
    return { level, restMs };
  }

  return {
    admit(now) {
      if (level === 0) return 'go';
      if (now < restUntil || probing) return 'no';
      probing = true;
      return 'probe';
    },
    succeeded(now) {
      answeredAt = now;
      if (level > 0) {
        // A call that started before the breaker opened counts too: the model answers.
        level = 0;
        probing = false;
        outcomes = [];
        return { level: 0, restMs: 0 };
      }
      outcomes = [...outcomes, true].slice(-WINDOW);
      return null;
    },
    failed(now, probe) {
      if (probe) {
        probing = false;
        return open(now);
      }
      if (level > 0) return null;
      outcomes = [...outcomes, false].slice(-WINDOW);
      const failures = outcomes.filter((ok) => !ok).length;
      return failures >= FAILURES_TO_OPEN && failures * 2 >= outcomes.length ? open(now) : null;
    },
    ended(probe) {
      if (probe) probing = false;
    },
    postpone(until) {
      probing = false;
      restUntil = until;
    },
    adopt(change, now) {
      if (probing) return;
      if (change.level > 0 && now - answeredAt < OWN_EVIDENCE_MS) return;
      level = change.level;
      restUntil = now + change.restMs;
      outcomes = [];
    },
  };
}
