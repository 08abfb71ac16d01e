import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import {
  acceptPoll,
  claimPoll,
  closeAccount,
  createAccount,
  emptyClosedAccounts,
  emptyPollsOfClosed,
  ensureAccountEndpoint,
  finishPoll,
  forgetClosedAccounts,
  insertWebhookEndpoint,
  type Storage,
  savePanel,
  storeFeedback,
} from '../src/index.ts';
import { acceptance, type Fixture, finished, funded, newPoll, open, spec, USD, unique } from './fixtures.ts';

// What closing an account reads and writes is its own, however much others have and it has asked.

const ROWS = 5_000;

async function plant({ query }: Fixture): Promise<void> {
  await query(
    `insert into deposits (chain_id, asset, payer, nonce, pay_to, amount_u, valid_before, proof, state, account_id, tx_hash)
     select 1, a, a, sha256(n::text::bytea), a, 5, now(), '{}', 'credited', id, sha256(n::text::bytea)
       from generate_series(1, ${ROWS}) n, decode(repeat('00', 20), 'hex') a, (select id from accounts limit 1) owner`,
  );
  await query(
    `insert into caller_days (caller, day, account_id)
     select gen_random_uuid()::text, now()::date, gen_random_uuid() from generate_series(1, ${ROWS})`,
  );
  await query('vacuum analyze deposits, caller_days');
}

/** How often the connection that `flush` asks on has read each of these tables from end to end. */
async function wholeReads({ query }: Fixture, flush: () => Promise<unknown>) {
  await flush();
  return query(`
    select relname, seq_scan::int as n from pg_stat_user_tables where relname in ('deposits', 'caller_days') order by 1`);
}

const flushOf = ({ call }: Storage) => call('select pg_stat_force_next_flush()', []);

t.test(
  'the idempotency keys of a closed account are deleted in steps, and none while it is being closed',
  async (t) => {
    const { storage, query } = await open(t);
    const [accountId, other] = [await createAccount(storage), await createAccount(storage)];
    for (const [principal, count] of [
      [accountId, 10_000],
      [other, 1],
    ])
      await query(
        `insert into idempotency (principal, entry_point, key, fingerprint, expires_at)
       select $1, 'checkout', n, 'f', now() + interval '1 day' from generate_series(1, $2::integer) n`,
        [principal, count],
      );
    const left = async () => {
      const [row] = await query<{ kept: number; touched: number }>(
        `select count(*)::int as kept, (count(*) filter (where xmax::text <> '0'))::int as touched
         from idempotency where principal = $1`,
        [accountId],
      );
      return row;
    };
    const isEmptied = async () =>
      (await query('select from accounts where id = $1 and emptied_at is not null', [accountId])).length > 0;

    t.ok(await closeAccount(storage, accountId));
    t.same(await left(), { kept: 10_000, touched: 0 });
    await forgetClosedAccounts(storage, 4_000);
    t.match(await left(), { kept: 6_000 });
    t.notOk(await isEmptied());
    for (let round = 0; round < 2; round++) await forgetClosedAccounts(storage, 4_000);
    t.match(await left(), { kept: 0 });
    t.ok(await isEmptied());
    t.same(await query('select principal from idempotency'), [{ principal: other }]);
  },
);

async function isRead(t: Test, fixture: Fixture, flush: () => Promise<unknown>, work: () => Promise<unknown>) {
  const before = await wholeReads(fixture, flush);
  await work();
  t.same(await wholeReads(fixture, flush), before);
}

t.test('closing an account and leaving a cell read no table of payments or callers from end to end', async (t) => {
  const fixture = await open(t, { maxConnections: 1 });
  const { storage, query } = fixture;
  const [closing, leaving] = [await funded(storage, 0n), await funded(storage, 0n)];
  await plant(fixture);
  await isRead(
    t,
    fixture,
    () => flushOf(storage),
    async () => t.ok(await closeAccount(storage, closing)),
  );

  const moveId = '00000000-0000-4000-8000-00000000000b';
  await query('update accounts set moving_at = now() where id = $1', [leaving]);
  await query(
    `insert into account_moves (id, account_id, direction, kind, from_cell, to_cell, state)
     values ($1, $2, 'out', 'account', '0', '1', 'frozen')`,
    [moveId, leaving],
  );
  const flush = () => query('select pg_stat_force_next_flush()');
  await isRead(t, fixture, flush, async () =>
    t.match(await query(`select leave_cell($1, '1 hour') as left`, [moveId]), [{ left: true }]),
  );
});

const newEndpointId = () => `we_${unique().padEnd(32, '0').slice(0, 32)}`;

