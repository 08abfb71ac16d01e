import { newPoll, type PollState, type Rules } from '@eloquentpoll/voting/poll';
import { type Outcomes, type Replayed, replay } from '@eloquentpoll/voting/replay';
import type { ReceiptPrice, Statement } from '../receipt.ts';

export interface ReplayedPoll {
  /** The state after each vote. */
  readonly steps: readonly Replayed[];
  readonly last: PollState;
}

/** Replays the poll by the rules. Without its price, no budget ever ends it. */
export function replayed(
  { options, order, panel, rule, votes, decision }: Statement,
  price: ReceiptPrice | null,
): ReplayedPoll {
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
      outcomes: outcomesOf(record ?? (i === votes.length - 1 ? decision.record : undefined)),
    })),
  );
  return { steps, last: steps.at(-1)?.state ?? newPoll(rules, seats) };
}

const outcomesOf = (record: Statement['decision']['record']): Outcomes | undefined =>
  record && { polls: record.audits, won: record.same_leader };
