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
  /** The account whose history shows the poll; null for an anonymous poll. */
  accountId: string | null;
  spec: PollSpec;
  /** The tenant whose running polls are counted together; see `limits`. */
  tenant?: string | undefined;
  /** The API key of the request; its running polls are counted too. */
  keyId?: string | undefined;
  /** The caller waits for the poll to end. */
  isAwaited?: boolean;
  /** Time from now until the poll must have ended. */
  deadlineMs: number;
  /** The operation that submitted the poll. Idempotency keys are scoped to it. */
  entryPoint: string;
  requestId?: string | undefined;
  traceparent?: string | undefined;
  /** The roster version for which the poll was selected for an audit; its caller never sees this. */
  auditVersion?: string | undefined;
  /** Keyed hash of tenant and question, in hexadecimal: of its polls, only the first is audited. */
  auditQuestion?: string | undefined;
  /** The id by which the caller of an agent's task groups its tasks. */
  contextId?: string | undefined;
  /** The caller's own labels. */
  metadata?: Metadata | undefined;
  /** Where the event of its end is sent. The account must have the endpoint that represents webhook URLs. */
  webhookUrl?: string | undefined;
}

export interface IdempotencyKey {
  principal: string;
  entryPoint: string;
  key: string;
  /** Hash of the request that used the key. */
  fingerprint: string;
}

/** How many unended polls a tenant may have in one lane, and how many of them may wait for a worker. */
export interface TenantLimits {
  running: number;
  runningOfKey?: number | undefined;
  /** With more polls of the tenant waiting than this, a new one could not start in time; -1 refuses every poll. */
  waiting?: number | undefined;
}

export interface Acceptance {
  poll: NewPoll;
  /** Set aside until the poll ends; at least one micro-USD, so that the ledger has every poll. */
  holdU: bigint;
  idempotency?: Omit<IdempotencyKey, 'entryPoint'> | undefined;
  /** A poll beyond these limits is refused. */
  limits?: TenantLimits | undefined;
  /** Charge the free pool instead of the account; the pool spends at most this much per UTC day. */
  free?: { dailyCapU: bigint } | undefined;
  /** The maximum that providers can charge for the poll. */
  providerMaxU?: number | undefined;
  /** Refuse the poll if it could take the fleet's spend above this; needs `providerMaxU`. */
  ceiling?: SpendCeiling | undefined;
}

export type Accepted =
  /** `rank`: how many polls of its tenant were waiting for a worker ahead of it. */
  | { kind: 'accepted'; pollId: string; rank: number }
  /** The idempotency key belongs to this poll, which was accepted earlier for the same request. */
  | { kind: 'joined'; pollId: string }
  /** The idempotency key belongs to another request. */
  | { kind: 'reused' }
  /** Nothing was stored: an operator froze or closed the account. */
  | { kind: 'frozen' }
  /** Nothing was stored: operators have stopped all polls, or free polls. */
  | { kind: 'stopped' }
  /** Nothing was stored: some of the tenant's running polls must end first. */
  | { kind: 'too_many'; running: number }
  /** The same limit, for the polls of the API key. */
  | { kind: 'too_many_of_key'; running: number }
  /** Nothing was stored: the tenant already has as many waiting polls as can start in time. */
  | { kind: 'too_late'; waiting: number }
  /** Nothing was stored: providers have reached the maximum that they may charge the fleet for now. */
  | { kind: 'over_ceiling'; retryAfterS: number }
  /** Nothing was stored: too little is left of the key's limit. */
  | { kind: 'key_limit' }
  /** Nothing was stored. `retryAfterS`: when the free pool may have money again; null for an account. */
  | { kind: 'insufficient'; availableU: bigint; settlingU: bigint; retryAfterS: number | null };

export async function acceptPoll(storage: Storage, acceptance: Acceptance): Promise<Accepted> {
  const request = acceptanceJson(acceptance);
  let row: Row;
  try {
    const call = () => repeatable(() => storage.call<Row>('select * from accept_poll($1::jsonb)', [request]));
    const rows = await call().catch((error: unknown) => {
      // The answer to a first attempt was lost. It committed while this one waited for locks: the retry finds the poll.
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

/** The argument of accept_poll. */
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
    audit_question: poll.auditQuestion ?? null,
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
