import { createHash } from 'node:crypto';
import { pollIdsOfMonth } from '@eloquentpoll/polls';
import { createAccount, creditAccount } from '@eloquentpoll/storage';
import type { Stores } from '../fixture/stores.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import { withoutIndexes } from './without-indexes.ts';

// Ended polls of one account over a year, with labels and results, made by Postgres itself. Rows are in the order of
// time, as the service writes them; one poll in a hundred belongs to another account.

export interface ListSize {
  readonly polls: number;
  /** Specs and results have a tenth of their usual size. Used for ten million polls. */
  readonly thin: boolean;
}

export interface Filled {
  readonly accountId: string;
  readonly keyIds: readonly string[];
  /** Of the poll that was accepted as the n-th. Multiples of 100 belong to the other account. */
  pollId(n: number): string;
  resultId(n: number): string;
  readonly since: Date;
}

const DAYS = 365;
const HOUR_MS = 3_600_000;
const KEYS = 5;
const BALANCE_U = 1_000_000_000_000n;
/** Micro-USD. */
const COST_U = 300;
const ACCOUNT = uuidOf('lists account');
const OTHER = uuidOf('lists other account');

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

function uuidOf(text: string): string {
  return md5(text).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** SQL expressions of `n`, from 1 to the number of polls. Rare properties are spread evenly over the year. */
const expressions = ({ polls, thin }: ListSize, since: Date) => {
  const filler = thin ? `'{}'` : `(select jsonb_agg(md5(n || ' ' || i)) from generate_series(1, 45) i)`;
  const at = `('${since.toISOString()}'::timestamptz + n * interval '${(DAYS * 86_400) / polls} seconds')`;
  return {
    id: `month_ids(${at}) || left(md5(n::text), 22)`,
    result: `to_char(${at} at time zone 'utc', '"EP-"YYYY-MM-DD-') || left(md5(n || ' result'), 16)`,
    account: `(case when n % 100 = 0 then '${OTHER}' else '${ACCOUNT}' end)::uuid`,
    key: `md5('lists key ' || n % ${KEYS})::uuid`,
    panel: `case n % 10 when 0 then 'strong' when 1 then 'broad' else 'fast' end`,
    failed: `(n % 53 = 0)`,
    close: `(n % 19 = 0)`,
    tie: `(n % 97 = 0)`,
    metadata: `jsonb_build_object('env', case when n % 7 = 0 then 'test' else 'prod' end, 'customer', 'c' || n % 50021)`,
    question: `'Which of these is right for case ' || n || '?'`,
    at,
    filler,
    series: `generate_series(1, ${polls}) n`,
  };
};

const statements = (size: ListSize, since: Date): Record<string, string> => {
  const { id, result, account, key, panel, failed, close, tie, metadata, question, at, filler, series } = expressions(
    size,
    since,
  );
  return {
    polls: `
      insert into polls (id, result_id, account_id, tenant, key_id, status, spec, entry_point, request_id, metadata, is_close,
                         lease_until, created_at, deadline_at, finished_at, expires_at, provider_max_u, spend_shard)
      select ${id}, ${result}, ${account}, (${account})::text, ${key},
             case when ${failed} then 'failed' else 'completed' end,
             jsonb_build_object('question', ${question}, 'options', '["yes","no"]'::jsonb, 'panel_name', ${panel},
                                'max_cost_u', 1000, 'simulated', true, 'seats', ${filler}::jsonb),
             'polls', 'req_' || n, ${metadata}, ${close}, ${at}, ${at}, ${at} + interval '2 minutes', ${at} + interval '3 s',
             ${at} + interval '400 days', 5000, n % 16
        from ${series}`,
    poll_labels: `
      insert into poll_labels (account_id, label, created_at, poll_id)
      select ${account}, label_of(pair.key, pair.value), ${at}, ${id}
        from ${series} cross join lateral jsonb_each_text(${metadata}) pair`,
    results: `
      insert into results (poll_id, result_id, account_id, status, panel_name, entry_point, simulated, winning_option, is_tie,
                           early_terminated, models_requested, models_succeeded, models_failed, models_skipped,
                           total_cost_u, gather_ms, total_ms, detail, created_at, expires_at)
      select ${id}, ${result}, ${account}, case when ${failed} then 'failed' else 'success' end, ${panel}, 'polls', true,
             case when ${failed} or ${tie} then null else 'yes' end, ${tie}, true, 5, 5, 0, 2, ${COST_U}, 700, 3000,
             json_build_object('question', ${question}, 'options', '["yes","no"]'::json, 'tally', '{"yes":4,"no":1}'::json,
                               'votes', '[]'::json, 'arrivals', ${filler}::json), ${at} + interval '3 s',
             ${at} + interval '400 days'
        from ${series}`,
  };
};

/** Usage rows of every key, preset and surface each day, and 1,000 values of a name: the maximum for count_usage. */
const histogram = (around: number) => `(select 14 * sum(counted_once(${around} * i)) from generate_series(2, 8) i)`;
const counts = `100, 98, 2, 0, 5, 30000, 20000, ${histogram(700)}, ${histogram(COST_U / 4)}`;
const days = `generate_series(current_date - ${DAYS}, current_date - 1, interval '1 day') day`;
const usageStatements = ({ polls }: ListSize): string[] => [
  `insert into usage_days
   select '${ACCOUNT}', day, md5('lists key ' || k)::uuid, preset, surface, ${counts}
     from ${days}, generate_series(0, ${KEYS - 1}) k, unnest(array['broad', 'fast', 'strong']) preset,
          unnest(array['poll', 'polls', 'batches']) surface`,
  `insert into usage_labels
   select '${ACCOUNT}', day, 'customer', 'c' || n, ${counts} from ${days}, generate_series(1, ${Math.min(1_000, polls / 100)}) n`,
  `insert into usage_names select '${ACCOUNT}', day, 'customer', ${Math.min(1_000, polls / 100)} from ${days}`,
  // Each call sums one day.
  `do $sum$ begin while sum_usage_months(2000000000) > 0 loop end loop; end $sum$`,
];

export const LISTS_ENDPOINT = `we_${md5('lists endpoint')}`;

/** Deliveries of the last 20 days; one in 5,003 failed. */
const deliveryStatements = ({ polls }: ListSize): string[] => [
  `insert into webhook_endpoints (id, account_id, url, event_types, secret)
   values ('${LISTS_ENDPOINT}', '${ACCOUNT}', 'https://hooks.example/', '{poll.completed}', '')`,
  `insert into webhook_receivers (endpoint_id, account_id, origin, next_due_at)
   values ('${LISTS_ENDPOINT}', '${ACCOUNT}', 'https://hooks.example', 'infinity')`,
  `with made as (
     insert into webhook_events (account_id, type, data, spread_at)
     select '${ACCOUNT}', 'poll.completed', '{}', now() from generate_series(1, ${Math.ceil(polls / 10)}) n returning id)
   insert into webhook_deliveries (event_id, endpoint_id, receiver_id, account_id, status, created_at, ended_at)
   select e.id, '${LISTS_ENDPOINT}', r.id, '${ACCOUNT}', case when e.n % 5003 = 0 then 'failed' else 'delivered' end,
          now() - interval '20 days' + e.n * interval '20 days' / ${Math.ceil(polls / 10)}, now()
     from (select id, row_number() over (order by id) as n from made) e,
          (select id from webhook_receivers where endpoint_id = '${LISTS_ENDPOINT}') r`,
  'analyze webhook_events, webhook_deliveries, webhook_endpoints, webhook_receivers',
];

export async function fillLists(
  { query, storage }: Stores,
  size: ListSize,
  progress: ProgressLine,
  signal?: AbortSignal,
): Promise<Filled> {
  for (const id of [ACCOUNT, OTHER]) await createAccount(storage, { id });
  await creditAccount(storage, {
    accountId: ACCOUNT,
    amountU: BALANCE_U,
    source: 'operator',
    idem: `lists:${ACCOUNT}`,
  });
  const keyIds = Array.from({ length: KEYS }, (_, n) => uuidOf(`lists key ${n}`));
  for (const id of keyIds)
    await query('insert into api_keys (id, account_id, hash, prefix) values ($1, $2, $3, $4)', [
      id,
      ACCOUNT,
      Buffer.from(md5(id), 'hex'),
      'ep_k_lists',
    ]);
  const since = new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - DAYS * 24 * HOUR_MS);
  const acceptedAt = (n: number) => new Date(since.getTime() + (n * DAYS * 24 * HOUR_MS) / size.polls);
  const filling = Object.entries(statements(size, since));
  for (const statement of usageStatements(size)) await query(statement);
  for (const statement of deliveryStatements(size)) await query(statement);
  await withoutIndexes(
    { query },
    filling.map(([table]) => table),
    async () => {
      for (const [table, statement] of filling) {
        signal?.throwIfAborted();
        await query(`set session_replication_role = replica; ${statement}; reset session_replication_role`);
        progress.note(`lists: ${table} filled`);
      }
    },
  );
  progress.note('lists: indexes made');
  await query('vacuum analyze');
  return {
    accountId: ACCOUNT,
    keyIds,
    pollId: (n) => `${pollIdsOfMonth(acceptedAt(n))}${md5(String(n)).slice(0, 22)}`,
    resultId: (n) => `EP-${acceptedAt(n).toISOString().slice(0, 10)}-${md5(`${n} result`).slice(0, 16)}`,
    since,
  };
}
