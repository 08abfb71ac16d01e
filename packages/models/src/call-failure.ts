import type { VoteError } from '@eloquentpoll/contracts';

/** How a call without a reply ended. */
export type CallFailure =
  | { kind: 'aborted' }
  /** No first byte, or no next byte, in time. */
  | { kind: 'timeout' }
  /** No model can have worked on it: refused, unreachable, or cut off right after it was sent. */
  | { kind: 'connect'; timedOut: boolean }
  /** `field`: the rejected field of the request, if the provider names one. */
  | { kind: 'status'; status: number; retryAfterMs: number | null; field: string | null }
  /** The provider's filter rejected the question, or what the model had `written`. */
  | { kind: 'refusal'; written: boolean }
  /**
   * The provider found that the model's answer does not have the required form. `repair`: asking once more may help.
   */
  | { kind: 'malformed'; repair: boolean; answerBytes: number }
  /** The connection was cut while the model worked or answered. */
  | { kind: 'cut' }
  /** The reply is too large or not JSON. */
  | { kind: 'broken' };

/** Longest wait before a retry, if the provider does not state a time. */
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
    case 'cut':
    case 'broken':
      return 'provider_error';
    case 'status':
      if (failure.status === 429) return 'rate_limited';
      return LATE_STATUSES.has(failure.status) ? 'timeout' : 'provider_error';
  }
}

/** Whether the question caused the failure, not the line. */
export const isByQuestion = (error: VoteError): boolean =>
  error === 'refusal' || error === 'malformed' || error === 'invalid_choice';

/** The roster file or the key must be changed. Asking again does not help. */
export const isOurFault = ({ status, field }: { status: number; field: string | null }): boolean =>
  field !== null || status === 401 || status === 402 || status === 403;

/** The model or its filter answered, so the line works. */
export const isAnswer = ({ kind }: CallFailure): boolean => kind === 'refusal' || kind === 'malformed';

/**
 * Who may be responsible for a failure besides the line. `rejected`: the question, which the provider turned away
 * without a reason. `slow`: the question, which made the model write until the time was up, or until something in
 * between cut the connection.
 */
export type Suspicion = 'none' | 'rejected' | 'slow';

export function suspicionOf(failure: CallFailure): Suspicion {
  switch (failure.kind) {
    case 'timeout':
    case 'aborted':
    case 'cut':
      return 'slow';
    case 'status':
      if (failure.field !== null) return 'none';
      if (LATE_STATUSES.has(failure.status)) return 'slow';
      return QUESTION_STATUSES.has(failure.status) ? 'rejected' : 'none';
    default:
      return 'none';
  }
}
const QUESTION_STATUSES: ReadonlySet<number> = new Set([400, 403, 413, 422]);

/** The provider, or a proxy in front of it (524: Cloudflare), stopped waiting for the model, which may have worked. */
const LATE_STATUSES: ReadonlySet<number> = new Set([408, 504, 524]);

/**
 * Providers do not charge for calls that they answered with an error or never received. Not included: refusals, because
 * a filter may have read the question, and calls that were given up while the model worked.
 */
export const isFreeOfCharge = (failure: CallFailure): boolean =>
  failure.kind === 'connect' || (failure.kind === 'status' && !LATE_STATUSES.has(failure.status));

/**
 * How long to wait before the one retry. Null if a retry is useless or might be charged twice: only calls that are free
 * of charge are retried (429, 5xx, no connection), so that a vote costs at most what was set aside for it. Full jitter,
 * so that many workers do not return at once.
 */
export function retryWaitMs(failure: CallFailure, random: () => number): number | null {
  const jitter = random() * BACKOFF_MS;
  if (failure.kind === 'connect') return jitter;
  if (failure.kind !== 'status' || !isFreeOfCharge(failure)) return null;
  if (failure.status !== 429 && failure.status < 500) return null;
  return failure.retryAfterMs === null ? jitter : failure.retryAfterMs + jitter / 4;
}
