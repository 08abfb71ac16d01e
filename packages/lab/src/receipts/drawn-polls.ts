import type { PollSpec, TerminationReason, Timing, Vote } from '@eloquentpoll/contracts';
import { pollResponse, pollState, type Receipted, withVote } from '@eloquentpoll/polls';
import {
  decide,
  launched,
  type Outcomes,
  recordUsed,
  seatsThatAre,
  standing,
  type TrackRecord,
} from '@eloquentpoll/voting';
import { chancesInOrder, chancesOf } from '@eloquentpoll/voting/chances';
import { type Chance, chance } from '../terminal/chance.ts';

// Random polls as they could have run: any panel, votes that arrive in any order, failures, deadlines, budgets that are
// used up, workers that were replaced.

export function drawnPoll(seed: string): Receipted {
  const draw = chance(seed);
  const spec = drawnSpec(draw, seed);
  const record = spec.track_record && !draw.happens(0.2) ? drawnRecord(spec, draw) : null;
  const run = runPoll(spec, record, draw);
  const totalMs = (run.arrivals.at(-1)?.at_ms ?? 0) + draw.whole(1, 40);
  const resultId = `EP-2026-11-20-${drawnId(draw)}`;
  const wasReplaced = draw.happens(0.05);
  const response = pollResponse({
    ...run,
    ...{ resultId, spec, gatherMs: totalMs, totalMs },
    arrivals: wasReplaced ? [] : run.arrivals,
  });
  const faultsU = run.votes.map(({ cost }) => cost?.fault_u ?? 0);
  const acceptedAt = new Date(Date.UTC(2026, 10, 20) + draw.whole(0, 86_399_999));
  return { spec, response, acceptedAt, faultsU };
}

const drawnId = (draw: Chance): string =>
  Array.from({ length: 16 }, () => draw.pick([...'0123456789abcdefghjkmnpqrstvwxyz'])).join('');

function drawnSpec(draw: Chance, seed: string): PollSpec {
  const options = Array.from({ length: draw.whole(2, 10) }, (_, i) => `${draw.pick(TEXTS)} ${i}`);
  const seats = Array.from({ length: draw.whole(1, 15) }, (_, i) => ({
    model_id: `sim/model-${i}`,
    family: `family-${draw.whole(0, 5)}`,
    reserve_u: draw.whole(200, 4_000),
    failure_rate: draw.happens(0.4) ? 0 : draw.between(0, 0.3),
    p90_ms: 2_000,
  }));
  return {
    question: `${draw.pick(TEXTS)} or not? Poll ${seed}`,
    options,
    panel_name: draw.pick(['broad', 'fast', 'strong']),
    confidence_threshold: draw.pick([0, 0.5, 0.8, 0.95, 0.95, 0.99, 1]),
    max_cost_u: draw.happens(0.15) ? draw.whole(100, 9_000) : 1_000_000,
    min_votes: 3,
    search: false,
    seed,
    seats,
    ...(draw.happens(0.4) && {
      track_record: {
        roster_version: 'drawn',
        order: draw.pick(['cheapest', 'shuffled']),
        lock_only: draw.happens(0.1),
      },
    }),
    simulated: true,
  };
}

const TEXTS = ['Oslo', 'Straße', 'e\u0301clair', '__proto__', '"quoted" \\ text', '🌍 world', '<b>bold</b>', 'نعم'];

interface Run {
  state: ReturnType<typeof pollState>;
  votes: Vote[];
  arrivals: NonNullable<Timing['arrivals']>;
  reason: TerminationReason | null;
}

/** It has no audits of some situations; in the others, the leader won between half and all of them. */
function drawnRecord({ seats }: PollSpec, draw: Chance): TrackRecord {
  const known = new Map<string, Outcomes | undefined>();
  class Situations extends Map<string, Outcomes> {
    override get(situation: string): Outcomes | undefined {
      if (!known.has(situation)) {
        const polls = draw.whole(1, 400);
        known.set(situation, draw.happens(0.3) ? undefined : { polls, won: draw.whole(polls >> 1, polls) });
      }
      return known.get(situation);
    }
  }
  return { panelSize: seats.length, situations: new Situations(), isAlarmed: draw.happens(0.1) };
}

/** What `collectVotes` of the worker does, without a clock. */
function runPoll(spec: PollSpec, record: TrackRecord | null, draw: Chance): Run {
  const [agreement, favourite] = [draw.between(0.2, 1), draw.whole(0, spec.options.length - 1)];
  const votesUntilDeadline = draw.happens(0.05) ? draw.whole(0, spec.seats.length) : spec.seats.length;
  const votes: Vote[] = [];
  const arrivals: Run['arrivals'] = [];
  let state = pollState(spec, [], record);
  let now = 0;
  const receive = (vote: Vote): void => {
    votes.push(vote);
    state = withVote(state, vote);
    const used = recordUsed(state);
    arrivals.push({
      ...{ at_ms: now, confidence: standing(state).confidence, chances: chancesInOrder(chancesOf(state)) },
      ...(used && { track_record: { audits: used.polls, same_leader: used.won } }),
    });
  };
  for (;;) {
    const decision = decide(state, { slow: draw.happens(0.2) });
    if (decision.kind === 'stop') return { state, votes, arrivals, reason: decision.reason };
    state = launched(state, decision.launch);
    const asked = seatsThatAre(state, 'in_flight');
    if (votes.length >= votesUntilDeadline) {
      for (const seat of asked) receive(failedVote(spec, seat, 'timeout'));
      return { state, votes, arrivals, reason: null };
    }
    now += draw.latency(400, 0.8);
    const seat = draw.pick(asked);
    const { failure_rate, reserve_u } = spec.seats[seat]!;
    if (draw.happens(failure_rate)) {
      const fault_u = draw.happens(0.5) ? draw.whole(0, reserve_u) : 0;
      const vote = failedVote(
        spec,
        seat,
        fault_u > 0 ? 'refusal' : draw.pick(['timeout', 'provider_error', 'malformed']),
      );
      receive({ ...vote, cost: { estimated_u: fault_u, max_u: fault_u, fault_u } });
    } else {
      const option = draw.happens(agreement) ? favourite : draw.whole(0, spec.options.length - 1);
      receive({ ...failedVote(spec, seat, null), option, billed_u: draw.whole(0, reserve_u) });
    }
  }
}

const failedVote = (spec: PollSpec, seat: number, error: Vote['error']): Vote => ({
  seat,
  model_id: spec.seats[seat]!.model_id,
  option: null,
  error,
  latency_ms: 300 + seat,
  billed_u: 0,
  provider_cost_u: null,
  labels: [],
  calls: 1,
  searched: false,
});
