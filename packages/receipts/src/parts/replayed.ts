import { newPoll, type PollState, type Rules } from '@eloquentpoll/voting/poll';
import { type Outcomes, type Replayed, replay } from '@eloquentpoll/voting/replay';
import type { ReceiptPrice, Statement } from '../receipt.ts';

export interface ReplayedPoll {
  /** The state after each vote. */
  readonly steps: readonly Replayed[];
  readonly last: PollState;
}

/**
 * A partial result states the odds as if its failed models had still to vote. Then `decision.record` is about that, and
 * not about the state after the last vote.
 */
export const hasOwnFinalOdds = ({ rule, decision }: Statement): boolean =>
  rule.version >= 3 && decision.status === 'partial';

/** Replays the poll by the rules. Without its price, no budget ever ends it. */
export function replayed(statement: Statement, price: ReceiptPrice | null): ReplayedPoll {
  const { options, order, panel, rule, votes, decision } = statement;
  const lastRecord = hasOwnFinalOdds(statement) ? undefined : decision.record;
  const rules: Rules = {
    optionCount: options.length,
    threshold: rule.threshold,
    minVotes: rule.min_votes,
    maxCostU: BigInt(price?.max_cost_u ?? 0),
    hedge: 'one',
    order,
    ...(rule.record && {
      record: { panelSize: panel.length, situations: new Map(), isAlarmed: rule.record.lock_only },
    }),
  };
  const seats = panel.map(({ family, failure_rate }, seat) => ({
    family,
    failureRate: failure_rate,
    reserveU: BigInt(price?.reserves_u[seat] ?? 0),
  }));
  const steps = replay(
    rules,
    seats,
    votes.map(({ seat, option, record }, i) => ({
      seat,
      option,
      billedU: BigInt((price?.votes[i]?.billed_u ?? 0) + (price?.votes[i]?.fault_u ?? 0)),
      outcomes: outcomesOf(record ?? (i === votes.length - 1 ? lastRecord : undefined)),
    })),
  );
  return { steps, last: steps.at(-1)?.state ?? newPoll(rules, seats) };
}

export const outcomesOf = (record: Statement['decision']['record']): Outcomes | undefined =>
  record && { polls: record.audits, won: record.same_leader };
