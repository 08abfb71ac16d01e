import { newPollId } from '@eloquentpoll/polls';
import t from 'tap';
import {
  acceptPoll,
  admitPayer,
  cancelPoll,
  claimPoll,
  closeAccount,
  createAccount,
  creditDeposit,
  deletePoll,
  findKeyLimit,
  finishPoll,
  forgetClosedAccounts,
  freezeAccount,
  inTransaction,
  openCheckout,
  pollFinisher,
  readUsageGroups,
  releaseHeldBack,
} from '../src/index.ts';
import {
  acceptance,
  deadlocks,
  type Fixture,
  finished,
  funded,
  limitedKey,
  newPoll,
  open,
  together,
  USD,
  within,
} from './fixtures.ts';
import { isWaitedFor, session, waitsFor } from './sessions.ts';
import { wholeCheck } from './whole-check.ts';

// Transactions that lock rows of the same kind lock them in one order, so that none waits for another in a circle.

t.test('freezing and closing an account lock its polls as workers that end them do', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, 10n * USD);
  const [first, last] = [newPollId(), newPollId()].toSorted() as [string, string];
  for (const id of [last, first])
    await acceptPoll(storage, acceptance(accountId, { poll: newPoll(accountId, { id, tenant: accountId }) }));
  // The last one comes first in the table, and by the index of the account's polls.
  await query('update polls set created_at = now()');
  for (const shut of [freezeAccount, closeAccount]) {
    const worker = await session(t, fixture);
    await worker.query('begin');
    await worker.query('select from polls where id = $1 for no key update', [first]);
    const shutting = shut(storage, accountId);
    await isWaitedFor(t, fixture, worker);
    t.same(
      await worker.query('select id from polls where id = $1 for no key update skip locked', [last]),
      [{ id: last }],
      `${shut.name} does not hold it`,
    );
    await worker.query('commit');
    t.equal((await shutting)!.ended.length, 2);
  }
});

t.test('neither closing an account nor leaving a cell waits for keys of polls that are being accepted', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, 10n * USD);
  for (const key of ['first', 'last']) {
    const idempotency = { principal: accountId, entryPoint: 'rest', key, fingerprint: 'f' };
    await acceptPoll(storage, acceptance(accountId, { idempotency }));
  }
  const keys = async () => (await query<{ key: string }>('select key from idempotency order by key')).map((r) => r.key);
  const accepting = await session(t, fixture);
  const repeat = async (key: string) => {
    await accepting.query('begin');
    // As accept_poll does where the key is known.
    await accepting.query('select from idempotency where key = $1 for update', [key]);
  };

  await repeat('first');
  await query('begin');
  const moveId = '00000000-0000-4000-8000-00000000000b';
  await query('update accounts set moving_at = now() where id = $1', [accountId]);
  await query(
    `insert into account_moves (id, account_id, direction, kind, from_cell, to_cell, state)
     values ($1, $2, 'out', 'account', '0', '1', 'frozen')`,
    [moveId, accountId],
  );
  await query(`update polls set status = 'failed', finished_at = now(), lease_owner = null`);
  await query('update balances set held_u = 0 where account_id = $1', [accountId]);
  await query(`set local lock_timeout = '100ms'`);
  t.match(await query(`select leave_cell($1, '1 hour') as left`, [moveId]), [{ left: true }]);
  t.same(await keys(), ['first']);
  await query('rollback');
  await accepting.query('rollback');

  await repeat('last');
  t.equal((await closeAccount(storage, accountId))!.ended.length, 2);
  await forgetClosedAccounts(storage, 100);
  t.same(await keys(), ['last']);
  // What accept_poll asks next, with its key.
  await accepting.query('select from accounts where id = $1 for key share nowait', [accountId]);
  await accepting.query('commit');
  await forgetClosedAccounts(storage, 100);
  t.same(await keys(), []);
});

