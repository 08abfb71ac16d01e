import type { FailureKind } from './behaviour.ts';

// A bounded log of the newest calls to the simulator. It records who called whom and how it ended, never the question.
// Of an answer it keeps the label and a digest of the option behind it.

export type CallOutcome = 'pending' | 'vote' | 'no_vote' | 'gone' | 'rejected' | FailureKind;

export interface LoggedCall {
  n: number;
  at: string;
  poll: string | null;
  seat: number | null;
  model: string;
  attempt: number | null;
  /** When the caller made the call, in milliseconds since 1970 by its own clock. It may have waited since. */
  asked_at: number | null;
  /** The scripted failure. Null for a regular answer. */
  scripted: FailureKind | null;
  /** `gone`: the caller disconnected, or the server closed, before the answer was complete. */
  outcome: CallOutcome;
  label: string | null;
  /** The first 16 characters of the option's SHA-256 in base64url. Null if the answer is no vote. */
  option_digest: string | null;
  /**
   * The cost by the model's price and tokens, also if the caller disconnected. Null for what a provider does not
   * charge.
   */
  cost_usd: number | null;
  duration_ms: number | null;
}

/** What the caller's headers say about the call. */
export type Traced = Pick<LoggedCall, 'poll' | 'seat' | 'model' | 'attempt' | 'asked_at'>;

export interface CallFilter {
  poll?: string | undefined;
  model?: string | undefined;
  seat?: number | undefined;
  outcome?: string | undefined;
  after?: number | undefined;
}

export class CallLog {
  #calls: LoggedCall[] = [];
  #oldest = 0;
  #total = 0;
  #inFlight = 0;
  #peakInFlight = 0;
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  begin(fields: Traced): LoggedCall {
    const call: LoggedCall = {
      n: this.#total,
      at: new Date().toISOString(),
      ...fields,
      scripted: null,
      outcome: 'pending',
      label: null,
      option_digest: null,
      cost_usd: null,
      duration_ms: null,
    };
    this.#total += 1;
    this.#inFlight += 1;
    this.#peakInFlight = Math.max(this.#peakInFlight, this.#inFlight);
    if (this.#calls.length < this.#capacity) this.#calls.push(call);
    else {
      this.#calls[this.#oldest] = call;
      this.#oldest = (this.#oldest + 1) % this.#capacity;
    }
    return call;
  }

  end(call: LoggedCall, outcome: CallOutcome): void {
    call.outcome = outcome;
    call.duration_ms = Date.now() - Date.parse(call.at);
    this.#inFlight -= 1;
  }

  /** Calls that match the filter, oldest first, and their number by outcome and model. */
  read(filter: CallFilter, limit: number) {
    const found = [...this.#calls.slice(this.#oldest), ...this.#calls.slice(0, this.#oldest)].filter(fits(filter));
    return {
      total: this.#total,
      kept: this.#calls.length,
      in_flight: this.#inFlight,
      peak_in_flight: this.#peakInFlight,
      matched: found.length,
      by_outcome: tally(found.map((call) => call.outcome)),
      by_model: tally(found.map((call) => call.model)),
      calls: found.slice(0, limit),
    };
  }

  clear(): void {
    this.#calls = [];
    this.#oldest = 0;
    this.#total = 0;
    this.#peakInFlight = this.#inFlight;
  }
}

const fits = (filter: CallFilter) => (call: LoggedCall) =>
  (filter.poll === undefined || call.poll === filter.poll) &&
  (filter.model === undefined || call.model === filter.model) &&
  (filter.seat === undefined || call.seat === filter.seat) &&
  (filter.outcome === undefined || call.outcome === filter.outcome) &&
  (filter.after === undefined || call.n > filter.after);

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
