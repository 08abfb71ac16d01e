import type { CampaignHistory } from '../history.ts';
import type { BalanceState } from '../observer.ts';
import { type CampaignRule, countBy } from './rule.ts';

const U_PER_CENT = 10_000n;

export const moneyRules: readonly CampaignRule[] = [
  {
    name: 'every poll has one hold, and one post or void',
    broken: ({ polls }) =>
      polls
        .filter(({ holds, posts, voids }) => holds !== 1 || posts + voids !== 1)
        .map(({ id, holds, posts, voids }) => `${id}: ${holds} holds, ${posts} posts, ${voids} voids`),
  },
  {
    name: 'captured is the sum of billed votes, at most the hold, at most the most it may cost',
    broken({ polls, votes }) {
      const billed = new Map<string, bigint>();
      for (const { pollId, billedU } of votes) billed.set(pollId, (billed.get(pollId) ?? 0n) + billedU);
      return polls
        .filter(
          ({ id, postedU, unvotedU, holdU, maxCostU }) =>
            postedU !== (billed.get(id) ?? 0n) + unvotedU || postedU > holdU || holdU > (maxCostU > 1n ? maxCostU : 1n),
        )
        .map(
          ({ id, postedU, holdU, maxCostU }) =>
            `${id}: captured ${postedU}, billed ${billed.get(id) ?? 0n}, hold ${holdU}, at most ${maxCostU}`,
        );
    },
  },
  {
    name: 'a model is billed at most once per poll, for a vote or what the free pool pays for a failure',
    broken: ({ votes }) => [
      ...[
        ...countBy(
          votes.filter(({ billedU }) => billedU > 0n),
          ({ pollId, modelId }) => `${pollId} ${modelId}`,
        ),
      ]
        .filter(([, times]) => times > 1)
        .map(([what, times]) => `${what} ${times} times`),
      ...votes
        .filter(({ option, billedU, failedMaxU }) => option === null && billedU > failedMaxU)
        .map(({ pollId, seat }) => `${pollId} seat ${seat} failed and is billed`),
    ],
  },
  {
    name: 'the ledger has no drift',
    broken: ({ ledger }) => ledger.map(({ rule, subject, found }) => `${rule} ${subject}: ${found}`),
  },
  {
    name: 'an account has what was paid in, less what its polls were charged',
    broken({ operations, polls, balances }) {
      const states = Map.groupBy(balances, ({ account }) => account);
      const deleted = new Set(
        operations.flatMap(({ erasure, account }) => (erasure?.what === 'account' ? account : [])),
      );
      return [...new Set(operations.map(({ account }) => account))].flatMap((account) => {
        const own = states.get(account ?? '');
        if (!own || deleted.has(account)) return [];
        // It is paid in once, before the first poll.
        const paidU = own.find(({ availableU }) => availableU > 0n)?.availableU ?? 0n;
        const chargedU = polls.reduce((sum, { payerId, postedU }) => sum + (payerId === account ? postedU : 0n), 0n);
        const { availableU } = own.at(-1)!;
        return availableU === paidU - chargedU ? [] : [`${account} has ${availableU} of ${paidU}, charged ${chargedU}`];
      });
    },
  },
  {
    name: 'a balance in an answer was true between request and answer',
    broken(history) {
      const states = Map.groupBy(history.balances, ({ account }) => account);
      return history.operations.flatMap(({ n, kind, account, cents, attempts }) => {
        const [attempt] = attempts;
        if (kind !== 'balance' || cents === null || !attempt) return [];
        const possible = during(states.get(account ?? '') ?? [], attempt.asked, attempt.answered ?? Date.now());
        return possible.has(cents) ? [] : [`operation ${n}: ${cents} cents, possible were ${[...possible].join(', ')}`];
      });
    },
  },
];

/** Maximum difference between the clocks of two processes on one machine, read one after the other. */
const CLOCK_MS = 20;

/**
 * The balances that a reader may have seen. Each state of a row is written under a lock, after the previous state was
 * committed. A state therefore stops being visible before the second state after it is written.
 */
function during(states: readonly BalanceState[], asked: number, answered: number): Set<number> {
  const seen = states.filter(
    ({ at }, i) => at <= answered + CLOCK_MS && (states[i + 2]?.at ?? Number.POSITIVE_INFINITY) >= asked - CLOCK_MS,
  );
  return new Set(seen.map(({ availableU }) => Number(availableU / U_PER_CENT)));
}

/** Holds that were neither posted nor voided; none after all polls have ended. */
export const openHolds = ({ polls }: CampaignHistory): number =>
  polls.filter(({ holds, posts, voids }) => holds > posts + voids).length;
