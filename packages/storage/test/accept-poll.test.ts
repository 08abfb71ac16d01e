import { eventually } from '@eloquentpoll/testkit/eventually';
import { sql } from 'kysely';
import t from 'tap';
import {
  AUDIT_POOL,
  acceptPoll,
  balanceOf,
  checkLedger,
  FREE_POOL,
  findPoll,
  readControls,
  setControl,
  type TenantLimits,
} from '../src/index.ts';
import {
  acceptance,
  type Fixture,
  funded,
  limitedKey,
  newPoll,
  observed,
  open,
  together,
  USD,
  unique,
  within,
} from './fixtures.ts';
import { session } from './sessions.ts';

// slow: 3 s

const keyOf = (principal: string, key = unique('key-'), fingerprint = 'body') => ({
  principal,
  key,
  fingerprint,
});

/** Keys; a thousand with ATTACKS=full. */
const ROUNDS = process.env.ATTACKS === 'full' ? 1_000 : 5;

/** How many connections to this database wait for a lock. */
async function waiting(query: Fixture['query']): Promise<number> {
  const [row] = await query<{ waiting: number }>(
    `select count(distinct pid)::int as waiting from pg_locks join pg_stat_activity using (pid)
      where not granted and datname = current_database()`,
  );
  return row!.waiting;
}

t.test('200 polls at once with holds of 1 USD on 10 USD: exactly 10 are accepted', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 20 });
  const accountId = await funded(storage, 10n * USD);
  const answers = await together(200, 200, () => acceptPoll(storage, acceptance(accountId)));
  t.equal(answers.filter(({ kind }) => kind === 'accepted').length, 10);
  t.equal(answers.filter(({ kind }) => kind === 'insufficient').length, 190);
  t.same(await query('select count(*)::int as n from polls'), [{ n: 10 }], 'what was refused is not stored');
  t.match(await balanceOf(storage, accountId), { availableU: 0n, heldU: 10n * USD });
  t.same(await checkLedger(storage), []);
});

t.test('[§A6-idempotency-running] 100 requests with one key are one poll', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 20 });
  const accountId = await funded(storage, 1_000n * USD);
  for (let round = 0; round < ROUNDS; round++) {
    const idempotency = keyOf(accountId);
    const long = () => newPoll(accountId, { deadlineMs: 86_400_000 });
    const answers = await together(100, 100, () =>
      acceptPoll(storage, acceptance(accountId, { idempotency, poll: long() })),
    );
    const winners = answers.filter(({ kind }) => kind === 'accepted');
    t.equal(winners.length, 1);
    t.equal(answers.filter(({ kind }) => kind === 'joined').length, 99);
    t.equal(new Set(answers.map((answer) => 'pollId' in answer && answer.pollId)).size, 1, 'all know the same poll');
  }
  t.same(await query('select count(*)::int as n from polls'), [{ n: ROUNDS }]);
  t.match(await balanceOf(storage, accountId), { heldU: BigInt(ROUNDS) * USD });
  t.same(await checkLedger(storage), []);
});

t.test('[§A6-idempotency-scope] a key belongs to a principal and an entry point', async (t) => {
  const { storage } = await open(t);
  const [one, other] = [await funded(storage, 9n * USD), await funded(storage, 9n * USD)];
  const idempotency = keyOf(one);
  t.match(await acceptPoll(storage, acceptance(one, { idempotency })), { kind: 'accepted' });
  const foreign = { ...idempotency, principal: other };
  t.match(await acceptPoll(storage, acceptance(other, { idempotency: foreign })), { kind: 'accepted' });
  const poll = newPoll(one, { entryPoint: 'quick-poll' });
  t.match(await acceptPoll(storage, acceptance(one, { poll, idempotency })), { kind: 'accepted' });
});

t.test('an idempotency key of another request: conflict, and no hold', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, 5n * USD);
  const idempotency = keyOf(accountId);
  await acceptPoll(storage, acceptance(accountId, { idempotency }));
  const answer = await acceptPoll(
    storage,
    acceptance(accountId, { idempotency: { ...idempotency, fingerprint: 'another body' } }),
  );
  t.same(answer, { kind: 'reused' });
  t.match(await balanceOf(storage, accountId), { heldU: USD });
});

