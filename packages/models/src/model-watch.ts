import { type Breaker, type BreakerChange, breaker } from './breaker.ts';
import type { Suspicion } from './call-failure.ts';

// Whether a model is asked. Failures that a question may have caused count in the breaker that all callers share only up
// to a limit per account, so no account can switch a model off for others. Timeouts also count in a breaker of the
// account's own, so an outage soon stops the calls of an account that is alone.

export interface ModelWatch {
  /** Null: the model is not asked now, or not for this account. */
  admit(accountId: string | undefined): VoteWatch | null;
  /** Applies a change of the shared breaker that another process reported. */
  adopt(change: BreakerChange): void;
}

/** What the calls of one vote say about its model. */
export interface VoteWatch {
  /** This vote is the one call that tests the model for all callers. */
  readonly probesForAll: boolean;
  /** This vote is one call that tests the model, for all callers or for its account. */
  readonly isProbe: boolean;
  /** A call is made. */
  began(): void;
  answered(): void;
  /**
   * True if the question is held responsible: it may have made the model too slow, an earlier call of the account ended
   * so too, with fewer than ten answers since, and meanwhile the model answered the other callers.
   */
  failed(suspicion: Suspicion): boolean;
  /** A call or the vote ended without information about the model. A probe that was not reported ends too. */
  ended(): void;
  /** Another process tests the model, so it rests here until then. */
  postpone(until: number): void;
}

export interface WatchOptions {
  now: () => number;
  random: () => number;
  /** Counts a failure. False: this account has reached its limit of failures that count for all callers. */
  mayBlame(accountId: string | undefined): boolean;
  /** The shared breaker has changed. */
  onBreaker(change: BreakerChange): void;
}

/** At most this many accounts of one model. The one whose failures began first is dropped. */
const MAX_ACCOUNTS = 1_000;
/** The model works for others if it answered this many of their calls and failed at most one in twenty. */
const MIN_ANSWERS = 5;
const MAX_FAILED = 1 / 20;

interface Tally {
  answers: number;
  failures: number;
}

/** An account whose call of this model was too slow. Dropped after so many answers in a row. */
interface Suspected extends Tally {
  breaker: Breaker;
  answersInARow: number;
}
const ANSWERS_TO_CLEAR = 10;

export function modelWatch({ now, random, mayBlame, onBreaker }: WatchOptions): ModelWatch {
  const shared = breaker(random);
  const all: Tally = { answers: 0, failures: 0 };
  const suspected = new Map<string, Suspected>();

  function report(change: BreakerChange | null): void {
    if (change) onBreaker(change);
  }

  function suspect(account: string): Suspected {
    const known = suspected.get(account);
    if (known) return known;
    const entry = { answers: 0, failures: 0, answersInARow: 0, breaker: breaker(random) };
    suspected.set(account, entry);
    if (suspected.size > MAX_ACCOUNTS) suspected.delete(suspected.keys().next().value!);
    return entry;
  }

  /** Calls of all callers but this one, since its entry exists. Only differences have a meaning. */
  const othersOf = ({ answers, failures }: Suspected): Tally => ({
    answers: all.answers - answers,
    failures: all.failures - failures,
  });

  function admit(accountId: string | undefined): VoteWatch | null {
    // Callers without an account count as one.
    const account = accountId ?? '';
    const own = suspected.get(account);
    const forAccount = own?.breaker.admit(now()) ?? 'go';
    if (forAccount === 'no') return null;
    const forAll = shared.admit(now());
    if (forAll === 'no') {
      own?.breaker.ended(forAccount === 'probe');
      return null;
    }
    /** Whether this vote is a probe that has not been reported. */
    let probing = forAll === 'probe';
    let probingOwn = forAccount === 'probe';
    let atStart: { entry: Suspected; others: Tally } | null = null;

    function endProbes(): void {
      shared.ended(probing);
      own?.breaker.ended(probingOwn);
      probing = false;
      probingOwn = false;
    }

    /** Whether the model has answered the other callers since the call was made. */
    function answersOthers(entry: Suspected): boolean {
      if (atStart?.entry !== entry) return false;
      const others = othersOf(entry);
      const answers = others.answers - atStart.others.answers;
      const failures = others.failures - atStart.others.failures;
      return answers >= MIN_ANSWERS && failures <= answers * MAX_FAILED;
    }

    return {
      probesForAll: probing,
      isProbe: probing || probingOwn,
      began() {
        const entry = suspected.get(account);
        atStart = entry ? { entry, others: othersOf(entry) } : null;
      },
      answered() {
        all.answers += 1;
        const entry = suspected.get(account);
        if (entry) {
          entry.answers += 1;
          entry.answersInARow += 1;
          entry.breaker.succeeded(now());
          if (entry.answersInARow >= ANSWERS_TO_CLEAR) suspected.delete(account);
        }
        report(shared.succeeded(now()));
        endProbes();
      },
      failed(suspicion) {
        const isSlow = suspicion === 'slow';
        const known = suspected.get(account);
        const isByQuestion = isSlow && known !== undefined && answersOthers(known);
        all.failures += 1;
        const entry = isSlow ? suspect(account) : known;
        if (entry) entry.failures += 1;
        if (entry && isSlow) {
          entry.answersInARow = 0;
          entry.breaker.failed(now(), probingOwn && entry === own);
        }
        if (suspicion === 'none' || mayBlame(accountId)) report(shared.failed(now(), probing));
        endProbes();
        return isByQuestion;
      },
      ended: endProbes,
      postpone(until) {
        shared.postpone(until);
        probing = false;
        endProbes();
      },
    };
  }

  return { admit, adopt: (change) => shared.adopt(change, now()) };
}
