import type { ChangedLine } from './mutant.ts';

// Mutants that no test can detect, because nothing that can be observed changes. Each has its reason. An entry that
// matches no mutant any more is an error, so that the list stays up to date.

export interface Equivalent {
  /** The file or the function of the database. */
  readonly where: string;
  /** The first line that changes, and what it becomes. */
  readonly line: string;
  readonly becomes: string;
  readonly why: string;
}

const ONLY_A_HINT =
  'whether v_is_near is right decides only how early a poll is refused: the amount is taken under a lock, which checks it';

const COUNTED_WHOLE =
  'an account that has fewer polls than may be counted is counted whole, and one with more is refused';

const ONE_BY_ONE = 'polls that are not accepted together are accepted one by one, with the same outcome';

const HOUR =
  "and case when hour = date_trunc('hour', now(), 'UTC') then hour_u else 0 end + v_reserve_u <= v_hour_cap_u / 16";
const DAY =
  "and case when day = (now() at time zone 'utc')::date then day_u else 0 end + v_reserve_u <= v_day_cap_u / 16)";

/** Whatever becomes of the conditions of v_is_near. */
const hintsOf = (where: string): Equivalent[] => [
  { where, line: 'where shard = v_some_shard', becomes: 'where shard <> v_some_shard', why: ONLY_A_HINT },
  ...[HOUR, DAY].flatMap((line) =>
    [
      ['and case', 'or case'],
      [' = ', ' <> '],
      [' + v_reserve_u', ' - v_reserve_u'],
      [' <= ', ' < '],
      [' <= ', ' > '],
    ].map(([from, to]) => ({ where, line, becomes: line.replace(from!, to!), why: ONLY_A_HINT })),
  ),
];