t.test('[§A6-idempotency-24h] a key is free again after 24 hours, even before it is pruned', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 5n * USD);
  const idempotency = keyOf(accountId);
  await acceptPoll(storage, acceptance(accountId, { idempotency }));
  const [row] = await query<{ hours: number }>(
    'select extract(epoch from expires_at - created_at)::int / 3600 as hours from idempotency',
  );
  t.equal(row?.hours, 24);
  const later = acceptance(accountId, { idempotency: { ...idempotency, fingerprint: 'another body' } });
  await storage.db.transaction().execute(async (db) => {
    // In a transaction the time stands still: the key expires at the very moment at which it is used again.
    await db.updateTable('idempotency').set({ expires_at: sql`now()` }).execute();
    t.same(await acceptPoll(within(storage, db), later), { kind: 'accepted', pollId: later.poll.id, rank: 0 });
  });
});

t.test('[§A6-idempotency-nothing-stored] a refusal stores nothing: after a top-up the same key works', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, USD - 1n);
  const request = acceptance(accountId, { idempotency: keyOf(accountId) });
  t.same(await acceptPoll(storage, request), {
    kind: 'insufficient',
    availableU: USD - 1n,
    settlingU: 0n,
    retryAfterS: null,
  });
  t.same(await query('select key from idempotency union all select id from polls'), []);
  t.same(await query("select id from transfers where kind = 'hold'"), []);
  await query(`select ledger_move('credit', $1, '00000000-0000-4000-8000-000000000003', 1, 'one more')`, [accountId]);
  t.same(await acceptPoll(storage, request), { kind: 'accepted', pollId: request.poll.id, rank: 0 });
});

t.test('the same poll twice is one poll, also when the answer was lost and the money is all held', async (t) => {
  const { storage } = await open(t, { maxConnections: 8 });
  const accountId = await funded(storage, USD);
  for (const request of [acceptance(accountId), acceptance(accountId, { idempotency: keyOf(accountId) })]) {
    const { pollId } = { pollId: request.poll.id };
    const answers = await together(8, 8, () => acceptPoll(storage, request));
    if (request.idempotency === undefined) t.same(new Set(answers.map((answer) => answer.kind)), new Set(['accepted']));
    else t.same(new Set(answers.map((answer) => answer.kind)), new Set(['insufficient']), 'no second dollar');
    t.equal((await findPoll(storage, pollId)) !== null, request.idempotency === undefined);
  }
  t.match(await balanceOf(storage, accountId), { availableU: 0n, heldU: USD });
  t.same(await checkLedger(storage), []);
});

t.test('a repeat beside its own first try finds the poll', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const first = await session(t, fixture);
  const accountId = await funded(storage, 2n * USD);
  const limits = { running: 10, runningOfKey: 10, waiting: 10 };
  const request = acceptance(accountId, { poll: newPoll(accountId, { tenant: accountId }), limits });
  // Both wait here after they looked for the poll.
  await first.query('begin');
  await first.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [accountId]);
  const answers = [acceptPoll(storage, request), acceptPoll(storage, request)];
  await eventually('both wait', async () => (await waiting(query)) === 2);
  await first.query('commit');
  t.match(await Promise.all(answers), [
    { kind: 'accepted', pollId: request.poll.id },
    { kind: 'accepted', pollId: request.poll.id },
  ]);
  t.match(await balanceOf(storage, accountId), { availableU: USD, heldU: USD });
  t.same(await checkLedger(storage), []);
});

t.test('a repeat beside its own first try finds the poll, also where money or limit was for one', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const first = await session(t, fixture);
  for (const [moneyU, limitU] of [
    [USD, null],
    [2n * USD, USD],
  ] as const) {
    const accountId = await funded(storage, moneyU);
    const keyId = limitU === null ? undefined : await limitedKey(storage, accountId, limitU);
    const request = acceptance(accountId, { poll: newPoll(accountId, { keyId }) });
    // Both wait here after they looked for the poll.
    await first.query('begin');
    await first.query('select from balances where account_id = $1 for update', [accountId]);
    await first.query('select from key_limits where account_id = $1 for update', [accountId]);
    const answers = [acceptPoll(storage, request), acceptPoll(storage, request)];
    await eventually('both wait', async () => (await waiting(query)) === 2);
    await first.query('commit');
    const accepted = { kind: 'accepted', pollId: request.poll.id };
    t.match(await Promise.all(answers), [accepted, accepted]);
    t.match(await balanceOf(storage, accountId), { availableU: moneyU - USD, heldU: USD });
  }
  t.same(await checkLedger(storage), []);
});

t.test('who is refused for money gets what is neither held nor set aside for batches', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, USD);
  await query('update balances set reserved_u = 400000 where account_id = $1', [accountId]);
  t.match(await acceptPoll(storage, acceptance(accountId)), { kind: 'insufficient', availableU: 600_000n });
  await query('update balances set held_back_u = 50000 where account_id = $1', [accountId]);
  t.match(await acceptPoll(storage, acceptance(accountId)), {
    kind: 'insufficient',
    availableU: 550_000n,
    settlingU: 50_000n,
  });
});

