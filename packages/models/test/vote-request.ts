import type { VoteRequest } from '../src/ask.ts';

export const MODEL = 't/ash-1';

export function voteRequest(rest: Partial<VoteRequest> = {}): VoteRequest {
  return {
    pollId: 'ps_test',
    modelId: MODEL,
    question: 'Which of these is the best?',
    options: ['first', 'second', 'third'],
    seat: 0,
    seed: 'seed',
    style: 'rationale',
    search: false,
    deadlineMs: 10_000,
    reserveU: 75_000,
    call: { maxU: 50_000, typicalU: 500 },
    pricePpm: 1_000_000,
    ...rest,
  };
}
