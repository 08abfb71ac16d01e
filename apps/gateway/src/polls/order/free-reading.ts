import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../http/api-error.ts';
import { readShortOrder, type ShortOrder } from './short-order.ts';
import { type CallerKind, wantsFree } from './themes.ts';

// A free poll is read before its rate-limit budget is chosen: a refused body draws from the budget for computed answers
// and does not use up a free poll.

/** Null for a poll that is not free. */
export type FreeReading = { order: ShortOrder } | { refusal: ApiError } | null;

declare module 'fastify' {
  interface FastifyRequest {
    freeReading: FreeReading;
  }
}

export function readFree(body: unknown, caller: CallerKind): FreeReading {
  if (!wantsFree(body, caller)) return null;
  try {
    return { order: readShortOrder(body, caller) };
  } catch (error) {
    if (error instanceof ApiError) return { refusal: error };
    throw error;
  }
}

export const isRefused = (reading: FreeReading): boolean => reading !== null && 'refusal' in reading;

/** The order of a free poll, or its refusal as an error; null for a poll that is not free. */
export function freeOrder({ freeReading }: FastifyRequest): ShortOrder | null {
  if (freeReading === null) return null;
  if ('refusal' in freeReading) throw freeReading.refusal;
  return freeReading.order;
}
