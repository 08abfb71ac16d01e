import type { Stores } from '../fixture/stores.ts';
import type { ProgressLine } from '../terminal/progress.ts';

// True books of any size, made by Postgres itself: funded accounts, and ended polls of the days before today, each with
// its hold, capture, votes and result.

export interface Size {
  readonly polls: number;
  readonly days: number;
  readonly accounts: number;
}

const HOLD_U = 500;
const BILLED_U = 100;
const VOTES = 3;
const GRANT_U = 1_000_000_000_000;
const REVENUE = '00000000-0000-4000-8000-000000000002';
const OPERATOR = '00000000-0000-4000-8000-000000000003';

/** In the order of their ids, which are random in time: tables and indexes are written from one end to the other. */
const statements = ({ polls, days, accounts }: Size): Record<string, string> => {
  const account = `md5('account ' || n % ${accounts})::uuid`;
  const day = `(n - 1) * ${days} / ${polls}`;
  const at = `date_trunc('day', now(), 'UTC') - (${days} - ${day}) * interval '1 day' + n * interval '1 ms'`;
  const hold = `${accounts} + 2 * n - 1`;
  const series = `generate_series(1::bigint, ${polls}) n`;
  const sorted = `(select n, 'ps_' || md5(n::text) as id from ${series} order by 2) poll`;
  return {
    transfers: `
      insert into transfers (id, idem, kind, debit, credit, amount_u, pending_id, poll_id, created_at)
        overriding system value
      select x.* from (select n, 'ps_' || md5(n::text) as id from ${series}) poll cross join lateral (values
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
        from ${sorted} cross join generate_series(0, ${VOTES - 1}) seat`,
    results: `
      insert into results (poll_id, result_id, account_id, status, panel_name, entry_point, simulated, is_tie,
                           early_terminated, models_requested, models_succeeded, models_failed, models_skipped,
                           total_cost_u, gather_ms, total_ms, detail, created_at)
      select id, 'EP-' || id, ${account}, 'success', 'fast', 'rest', true, false, false, ${VOTES}, ${VOTES}, 0, 0,
             ${VOTES * BILLED_U}, 700, 700, '{}', ${at} from ${sorted}`,
  };
};

export async function fillBooks({ query }: Stores, size: Size, progress: ProgressLine): Promise<void> {
  const { days, accounts } = size;
  const credits = `from generate_series(1, ${accounts}) n`;
  await query(`insert into accounts (id) select md5('account ' || n % ${accounts})::uuid ${credits}`);
  await query(`
    insert into transfers (id, idem, kind, debit, credit, amount_u, created_at) overriding system value
    select n, 'grant:' || n, 'credit', '${OPERATOR}', md5('account ' || n % ${accounts})::uuid, ${GRANT_U},
           date_trunc('day', now(), 'UTC') - interval '${days} days' ${credits}`);
  // The rows are right by construction: checking each foreign key would take half of the time, and random keys go into
  // an index of millions faster when it is built at the end.
  const fill = async (table: string): Promise<void> => {
    const settings = "session_replication_role = replica; set work_mem = '256MB'; set maintenance_work_mem = '512MB'";
    await query(`set ${settings}; ${statements(size)[table]!};
      ${table === 'transfers' ? 'alter table transfers add constraint transfers_idem unique (idem);' : ''} reset all`);
    progress.note(`books: ${table} filled`);
  };
  await query('alter table transfers drop constraint transfers_idem');
  await Promise.all([fill('transfers').then(() => fill('results')), fill('votes').then(() => fill('polls'))]);
  await query(`select setval('transfers_id_seq', (select max(id) from transfers))`);
  await query(`
    insert into balances (account_id, posted_u, used_u)
    select a.id, ${GRANT_U} - ${VOTES * BILLED_U} * count(p.id), ${VOTES * BILLED_U} * count(p.id)
      from accounts a left join polls p on p.account_id = a.id
     where a.kind = 'user' group by a.id`);
  await query('vacuum analyze');
}
