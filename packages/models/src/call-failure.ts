import type { VoteError } from '@eloquentpoll/contracts';

/** How one call ended where no reply came back. */
export type CallFailure =
  | { kind: 'aborted' }
  /** No first byte, or no further byte, in time. */
  | { kind: 'timeout' }
  /** No model can have worked for it: refused, unreachable, or cut as soon as it was sent. */
  | { kind: 'connect'; timedOut: boolean }
  /** `field` of the request, where the provider turned one away and says which. */
  | { kind: 'status'; status: number; retryAfterMs: number | null; field: string | null }
  /** The provider's own filter turned the question away, or what the model had `written`. */
  | { kind: 'refusal'; written: boolean }
  /** The provider found that the model's answer has not the form that was asked for. `repair`: asking once more may help. */
  | { kind: 'malformed'; repair: boolean; answerBytes: number }
  /** A connection cut while the model worked; a reply that breaks off, is too large, or is no JSON. */
  | { kind: 'broken' };

/** Longest wait before a retry where the provider does not say how long. */
const BACKOFF_MS = 1_000;

export function voteErrorOf(failure: CallFailure): VoteError {
  switch (failure.kind) {
    case 'aborted':
    case 'timeout':
    case 'refusal':
    case 'malformed':
      return failure.kind;
    case 'connect':
      return failure.timedOut ? 'timeout' : 'provider_error';
    case 'broken':
      return 'provider_error';
    case 'status':
      if (failure.status === 429) return 'rate_limited';
      return failure.status === 408 || failure.status === 504 ? 'timeout' : 'provider_error';
  }
}

/** Whether such a failure is brought about by the question, as opposed to the line. */
export const isByQuestion = (error: VoteError): boolean =>
  error === 'refusal' || error === 'malformed' || error === 'invalid_choice';

/** The roster file or the key has to be changed: asking again helps nothing. */
export const isOurFault = ({ status, field }: { status: number; field: string | null }): boolean =>
  field !== null || status === 401 || status === 402 || status === 403;

/** The model, or the filter before it, answered: it is reached, whatever it says. */
export const isAnswer = ({ kind }: CallFailure): boolean => kind === 'refusal' || kind === 'malformed';

/** A request turned away with these and no reason may be one that only this question brings about. */
export const mayBeQuestion = (failure: CallFailure): boolean =>
  failure.kind === 'status' && failure.field === null && QUESTION_STATUSES.has(failure.status);
const QUESTION_STATUSES: ReadonlySet<number> = new Set([400, 403, 413, 422]);

/** Providers do not charge for what they answered with an error, or never got. A filter may have read the question. */
export const isFreeOfCharge = ({ kind }: CallFailure): boolean => kind === 'connect' || kind === 'status';

/**
 * How long to wait before the one retry; null where a retry is of no use or might pay twice: only a provider that took
 * nothing on (429, 5xx, no connection) is asked again. Full jitter, so that many workers do not come back together.
 */
export function retryWaitMs(failure: CallFailure, random: () => number): number | null {
  const jitter = random() * BACKOFF_MS;
  if (failure.kind === 'connect') return jitter;
  if (failure.kind !== 'status' || (failure.status !== 429 && failure.status < 500)) return null;
  return failure.retryAfterMs === null ? jitter : failure.retryAfterMs + jitter / 4;
}
