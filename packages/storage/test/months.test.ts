import { createHash } from 'node:crypto';
import { newPollId, newResultId } from '@eloquentpoll/polls';
import { roleUrl } from '@eloquentpoll/testkit/database';
import { sql } from 'kysely';
import pg from 'pg';
import t, { type Test } from 'tap';
import {
  acceptPoll,
  checkLedger,
  claimPoll,
  closeBooks,
  dropMonths,
  emptyExpiredPolls,
  findPoll,
  findPollByResult,
  findPollLines,
  findReceiptProof,
  findResult,
  findResultOfPoll,
  findRunStates,
  finishPoll,
  listPolls,
  makeMonths,
  type NewPoll,
  readHistory,
  renewLeases,
  type Storage,
  sealReceipts,
  storeFeedback,
  WORKER_ROLE,
} from '../src/index.ts';
import { pollsWithResults } from '../src/polls-with-results.ts';
import { scanOf } from '../src/scan-polls.ts';
import { acceptance, type Fixture, finished, funded, newPoll, open, response, USD, within } from './fixtures.ts';
import { executedNodes, plannedNodes } from './query-plan.ts';
import { wholeCheck } from './whole-check.ts';

// slow: 6 s

const TABLES = ['polls', 'votes', 'results', 'poll_labels', 'webhook_events', 'webhook_deliveries'];
const month = (ago: number): Date => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1));
};
const nameOf = (at: Date): string => at.toISOString().slice(0, 7).replace('-', '_');

/** As it is after a year: a partition for each month. */
async function ofAYear(t: Test): Promise<Fixture> {
  const fixture = await open(t);
  await fixture.query(`
    do $$ declare v_table text; begin
      foreach v_table in array array['${TABLES.join("','")}'] loop
        execute format('drop table %I', v_table || '_first');
      end loop;
      delete from months where name = 'first';
    end $$`);
  for (let ago = 12; ago >= 0; ago--) await fixture.query('select make_month($1)', [month(ago)]);
  return fixture;
}

async function run(
  storage: Storage,
  accountId: string,
  at: Date,
  more: Partial<NewPoll> = {},
): Promise<NewPoll & { receiptLeaf: Buffer }> {
  const poll = newPoll(accountId, {
    id: newPollId(undefined, at),
    resultId: newResultId(undefined, at),
    tenant: accountId,
    metadata: { env: 'prod' },
    ...more,
  });
  await acceptPoll(storage, acceptance(accountId, { poll }));
  const claim = await claimPoll(storage, poll.id, 'w');
  const receiptLeaf = createHash('sha256').update(poll.id).digest();
  await finishPoll(storage, finished(claim!, { response: response({ poll_id: poll.resultId }), receiptLeaf }));
  return { ...poll, receiptLeaf };
}

t.test('partitions are made two months ahead, like the newest, and only by the function', async (t) => {
  const { storage, query, url } = await open(t);
  const ends = async () => (await query<{ at: Date }>('select max(ends_at) as at from months'))[0]!.at;
  t.same(await ends(), month(-3), 'by the migration');
  t.same(await makeMonths(storage), []);
  // In the last two days of a month, the first partition ends later than in a month.
  const gone = await query<{ name: string }>(
    "delete from months where ends_at > now() + interval '1 month' and name <> 'first' returning name",
  );
  for (const table of TABLES) for (const { name } of gone) await query(`drop table ${table}_${name}`);
  const made = await makeMonths(storage);
  t.ok(made.length >= 1 && made.at(-1) === nameOf(month(-2)), made.join());
  t.same(await ends(), month(-3));
  const options = await query(
    `select reloptions from pg_class where relname in ('polls_first', 'polls_${made.at(-1)}')`,
  );
  t.same(options[0], options[1], 'with its fillfactor');
  const indexes = await query<{ n: number }>(
    `select count(*)::integer as n from pg_index where indrelid in ('polls'::regclass, 'polls_${made.at(-1)}'::regclass) group by indrelid`,
  );
  t.equal(indexes[0]!.n, indexes[1]!.n, 'and its indexes');

  const worker = new pg.Client({ connectionString: roleUrl(url, WORKER_ROLE) });
  await worker.connect();
  t.teardown(() => worker.end());
  await worker.query('select keep_months(3)');
  for (const statement of [
    `create table mine partition of polls for values from ('ps_x') to ('ps_y')`,
    'alter table polls detach partition polls_first',
    'drop table polls_first',
    'truncate votes',
    'update months set polls_dropped_at = now()',
    "select make_month(now() + interval '10 years')",
    'select * from polls_first',
  ])
    await t.rejects(worker.query(statement), { code: '42501' }, statement);
  await t.rejects(worker.query('select keep_months(1000)'), { code: '22023' });
});

