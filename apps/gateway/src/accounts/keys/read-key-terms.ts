import type { KeyRequest } from '@eloquentpoll/contracts';
import type { KeyLimitTerms } from '@eloquentpoll/storage';
import { invalid } from '../../http/api-error.ts';

export interface KeyTermsRead {
  expiresAt: Date | undefined;
  isReadOnly: boolean | undefined;
  limit: KeyLimitTerms | undefined;
}

/** What a new key may do, read from a body that matches the schema. */
export function readKeyTerms({
  expires_at,
  read_only,
  limit_usd,
  limit_reset,
}: Omit<KeyRequest, 'label'>): KeyTermsRead {
  if (limit_reset !== undefined && limit_usd === undefined) throw resetWithoutLimit();
  return {
    expiresAt: expires_at === undefined ? undefined : futureTime(expires_at),
    isReadOnly: read_only,
    limit: limit_usd === undefined ? undefined : { limitU: limitU(limit_usd), reset: limit_reset ?? 'never' },
  };
}

export const resetWithoutLimit = () =>
  invalid([{ pointer: '#/limit_reset', detail: 'limit_reset goes with limit_usd: the key has no limit to reset' }]);

/** In whole micro-USD, rounded down in the owner's favour. */
export const limitU = (usd: number): bigint => BigInt(Math.floor(Math.round(usd * 1e9) / 1e3));

export function futureTime(text: string): Date {
  const time = new Date(text);
  if (time.getTime() > Date.now()) return time;
  throw invalid([{ pointer: '#/expires_at', detail: 'expires_at must be in the future' }]);
}
