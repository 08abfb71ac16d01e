import { EloquentPollError } from '../eloquentpoll.ts';
import type { Exit } from './exit-codes.ts';
import { printGoesOn } from './follow-events.ts';
import type { Invocation } from './invocation.ts';
import { showOutcome } from './show-outcome.ts';
import { print } from './terminal.ts';

// A poll whose connection was lost goes on and is paid for, so its result is waited for.

/** Enough for a restart of the service, or for a computer that changes its network. */
const FOUND_WITHIN_MS = 60_000;

interface LostPoll extends EloquentPollError {
  readonly sessionId: string;
}

/** True if the poll was created and the error says nothing about its end. */
export const isLostPoll = (error: unknown): error is LostPoll =>
  error instanceof EloquentPollError &&
  error.sessionId !== null &&
  (error.code === 'network_error' || (error.retryable && error.status !== null && error.status >= 500));

/** Shows its result, or throws the first error, which names it. */
export async function showLostPoll(lost: LostPoll, invocation: Invocation): Promise<Exit> {
  const { polls, terminal, json, heard } = invocation;
  const { signal } = terminal;
  const isKnown = heard.sessionId !== undefined;
  heard.sessionId = lost.sessionId;
  const what = isKnown ? 'The connection was lost; the poll goes on.' : 'The poll may have been created.';
  if (!json) print(terminal.err, `${what} Waiting for its result.`);
  try {
    const result = await polls.session(lost.sessionId).wait({ signal, timeoutMs: FOUND_WITHIN_MS });
    return showOutcome(result, invocation);
  } catch (error) {
    if (signal.aborted && !json) printGoesOn(terminal, lost.sessionId);
    if (!(error instanceof EloquentPollError)) throw error;
    if (error.code === 'session_not_found' && !isKnown) throw neverMade(lost);
    if (error.retryable) throw lost;
    throw HOW_IT_ENDED.has(error.code) ? error : naming(lost, error);
  }
}

const HOW_IT_ENDED = new Set(['poll_failed', 'poll_canceled', 'budget_too_small']);

/** Whatever keeps the result from being read, such as a key that was revoked: the poll goes on. */
const naming = ({ sessionId, idempotencyKey }: LostPoll, error: EloquentPollError): EloquentPollError =>
  Object.assign(error, { sessionId, idempotencyKey });

/** Without an event of it, the id is that of a poll that the service may have made. */
function neverMade({ code, status, idempotencyKey }: LostPoll): EloquentPollError {
  const message = 'No poll was made, and nothing was charged.';
  return new EloquentPollError(message, { code, status, idempotencyKey, retryable: true });
}