t.test('emptying a closed account reads its own polls, though many accounts are closed', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 1 });
  const OTHERS = 20_000;
  const MINE = 100;
  await query(
    `insert into accounts (deleted_at, emptied_at) select now() - interval '1 year', now() from generate_series(1, 200)`,
  );
  const others = await query<{ id: string }>(
    "insert into accounts (kind) select 'user' from generate_series(1, 200) returning id",
  );
  const closing = await createAccount(storage);
  await query(
    `insert into polls (id, result_id, account_id, status, spec, entry_point, lease_until, deadline_at, finished_at)
     select month_ids(now()) || left(md5('' || i), 22), 'EP-' || i,
            case when i > $3 then $1::uuid else ($4::uuid[])[1 + i % 200] end, 'completed', $2::jsonb, 'rest', now(), now(), now()
       from generate_series(1, $3 + ${MINE}) i`,
    [closing, JSON.stringify(spec), OTHERS, others.map(({ id }) => id)],
  );
  await query('vacuum analyze');
  t.ok(await closeAccount(storage, closing));
  const rowsRead = async () => {
    await flushOf(storage);
    const [row] = await query<{ n: number }>(
      `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as n from pg_stat_user_tables where relname ~ '^polls(_first|_[0-9]+)*$'`,
    );
    return row!.n;
  };
  const before = await rowsRead();
  t.equal((await emptyPollsOfClosed(storage, 50)).length, 50);
  t.equal((await emptyPollsOfClosed(storage, 500)).length, MINE - 50);
  await forgetClosedAccounts(storage, 1_000);
  t.match(await query('select emptied_at from accounts where id = $1', [closing]), [{ emptied_at: Date }]);
  const read = (await rowsRead()) - before;
  t.ok(read >= MINE && read < 2_000, `${read} rows of polls for ${MINE}`);
});

t.test('what waits for an account that is being closed writes nothing into it', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 8 });
  const [accountId, other] = [await funded(storage, 0n), await funded(storage, 5n * USD)];
  const poll = newPoll(other);
  await acceptPoll(storage, acceptance(other, { poll }));
  await finishPoll(storage, finished((await claimPoll(storage, poll.id, 'w'))!));
  const { resultId } = poll;
  const opinion = { accountId, resultId, outcomeCorrect: true, confidence: null, notes: 'late' };
  const endpoint = { url: 'https://late.example/', description: 'late', secret: 'sealed' };
  const writes: Record<string, () => Promise<unknown>> = {
    'an endpoint': () =>
      insertWebhookEndpoint(storage, accountId, { ...endpoint, id: newEndpointId(), eventTypes: ['balance.low'] }),
    'the endpoint of each webhook_url': () =>
      ensureAccountEndpoint(storage, accountId, { id: newEndpointId(), secret: 'sealed' }),
    'a panel': () => savePanel(storage, accountId, { name: 'late', models: ['a/1', 'b/2', 'c/3'] }),
    feedback: () => storeFeedback(storage, opinion),
  };
  const names = Object.keys(writes);
  const waiting: Promise<unknown>[] = [];
  const beforeCommit = async () => {
    for (const write of Object.values(writes)) waiting.push(write().then(null, (error: unknown) => error));
    await eventually('all wait for the account', async () => {
      const [row] = await query<{ n: number }>(
        'select count(*)::int as n from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0',
      );
      return row!.n >= names.length;
    });
  };
  t.ok(await closeAccount(storage, accountId, { beforeCommit }));
  const ends = await Promise.all(waiting);
  for (const [i, name] of names.entries()) t.match(ends[i], { name: 'AccountClosed' }, name);
  for (const [name, write] of Object.entries(writes)) await t.rejects(write(), { name: 'AccountClosed' }, name);
  const left = `select 'endpoint' as kind from webhook_endpoints where account_id = $1
    union all select 'panel' from saved_panels where account_id = $1
    union all select 'feedback' from feedback where account_id = $1`;
  t.same(await query(left, [accountId]), []);
  await emptyClosedAccounts(storage);
  t.match(await query('select emptied_at from accounts where id = $1', [accountId]), [{ emptied_at: Date }]);

  t.ok(await storeFeedback(storage, { ...opinion, accountId: other }), 'others go on');
});

t.test('a closed account that was given an endpoint all the same is emptied', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 0n);
  t.ok(await closeAccount(storage, accountId));
  await query(
    `insert into webhook_endpoints (id, account_id, url, event_types, secret)
     values ($2, $1, 'https://late.example/', '{balance.low}', 'sealed')`,
    [accountId, newEndpointId()],
  );
  await emptyClosedAccounts(storage);
  t.same(await query('select from webhook_endpoints where account_id = $1', [accountId]), []);
  t.match(await query('select emptied_at from accounts where id = $1', [accountId]), [{ emptied_at: Date }]);
});
