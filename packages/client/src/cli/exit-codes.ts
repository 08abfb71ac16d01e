import type { EloquentPollError, PollResponse } from '../eloquentpoll.ts';

/** Exit codes, for scripts. */
export const EXIT = {
  winner: 0,
  /** A tie, or no votes. */
  undecided: 1,
  /** The command or the poll is invalid, or something that it names does not exist. */
  usage: 2,
  /** There is a winner, but missing votes could have changed it. */
  partial: 3,
  /** Missing or invalid credentials, or insufficient balance. */
  refused: 4,
  /** The service cannot be reached, is too busy, or failed. */
  unavailable: 5,
  /** A receipt is not valid. */
  unproved: 6,
  /** An error in this program itself. */
  defect: 70,
  interrupted: 130,
} as const;
export type Exit = (typeof EXIT)[keyof typeof EXIT];

export function exitOfOutcome(outcome: Pick<PollResponse, 'status' | 'winning_option' | 'code'>): Exit {
  const { status, winning_option, code } = outcome;
  if (code === 'budget_too_small') return EXIT.usage;
  if (winning_option === null) return EXIT.undecided;
  return status === 'partial' ? EXIT.partial : EXIT.winner;
}

export function exitOfError(error: EloquentPollError): Exit {
  const { status, code, retryable } = error;
  if (code === 'budget_too_small' || code === 'bad_request') return EXIT.usage;
  // Another program, such as a proxy, has answered; or the first try of the same request is not finished.
  if (code === 'bad_response' || code === 'idempotency_conflict') return EXIT.unavailable;
  if (code === 'poll_failed' || code === 'poll_canceled') return EXIT.undecided;
  if (status === 401 || status === 402 || status === 403) return EXIT.refused;
  if (status === null || status === 408 || status === 429 || status >= 500) return EXIT.unavailable;
  // The balance is read with a tool, whose errors come with status 200.
  if (status === 200 && retryable) return EXIT.unavailable;
  return EXIT.usage;
}
