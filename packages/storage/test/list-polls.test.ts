import t from 'tap';
import {
  acceptPoll,
  claimPoll,
  emptyPolls,
  finishPoll,
  inTransaction,
  listPolls,
  type PollFilter,
} from '../src/index.ts';
import { scanOf } from '../src/scan-polls.ts';
import { acceptance, finished, funded, newPoll, open, spec, USD, unique } from './fixtures.ts';
import { executedNodes, rowsRead, rowsReadBy } from './query-plan.ts';

// slow: 6 s

const fixture = await open(t);
const { storage, query } = fixture;
const ROWS = 60_000;
const idOf = (i: number): string => `ps_${String(i).padStart(24, '0')}`;

/** The account has one busy key, one that asked only long ago, a rare label and a frequent one. */
const planted = await (async () => {
  const accountId = await funded(storage, USD);
  const keyOf = async () => {
    const [key] = await query<{ id: string }>(
      `insert into api_keys (account_id, hash, prefix, label) values ($1, sha256($2), 'ep_k_x', '') returning id`,
      [accountId, unique()],
    );
    return key!.id;
  };
  const [busyKey, oldKey] = [await keyOf(), await keyOf()];
  await query(
    `insert into polls (id, result_id, account_id, tenant, key_id, status, spec, entry_point, lease_until, deadline_at, finished_at,
                        created_at, is_close, metadata)
     select 'ps_' || lpad(i::text, 24, '0'), 'EP-2026-01-02-' || i, $1::uuid, $1::text, case when i <= 5 then $3 else $2 end::uuid,
            case when i = 7 then 'running' when i % 20000 = 3 then 'failed' else 'completed' end,
            $4::jsonb || case i when 2 then '{"panel_name":"strong"}' when 4 then '{"question":"Is a Needle in it?"}' else '{}' end::jsonb, 'rest', now(), now(),
            case when i = 7 then null else now() end, '2026-01-01'::timestamptz + i * interval '1 second', i % 15000 = 9,
            case when i <= $5 then jsonb_build_object('env', 'prod', 'n', (i % 30000)::text) end
       from generate_series(1, $5::integer) i`,
    [accountId, busyKey, oldKey, JSON.stringify(spec), ROWS],
  );
  await query(
    `insert into poll_labels select account_id, label_of(key, value), created_at, id
                 from polls, jsonb_each_text(metadata) where account_id = $1`,
    [accountId],
  );
  await query(
    `insert into results (poll_id, result_id, account_id, status, panel_name, entry_point, simulated, is_tie, early_terminated,
                          models_requested, models_succeeded, models_failed, models_skipped, total_cost_u, gather_ms, total_ms, detail)
     select id, result_id, account_id, 'success', 'broad', 'rest', true, true, false, 2, 2, 0, 0, 0, 1, 1, '{}' from polls where id = $1`,
    [idOf(15_009)],
  );
  await query('analyze polls, poll_labels');
  return { accountId, busyKey, oldKey };
})();

async function every(filter: PollFilter, limit: number): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  let pages = 0;
  for (let after: string | null | undefined; after !== null && pages < 100; pages++) {
    const from = after === undefined ? undefined : { pollId: after, direction: 'older' as const };
    const page = await listPolls(storage, planted.accountId, filter, { limit, from });
    ids.push(...page!.lines.map(({ pollId }) => pollId));
    after = page!.goOn;
  }
  return { ids, pages };
}

const day = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000);

t.test('filters find exactly what they name, newest first', async (t) => {
  const expected: [PollFilter, number[]][] = [
    [{ status: 'failed' }, [40003, 20003, 3]],
    [{ status: 'running' }, [7]],
    [{ isClose: true }, [45009, 30009, 15009, 9]],
    [{ isClose: true, createdAfter: day(15009), createdBefore: day(45009) }, [30009, 15009]],
    [{ keyId: planted.oldKey }, [5, 4, 3, 2, 1]],
    [{ keyId: planted.oldKey, status: 'failed' }, [3]],
    [{ metadata: { n: '17' } }, [30017, 17]],
    [{ metadata: { n: '17', env: 'prod' } }, [30017, 17]],
    [{ metadata: { n: '17', env: 'test' } }, []],
    [{ metadata: { n: '3' }, status: 'failed' }, [3]],
    [{ status: 'completed', createdBefore: day(5) }, [4, 2, 1]],
    [{ isClose: false, createdAfter: day(59_999) }, [60_000, 59_999]],
    [{ hasEnded: true, createdBefore: day(9), createdAfter: day(6) }, [8, 6]],
    [{ text: 'A NEEDLE in', keyId: planted.oldKey }, [4]],
    [{ isTie: true }, [15009]],
  ];
  for (const [filter, numbers] of expected)
    t.same((await every(filter, 2)).ids, numbers.map(idOf), JSON.stringify(filter));
  const rare = await every({ preset: 'strong' }, 100);
  t.same(
    rare,
    { ids: [idOf(2)], pages: Math.ceil(ROWS / 700) },
    'a page reads 700 rows at most, and says where to go on',
  );
});

