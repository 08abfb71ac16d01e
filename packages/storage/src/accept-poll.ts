import type { Metadata, PollSpec } from '@eloquentpoll/contracts';
import { laneOf, runLimitMsOf } from '@eloquentpoll/polls';
import { StorageRefused } from './errors.ts';
import type { Storage } from './open-storage.ts';
import { ceilingRetryS, type SpendCeiling } from './provider-spend.ts';
import { repeatable } from './transaction.ts';

// Accepts a poll: idempotency key, hold and poll row are stored together or not at all, in one call of the SQL function
// accept_poll. Safe to repeat with the same poll id.

const UNIQUE_VIOLATION = '23505';

export interface NewPoll {
  id: string;
  resultId: string;
  /** Whose history it appears in; null for an anonymous poll. */
  accountId: string | null;
  spec: PollSpec;
  /** Whose running polls are counted together; see `limits`. */
  tenant?: string | undefined;
  /** The API key that asked, whose running polls are counted too. */
  keyId?: string | undefined;
  /** Its caller waits for the end. */
  isAwaited?: boolean;
  /** From now until the poll must have ended. */
  deadlineMs: number;
  /** The operation that it came in by; its idempotency keys are of this operation only. */
  entryPoint: string;
  requestId?: string | undefined;
  traceparent?: string | undefined;
  /** The roster version that it is drawn for an audit of; its caller never sees it. */
  auditVersion?: string | undefined;
  /** What the caller of an agent's task groups it by. */
  contextId?: string | undefined;
  /** The caller's own labels. */
  metadata?: Metadata | undefined;
  /** Where its end is sent; its account has an endpoint that stands for it. */
  webhookUrl?: string | undefined;
}

export interface IdempotencyKey {
  principal: string;
  entryPoint: string;
  key: string;
  /** Hash of the request that the key stands for. */
  fingerprint: string;
}

/** How many polls of one lane a tenant may have that have not ended, and how many of them may wait for a worker. */
export interface TenantLimits {
  running: number;
  runningOfKey?: number | undefined;
  /** A poll with more of its tenant's before it could not start in time; -1 refuses every poll. */
  waiting?: number | undefined;
}

export interface Acceptance {
  poll: NewPoll;
  /** Set aside until the poll ends; at least one micro-USD, so that every poll is in the ledger. */
  holdU: bigint;
  idempotency?: Omit<IdempotencyKey, 'entryPoint'> | undefined;
  /** Beyond them the poll is refused. */
  limits?: TenantLimits | undefined;
  /** Charge the free pool instead of the account, which then spends at most this much per UTC day. */
  free?: { dailyCapU: bigint } | undefined;
  /** The most that providers can charge for it. */
  providerMaxU?: number | undefined;
  /** Refuse the poll when the fleet would come to more than this; needs `providerMaxU`. */
  ceiling?: SpendCeiling | undefined;
}

export type Accepted =
  /** `rank`: how many polls of its tenant waited for a worker before it. */
  | { kind: 'accepted'; pollId: string; rank: number }
  /** The key stands for this poll, accepted before with the same request. */
  | { kind: 'joined'; pollId: string }
  /** The key stands for another request. */
  | { kind: 'reused' }
  /** Nothing was stored: an operator froze or closed the account. */
  | { kind: 'frozen' }
  /** Nothing was stored: operators have stopped polls, or free ones. */
  | { kind: 'stopped' }
  /** Nothing was stored: the tenant's polls have to end first. */
  | { kind: 'too_many'; running: number }
  /** The same for the polls of the key. */
  | { kind: 'too_many_of_key'; running: number }
  /** Nothing was stored: as many polls of the tenant wait as can start in time. */
  | { kind: 'too_late'; waiting: number }
  /** Nothing was stored: providers may not charge the fleet any more for now. */
  | { kind: 'over_ceiling'; retryAfterS: number }
  /** Nothing was stored: the limit of the key leaves too little. */
  | { kind: 'key_limit' }
  /** Nothing was stored. `retryAfterS` says when the free pool may have some again; null for an account. */
  | { kind: 'insufficient'; availableU: bigint; settlingU: bigint; retryAfterS: number | null };

export async function acceptPoll(storage: Storage, acceptance: Acceptance): Promise<Accepted> {
  const request = acceptanceJson(acceptance);
  let row: Row;
  try {
    const call = () => repeatable(() => storage.call<Row>('select * from accept_poll($1::jsonb)', [request]));
    const rows = await call().catch((error: unknown) => {
      // A lost first try of this very poll was committed while this one waited for its locks: it is found now.
      if (error instanceof StorageRefused && error.code === UNIQUE_VIOLATION) return call();
      throw error;
    });
    row = rows[0]!;
  } catch (error) {
    const retryAfterS = ceilingRetryS(error);
    if (retryAfterS === null) throw error;
    return { kind: 'over_ceiling', retryAfterS };
  }
  switch (row.outcome) {
    case 'accepted':
      return { kind: 'accepted', pollId: row.poll_id!, rank: row.waiting ?? 0 };
    case 'joined':
      return { kind: 'joined', pollId: row.poll_id! };
    case 'too_many':
    case 'too_many_of_key':
      return { kind: row.outcome, running: row.running ?? 0 };
    case 'too_late':
      return { kind: 'too_late', waiting: row.waiting ?? 0 };
    case 'reused':
    case 'frozen':
    case 'stopped':
    case 'key_limit':
      return { kind: row.outcome };
    case 'insufficient':
      return {
        kind: 'insufficient',
        availableU: row.available_u!,
        settlingU: row.settling_u!,
        retryAfterS: row.retry_after_s,
      };
  }
}

/** What accept_poll takes. */
export function acceptanceJson(acceptance: Acceptance): string {
  const { poll, holdU, idempotency, free, limits, providerMaxU, ceiling } = acceptance;
  if (free === undefined && poll.accountId === null) throw new TypeError('a poll without an account must be free');
  return JSON.stringify({
    id: poll.id,
    result_id: poll.resultId,
    account_id: poll.accountId,
    tenant: poll.tenant ?? null,
    key_id: poll.keyId ?? null,
    awaited: poll.isAwaited ?? false,
    spec: poll.spec,
    deadline_ms: poll.deadlineMs,
    lane: laneOf(poll.spec),
    run_limit_ms: runLimitMsOf(poll.spec) ?? null,
    entry_point: poll.entryPoint,
    request_id: poll.requestId ?? null,
    traceparent: poll.traceparent ?? null,
    audit_version: poll.auditVersion ?? null,
    context_id: poll.contextId ?? null,
    ...(poll.metadata && { metadata: poll.metadata }),
    webhook_url: poll.webhookUrl ?? null,
    hold_u: String(holdU > 1n ? holdU : 1n),
    ...(limits &&
      poll.tenant !== undefined && {
        max_running: limits.running,
        max_running_of_key: limits.runningOfKey ?? null,
        max_waiting: limits.waiting ?? null,
      }),
    ...idempotency,
    ...(free && { free_daily_cap_u: String(free.dailyCapU) }),
    provider_max_u: providerMaxU ?? null,
    ...(ceiling &&
      providerMaxU !== undefined && {
        spend: { reserve_u: providerMaxU, hour_cap_u: String(ceiling.hourU), day_cap_u: String(ceiling.dayU) },
      }),
  });
}

interface Row {
  outcome: Exclude<Accepted['kind'], 'over_ceiling'>;
  poll_id: string | null;
  available_u: bigint | null;
  retry_after_s: number | null;
  running: number | null;
  waiting: number | null;
  settling_u: bigint | null;
}
