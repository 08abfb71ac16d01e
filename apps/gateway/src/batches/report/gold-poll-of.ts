import type { GoldPoll } from '@eloquentpoll/evidence';
import { rulesOf, votingSeat } from '@eloquentpoll/polls';
import type { GoldRow, JudgedPoll } from '@eloquentpoll/storage';
import type { ReplayedVote } from '@eloquentpoll/voting';

/** A row as the report counts it: with the right option, and with the cost of its votes in micro-USD. */
export type CountedRow = ({ kind: 'judged' } & JudgedRow) | { kind: 'without_gold' | 'not_judged' };

export interface JudgedRow {
  poll: GoldPoll;
  spec: Pick<JudgedPoll['spec'], 'panel_name' | 'simulated'>;
  rowHash: number;
}

export function countedRow({ gold, outcome, isCanceled, isDeleted, rowHash, poll }: GoldRow): CountedRow {
  // The gold was deleted with the poll.
  if (isDeleted) return { kind: 'not_judged' };
  if (gold === null) return { kind: 'without_gold' };
  if (poll === null || rowHash === null || isCanceled || outcome === null || outcome === 'canceled')
    return { kind: 'not_judged' };
  const answer = poll.spec.options.indexOf(gold);
  if (answer < 0) return { kind: 'without_gold' };
  return { kind: 'judged', spec: poll.spec, rowHash, poll: goldPollOf(poll, answer) };
}

function goldPollOf(judged: JudgedPoll, answer: number): GoldPoll {
  const { spec, votes, arrivals, reason, confidence, votesU } = judged;
  const seats = spec.seats.map((seat) => ({
    ...votingSeat(seat),
    // No budget applies: bills were checked when they were made, and a replay spends nothing.
    ...{ reserveU: 0n, model: seat.model_id },
    typicalCost: ((seat.call_typical_u ?? 0) * (spec.price_ppm ?? 1_000_000)) / 1_000_000,
  }));
  const places = new Map(spec.seats.map(({ model_id }, seat) => [model_id, seat]));
  return {
    rules: { ...rulesOf({ ...spec, question: '' }), ...recordRulesOf(judged) },
    seats,
    votes: votes.map(({ model_id, chosen_option, estimated_cost }, i) => ({
      ...{ seat: places.get(model_id)!, option: chosen_option === null ? null : spec.options.indexOf(chosen_option) },
      ...{ billedU: 0n, cost: votesU ? Number(votesU[i] ?? 0) : Math.round(estimated_cost * 1_000_000) },
      outcomes: outcomesOf(arrivals[i]),
    })),
    reason,
    confidence,
    // Arrivals are incomplete if another worker took the poll over. Then votes are in seat order.
    hasCourse: arrivals.length === votes.length,
    answer,
  };
}

/** What the track record said is stored with each vote; of the record itself only an alarm is needed. */
function recordRulesOf({ spec, asking }: JudgedPoll): Partial<GoldPoll['rules']> {
  if (spec.track_record === undefined) return {};
  const isAlarmed = (asking ?? spec.track_record).lock_only;
  return { record: { panelSize: spec.seats.length, situations: new Map(), isAlarmed } };
}

function outcomesOf(arrival: JudgedPoll['arrivals'][number] | undefined): ReplayedVote['outcomes'] {
  const said = arrival?.track_record;
  return said && { polls: said.audits, won: said.same_leader };
}