t.test('an account leaves a cell, and arrives, with its payments locked before it, as they are credited', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, 10n * USD);
  const checkout = await openCheckout(storage, { accountId, amountCents: 1_000 });
  await query(`update checkouts set state = 'moved', held_back_u = 5, settles_at = now() - interval '1 second'`);
  await query('update balances set held_back_u = 5 where account_id = $1', [accountId]);
  await query('update accounts set moving_at = now() where id = $1', [accountId]);
  const id = '00000000-0000-4000-8000-00000000000c';
  await query(
    `insert into account_moves (id, account_id, direction, kind, from_cell, to_cell, state)
     values ($1, $2, 'out', 'account', '0', '1', 'frozen')`,
    [id, accountId],
  );
  const back = { id: '00000000-0000-4000-8000-00000000000d', account_id: accountId, direction: 'out', kind: 'account' };
  const taken = { id: checkout, amount_cents: 1_000, reversed_cents: 0, held_back_u: 0 };
  const facts = {
    used_u: 0,
    used_today_u: 0,
    used_yesterday_u: 0,
    account: { created_at: new Date() },
    checkouts: [taken],
  };
  const arriving = { ...back, from_cell: '1', to_cell: '0', state: 'left', amount_u: 0, facts };
  for (const [name, statement, value] of [
    ['leaving', `select leave_cell($1, '1 hour')`, id],
    ['arriving', 'select arrive_in_cell($1)', arriving],
  ] as const) {
    const [payment, move] = [await session(t, fixture), await session(t, fixture)];
    await payment.query('begin');
    await payment.query('select from checkouts where account_id = $1 for update', [accountId]);
    const moved = move.query(statement, [value]);
    await waitsFor(t, fixture, move, [payment]);
    // As admitting a payer, and crediting, do.
    await payment.query('select from accounts where id = $1 for key share nowait', [accountId]);
    await payment.query('select from balances where account_id = $1 for update nowait', [accountId]);
    await payment.query('commit');
    t.equal((await moved).length, 1, name);
  }
});

t.test('what has settled is released in the order of the accounts', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const ids = Array.from('fedcba9876543210', (digit) => `${digit}0000000-0000-4000-8000-00000000000${digit}`);
  for (const accountId of ids) {
    await createAccount(storage, { id: accountId });
    await openCheckout(storage, { accountId, amountCents: 1_000 });
  }
  await query('update balances set held_back_u = 5 where account_id = any($1)', [ids]);
  await query(`update checkouts set state = 'credited', held_back_u = 5, settles_at = now() - interval '1 second'`);
  const worker = await session(t, fixture);
  await worker.query('begin');
  const first = ids.at(-1)!;
  await worker.query('select from balances where account_id = $1 for no key update', [first]);
  const releasing = releaseHeldBack(storage);
  await isWaitedFor(t, fixture, worker);
  t.same(
    await query(
      `select account_id from balances
        where account_id = any($1) and account_id not in (select account_id from balances for no key update skip locked)`,
      [ids],
    ),
    [{ account_id: first }],
    'it holds none of the others while it waits',
  );
  await worker.query('commit');
  t.equal(await releasing, ids.length);
  t.match(await query('select sum(held_back_u)::int as n from balances'), [{ n: 0 }]);
});

t.test('a transaction adds one day to its month, so that names are locked once and in their order', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, 0n);
  const month = `(date_trunc('month', now() at time zone 'utc' - interval '60 days'))::date`;
  const figures = '1, 1, 0, 0, 0, 100, 0, counted_once(1000), counted_once(100)';
  // Both names have rows of the month already; then one day has the second name, and the next one the first.
  for (const [days, name, summed] of [
    [0, 'customer', true],
    [0, 'team', true],
    [1, 'team', false],
    [2, 'customer', false],
  ] as const) {
    await query(`insert into usage_names select $1, ${month} + $2::int, $3, 1, $4`, [accountId, days, name, summed]);
    await query(`insert into usage_labels select $1, ${month} + $2::int, $3, 'v', ${figures}`, [accountId, days, name]);
    if (summed)
      await query(`insert into usage_label_months select $1, ${month}, $2, 'v', ${figures}`, [accountId, name]);
  }
  const [deleting, summing] = [await session(t, fixture), await session(t, fixture)];
  const lock = 'select from usage_label_months where name = $1 for update';
  await deleting.query('begin');
  await deleting.query(lock, ['customer']);
  await summing.query('begin');
  await summing.query(`set local lock_timeout = '100ms'`);
  t.same(await summing.query('select sum_usage_months(100) as n'), [{ n: 2 }], 'it waits for no other name');
  const goesOn = deleting.query(lock, ['team']);
  await waitsFor(t, fixture, deleting, [summing]);
  await summing.query('commit');
  await goesOn;
  await deleting.query('commit');
  t.same(await query('select sum_usage_months(100) as n'), [{ n: 2 }]);
  t.same(await query('select sum_usage_months(100) as n'), [{ n: 0 }]);
  t.same(await query('select name, polls from usage_label_months order by name'), [
    { name: 'customer', polls: 2 },
    { name: 'team', polls: 2 },
  ]);
  t.same(await wholeCheck(storage), []);
});

