import type { ApiKey } from '@eloquentpoll/contracts';
import type { KeySpend, StoredApiKey } from '@eloquentpoll/storage';

type Terms = Pick<
  ApiKey,
  'label' | 'expires_at' | 'read_only' | 'limit_usd' | 'limit_reset' | 'spent_usd' | 'held_usd' | 'resets_at'
>;

/** What a key may do. */
export const toKeyTerms = ({ label, expiresAt, isReadOnly, limit }: StoredApiKey): Terms => ({
  label,
  expires_at: expiresAt?.toISOString() ?? null,
  read_only: isReadOnly,
  limit_usd: limit && usdOf(limit.limitU),
  limit_reset: limit?.reset ?? 'never',
  spent_usd: limit && usdOf(limit.spentU),
  held_usd: limit && usdOf(limit.heldU),
  resets_at: limit?.resetsAt?.toISOString() ?? null,
});

/** A key in its account's list; `spend` is missing for a key without charges this month. */
export const toApiKey = (key: StoredApiKey, spend: KeySpend = { todayU: 0n, monthU: 0n }): ApiKey => ({
  id: key.id,
  key_prefix: key.prefix,
  ...toKeyTerms(key),
  spent_today_usd: usdOf(spend.todayU),
  spent_month_usd: usdOf(spend.monthU),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
  created_at: key.createdAt.toISOString(),
});

const usdOf = (microUsd: bigint): number => Number(microUsd) / 1_000_000;
