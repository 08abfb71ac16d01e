import { newPoll, type PollState, type Rules } from '@eloquentpoll/voting/poll';
import { type Replayed, replay } from '@eloquentpoll/voting/replay';
import type { ReceiptPrice, Statement } from '../receipt.ts';

export interface ReplayedPoll {
  /** After each vote. */
  readonly steps: readonly Replayed[];
  readonly last: PollState;
}

/** The poll once more by the rules. Without its price no budget ever ends it. */
export function replayed({ options, order, panel, rule, votes }: Statement, price: ReceiptPrice | null): ReplayedPoll {
  const rules: Rules = {
    optionCount: options.length,
    threshold: rule.threshold,
    minVotes: rule.min_votes,
    maxCostU: BigInt(price?.max_cost_u ?? 0),
    hedge: 'one',
    order,
    ...(rule.alarmed !== undefined && {
      record: { panelSize: panel.length, situations: new Map(), isAlarmed: rule.alarmed },
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
      outcomes: record && { polls: record[0] ?? 0, won: record[1] ?? 0 },
    })),
  );
  return { steps, last: steps.at(-1)?.state ?? newPoll(rules, seats) };
}
