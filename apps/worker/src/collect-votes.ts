import type { PollSpec, TerminationReason, Vote } from '@eloquentpoll/contracts';
import type { Spent } from '@eloquentpoll/models/ask';
import { withVote } from '@eloquentpoll/polls';
import type { AbortedCalls } from '@eloquentpoll/storage';
import { decide, launched, type PollState } from '@eloquentpoll/voting';
import type { Clock } from './clock.ts';
import type { HedgeBudget } from './hedge-budget.ts';

// Asks the seats that `voting` chooses, asks it again after every vote, and ends by the deadline whatever the models
// do. This file has only calls and timers. The rules (whom to ask, when to stop) are in `voting`.

export interface Collecting {
  readonly spec: PollSpec;
  /** Votes that an earlier worker received, and the state of the poll after them. Their models are not asked again. */
  readonly votes: readonly Vote[];
  readonly state: PollState;
  readonly timeLeftMs: number;
  readonly clock: Clock;
  readonly hedges: HedgeBudget;
  /** Aborts when another worker has taken the poll or this worker has to stop. */
  readonly signal: AbortSignal;
  /** Aborts when the caller canceled the poll: it ends with the votes received by then. */
  readonly canceled?: AbortSignal;
  /** Settles with a vote whatever the model does, and soon after the signal aborts. */
  ask(seat: number, timeLeftMs: number, signal: AbortSignal, onSpent: (spent: Spent) => void): Promise<Vote>;
  /** Called with every vote and the state after it. Must not throw. */
  onVote(vote: Vote, state: PollState, votes: readonly Vote[]): void;
}

export interface Collected {
  readonly state: PollState;
  readonly votes: readonly Vote[];
  /** Calls that were still running when the poll stopped. */
  readonly aborted: readonly AbortedCalls[];
  /** Null if the deadline or the caller ended the poll. */
  readonly reason: TerminationReason | null;
}

/** Another worker runs the poll or will run it, so this worker must not store anything for it. */
export class Abandoned extends Error {
  override name = 'Abandoned';
}

type Event = { vote: Vote } | 'slow' | 'deadline' | 'canceled' | 'abandoned';

export async function collectVotes(run: Collecting): Promise<Collected> {
  const { spec, clock, hedges } = run;
  const endsAt = clock.now() + run.timeLeftMs;
  const calls = new Map<number, { abort: AbortController; since: number; spent: Spent | null }>();
  const votes: Vote[] = [...run.votes];
  const hedged = new Set<number>();
  const events = mailbox<Event>();
  const cancels: (() => void)[] = [];

  let { state } = run;

  const abandon = () => events.put('abandoned');
  run.signal.addEventListener('abort', abandon, { once: true });
  cancels.push(() => run.signal.removeEventListener('abort', abandon));
  const cancel = () => events.put('canceled');
  run.canceled?.addEventListener('abort', cancel, { once: true });
  cancels.push(() => run.canceled?.removeEventListener('abort', cancel));
  cancels.push(clock.after(run.timeLeftMs, () => events.put('deadline')));

  function launch(seat: number): void {
    const abort = new AbortController();
    const call = { abort, since: clock.now(), spent: null as Spent | null };
    calls.set(seat, call);
    hedges.earn();
    const onSpent = (spent: Spent) => {
      call.spent = { ...spent, cost: { ...spent.cost } };
    };
    void run.ask(seat, endsAt - clock.now(), abort.signal, onSpent).then((vote) => events.put({ vote }));
    const p90Ms = spec.seats[seat]?.p90_ms ?? 0;
    if (state.rules.hedge === 'when_slow' && p90Ms > 0) {
      cancels.push(
        clock.after(p90Ms, () => {
          if (calls.has(seat) && hedges.spend()) hedged.add(seat);
          events.put('slow');
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

  /** Models that were asked and have not answered become failed votes. Their calls are aborted, not awaited. */
  function timeIsUp(error: 'timeout' | 'aborted' = 'timeout'): Collected {
    for (const [seat, call] of [...calls]) {
      call.abort.abort(new Error('the poll has ended'));
      const ranMs = clock.now() - call.since;
      const spent = costOf(spec, seat, call.spent, error === 'aborted' ? ranMs : null);
      receive({ ...unanswered(spec, seat, error, ranMs), ...spent });
    }
    return { state, votes, aborted: [], reason: null };
  }

  /** The cost of the calls that are still running. A vote that waits for its turn has made no call. */
  const abortedCalls = (): AbortedCalls[] =>
    [...calls].flatMap(([seat, { spent }]) =>
      spent === null
        ? []
        : {
            seat,
            model_id: spec.seats[seat]!.model_id,
            calls: spent.calls,
            estimated_u: spent.cost.estimated_u,
            max_u: spent.cost.max_u,
          },
    );

  try {
    if (run.signal.aborted) throw new Abandoned('the poll was taken away before it began');
    for (;;) {
      const decision = decide(state, { slow: hedged.size > 0 });
      if (decision.kind === 'stop') return { state, votes, aborted: abortedCalls(), reason: decision.reason };
      // After the process was paused, a vote may be read before the deadline's timer fires.
      if (clock.now() >= endsAt) return timeIsUp();
      if (run.canceled?.aborted) return timeIsUp('aborted');
      state = launched(state, decision.launch);
      for (const seat of decision.launch) launch(seat);

      const item = await events.take();
      if (item === 'abandoned') throw new Abandoned('the poll was taken away');
      if (item === 'deadline') return timeIsUp();
      if (item === 'canceled') return timeIsUp('aborted');
      if (item !== 'slow') receive(item.vote);
    }
  } finally {
    for (const cancel of cancels) cancel();
    for (const call of calls.values()) call.abort.abort(new Error('the poll has stopped'));
  }
}

/**
 * The cost of a vote that is given up. What failed because of the question, or because the caller canceled, counts
 * against the account's allowance for failed calls. It is never more than the maximum that can be billed for the seat.
 */
function costOf(spec: PollSpec, seat: number, spent: Spent | null, canceledAfterMs: number | null): Partial<Vote> {
  if (spent === null) return { calls: 0 };
  const { reserve_u, p90_ms } = spec.seats[seat]!;
  const { estimated_u, max_u, fault_u: byQuestion } = spent.cost;
  // A call that runs for longer than usual may be writing more than usual. Otherwise a question that asks for a long
  // text, canceled late, would cost us many times what its caller pays.
  const isLong = canceledAfterMs !== null && p90_ms > 0 && canceledAfterMs > p90_ms;
  const canceled_u = isLong ? max_u : estimated_u;
  const fault_u = Math.min(canceledAfterMs === null ? byQuestion : canceled_u, reserve_u);
  return { calls: spent.calls, provider_cost_u: spent.providerCostU, cost: { ...spent.cost, fault_u } };
}

/** The failed vote of a model that did not answer. */
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

/** A queue with one reader. It holds at most one item per call and timer of a poll. */
function mailbox<T>(): { put(item: T): void; take(): Promise<T> } {
  const items: T[] = [];
  let waiting: ((item: T) => void) | null = null;
  return {
    put(item) {
      if (waiting) {
        const resolve = waiting;
        waiting = null;
        resolve(item);
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