export const EQUIVALENT: readonly Equivalent[] = [
  ...hintsOf('accept_poll'),
  ...hintsOf('accept_polls'),
  {
    where: 'packages/voting/src/stop-rules.ts',
    line: "['confidence', (poll) => (confidenceThatStops(poll) ?? -1) >= poll.rules.threshold],",
    becomes: "['confidence', (poll) => (confidenceThatStops(poll) ?? -2) >= poll.rules.threshold],",
    why: 'a threshold is never negative',
  },
  {
    where: 'packages/voting/src/tally.ts',
    line: 'export const isTie = (votes: Votes): boolean => votesCast(votes) > 0 && lead(votes) === 0;',
    becomes: 'export const isTie = (votes: Votes): boolean => votesCast(votes) > 1 && lead(votes) === 0;',
    why: 'a single vote gives its option the lead, so this was never a tie',
  },
  {
    where: 'packages/storage/src/accept-poll.ts',
    line: "return { kind: 'accepted', pollId: row.poll_id!, rank: row.waiting ?? 0 };",
    becomes: "return { kind: 'accepted', pollId: row.poll_id!, rank: row.waiting ?? 1 };",
    why: 'accept_poll always says how many wait',
  },
  {
    where: 'packages/storage/src/accept-poll.ts',
    line: 'return { kind: row.outcome, running: row.running ?? 0 };',
    becomes: 'return { kind: row.outcome, running: row.running ?? 1 };',
    why: 'accept_poll always says how many run when it refuses for that',
  },
  {
    where: 'packages/storage/src/accept-poll.ts',
    line: "return { kind: 'too_late', waiting: row.waiting ?? 0 };",
    becomes: "return { kind: 'too_late', waiting: row.waiting ?? 1 };",
    why: 'accept_poll always says how many wait',
  },
  {
    where: 'packages/storage/src/accept-poll.ts',
    line: 'hold_u: String(holdU > 1n ? holdU : 1n),',
    becomes: 'hold_u: String(holdU >= 1n ? holdU : 1n),',
    why: 'one is one either way',
  },
  {
    where: 'packages/storage/src/finish-poll.ts',
    line: 'const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);',
    becomes: 'const compare = (a: string, b: string) => (a <= b ? -1 : a > b ? 1 : 0);',
    why: 'no two polls are equal',
  },
  {
    where: 'packages/storage/src/finish-poll.ts',
    line: 'const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);',
    becomes: 'const compare = (a: string, b: string) => (a < b ? -2 : a > b ? 1 : 0);',
    why: 'of a comparison, only the sign counts',
  },
  {
    where: 'packages/storage/src/finish-poll.ts',
    line: 'const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);',
    becomes: 'const compare = (a: string, b: string) => (a < b ? -1 : true ? 1 : 0);',
    why: 'no two polls are equal',
  },
  {
    where: 'packages/storage/src/finish-poll.ts',
    line: 'const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);',
    becomes: 'const compare = (a: string, b: string) => (a < b ? -1 : a >= b ? 1 : 0);',
    why: 'no two polls are equal',
  },
  {
    where: 'packages/storage/src/finish-poll.ts',
    line: 'const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);',
    becomes: 'const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 2 : 0);',
    why: 'of a comparison, only the sign counts',
  },
  {
    where: 'packages/storage/src/finish-poll.ts',
    line: 'const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);',
    becomes: 'const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 1);',
    why: 'no two polls are equal',
  },
  {
    where: 'packages/storage/src/finish-poll.ts',
    line: '...(savedU > 0 && { saved_u: savedU }),',
    becomes: '...(savedU >= 0 && { saved_u: savedU }),',
    why: 'without an amount, 0 is stored',
  },
  {
    where: 'packages/storage/src/finish-poll.ts',
    line: 'votes: votesU ? votes.map((vote, i) => ({ ...vote, billed_u: votesU[i] ?? 0 })) : votes,',
    becomes: 'votes: votesU ? votes.map((vote, i) => ({ ...vote, billed_u: votesU[i] ?? 1 })) : votes,',
    why: 'there is one amount for each vote',
  },
  {
    where: 'packages/storage/src/claims.ts',
    line: '[ids, wanted[0]!.worker, LEASE_MS, KNOWN_SCHEMA, DEATHS_BEFORE_SUSPECT, ...capsOf(ceiling)],',
    becomes: '[ids, wanted[1]!.worker, LEASE_MS, KNOWN_SCHEMA, DEATHS_BEFORE_SUSPECT, ...capsOf(ceiling)],',
    why: 'a joint claim is of two polls at least, all wanted by the same worker',
  },
  {
    where: 'packages/storage/src/leases.ts',
    line: 'return rows[0]?.ms ?? null;',
    becomes: 'return rows[0].ms ?? null;',
    why: 'a minimum always has a row',
  },
  {
    where: 'apps/gateway/src/polls/order/decimal-usd.ts',
    line: 'const size = microUsd < 0n ? -microUsd : microUsd;',
    becomes: 'const size = microUsd <= 0n ? -microUsd : microUsd;',
    why: 'the negative of a bigint 0 is 0',
  },
  {
    where: 'packages/webhooks/src/receiver-rules.ts',
    line: "return Number(url.port || 80) < MIN_LOOPBACK_PORT && url.port !== '' ? 'must have a port from 1024' : null;",
    becomes:
      "return Number(url.port || 81) < MIN_LOOPBACK_PORT && url.port !== '' ? 'must have a port from 1024' : null;",
    why: 'without a port the second condition decides',
  },
  {
    where: 'packages/webhooks/src/retry-schedule.ts',
    line: 'export function retryMs(tries: number, retryAfterMs = 0, random = Math.random): number | null {',
    becomes: 'export function retryMs(tries: number, retryAfterMs = 1, random = Math.random): number | null {',
    why: 'every pause is longer than a millisecond',
  },
  {
    where: 'packages/webhooks/src/sealed-secrets.ts',
    line: 'const key = keys.find((known) => known.id === id);',
    becomes: 'const key = keys.findLast((known) => known.id === id);',
    why: 'keys with the same id are the same key',
  },
  {
    where: 'packages/webhooks/src/sealed-secrets.ts',
    line: "const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);",
    becomes: "const sealed = Buffer.concat([nonce, cipher.update(secret, ''), cipher.final(), cipher.getAuthTag()]);",
    why: 'an empty encoding is UTF-8',
  },
  {
    where: 'packages/webhooks/src/sealed-secrets.ts',
    line: "return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');",
    becomes: "return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, '') + decipher.final('utf8');",
    why: 'bytes that are added to a text become UTF-8',
  },
  {
    where: 'packages/webhooks/src/sealed-secrets.ts',
    line: "return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');",
    becomes: "return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('');",
    why: 'nothing is left for the end',
  },
  {
    where: 'packages/webhooks/src/send-message.ts',
    line: "const text = headers['retry-after'] ?? '';",
    becomes: "const text = headers['retry-after'] ?? 'other';",
    why: 'neither is a number, and without one the pause is 0',
  },
  {
    where: 'apps/worker/src/webhooks/deliver-webhooks.ts',
    line: 'if (limit <= 0) return events === EVENTS_AT_ONCE;',
    becomes: 'if (limit < 0) return events === EVENTS_AT_ONCE;',
    why: 'a claim with a limit of 0 takes nothing, and the limit is never below',
  },
  {
    where: 'apps/worker/src/webhooks/deliver-webhooks.ts',
    line: 'if (limit <= 0) return events === EVENTS_AT_ONCE;',
    becomes: 'if (false) return events === EVENTS_AT_ONCE;',
    why: 'a claim with a limit of 0 takes nothing, and the limit is never below',
  },
  {
    where: 'accept_poll',
    line: 'v_running integer := 0;',
    becomes: 'v_running integer := 1;',
    why: 'without limits no caller gets this number',
  },
  {
    where: 'accept_poll',
    line: 'and id >= v_first_id and id < v_next_id',
    becomes: 'and id > v_first_id and id < v_next_id',
    why: 'no id of a poll is just the prefix of its month',
  },
  {
    where: 'accept_poll',
    line: 'and id >= v_first_id and id < v_next_id',
    becomes: 'and id >= v_first_id and id <= v_next_id',
    why: 'no id of a poll is just the prefix of its month',
  },
  {
    where: 'accept_poll',
    line: 'where i.principal = v_principal and i.entry_point = v_entry_point and i.key = v_key and i.poll_id = v_id;',
    becomes: 'where i.principal = v_principal and i.entry_point = v_entry_point and i.key = v_key or i.poll_id = v_id;',
    why: 'a key that is freed belongs to this poll, which has no other',
  },
  {
    where: 'accept_polls',
    line: 'if v_running + v_polls > v_max_running or v_of_key + v_polls > v_max_of_key or v_waiting > v_max_waiting then',
    becomes:
      'if v_running + v_polls > v_max_running or v_of_key + v_polls > v_max_of_key or v_waiting >= v_max_waiting then',
    why: ONE_BY_ONE,
  },
  {
    where: 'accept_polls',
    line: 'if v_is_near and spend_wait(v_reserve_u, v_hour_cap_u, v_day_cap_u) is not null then',
    becomes: 'if v_is_near and spend_wait(v_reserve_u, v_hour_cap_u, v_day_cap_u) is null then',
    why: `${ONE_BY_ONE}; what is not refused here is refused by the last lock`,
  },
  {
    where: 'end_poll',
    line: 'from (select coalesce(sum(billed_u), 0)::bigint as billed_u, coalesce(sum(cost_u), 0)::bigint as cost_u,',
    becomes: 'from (select coalesce(sum(billed_u), 1)::bigint as billed_u, coalesce(sum(cost_u), 0)::bigint as cost_u,',
    why: 'this sum only limits what failed votes are charged, and without a vote none has failed',
  },
  {
    where: 'end_poll',
    line: 'select coalesce(sum(calls), 0), coalesce(sum(estimated_u), 0), coalesce(sum(max_u), 0)',
    becomes: 'select coalesce(sum(calls), 1), coalesce(sum(estimated_u), 0), coalesce(sum(max_u), 0)',
    why: 'the list is not empty, and each of its calls has a number',
  },
  {
    where: 'end_poll',
    line: 'select coalesce(sum(calls), 0), coalesce(sum(estimated_u), 0), coalesce(sum(max_u), 0)',
    becomes: 'select coalesce(sum(calls), 0), coalesce(sum(estimated_u), 1), coalesce(sum(max_u), 0)',
    why: 'the list is not empty, and each of its calls has an estimate',
  },
  {
    where: 'end_poll',
    line: 'select coalesce(sum(calls), 0), coalesce(sum(estimated_u), 0), coalesce(sum(max_u), 0)',
    becomes: 'select coalesce(sum(calls), 0), coalesce(sum(estimated_u), 0), coalesce(sum(max_u), 1)',
    why: 'the list is not empty, and each of its calls has a maximum',
  },
  {
    where: 'end_poll',
    line: 'elsif v_read.fault_u > 0 then',
    becomes: 'elsif v_read.fault_u >= 0 then',
    why: 'of nothing that failed, nothing is charged',
  },
  {
    where: 'end_poll',
    line: 'if v_extra_u > 0 then',
    becomes: 'if v_extra_u >= 0 then',
    why: 'of nothing, the pool pays nothing: the next line asks again',
  },
  {
    where: 'accept_poll',
    line: 'v_of_key integer := 0;',
    becomes: 'v_of_key integer := 1;',
    why: 'without limits no caller gets this number',
  },
  {
    where: 'accept_poll',
    line: "p ? 'spend' and not exists (",
    becomes: "p ? 'spend' and exists (",
    why: ONLY_A_HINT,
  },
  {
    where: 'top_up_pool',
    line: 'perform 1 from balances where account_id = p_pool and topped_up_on >= v_today;',
    becomes: 'null;',
    why: 'a shortcut without a lock: the next statement finds the same under one',
  },
  {
    where: 'top_up_pool',
    line: 'perform 1 from balances where account_id = p_pool and topped_up_on >= v_today;',
    becomes: 'perform 1 from balances where account_id = p_pool and topped_up_on > v_today;',
    why: 'a shortcut without a lock: the next statement finds the same under one',
  },
  {
    where: 'resolve_hold',
    line: 'if not exists (select from balances where account_id = p_debit) then',
    becomes: 'if not exists (select from balances where account_id <> p_debit) then',
    why: 'no hold is made without a balance, and none is deleted',
  },
  {
    where: 'accept_poll',
    line: 'if v_is_limited and v_payer = v_account then',
    becomes: 'if v_is_limited or v_payer = v_account then',
    why: 'without a limit of the key there is nothing to settle, and a free poll has no key',
  },
  {
    where: 'accept_poll',
    line: "return query select 'insufficient', null::text, coalesce(v_available_u, 0),",
    becomes: "return query select 'insufficient', null::text, coalesce(v_available_u, 1),",
    why: 'an account that pays has a balance',
  },
  {
    where: 'accept_polls',
    line: "min((e ->> 'max_waiting')::integer - place + 1)",
    becomes: "min((e ->> 'max_waiting')::integer - place - 1)",
    why: ONE_BY_ONE,
  },
  {
    where: 'accept_polls',
    line: 'v_reserve_u is not null and not exists (',
    becomes: 'v_reserve_u is not null and exists (',
    why: ONLY_A_HINT,
  },
  {
    where: 'accept_polls',
    line: 'and id >= v_first_id and id < v_next_id',
    becomes: 'and id > v_first_id and id < v_next_id',
    why: 'no id of a poll is just the prefix of its month',
  },
  {
    where: 'accept_polls',
    line: 'and id >= v_first_id and id < v_next_id',
    becomes: 'and id >= v_first_id and id <= v_next_id',
    why: 'no id of a poll is just the prefix of its month',
  },
  {
    where: 'accept_polls',
    line: 'where account_id = v_account and posted_u - held_u - reserved_u - held_back_u >= v_hold_u and not allow_negative;',
    becomes:
      'where account_id = v_account and posted_u - held_u - reserved_u - held_back_u > v_hold_u and not allow_negative;',
    why: ONE_BY_ONE,
  },
  {
    where: 'accept_polls',
    line: "where v_lane = 'flex' and b.account_id = v_account and b.status in ('running', 'canceling'))) r;",
    becomes: "where v_lane = 'flex' or b.account_id = v_account and b.status in ('running', 'canceling'))) r;",
    why: COUNTED_WHOLE,
  },
  {
    where: 'accept_polls',
    line: "where v_lane = 'flex' and b.account_id = v_account and b.status in ('running', 'canceling'))) r;",
    becomes: "where v_lane = 'flex' and b.account_id = v_account or b.status in ('running', 'canceling'))) r;",
    why: COUNTED_WHOLE,
  },
  {
    where: 'end_poll',
    line: 'if not v_free and v_stored.is_limited then',
    becomes: 'if not v_free or v_stored.is_limited then',
    why: 'without a limit of the key there is nothing to settle, and a free poll has no key',
  },
  {
    where: 'accept_polls',
    line: 'if v_keys > 0 then',
    becomes: 'if v_keys >= 0 then',
    why: 'without keys nothing is stored',
  },
  {
    where: 'accept_polls',
    line: 'on conflict do nothing;',
    becomes: ';',
    why: 'an error, too, makes each poll be accepted by itself',
  },
  {
    where: 'apps/gateway/src/http/fingerprint.ts',
    line: 'isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,',
    becomes:
      'isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a <= b ? -1 : 1))) : member,',
    why: 'no two members have the same name',
  },
  {
    where: 'apps/gateway/src/http/fingerprint.ts',
    line: 'isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,',
    becomes:
      'isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -2 : 1))) : member,',
    why: 'of a comparison, only the sign counts',
  },
  {
    where: 'apps/gateway/src/http/fingerprint.ts',
    line: 'isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,',
    becomes:
      'isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 2))) : member,',
    why: 'of a comparison, only the sign counts',
  },
  {
    where: 'packages/storage/src/idempotency.ts',
    line: "return { kind: 'running', retryAfterMs: Math.max(0, known.wait_ms ?? 0) };",
    becomes: "return { kind: 'running', retryAfterMs: Math.max(0, known.wait_ms ?? 1) };",
    why: 'only the key of a poll has no end of its claim, and it was answered before',
  },
  {
    where: 'claim_webhook_deliveries',
    line: 'if v_take > 0 then',
    becomes: 'if v_take >= 0 then',
    why: 'a limit of 0 takes nothing',
  },
];

export const isOf = (where: string, { line, becomes }: ChangedLine, one: Equivalent): boolean =>
  one.where === where && one.line === line && one.becomes === becomes;
