import { CLOCK_MS } from './can-strike.ts';
import type { CampaignRule } from './rule.ts';

export const cancelRules: readonly CampaignRule[] = [
  {
    name: 'no model is asked for a poll after its caller heard that its cancellation is over',
    broken({ operations, calls }) {
      const over = new Map(
        operations.flatMap(({ canceledAt, named }) =>
          canceledAt === undefined ? [] : [...named].map((id) => [id, canceledAt] as const),
        ),
      );
      return calls
        .filter(({ pollId, madeAt }) => madeAt > (over.get(pollId) ?? Number.POSITIVE_INFINITY) + CLOCK_MS)
        .map(({ pollId, seat, madeAt }) => `${pollId} seat ${seat} asked ${madeAt - over.get(pollId)!} ms after it`);
    },
  },
  {
    name: 'a poll that no worker had when it was canceled asks no model and costs nothing',
    broken({ polls, calls }) {
      const asked = new Set(calls.map(({ pollId }) => pollId));
      return polls
        .filter(
          ({ claims, status, id, postedU }) => claims === 0 && status === 'failed' && (asked.has(id) || postedU > 0n),
        )
        .map(({ id, postedU }) => `${id} ${asked.has(id) ? 'asked' : 'did not ask'} and cost ${postedU}`);
    },
  },
];
