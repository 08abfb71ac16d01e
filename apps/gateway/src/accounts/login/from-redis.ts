import { ApiError } from '../../http/api-error.ts';

const RETRY_AFTER_S = 2;

/** An answer without which a login cannot go on: while Redis is away, a 503. */
export const fromRedis = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((cause: unknown) => {
    throw new ApiError('service_unavailable', { retryAfterSeconds: RETRY_AFTER_S, cause });
  });