t.test('an account that is being moved hears that, unless all polls are stopped', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, USD);
  await query('update accounts set moving_at = now() where id = $1', [accountId]);
  await t.rejects(acceptPoll(storage, acceptance(accountId)), { name: 'AccountMoving' });
  await setControl(storage, 'pollsStopped', true);
  t.match(await acceptPoll(storage, acceptance(accountId)), { kind: 'stopped' });
});

t.test('whatever refuses a poll frees its key, and no other key', async (t) => {
  const { storage, query } = await open(t);
  const ceiling = { hourU: 1_000_000n, dayU: 1_000_000n };
  for (const [kind, more, before] of [
    ['stopped', {}, () => setControl(storage, 'pollsStopped', true)],
    ['frozen', {}, (accountId: string) => query('update accounts set frozen_at = now() where id = $1', [accountId])],
    ['too_many', { limits: { running: 0 } }],
    ['too_late', { limits: { running: 9, waiting: -1 } }],
    ['key_limit', {}],
    ['insufficient', { holdU: USD }],
    ['over_ceiling', { holdU: 1n, providerMaxU: 1_000_001, ceiling }],
  ] as const) {
    const accountId = await funded(storage, 9n);
    const other = await funded(storage, 9n);
    const idempotency = keyOf(accountId);
    const ask = (owner: string, claim: object, poll = {}, terms = {}) =>
      acceptPoll(storage, {
        poll: newPoll(owner, { tenant: owner, ...poll }),
        holdU: 1n,
        idempotency: { ...idempotency, ...claim },
        ...terms,
      });
    t.match(await ask(accountId, { key: 'another' }), { kind: 'accepted' });
    t.match(await ask(accountId, {}, { entryPoint: 'quick-poll' }), { kind: 'accepted' });
    t.match(await ask(other, { principal: other }), { kind: 'accepted' });
    const keys = await query('select principal, entry_point, key, poll_id from idempotency order by poll_id');
    await before?.(accountId);
    const keyId = kind === 'key_limit' ? await limitedKey(storage, accountId, 0n) : undefined;
    t.match(await ask(accountId, {}, { keyId }, more), { kind });
    t.same(
      await query('select principal, entry_point, key, poll_id from idempotency order by poll_id'),
      keys,
      `${kind}: the others are as they were`,
    );
    await setControl(storage, 'pollsStopped', false);
    await query('update accounts set frozen_at = null');
    t.match(await ask(accountId, { fingerprint: 'another body' }), { kind: 'accepted' }, `${kind}: it is free`);
  }
});

t.test('[§A6-option-text-kept] a poll is kept as it was asked', async (t) => {
  const { storage, query } = await open(t);
  const poll = newPoll(await funded(storage, USD), { requestId: 'r', traceparent: 't' });
  await acceptPoll(storage, { poll, holdU: 0n });
  const found = await findPoll(storage, poll.id);
  t.same(found?.spec, poll.spec);
  t.match(found, { id: poll.id, resultId: poll.resultId, accountId: poll.accountId, status: 'running' });
  t.equal(found!.deadlineAt.getTime() - found!.createdAt.getTime(), poll.deadlineMs);
  t.same(
    await query(`select (lease_until - created_at)::text as spared from polls`),
    [{ spared: '00:00:05' }],
    'its first worker has five seconds before a sweep looks for another',
  );
  t.match(await balanceOf(storage, poll.accountId!), { heldU: 1n }, 'even a free model leaves its mark in the ledger');
  t.equal(await findPoll(storage, 'ps_unknown'), null);
});

t.test('what a request says about its poll is stored with it', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, USD);
  const said = { requestId: 'r', traceparent: 't', contextId: 'c', webhookUrl: 'https://hooks.example/x' };
  const question = 'a7'.repeat(16);
  const poll = newPoll(accountId, {
    ...said,
    tenant: 'a tenant',
    isAwaited: true,
    entryPoint: 'a2a',
    auditVersion: 'v1',
    auditQuestion: question,
    metadata: { team: 'search' },
  });
  await acceptPoll(storage, { poll, holdU: 2n, providerMaxU: 7 });
  t.match(
    await query(`select tenant, awaited, entry_point, audit_version, metadata, provider_max_u::int, request_id as "requestId",
                        traceparent, context_id as "contextId", webhook_url as "webhookUrl" from polls`),
    [
      {
        ...said,
        tenant: 'a tenant',
        awaited: true,
        entry_point: 'a2a',
        audit_version: 'v1',
        metadata: { team: 'search' },
        provider_max_u: 7,
      },
    ],
  );
  t.match(await query(`select encode(question, 'hex') as question from audit_draws`), [{ question }]);
  t.match(await balanceOf(storage, accountId), { heldU: 2n });
});

