import type { PollResponse } from '@eloquentpoll/contracts';
import { isFree } from '@eloquentpoll/polls';

/** A response as its caller may read it: a free poll costs its caller nothing, and what it costs the operator is kept. */
export function atNoCost(result: PollResponse): PollResponse {
  if (!isFree(result.preset)) return result;
  return {
    ...result,
    votes: result.votes.map((vote) => ({ ...vote, estimated_cost: 0 })),
    costs: { total_estimated_cost: 0 },
  };
}
