import type { PollSpec, TerminationReason, Vote } from '@eloquentpoll/contracts';
import { pollState, withVote } from '@eloquentpoll/polls';
import { decide, launched, type PollState } from '@eloquentpoll/voting';
import type { Clock } from './clock.ts';
import type { HedgeBudget } from './hedge-budget.ts';

// The fan-out: asks as many models as the rule needs, decides again with every vote, and stops the moment the outcome
// is certain enough, the money or the time is used up, or somebody else has the poll. It ends by the deadline whatever
// the models do. Whom to ask and when to stop is voting's business; here are only calls, timers and their end.

export interface Collecting {
  readonly spec: PollSpec;
  /** Votes that an earlier worker received; their models are not asked again. */
  readonly resumed: readonly Vote[];
  readonly timeLeftMs: number;
  readonly clock: Clock;
  readonly hedges: HedgeBudget;
  /** Aborts when the poll is not ours any more or the process is about to end. */
  readonly signal: AbortSignal;
  /** Settles with a vote whatever the model does, and soon after the signal aborts. */
  ask(seat: number, timeLeftMs: number, signal: AbortSignal): Promise<Vote>;
  /** Hears of every vote, with the state that it led to. Must not throw. */
  onVote(vote: Vote, state: PollState, votes: readonly Vote[]): void;
}

export interface Collected {
  readonly state: PollState;
  readonly votes: readonly Vote[];
  /** Null when the deadline ended the poll. */
  readonly reason: TerminationReason | null;
}

/** The poll is somebody else's now, or will be: nothing may be stored for it here. */
export class Abandoned extends Error {
  override name = 'Abandoned';
}

type News = { vote: Vote } | 'slow' | 'deadline' | 'abandoned';

export async function collectVotes(run: Collecting): Promise<Collected> {
  const { spec, clock, hedges } = run;
  const endsAt = clock.now() + run.timeLeftMs;
  const calls = new Map<number, { abort: AbortController; since: number }>();
  const votes: Vote[] = [...run.resumed];
  const hedged = new Set<number>();
  const news = mailbox<News>();
  const cancels: (() => void)[] = [];

  let state = pollState(spec, run.resumed);

  const abandon = () => news.put('abandoned');
  run.signal.addEventListener('abort', abandon, { once: true });
  cancels.push(() => run.signal.removeEventListener('abort', abandon));
  cancels.push(clock.after(run.timeLeftMs, () => news.put('deadline')));

  function launch(seat: number): void {
    const abort = new AbortController();
    calls.set(seat, { abort, since: clock.now() });
    hedges.earn();
    void run.ask(seat, endsAt - clock.now(), abort.signal).then((vote) => news.put({ vote }));
    const p90Ms = spec.seats[seat]?.p90_ms ?? 0;
    if (spec.panel_name === 'strong' && p90Ms > 0) {
      cancels.push(
        clock.after(p90Ms, () => {
          if (calls.has(seat) && hedges.spend()) hedged.add(seat);
          news.put('slow');
        }),
      );
    }
  }

  function receive(vote: Vote): void {
    if (!calls.delete(vote.seat)) return;
    hedged.delete(vote.seat);
    votes.push(vote);
    state = withVote(state, vote);
    run.onVote(vote, state, votes);
  }

  /** Models that were asked and did not answer are failed votes; they are told to stop, and not waited for. */
  function timeIsUp(): Collected {
    for (const [seat, call] of [...calls]) {
      call.abort.abort(new Error('deadline'));
      receive(unanswered(spec, seat, 'timeout', clock.now() - call.since));
    }
    return { state, votes, reason: null };
  }

  try {
    if (run.signal.aborted) throw new Abandoned('the poll was taken away before it began');
    for (;;) {
      const decision = decide(state, { slow: hedged.size > 0 });
      if (decision.kind === 'stop') return { state, votes, reason: decision.reason };
      // A process that was paused hears of a vote before it hears that the time is up.
      if (clock.now() >= endsAt) return timeIsUp();
      state = launched(state, decision.launch);
      for (const seat of decision.launch) launch(seat);

      const item = await news.take();
      if (item === 'abandoned') throw new Abandoned('the poll was taken away');
      if (item === 'deadline') return timeIsUp();
      if (item !== 'slow') receive(item.vote);
    }
  } finally {
    for (const cancel of cancels) cancel();
    for (const call of calls.values()) call.abort.abort(new Error('the poll has stopped'));
  }
}

/** The vote of a model that was not heard. */
export function unanswered(spec: PollSpec, seat: number, error: 'timeout' | 'aborted', latencyMs: number): Vote {
  return {
    seat,
    model_id: spec.seats[seat]?.model_id ?? '',
    option: null,
    error,
    latency_ms: Math.round(latencyMs),
    billed_u: 0,
    provider_cost_u: null,
    labels: [],
    calls: 1,
    searched: false,
  };
}

/** First in, first out; one reader. Holds at most one item for each call and timer of a poll. */
function mailbox<T>(): { put(item: T): void; take(): Promise<T> } {
  const items: T[] = [];
  let waiting: ((item: T) => void) | null = null;
  return {
    put(item) {
      if (waiting) {
        const tell = waiting;
        waiting = null;
        tell(item);
      } else {
        items.push(item);
      }
    },
    take() {
      const item = items.shift();
      if (item !== undefined) return Promise.resolve(item);
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },
  };
}