t.test('who is refused for polls that run or wait hears how many there are', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 9n * USD);
  const ask = (limits: TenantLimits) =>
    acceptPoll(storage, acceptance(accountId, { poll: newPoll(accountId, { tenant: accountId }), limits }));
  for (let place = 0; place < 3; place++)
    t.match(await ask({ running: 9 }), { kind: 'accepted', rank: place }, 'those before it');
  t.same(await ask({ running: 3 }), { kind: 'too_many', running: 3 });
  t.same(await ask({ running: 9, waiting: 2 }), { kind: 'too_late', waiting: 3 });
  await query(`update polls set lease_owner = 'worker'`);
  t.match(await ask({ running: 9, waiting: 0 }), { kind: 'accepted', rank: 0 }, 'none of them waits any more');
});

t.test('what Postgres refuses is not tried again', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, USD);
  const { sent, storage: noting } = observed(storage);
  const beyond = acceptance(accountId, { holdU: USD + 1n });
  await t.rejects(acceptPoll(noting, beyond), { name: 'StorageRefused', code: 'EP003' });
  t.equal(sent.length, 1);
});

t.test('a poll on an account that does not exist is refused', async (t) => {
  const { storage } = await open(t);
  await t.rejects(acceptPoll(storage, acceptance(null)), TypeError);
  const stranger = '11111111-1111-4111-8111-111111111111';
  t.same(await acceptPoll(storage, acceptance(stranger)), { kind: 'frozen' });
});

t.test('free polls spend at most the daily cap, to the micro-USD', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 16 });
  const free = { dailyCapU: 10_007n };
  const ask = () => acceptPoll(storage, acceptance(null, { holdU: 100n, free }));
  const answers = await together(300, 300, ask);
  t.equal(answers.filter(({ kind }) => kind === 'accepted').length, 100);
  const refused = answers.find((answer) => answer.kind === 'insufficient');
  t.match(refused, { availableU: 7n });
  t.ok(refused!.retryAfterS! >= 1 && refused!.retryAfterS! <= 5, 'what is only held comes back with the next end');
  t.match(await balanceOf(storage, FREE_POOL), { heldU: 10_000n, postedU: 10_007n });
  t.same(await query(`select amount_u from transfers where kind = 'top_up'`), [{ amount_u: '10007' }]);

  // The next day begins with half of the polls still open: the pool is set to the cap, it does not grow by it.
  await query(`update balances set topped_up_on = topped_up_on - 1 where topped_up_on is not null`);
  for (const { id } of await query<{ id: string }>('select id from polls order by id limit 50'))
    await query(`select ledger_resolve('hold:' || $1::text, 60)`, [id]);
  const nextDay = await query<{ idem: string }>(`select idem from transfers where kind = 'top_up'`);
  await query('alter table transfers disable trigger transfers_append_only');
  await query(`update transfers set idem = 'yesterday' where idem = $1`, [nextDay[0]!.idem]);
  await query('alter table transfers enable trigger transfers_append_only');
  await together(300, 300, ask);
  const balance = await balanceOf(storage, FREE_POOL);
  t.equal(balance?.postedU, 10_007n);
  t.ok(balance!.availableU >= 0n && balance!.availableU < 100n);
  t.equal(balance?.usageU, 50n * 60n);
});

t.test('a free pool that is spent says so until midnight, one that is held for seconds', async (t) => {
  const { storage, query } = await open(t);
  const ask = (holdU: bigint) => acceptPoll(storage, acceptance(null, { holdU, free: { dailyCapU: 5_000n } }));
  t.equal((await ask(5_000n)).kind, 'accepted');
  const held = await ask(5_000n);
  t.ok(held.kind === 'insufficient' && held.retryAfterS! >= 1 && held.retryAfterS! <= 5);
  const [running] = await query<{ id: string }>('select id from polls');
  await query(`select ledger_resolve('hold:' || $1::text, 5000)`, [running!.id]);
  const [{ left }] = (await query<{ left: number }>(
    `select extract(epoch from date_trunc('day', now(), 'UTC') + interval '1 day' - now())::integer as left`,
  )) as [{ left: number }];
  const spent = await ask(5_000n);
  t.ok(spent.kind === 'insufficient' && Math.abs(spent.retryAfterS! - left) <= 30, 'until midnight');
});

