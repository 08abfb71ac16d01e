import type { CallCost, PollSpec, Seat } from '@eloquentpoll/contracts';
import type { Usage } from './read-answer.ts';

// What the calls of one vote have cost us so far. A sent call counts with its maximum cost until its actual cost is
// known.

/** The cost of one call of a seat to us, in micro-USD. */
export interface CallPrice {
  maxU: number;
  typicalU: number;
}

/** What a vote has cost so far. */
export interface Spent {
  calls: number;
  /** Null while no provider has stated a cost. */
  providerCostU: number | null;
  cost: CallCost;
}

export interface CallCosts extends Spent {
  /** False if one more call could make the vote cost more than was set aside for it. */
  mayCall(): boolean;
  sent(): void;
  /** Tokens of all calls. Null if a provider did not count those of one. */
  tokens(): Usage | null;
  ended(call: EndedCall): void;
}

interface EndedCall {
  /** `said`: stated by the provider. `counted`: computed from its tokens. Both null if unknown. */
  said: number | null;
  counted: number | null;
  usage: Usage | null;
  byQuestion: boolean;
  /** The cost to assume if it is unknown. Default: that of any call. */
  unknown?: CallPrice | undefined;
}

/**
 * The maximum cost of all calls of one vote. A repair or retry is only made if the earlier calls cost at most half of a
 * call's maximum. Usually they do: a malformed answer is short, and one that used up its tokens is not repaired.
 */
export const voteMaxU = (callMaxU: number): number => callMaxU + Math.floor(callMaxU / 2);

/**
 * The maximum that providers can charge us for a poll. A model whose reserve exceeds the poll's limit is never asked.
 * Several models that exceed it only together may all be asked, because failed calls are not billed. A vote is refused at
 * most once, because it then ends.
 */
export const providerMaxU = ({
  seats,
  max_cost_u = Number.POSITIVE_INFINITY,
}: Pick<PollSpec, 'seats'> & Partial<Pick<PollSpec, 'max_cost_u'>>): number =>
  seats
    .filter(({ reserve_u }) => reserve_u <= max_cost_u)
    .reduce((sum, seat) => sum + voteMaxOf(seat) + (seat.refusal_fee_u ?? 0), 0);

/** Seats from older releases have only the maximum that can be billed. */
const voteMaxOf = ({ call_max_u, reserve_u }: Seat): number =>
  call_max_u === undefined ? reserve_u : voteMaxU(call_max_u);

export function callCosts({ maxU, typicalU }: CallPrice, onChange: (spent: Spent) => void = () => {}): CallCosts {
  const cost: CallCost = { estimated_u: 0, max_u: 0, fault_u: 0 };
  const tokens = { inputTokens: 0, outputTokens: 0 };
  let uncounted = 0;
  const costs: CallCosts = {
    calls: 0,
    providerCostU: null,
    cost,
    mayCall: () => cost.max_u + maxU <= voteMaxU(maxU),
    tokens: () => (uncounted === 0 ? tokens : null),
    sent() {
      costs.calls += 1;
      uncounted += 1;
      cost.estimated_u += typicalU;
      cost.max_u += maxU;
      onChange(costs);
    },
    ended({ said, counted, usage, byQuestion, unknown = { maxU, typicalU } }) {
      if (usage) {
        uncounted -= 1;
        tokens.inputTokens += usage.inputTokens;
        tokens.outputTokens += usage.outputTokens;
      }
      if (said !== null) costs.providerCostU = (costs.providerCostU ?? 0) + said;
      const knownU = said ?? counted;
      cost.estimated_u += (knownU ?? unknown.typicalU) - typicalU;
      cost.max_u += (knownU ?? unknown.maxU) - maxU;
      if (byQuestion) cost.fault_u += knownU ?? unknown.maxU;
      onChange(costs);
    },
  };
  return costs;
}
