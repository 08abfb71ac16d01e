import { PollResponse, Timing, VoteResult } from '@eloquentpoll/contracts';
import type { Result } from '@eloquentpoll/storage';
import type { TObject } from '@sinclair/typebox';

/** What is stored with a result is the answer that its caller got. */
export const toPollResponse = (result: Result): PollResponse => inOrder(result.detail as PollResponse);

/**
 * The members in the contract's order, the tally in that of the options. A store may keep them in another one, and a
 * replay is the same answer byte for byte, whichever way it came.
 */
export function inOrder(response: PollResponse): PollResponse {
  const counts = new Map(Object.entries(response.tally));
  return {
    ...arranged(PollResponse, response),
    tally: Object.fromEntries(response.options.map((option) => [option, counts.get(option) ?? 0])),
    votes: response.votes.map((vote) => arranged(VoteResult, vote)),
    timing: arranged(Timing, response.timing),
  };
}

function arranged<T extends object>(shape: TObject, value: T): T {
  const members = new Map(Object.entries(value));
  return Object.fromEntries(
    Object.keys(shape.properties).flatMap((name) => (members.has(name) ? [[name, members.get(name)]] : [])),
  ) as T;
}
