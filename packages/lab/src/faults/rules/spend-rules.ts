import type { CampaignHistory } from '../history.ts';
import type { CampaignRule } from './rule.ts';

// Counted by the providers, call by call, so that calls no worker waits for any more are included.

const HOUR_MS = 3_600_000;

/** `ceilingU`: the most that providers may charge for the polls of one hour. */
export const spendRules = (ceilingU: number): readonly CampaignRule[] => [
  {
    name: 'what providers charge for the polls of an hour is never above its ceiling',
    broken: (history) =>
      [...chargedByHour(history)]
        .filter(([, chargedU]) => chargedU > ceilingU)
        .map(([hour, chargedU]) => `${new Date(hour * HOUR_MS).toISOString()}: ${Math.round(chargedU)} of ${ceilingU}`),
  },
  {
    // The rule above takes the hour of a poll from the service.
    name: 'what providers charge in all is never above the ceilings of the hours from the first request to the last call',
    broken({ operations, calls }) {
      const asked = operations.flatMap(({ attempts }) => attempts.map((attempt) => attempt.asked));
      const times = [...asked, ...calls.map(({ at }) => at)].toSorted((a, b) => a - b);
      const hours = Math.floor(times.at(-1)! / HOUR_MS) - Math.floor(times[0]! / HOUR_MS) + 1;
      const chargedU = calls.reduce((sum, { costU }) => sum + costU, 0);
      return chargedU > hours * ceilingU ? [`${Math.round(chargedU)} in ${hours} hours of ${ceilingU}`] : [];
    },
  },
  {
    name: 'what the service counts as spent or possibly spent is never above the ceiling',
    broken: ({ countedSpendU }) => (countedSpendU > ceilingU ? [`${countedSpendU} of ${ceilingU}`] : []),
  },
  {
    name: 'the ceiling was reached: polls were refused for it',
    broken: ({ operations }) =>
      operations.some(({ attempts }) => attempts.some(({ code }) => code === 'provider_budget_reached'))
        ? []
        : ['no poll was refused'],
  },
];

/** In micro-USD, by the hour in which the poll was accepted, or claimed if it is a flex poll. */
function chargedByHour({ polls, calls }: Pick<CampaignHistory, 'polls' | 'calls'>): Map<number, number> {
  const hourOf = new Map(polls.map(({ id, spendAt }) => [id, Math.floor(spendAt / HOUR_MS)]));
  const charged = new Map<number, number>();
  for (const { pollId, madeAt, costU } of calls) {
    const hour = hourOf.get(pollId) ?? Math.floor(madeAt / HOUR_MS);
    charged.set(hour, (charged.get(hour) ?? 0) + costU);
  }
  return charged;
}
