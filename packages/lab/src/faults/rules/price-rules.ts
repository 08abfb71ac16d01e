import { optionDigest } from '../../fixture/election.ts';
import type { ModelExchange } from '../../fixture/simulators.ts';
import { type PresetName, priceFactor } from '../../fixture/voting-panel.ts';
import type { BilledVote, StoredPoll } from '../history.ts';
import { type CampaignRule, seatKey } from './rule.ts';

// What a vote is billed is worked out from the provider's own record and the published prices: sums of what the service
// has stored agree also where a vote is billed for two calls.

/** Both what a provider charges and what a caller pays for it are rounded up to whole micro-USD. */
const ROUNDING_U = 1.01;
const SOLD: readonly string[] = ['broad', 'fast', 'strong'] satisfies PresetName[];

export const priceRules: readonly CampaignRule[] = [
  {
    name: 'a vote is billed at most what the call cost that gave it, times the price factor of its poll, and nothing else is',
    broken({ polls, votes, calls, upgrade }) {
      // The other release may have other prices.
      if (upgrade) return [];
      const sold = new Map(polls.filter(({ panel }) => SOLD.includes(panel)).map((poll) => [poll.id, poll]));
      const made = Map.groupBy(calls, seatKey);
      const dear = votes.flatMap((vote) => {
        const poll = sold.get(vote.pollId);
        if (!poll || vote.option === null) return [];
        const costU = costOf(vote, poll, made.get(seatKey(vote)) ?? []);
        // That no call gave it is for another rule to say.
        if (costU === null) return [];
        const mostU = factorOf(poll) * (costU + ROUNDING_U) + ROUNDING_U;
        return Number(vote.billedU) > mostU
          ? [`${seatKey(vote)} is billed ${vote.billedU} of ${mostU.toFixed(2)}`]
          : [];
      });
      const besides = [...sold.values()].filter(({ unvotedU }) => unvotedU > 0n);
      return [...dear, ...besides.map(({ id, unvotedU }) => `${id} is charged ${unvotedU} for no vote`)];
    },
  },
];

const factorOf = ({ panel, lane }: StoredPoll): number =>
  priceFactor(panel as PresetName, lane === 'flex' ? 'flex' : 'standard');

/**
 * The dearest call that gave this vote, with those of its worker that failed before it. A call by a worker that died is
 * not paid by the caller.
 */
function costOf({ option }: BilledVote, { options }: StoredPoll, calls: readonly ModelExchange[]): number | null {
  const digest = options === null ? null : optionDigest(options[option!] ?? '');
  const giving = calls.filter(
    (call) => call.optionDigest !== null && (digest ?? call.optionDigest) === call.optionDigest,
  );
  const costs = giving.map((call) => {
    const failed = calls.filter(({ optionDigest: said, attempt }) => said === null && attempt < call.attempt);
    return call.costU + failed.reduce((sum, { costU }) => sum + costU, 0);
  });
  return costs.length === 0 ? null : Math.max(...costs);
}