t.test('the free pool is topped up on a day on which another pool was', async (t) => {
  const { storage, query } = await open(t);
  await query("select top_up_pool($1, 'audits', 500)", [AUDIT_POOL]);
  const free = { dailyCapU: 1_000n };
  t.match(await acceptPoll(storage, acceptance(null, { holdU: 100n, free })), { kind: 'accepted' });
  t.match(await balanceOf(storage, FREE_POOL), { postedU: 1_000n });
  t.match(await balanceOf(storage, AUDIT_POOL), { postedU: 500n });
});

t.test('a call that waited while the pool was topped up, and paid from, does not top it up again', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const ask = () => acceptPoll(storage, acceptance(null, { holdU: 100n, free: { dailyCapU: 1_000n } }));
  const [holding, paying] = [await session(t, fixture), await session(t, fixture)];
  const areWaiting = (count: number) =>
    eventually(`${count} wait for the pool`, async () => (await waiting(query)) === count);
  await holding.query('begin');
  await holding.query('select from balances where account_id = $1 for update', [FREE_POOL]);
  const first = ask();
  await areWaiting(1);
  const paid = paying.query('update balances set posted_u = posted_u - 10 where account_id = $1', [FREE_POOL]);
  await areWaiting(2);
  const second = ask();
  await areWaiting(3);
  await holding.query('commit');
  t.match(await Promise.all([first, second]), [{ kind: 'accepted' }, { kind: 'accepted' }]);
  await paid;
  t.match(await balanceOf(storage, FREE_POOL), { postedU: 990n, heldU: 200n });
});

t.test('a cap of nothing gives nothing, a lowered cap takes the surplus back', async (t) => {
  const { storage, query } = await open(t);
  const ask = (dailyCapU: bigint) => acceptPoll(storage, acceptance(null, { holdU: 100n, free: { dailyCapU } }));
  t.match(await ask(0n), { kind: 'insufficient', availableU: 0n });
  t.match(await ask(500n), { kind: 'insufficient' }, 'a new cap counts from the next midnight');
  const midnight = async () => {
    await query('update balances set topped_up_on = topped_up_on - 1 where topped_up_on is not null');
    await query('alter table transfers disable trigger transfers_append_only');
    await query(`update transfers set idem = idem || ' day ' || id where idem like 'free_pool:%'`);
    await query('alter table transfers enable trigger transfers_append_only');
  };
  await midnight();
  t.match(await ask(500n), { kind: 'accepted' });
  await midnight();
  t.match(await ask(300n), { kind: 'accepted' });
  t.match(await balanceOf(storage, FREE_POOL), { postedU: 300n, heldU: 200n });
  t.match(await ask(300n), { kind: 'accepted' });
  t.match(await ask(300n), { kind: 'insufficient', availableU: 0n });
  await midnight();
  t.match(await ask(100n), { kind: 'insufficient', availableU: 0n }, 'what is held is not taken back');
  t.match(await balanceOf(storage, FREE_POOL), { postedU: 300n, heldU: 300n });
  const drift = await checkLedger(storage);
  t.same(
    drift.filter(({ rule }) => !rule.startsWith('poll_')),
    [],
  );
});

t.test(
  'what operators stopped is accepted by no gateway from then on, and a repeated request joins its poll',
  async (t) => {
    const { storage } = await open(t);
    const accountId = await funded(storage, 9n * USD);
    const idempotency = { principal: accountId, key: 'k', fingerprint: 'f' };
    const before = acceptance(accountId, { idempotency });
    t.match(await acceptPoll(storage, before), { kind: 'accepted' });
    const free = () => acceptPoll(storage, { poll: newPoll(null), holdU: 1n, free: { dailyCapU: USD } });

    t.equal(await setControl(storage, 'freePollsStopped', true), true);
    t.equal(await setControl(storage, 'freePollsStopped', true), false);
    t.same(await free(), { kind: 'stopped' });
    t.match(await acceptPoll(storage, acceptance(accountId)), { kind: 'accepted' });

    await setControl(storage, 'pollsStopped', true);
    t.same(await readControls(storage), { pollsStopped: true, freePollsStopped: true });
    const refused = acceptance(accountId, { idempotency: { ...idempotency, key: 'another' } });
    t.same(await acceptPoll(storage, refused), { kind: 'stopped' });
    t.match(await acceptPoll(storage, acceptance(accountId, { idempotency })), {
      kind: 'joined',
      pollId: before.poll.id,
    });

    await setControl(storage, 'pollsStopped', false);
    t.match(await acceptPoll(storage, refused), { kind: 'accepted' }, 'its key was not kept');
    t.same(await free(), { kind: 'stopped' });
    await setControl(storage, 'freePollsStopped', false);
    t.match(await free(), { kind: 'accepted' });
  },
);