t.test('hot statements read the month of their poll, and lists no more months than their page fills', async (t) => {
  const { storage, query } = await ofAYear(t);
  const accountId = await funded(storage, 100n * USD);
  const all: { id: string; resultId: string }[] = [];
  for (let ago = 12; ago >= 0; ago--) for (let n = 0; n < 3; n++) all.push(await run(storage, accountId, month(ago)));
  // Accepted when their ids say.
  await query(`
    update polls p set created_at = m.starts_at + interval '1 hour' from months m where p.id >= m.first_poll and p.id < m.next_poll;
    update poll_labels l set created_at = p.created_at from polls p where p.id = l.poll_id`);
  await query('analyze polls, results, votes, poll_labels');

  /** How many partitions of each table the work scans. */
  const touched = (work: (queries: Pick<Storage, 'db'>) => Promise<unknown>): Promise<Record<string, number>> =>
    storage.db.transaction().execute(async (db) => {
      // Counted since some earlier statement of the connection.
      const scans = async () => {
        const { rows } = await sql<{ name: string; scans: number }>`
          select relname as name, (coalesce(seq_scan, 0) + coalesce(idx_scan, 0))::integer as scans
            from pg_stat_xact_user_tables`.execute(db);
        return new Map(rows.map((row) => [row.name, row.scans]));
      };
      const before = await scans();
      await work({ db });
      const counts: Record<string, number> = {};
      for (const [name, count] of await scans()) {
        const table = name.replace(/_\d{4}_\d\d$/, '');
        if (table !== name && count > (before.get(name) ?? 0)) counts[table] = (counts[table] ?? 0) + 1;
      }
      return counts;
    });
  const old = all[4]!;
  const list = (from?: string, filter = {}, direction: 'older' | 'newer' = 'older', limit = 2) =>
    touched((queries) =>
      listPolls(queries, accountId, filter, {
        limit,
        from: from === undefined ? undefined : { pollId: from, direction },
      }),
    );
  // Plans for any value are made after five of their own.
  for (let time = 0; time < 7; time++) {
    const poll = newPoll(accountId, { tenant: accountId, metadata: { env: 'prod' } });
    const last = time === 6;
    const one = async (
      name: string,
      work: (queries: Pick<Storage, 'db'>) => Promise<unknown>,
      atMost: Record<string, number>,
    ) => {
      const counts = await touched(work);
      if (last)
        for (const table of TABLES)
          t.ok((counts[table] ?? 0) <= (atMost[table] ?? 0), `${name}: ${JSON.stringify(counts)}`);
    };
    await one(
      'accept',
      ({ db }) =>
        acceptPoll(within(storage, db), acceptance(accountId, { poll, limits: { running: 100, waiting: 100 } })),
      { polls: 2, poll_labels: 1 },
    );
    await one('claim', async ({ db }) => claimPoll(within(storage, db), poll.id, 'w'), { polls: 1 });
    await one('renew', ({ db }) => renewLeases({ db }, 'w', [{ id: poll.id, epoch: 1 }]), { polls: 1 });
    await one('finish', ({ db }) => finishPoll(within(storage, db), finished({ id: poll.id, epoch: 1 })), {
      polls: 1,
      votes: 1,
      results: 1,
    });
    await one('status', (queries) => findRunStates(queries, [poll.id]), { polls: 1, results: 1 });
    await one('poll', (queries) => findPoll(queries, old.id), { polls: 1 });
    await one('poll of a result', (queries) => findPollByResult(queries, old.resultId), { polls: 2 });
    await one('result', (queries) => findResult(queries, old.resultId), { results: 2 });
    await one('result of a poll', (queries) => findResultOfPoll(queries, old.id), { results: 1 });
    await one(
      'feedback',
      (queries) =>
        storeFeedback(queries, {
          accountId,
          resultId: old.resultId,
          outcomeCorrect: true,
          confidence: null,
          notes: null,
        }),
      { results: 2 },
    );
    await one('recent results', (queries) => readHistory(queries, accountId, 3, 0), { results: 5 });
  }
  t.same((await list()).polls, 1, 'the newest page');
  t.ok(
    (await list(old.id)).polls! <= 2,
    'a page from the middle: the month of its begin, and the next if that is not enough',
  );
  t.ok((await list(old.id, {}, 'newer')).polls! <= 2);
  t.ok((await list(undefined, { metadata: { env: 'prod' } })).poll_labels! <= 1);
  t.ok(
    (await list(undefined, { createdAfter: month(3), createdBefore: month(2) }, 'older', 100)).polls! <= 3,
    'a month of the list',
  );

  // Of the months between nothing is read, though a range of ids has them too.
  const far = [all[0]!.id, all.at(-1)!.id];
  const read = (await executedNodes(storage, sql`${pollsWithResults(storage, far).selectAll('results')}`))
    .map((node) => node['Relation Name'] ?? '')
    .filter((table) => table !== '');
  t.same(
    read.toSorted(),
    ['polls', 'results'].flatMap((table) => [month(12), month(0)].map((at) => `${table}_${nameOf(at)}`)),
  );
  t.same(
    (await findPollLines(storage, accountId, far)).map(({ pollId }) => pollId),
    far,
    'in their order',
  );

  // What an id is compared with is planned for its month alone, too.
  const [middle] = await query<{ name: string; since: string; until: string }>(
    'select name, first_poll as since, next_poll as until from months where name = $1',
    [nameOf(month(6))],
  );
  for (const filter of [{ isTie: true as const }, { metadata: { env: 'prod' }, isClose: true, isTie: true as const }]) {
    const nodes = await plannedNodes(storage, scanOf(accountId, filter, { limit: 2, isOlder: true }).scan(middle!, 9));
    const tables = nodes.map((node) => node['Relation Name'] ?? '').filter((table) => table !== '');
    t.ok(tables.length >= 2 && tables.every((table) => table.endsWith(middle!.name)), tables.join());
  }

  // And every page together is every poll, in the same order in both directions.
  const ids = async (direction: 'older' | 'newer', filter = {}) => {
    const seen: string[] = [];
    for (let pollId: string | null = null, first = true; first || pollId; first = false) {
      const page = await listPolls(storage, accountId, filter, {
        limit: 5,
        from: first && direction === 'older' ? undefined : { pollId, direction },
      });
      seen.push(...(direction === 'older' ? page!.lines : page!.lines.toReversed()).map((line) => line.pollId));
      pollId = page!.goOn;
    }
    return seen;
  };
  const older = await ids('older');
  t.equal(older.length, all.length + 7);
  t.same(await ids('newer'), older.toReversed());
  t.same(await ids('older', { metadata: { env: 'prod' } }), older);
  t.same(
    older.map((id) => id.slice(0, 5)),
    older
      .map((id) => id.slice(0, 5))
      .toSorted()
      .toReversed(),
    'month after month',
  );
});