/** The ids of a poll that has ended and of one that runs, with these labels of one name. */
async function labelled({ storage }: Fixture, accountId: string, runs: readonly [string, string]) {
  const polls = runs.map((run) => newPoll(accountId, { tenant: accountId, metadata: { run } }));
  for (const poll of polls) await acceptPoll(storage, acceptance(accountId, { poll, holdU: 10_000n }));
  const claims = await Promise.all(polls.map(({ id }) => claimPoll(storage, id, 'w')));
  await finishPoll(storage, finished(claims[0]!));
  return { ended: polls[0]!.id, running: claims[1]! };
}

async function runsOf({ storage }: Fixture, accountId: string) {
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const terms = { from: day(-1), to: day(1), groupBy: { metadata: 'run' }, maxGroups: 10 };
  const { groups } = await readUsageGroups(storage, accountId, terms);
  return groups.map(({ group, polls }) => [group, polls]);
}

t.test('a poll that ends while the last one with its label is deleted is counted by that label', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const accountId = await funded(storage, USD);
  const { ended, running } = await labelled(fixture, accountId, ['nightly', 'nightly']);
  const deleting = await session(t, fixture);
  await deleting.query('begin');
  await deleting.query('select empty_polls($1)', [[ended]]);
  const ending = finishPoll(storage, finished(running));
  await isWaitedFor(t, fixture, deleting);
  await deleting.query('commit');
  t.match(await ending, { outcome: 'stored' });
  t.same(await runsOf(fixture, accountId), [['nightly', 1]]);
  t.same(await wholeCheck(storage), []);
});

t.test('the last poll with a label is deleted while one with another label of its name ends', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const accountId = await funded(storage, USD);
  const { ended, running } = await labelled(fixture, accountId, ['nightly', 'daily']);
  const deletion = await storage.db.transaction().execute(async (db) => {
    const [self] = await within(storage, db).call<{ pid: number }>('select pg_backend_pid() as pid', []);
    await finishPoll(within(storage, db), finished(running));
    const deleting = deletePoll(storage, accountId, ended);
    await isWaitedFor(t, fixture, self!);
    // A promise would be waited for, and with it the deletion.
    return { deleting };
  });
  t.match(await deletion.deleting, { outcome: 'deleted' });
  t.same(await runsOf(fixture, accountId), [['daily', 1]]);
  t.same(await wholeCheck(storage), []);
});

t.test('deleting a poll waits for its key and its account before it holds the balance', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const accountId = await funded(storage, USD);
  const idempotency = { principal: accountId, entryPoint: 'rest', key: 'k', fingerprint: 'f' };
  for (const [table, column] of [
    ['idempotency', 'principal'],
    ['accounts', 'id'],
  ] as const) {
    const poll = newPoll(accountId, { metadata: { run: 'nightly' } });
    await acceptPoll(storage, acceptance(accountId, { poll, holdU: 10_000n, idempotency }));
    await finishPoll(storage, finished((await claimPoll(storage, poll.id, 'w'))!));
    const other = await session(t, fixture);
    await other.query('begin');
    await other.query(`select from ${table} where ${column} = $1 for update`, [accountId]);
    const deleting = deletePoll(storage, accountId, poll.id);
    await isWaitedFor(t, fixture, other);
    await other.query('select from balances where account_id = $1 for update nowait', [accountId]);
    await other.query('commit');
    t.match(await deleting, { outcome: 'deleted' }, table);
  }
});

