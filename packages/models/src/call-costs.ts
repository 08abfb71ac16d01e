import type { CallCost, PollSpec } from '@eloquentpoll/contracts';
import type { Usage } from './read-answer.ts';

// What the calls of one vote cost us so far. A call that was sent counts with the most that it can cost until it is known
// what it did cost.

/** What one call of a seat costs us, in micro-USD. */
export interface CallPrice {
  maxU: number;
  typicalU: number;
}

/** What a vote has come to so far. */
export interface Spent {
  calls: number;
  /** Null while no provider has said anything. */
  providerCostU: number | null;
  cost: CallCost;
}

export interface CallCosts extends Spent {
  /** False: with one more call the vote could cost more than was set aside for it. */
  mayCall(): boolean;
  sent(): void;
  /** Of all calls; null where a provider did not count those of one. */
  tokens(): Usage | null;
  ended(call: EndedCall): void;
}

interface EndedCall {
  /** `said` by the provider, `counted` from its tokens; both null where nothing is known. */
  said: number | null;
  counted: number | null;
  usage: Usage | null;
  byQuestion: boolean;
  /** What it costs where nothing is known; left out, what any call does. */
  unknown?: CallPrice | undefined;
}

/**
 * The most that the calls of one vote cost us. A repair or retry is only made while the calls before it cost at most half
 * of what one can: a malformed answer is short, and one that used up its tokens is not repaired.
 */
export const voteMaxU = (callMaxU: number): number => callMaxU + Math.floor(callMaxU / 2);

/**
 * The most that providers can charge us for a poll. A model that alone is beyond its limit is never asked; several that are together
 * may be, because a call that failed is not billed. Seats of older releases say only what a vote can be billed.
 */
export const providerMaxU = ({
  seats,
  max_cost_u = Number.POSITIVE_INFINITY,
}: Pick<PollSpec, 'seats'> & Partial<Pick<PollSpec, 'max_cost_u'>>): number =>
  seats
    .filter(({ reserve_u }) => reserve_u <= max_cost_u)
    .reduce((sum, seat) => sum + (seat.call_max_u === undefined ? seat.reserve_u : voteMaxU(seat.call_max_u)), 0);

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