t.test('a month is not over while its log is shown, or a poll of it still belongs to an account', async (t) => {
  const { storage, query } = await ofAYear(t);
  const isOver = async (what: 'polls' | 'webhooks', endedAgo: string) => {
    const [row] = await query<{ over: boolean }>(
      `select ${what}_are_over(jsonb_populate_record(m, jsonb_build_object('ends_at', now() - $2::interval))) as over
         from months m where name = $1`,
      [nameOf(month(1)), endedAgo],
    );
    return row!.over;
  };
  t.equal(await isOver('webhooks', '30 days 23 hours'), false, 'deliveries of its last day are shown for thirty days');
  t.equal(await isOver('webhooks', '31 days 1 hour'), true);

  t.equal(await isOver('polls', '2 days 23 hours'), false, 'a flex poll of its last minute may have run for a day');
  t.equal(await isOver('polls', '3 days 1 hour'), true);
  const accountId = await funded(storage, 10n * USD);
  const { id } = await run(storage, accountId, new Date());
  const old = newPollId(undefined, new Date(month(1).getTime() + 86_400_000));
  // Without a time of expiry: only its owner deletes it.
  await query(
    `insert into polls select (jsonb_populate_record(p, jsonb_build_object('id', $2::text, 'expires_at', null))).*
       from polls p where id = $1`,
    [id, old],
  );
  t.equal(await isOver('polls', '3 days 1 hour'), false, 'it was not deleted');
  await query('select empty_polls(array[$1])', [old]);
  t.equal(await isOver('polls', '3 days 1 hour'), true);
});