t.test('what ends polls waits for their account before it holds a poll or the balance', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, 10n * USD);
  const accepted = async () => {
    const poll = newPoll(accountId, { tenant: accountId });
    await acceptPoll(storage, acceptance(accountId, { poll, holdU: 10_000n }));
    return poll.id;
  };
  const ending = async () => ({ ...finished((await claimPoll(storage, await accepted(), 'w'))!), payer: accountId });
  const [alone, ...several] = [await ending(), await ending(), await ending()] as const;
  const [canceled, finish] = [await accepted(), pollFinisher(storage)];
  for (const [how, end] of [
    // These update the balance twice in a transaction, which then checks that the account exists.
    ['ends together', () => Promise.all(several.map((poll) => finish(poll)))],
    ['an end', () => finishPoll(storage, alone)],
    ['a cancellation', () => cancelPoll(storage, accountId, canceled)],
  ] as const) {
    const limiting = await session(t, fixture);
    await limiting.query('begin');
    // As setting a limit, freezing, closing and moving an account do, which then ask for its polls.
    await limiting.query('select from accounts where id = $1 for update', [accountId]);
    const ended = end();
    await isWaitedFor(t, fixture, limiting);
    await limiting.query('select from polls where account_id = $1 for update nowait', [accountId]);
    await limiting.query('select from balances where account_id = $1 for update nowait', [accountId]);
    await limiting.query('commit');
    await ended;
    t.pass(how);
  }
  t.same(await query("select count(*)::int as running from polls where status = 'running'"), [{ running: 0 }]);
  t.same(await wholeCheck(storage), []);
});

t.test(
  'polls of a key are accepted, ended and canceled while its limit is set, and none waits in a circle',
  async (t) => {
    const { storage, query } = await open(t, { maxConnections: 12 });
    const accountId = await funded(storage, 100n * USD);
    const keyId = await limitedKey(storage, accountId, 90n * USD);
    const finish = pollFinisher(storage);
    const limit = [accountId, keyId, String(90n * USD), 'daily'];
    await together(240, 12, async (n) => {
      if (n % 4 === 0) return storage.call('select set_key_limit($1, $2, $3, $4)', limit);
      const poll = newPoll(accountId, { tenant: accountId, keyId });
      t.match(await acceptPoll(storage, acceptance(accountId, { poll, holdU: 10_000n })), { kind: 'accepted' });
      if (n % 4 === 1) return cancelPoll(storage, accountId, poll.id);
      const claim = (await claimPoll(storage, poll.id, 'w'))!;
      return finish({ ...finished(claim), payer: accountId });
    });
    t.match(await findKeyLimit(storage, keyId), { heldU: 0n, spentU: 120n * 801n });
    t.same(await wholeCheck(storage), []);
    await storage[Symbol.asyncDispose]();
    t.equal(await deadlocks(query), 0);
  },
);

t.test('closing an account sees a credit that was under way, and refuses where its money is asked about', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await createAccount(storage);
  const id = await openCheckout(storage, { accountId, amountCents: 500 });
  const crediting = await session(t, fixture);
  await crediting.query('begin');
  // As followCheckout does.
  await crediting.query(`update checkouts set state = 'credited' where id = $1`, [id]);
  let seenU = -1n;
  const closing = closeAccount(storage, accountId, {
    onMoney({ postedU }) {
      seenU = postedU;
      throw new Error('money is left');
    },
  });
  await isWaitedFor(t, fixture, crediting);
  await crediting.query('update balances set posted_u = posted_u + 5000000 where account_id = $1', [accountId]);
  await crediting.query('commit');
  await t.rejects(closing, { message: 'money is left' });
  t.equal(seenU, 5_000_000n);
  t.match(await query('select deleted_at from accounts where id = $1', [accountId]), [{ deleted_at: null }]);
});

t.test('a deposit of a wallet whose account is closed meanwhile opens another', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const payer = Buffer.alloc(20, 7);
  const { accountId } = await inTransaction(storage, (tx) => admitPayer(tx, payer));
  const closing = await session(t, fixture);
  await closing.query('begin');
  await closing.query('select from accounts where id = $1 for update', [accountId]);
  const [a, n] = [Buffer.alloc(20, 1), Buffer.alloc(32, 2)];
  const [deposit] = await fixture.query<{ id: string }>(
    `insert into deposits (chain_id, asset, payer, nonce, pay_to, amount_u, valid_before, proof)
     values (1, $1, $2, $3, $1, 5000000, now() + interval '1 minute', '{}') returning id`,
    [a, payer, n],
  );
  const crediting = creditDeposit(storage, deposit!.id, { txHash: n });
  await isWaitedFor(t, fixture, closing);
  await closing.query('update accounts set deleted_at = now(), frozen_at = now() where id = $1', [accountId]);
  await closing.query('delete from identities where account_id = $1', [accountId]);
  await closing.query('commit');
  const credited = await crediting;
  t.not(credited!.accountId, accountId);
  t.ok(credited!.isNewAccount);
  t.same(await wholeCheck(storage), []);
});
