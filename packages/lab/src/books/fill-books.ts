import type { Stores } from '../fixture/stores.ts';
import type { ProgressLine } from '../terminal/progress.ts';

// A consistent ledger of any size, made by Postgres itself: funded accounts, and polls that ended on the days before
// today, each with its hold, capture, votes and result.

export interface Size {
  readonly polls: number;
  readonly days: number;
  readonly accounts: number;
  readonly thin: boolean;
}

const HOLD_U = 500;
const BILLED_U = 100;
const VOTES = 3;
const GRANT_U = 1_000_000_000_000;
const REVENUE = '00000000-0000-4000-8000-000000000002';
const OPERATOR = '00000000-0000-4000-8000-000000000003';

/**
 * With `thin`, only the newest day has votes and results, because a round of the check reads no older ones. Polls,
 * votes and results are inserted in the order of their ids, not of time, so that indexes are written sequentially.
 */
const statements = ({ polls, days, accounts, thin }: Size): Record<string, string> => {
  const account = `md5('account ' || n % ${accounts})::uuid`;
  const day = `(n - 1) * ${days} / ${polls}`;
  const at = `date_trunc('day', now(), 'UTC') - (${days} - ${day}) * interval '1 day' + n * interval '1 ms'`;
  const hold = `${accounts} + 2 * n - 1`;
  const series = `generate_series(1::bigint, ${polls}) n`;
  const id = `month_ids(${at}) || left(md5(n::text), 22)`;
  const sorted = `(select n, ${id} as id from ${series} order by 2) poll`;
  const recent = thin ? ` where ${day} = ${days - 1}` : '';
  return {
    transfers: `
      insert into transfers (id, idem, kind, debit, credit, amount_u, pending_id, poll_id, created_at)
        overriding system value
      select x.* from (select n, ${id} as id from ${series}) poll cross join lateral (values
        (${hold}, 'hold:' || id, 'hold', ${account}, '${REVENUE}'::uuid, ${HOLD_U}, null::bigint, id, ${at}),
        (${hold} + 1, 'resolve:' || ${hold}, 'post', ${account}, '${REVENUE}', ${VOTES * BILLED_U}, ${hold}, id, ${at})) x`,
    polls: `
      insert into polls (id, result_id, account_id, status, spec, entry_point, lease_until, created_at, deadline_at,
                         finished_at)
      select id, 'EP-' || id, ${account}, 'completed',
             '{"max_cost_u": 1000, "panel_name": "fast", "simulated": true}', 'rest', ${at}, ${at}, ${at}, ${at}
        from ${sorted}`,
    votes: `
      insert into votes (poll_id, seat, model_id, option, latency_ms, billed_u, calls, searched, labels)
      select id, seat, 'sim/m' || seat, 0, 700, ${BILLED_U}, 1, false, '{}'
        from ${sorted} cross join generate_series(0, ${VOTES - 1}) seat${recent}`,
    usage_days: `
      insert into usage_days (account_id, day, key_id, preset, surface, polls, completed, failed, canceled,
                              split_or_partial, cost_u, saved_u, ms_counts, cost_counts)
      select ${account}, ((${at}) at time zone 'utc')::date, '00000000-0000-0000-0000-000000000000', 'fast', 'rest',
             count(*), count(*), 0, 0, 0, ${VOTES * BILLED_U} * count(*), 0,
             count(*) * counted_once(700),
             count(*) * counted_once(${VOTES * BILLED_U})
        from ${series} group by 1, 2`,
    results: `
      insert into results (poll_id, result_id, account_id, status, panel_name, entry_point, simulated, is_tie,
                           early_terminated, models_requested, models_succeeded, models_failed, models_skipped,
                           total_cost_u, gather_ms, total_ms, detail, created_at)
      select id, 'EP-' || id, ${account}, 'success', 'fast', 'rest', true, false, false, ${VOTES}, ${VOTES}, 0, 0,
             ${VOTES * BILLED_U}, 700, 700, '{}', ${at} from ${sorted}${recent}`,
  };
};

export async function fillBooks(
  { query }: Stores,
  size: Size,
  progress: ProgressLine,
  signal?: AbortSignal,
): Promise<void> {
  const { days, accounts } = size;
  const credits = `from generate_series(1, ${accounts}) n`;
  await query(`insert into accounts (id) select md5('account ' || n % ${accounts})::uuid ${credits}`);
  await query(`
    insert into transfers (id, idem, kind, debit, credit, amount_u, created_at) overriding system value
    select n, 'grant:' || n, 'credit', '${OPERATOR}', md5('account ' || n % ${accounts})::uuid, ${GRANT_U},
           date_trunc('day', now(), 'UTC') - interval '${days} days' ${credits}`);
  // The rows are correct by construction, so foreign keys are not checked: that would take half of the time. The unique
  // index of random keys is built at the end, which is faster than inserting millions of them into it.
  const fill = async (table: string): Promise<void> => {
    signal?.throwIfAborted();
    const settings = "session_replication_role = replica; set work_mem = '256MB'; set maintenance_work_mem = '512MB'";
    await query(`set ${settings}; ${statements(size)[table]!};
      ${table === 'transfers' ? 'alter table transfers add constraint transfers_idem unique (idem);' : ''} reset all`);
    progress.note(`books: ${table} filled`);
  };
  await query('alter table transfers drop constraint transfers_idem');
  await Promise.all([fill('transfers').then(() => fill('results')), fill('votes').then(() => fill('polls'))]);
  await fill('usage_days');
  await query(`select setval('transfers_id_seq', (select max(id) from transfers))`);
  await query(`
    insert into balances (account_id, posted_u, used_u)
    select a.id, ${GRANT_U} - ${VOTES * BILLED_U} * count(p.id), ${VOTES * BILLED_U} * count(p.id)
      from accounts a left join polls p on p.account_id = a.id
     where a.kind = 'user' group by a.id`);
  await query('vacuum analyze');
}

/** Closes all days before the newest, as `close_books` would, but in larger pages and unchecked, which is faster. */
export async function closeOldDays({ query }: Stores, progress: ProgressLine): Promise<void> {
  progress.note('books: old days are closed');
  await query(`
    with days as (
      select (created_at at time zone 'utc')::date as day, min(id) as first_id, max(id) as last_id from transfers group by 1),
    pages as (
      select day, page_id, least(page_id + ${OLD_PAGE} - 1, last_id) as last_id
        from days cross join lateral generate_series(first_id, last_id, ${OLD_PAGE}) page_id
       where day < (select max(day) from days))
    insert into ledger_pages (first_id, last_id, day, transfers, hash, proved, verified_at)
    select p.page_id, p.last_id, p.day, h.transfers, h.hash, true, now() + interval '1 day'
      from pages p cross join lateral hash_transfers(p.page_id - 1, p.last_id) h`);
  await query(`
    insert into ledger_day_sums
    select p.day, s.*
      from (select day, min(first_id) as first_id, max(last_id) as last_id from ledger_pages group by day) p
     cross join lateral sum_transfers(p.first_id - 1, p.last_id) s`);
  await query(`
    insert into ledger_sums
    select account_id, ${SUMS.map((name) => `sum(${name})`).join(', ')} from ledger_day_sums group by account_id`);
  const days = await query<{ day: string }>('select distinct day::text from ledger_pages order by day');
  for (const { day } of days) await query('insert into ledger_seals (day, hash) values ($1, hash_day($1))', [day]);
  await query('vacuum analyze');
}

const OLD_PAGE = 100_000;
const SUMS = ['posted_u', 'used_u', 'held_u', 'reversed_u', 'card_u', 'card_reversed_u', 'chain_u'];
