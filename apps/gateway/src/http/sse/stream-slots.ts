import type { FastifyRequest } from 'fastify';
import { ApiError } from '../api-error.ts';
import { principalOf } from '../hooks/rate-limit.ts';

// How many event streams one account, or one network without credentials, may have open at this gateway. Counted before
// a stream costs anything: each holds a socket, and reads Postgres when it begins.

export interface StreamLimits {
  perAccount: number;
  perNetwork: number;
}

export interface StreamSlots {
  /** Throws a 429 when all are taken; what it returns gives the slot back, once. */
  take(request: FastifyRequest): () => void;
}

const RETRY_AFTER_S = 5;

export function streamSlots({ perAccount, perNetwork }: StreamLimits): StreamSlots {
  const taken = new Map<string, number>();
  return {
    take(request) {
      const principal = principalOf(request);
      const limit = request.principal ? perAccount : perNetwork;
      const open = taken.get(principal) ?? 0;
      if (open >= limit)
        throw new ApiError('rate_limited', {
          detail: `At most ${limit} event streams are open at once; close one, or ask for the status instead.`,
          retryAfterSeconds: RETRY_AFTER_S,
        });
      taken.set(principal, open + 1);
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        const left = taken.get(principal)! - 1;
        if (left > 0) taken.set(principal, left);
        else taken.delete(principal);
      };
    },
  };
}
