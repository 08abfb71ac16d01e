import { ApiError } from '../../http/api-error.ts';

const RETRY_AFTER_S = 2;

/** For answers that a login cannot do without: a 503 while Redis is away. */
export const fromRedis = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((cause: unknown) => {
    throw new ApiError('service_unavailable', { retryAfterSeconds: RETRY_AFTER_S, cause });
  });