t.test('a page reads each poll once, also where many were accepted within a millisecond', async (t) => {
  const accountId = await funded(storage, USD);
  await query(
    `insert into polls (id, result_id, account_id, tenant, status, spec, entry_point, lease_until, deadline_at, finished_at, created_at)
     select 'ps_01' || lpad(i::text, 22, '0'), 'EP-2026-01-03-' || i, $1::uuid, $1::text, 'completed',
            case i when 150 then jsonb_set($2::jsonb, '{panel_name}', '"strong"') else $2 end, 'rest', now(), now(), now(),
            '2026-01-01'::timestamptz + i * interval '1 microsecond'
       from generate_series(1, 300) i`,
    [accountId, JSON.stringify(spec)],
  );
  await query('analyze polls');
  for (const direction of ['older', 'newer'] as const)
    await inTransaction(storage, async (tx) => {
      const read = await rowsReadBy(tx, 'polls', async () => {
        const from = { pollId: null, direction };
        const page = await listPolls(tx, accountId, { preset: 'strong' }, { limit: 10, from });
        t.match(page, { lines: [{ pollId: `ps_01${'150'.padStart(22, '0')}` }], goOn: null, looked: { polls: 300 } });
      });
      // Of 22 rows that are read at first none is read again; the planner looks at a few.
      t.ok(read >= 300 && read < 300 + 22, `${direction}: ${read}`);
    });
});

t.test('both directions meet, and polls that begin meanwhile move no page', async (t) => {
  const page = (pollId: string, direction: 'older' | 'newer') =>
    listPolls(storage, planted.accountId, {}, { limit: 3, from: { pollId, direction } });
  const older = (await page(idOf(100), 'older'))!;
  t.same([older.lines.map(({ pollId }) => pollId), older.goOn], [[99, 98, 97].map(idOf), idOf(97)]);
  const newer = (await page(idOf(96), 'newer'))!;
  t.same([newer.lines.map(({ pollId }) => pollId), newer.goOn], [[99, 98, 97].map(idOf), idOf(99)]);
  t.match(await page(idOf(1), 'older'), { lines: { length: 0 }, goOn: null });
  t.match(await page(idOf(ROWS), 'newer'), { lines: { length: 0 }, goOn: null });
});

t.test('polls, keys and positions of others are as if there were none', async (t) => {
  const other = await funded(storage, USD);
  const poll = newPoll(other, { tenant: other, metadata: { env: 'prod' } });
  await acceptPoll(storage, acceptance(other, { poll }));
  const ids = async (filter: PollFilter, from?: string) => {
    const position = from === undefined ? undefined : { pollId: from, direction: 'older' as const };
    const page = await listPolls(storage, other, filter, { limit: 100, from: position });
    return page?.lines.map(({ pollId }) => pollId);
  };
  for (const filter of [{}, { metadata: { env: 'prod' } }, { status: 'running' as const }])
    t.same(await ids(filter), [poll.id]);
  t.same(await ids({ keyId: planted.busyKey }), []);
  t.equal(await ids({}, idOf(5)), undefined);
  t.match((await listPolls(storage, other, {}, { limit: 1 }))!.lines, [
    { status: 'running', resultId: null, metadata: { env: 'prod' }, costU: null, question: spec.question },
  ]);
});

t.test('a list goes on after a poll that was deleted meanwhile', async (t) => {
  const account = await funded(storage, 10n * USD);
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) {
    const poll = newPoll(account, { tenant: account });
    await acceptPoll(storage, acceptance(account, { poll }));
    await finishPoll(storage, finished((await claimPoll(storage, poll.id, 'worker'))!));
    ids.unshift(poll.id);
  }
  const page = async (direction: 'older' | 'newer', pollId: string) =>
    (await listPolls(storage, account, {}, { limit: 9, from: { direction, pollId } }))?.lines.map(
      (line) => line.pollId,
    );
  t.same(await emptyPolls(storage, [ids[1]!]), [ids[1]]);
  t.same(await page('older', ids[1]!), ids.slice(2));
  t.same(await page('newer', ids[1]!), ids.slice(0, 1));
});

t.test('every page is a bounded scan of one index: no sort, no scan of the table', async (t) => {
  const filters: PollFilter[] = [
    {},
    { status: 'failed' },
    { status: 'running' },
    { status: 'completed' },
    { isClose: true },
    { isClose: false },
    { keyId: planted.busyKey },
    { keyId: planted.oldKey },
    { preset: 'strong' },
    { metadata: { env: 'prod' } },
    { metadata: { env: 'none' } },
    { metadata: { env: 'prod', n: '17' } },
    { metadata: { env: 'prod' }, status: 'failed' },
    { createdBefore: day(30_000), isClose: true },
    { hasEnded: true, text: 'needle' },
    { isTie: true, preset: 'broad' },
  ];
  const [FIRST] = await query<{ since: string; until: string }>(
    "select first_poll as since, next_poll as until from months where name = 'first'",
  );
  const position = { pollId: idOf(50_000), createdAt: day(50_000).toISOString() };
  for (const filter of filters) {
    for (const isOlder of [true, false]) {
      const { sizes, scan } = scanOf(planted.accountId, filter, { limit: 100, isOlder });
      const nodes = await executedNodes(storage, scan(FIRST!, sizes.at(-1)!, position));
      const read = nodes.map(rowsRead);
      const what = `${JSON.stringify(filter)} ${isOlder ? 'older' : 'newer'}: ${nodes.map((node) => node['Node Type']).join(', ')}`;
      // The few that run at all may be sorted.
      t.notMatch(what, filter.status === 'running' ? /Seq Scan|Hash/ : /Sort|Seq Scan|Bitmap|Hash/);
      t.ok(Math.max(...read) <= 700, `${what}: ${read}`);
    }
  }
});