t.test('a month that is over is dropped in short steps, and money, receipts and sums stay as they were', async (t) => {
  const { storage, query, url } = await ofAYear(t);
  const accountId = await funded(storage, 100n * USD);
  const spec = { ...newPoll(accountId).spec, expires_at: new Date(Date.now() + 60_000).toISOString() };
  const [gone, next] = [
    await run(storage, accountId, month(12), { spec }),
    await run(storage, accountId, month(11), { spec }),
  ];
  const running = newPoll(accountId, { id: newPollId(undefined, month(12)) });
  await acceptPoll(storage, acceptance(accountId, { poll: running }));
  await storeFeedback(storage, {
    accountId,
    resultId: gone.resultId,
    outcomeCorrect: true,
    confidence: null,
    notes: null,
  });
  await query('update receipt_leaves set day = $1', [month(12)]);
  await query(
    "insert into webhook_events (id, account_id, type, data, spread_at) values (time_ids('msg_', $1), $2, 'x', '{}', now())",
    [month(12), accountId],
  );
  const names = async () => {
    const rows = await query<{ name: string }>(
      `select relname as name from pg_class where relkind = 'r' and relname like '%\\_${nameOf(month(12))}'`,
    );
    return rows.map(({ name }) => name).toSorted();
  };
  const EACH = TABLES.map((table) => `${table}_${nameOf(month(12))}`).toSorted();
  const POLLS = EACH.filter((name) => !name.startsWith('webhook'));

  // One reason to keep it after the other.
  t.same(await query(`select webhooks_are_over(m) as over from months m where name = '${nameOf(month(12))}'`), [
    { over: true },
  ]);
  const reported: string[] = [];
  const steps = await dropMonths(storage, (step) => reported.push(step));
  t.same(reported, steps);
  t.equal(steps.filter((step) => step.startsWith('detached polls')).length, 0, 'a poll of it runs');
  t.same(await names(), POLLS, 'the log of webhooks went by its own time');
  const claim = await claimPoll(storage, running.id, 'w');
  await finishPoll(storage, finished(claim!));
  await query("update polls set expires_at = now() where id < $1 and status <> 'running'", [next.id.slice(0, 5)]);
  t.same(await dropMonths(storage), [], 'its polls are not emptied');
  t.equal((await emptyExpiredPolls(storage)).length, 2);
  t.same(await dropMonths(storage), [], 'its money is not closed');
  await closeBooks(storage, { minPage: 1 });
  t.same(await dropMonths(storage), [], 'its receipts are not sealed');
  let sealed = 0;
  const count = () => void sealed++;
  while (sealed === 0) await sealReceipts(storage, count);
  const [day] = await query<{ day: string; root: Buffer }>('select day::text, root from receipt_days');
  const before = {
    proof: await findReceiptProof(storage, gone.receiptLeaf, day!.day),
    usage: await query('select * from usage_days order by 1, 2, 3, 4, 5'),
    transfers: await query('select * from transfers order by id'),
  };
  t.ok(before.proof);

  // A reader in the way is not waited for: callers behind the lock would wait too.
  const reader = new pg.Client({ connectionString: roleUrl(url, WORKER_ROLE) });
  await reader.connect();
  t.teardown(() => reader.end());
  await reader.query('begin; select count(*) from polls');
  t.same(await dropMonths(storage), [], 'it gave up while the reader was there');
  const dropping = await query("select proconfig from pg_proc where proname = 'drop_month'");
  t.match(dropping, [{ proconfig: ['search_path=public, pg_temp', 'lock_timeout=100ms'] }], 'after so long');
  await reader.query('commit');
  t.same(await names(), POLLS);
  t.match(await dropMonths(storage), [`detached polls of ${nameOf(month(12))}`, /^dropped polls_/]);
  t.same(await names(), []);

  t.equal(await findPoll(storage, gone.id), null);
  t.equal(await findResult(storage, gone.resultId), null);
  t.ok(await findResult(storage, next.resultId));
  t.same(
    (await listPolls(storage, accountId, {}, { limit: 10 }))!.lines.map(({ pollId }) => pollId),
    [next.id],
  );
  t.same(await checkLedger(storage), []);
  t.same(await wholeCheck(storage), [], 'pages, days, polls, usage');
  await query('update ledger_pages set verified_at = now(), proved = false');
  await query('select verify_pages(10000)');
  t.same(await query('select * from ledger_pages where not proved'), [], 'its pages are proved again');
  t.same(await findReceiptProof(storage, gone.receiptLeaf, day!.day), before.proof);
  t.same(await query('select * from usage_days order by 1, 2, 3, 4, 5'), before.usage);
  t.same(await query('select * from transfers order by id'), before.transfers);
  // What is missing of a month that is there is still damage.
  await query(`delete from polls where id = '${next.id}'`);
  t.match(await wholeCheck(storage), [{ rule: 'hold_without_poll' }, { rule: 'vote_without_poll' }]);
});
