import type { Vote } from '@eloquentpoll/contracts';
import { pollState } from '@eloquentpoll/polls';
import { type VirtualClock, virtualClock } from '@eloquentpoll/testkit/virtual-clock';
import {
  Abandoned,
  type Collected,
  type Collecting,
  collectVotes,
  unanswered,
} from '@eloquentpoll/worker/collect-votes';
import { hedgeBudget } from '@eloquentpoll/worker/hedge-budget';
import { callModel } from './model-call.ts';
import type { Scenario } from './scenario.ts';

// Plays one poll to its end in virtual time, with the production code for asking models: one worker after the other,
// each but the last dying at its set time, the next one resuming from the vote log. Models, log and deaths are
// simulated. The trace has everything that an outsider could have seen.

/** A call to a model, with the money at stake at that moment: billed so far plus reserved for calls in flight. */
export interface SeatCall {
  life: number;
  seat: number;
  at: number;
  exposedU: number;
  /** Whether the log already had a vote of this seat. */
  logged: boolean;
}

export interface Trace {
  scenario: Scenario;
  asked: readonly SeatCall[];
  lives: number;
  /** The vote log that the last worker would have left if it had died at the end. */
  logged: readonly Vote[];
  /** When the last worker claimed the poll, and when the poll ended. */
  claimedAt: number;
  endedAt: number;
  collected: Collected;
  /** Calls that were neither answered nor aborted, and timers that were not cleared. */
  callsLeft: number;
  timersLeft: number;
}

export function playPoll(scenario: Scenario): Promise<Trace> {
  const clock = virtualClock();
  return clock.run(play(scenario, clock));
}

async function play(scenario: Scenario, clock: VirtualClock): Promise<Trace> {
  const { spec, deadlineMs, hedges, lives, resumeMs } = scenario;
  const world = simulatedWorld(scenario, clock);
  for (let life = 0; ; life++) {
    const claimedAt = clock.now();
    const death = new AbortController();
    const survive = life < lives.length ? clock.after(lives[life]!, () => death.abort()) : () => {};
    try {
      const collected = await collectVotes({
        spec,
        votes: world.log(),
        state: pollState(spec, world.log()),
        timeLeftMs: Math.max(0, deadlineMs - claimedAt),
        clock,
        hedges: hedgeBudget(hedges.perCall, hedges.burst),
        signal: death.signal,
        ...world.worker(life, death.signal),
      });
      survive();
      return {
        scenario,
        asked: world.asked,
        lives: life + 1,
        logged: world.log(),
        claimedAt,
        endedAt: clock.now(),
        collected,
        callsLeft: world.callsOpen(),
        timersLeft: clock.pending(),
      };
    } catch (error) {
      if (!(error instanceof Abandoned)) throw error;
      await new Promise<void>((resolve) => clock.after(resumeMs[life] ?? 0, resolve));
    }
  }
}

interface Open {
  readonly reserveU: number;
}

function simulatedWorld({ spec, answers, unlogged }: Scenario, clock: VirtualClock) {
  const asked: SeatCall[] = [];
  const log = new Map<number, Vote>();
  const open = new Set<Open>();
  let billedU = 0;

  function worker(life: number, death: AbortSignal): Pick<Collecting, 'ask' | 'onVote'> {
    billedU = [...log.values()].reduce((sum, vote) => sum + vote.billed_u, 0);
    open.clear();
    return {
      ask(seat, timeLeftMs, signal) {
        if (death.aborted) return Promise.resolve(unanswered(spec, seat, 'aborted', 0));
        const call = { reserveU: spec.seats[seat]!.reserve_u };
        open.add(call);
        const exposedU = [...open].reduce((sum, { reserveU }) => sum + reserveU, billedU);
        asked.push({ life, seat, at: clock.now(), exposedU, logged: log.has(seat) });
        return callModel(clock, { spec, seat, timeLeftMs, signal }, answers[seat]!).finally(() => open.delete(call));
      },
      onVote(vote) {
        if (death.aborted) return;
        billedU += vote.billed_u;
        if (!unlogged[life]?.[vote.seat]) log.set(vote.seat, vote);
      },
    };
  }

  return {
    worker,
    asked,
    log: () => [...log.values()].toSorted((a, b) => a.seat - b.seat),
    callsOpen: () => open.size,
  };
}
