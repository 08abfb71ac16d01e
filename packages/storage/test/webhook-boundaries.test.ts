import t, { type Test } from 'tap';
import {
  type ClaimTerms,
  changeWebhookEndpoint,
  claimDeliveries,
  closeAccount,
  createAccount,
  endAttempt,
  ensureAccountEndpoint,
  findWebhookEndpoint,
  insertWebhookEndpoint,
  readWebhookFigures,
  removeWebhookEndpoint,
  resendDelivery,
  spreadWebhookEvents,
} from '../src/index.ts';
import { open, unique } from './fixtures.ts';
import { session } from './sessions.ts';

// slow: 3 s

// The rules of deliveries at their limits, and that one endpoint, receiver or account leaves the others as they are. Each
// test has a database of its own. Within a transaction now() stands still, which makes the last moment of a term exact.

const TERMS: ClaimTerms = { worker: 'w1', limit: 50, slow: 50, leaseMs: 30_000, perReceiver: 8, perAccount: 40 };
const entry = { at: '2026-01-01T00:00:00.000Z', http_status: 200, error: null, took_ms: 5 };
const delivered = { kind: 'delivered', entry, isQuick: true } as const;
const retry = { kind: 'retry', entry: { ...entry, http_status: 500 }, isQuick: false, retryMs: 60_000 } as const;
const gone = { kind: 'gone', entry: { ...entry, http_status: 410 }, isQuick: false } as const;

async function world(t: Test) {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const claim = (terms: Partial<ClaimTerms> = {}) => claimDeliveries(storage, { ...TERMS, ...terms });
  const note = (accountId: string, count = 1, url: string | null = null) =>
    query(`select note_webhook_event($1, 'balance.low', '{}', $3) from generate_series(1, $2::int)`, [
      accountId,
      count,
      url,
    ]);
  async function endpoint(accountId: string) {
    const id = `we_${unique().padEnd(32, '0').slice(0, 32)}`;
    const made = { id, url: `https://${id}.example.com/`, description: '', secret: 'sealed' };
    await insertWebhookEndpoint(storage, accountId, { ...made, eventTypes: ['balance.low'] });
    return id;
  }
  /** An account with an endpoint for which so many deliveries wait; its receiver is known to answer well or not known. */
  async function waiting(count: number, { isQuick = false } = {}) {
    const accountId = await createAccount(storage);
    const id = await endpoint(accountId);
    await note(accountId, count);
    await spreadWebhookEvents(storage, 1_000);
    if (isQuick) await query('update webhook_receivers set is_quick = true where endpoint_id = $1', [id]);
    return { accountId, id };
  }
  const lookAgain = () => query("update webhook_receivers set next_due_at = now() - interval '1 second'");
  const statuses = async (id: string) => {
    const rows = await query<{ status: string }>(
      'select status from webhook_deliveries where endpoint_id = $1 order by created_at, id',
      [id],
    );
    return rows.map(({ status }) => status);
  };
  return { ...fixture, fixture, claim, note, endpoint, waiting, lookAgain, statuses };
}

t.test('what is under way counts: a receiver and an account get what is left of their share', async (t) => {
  const { claim, waiting, lookAgain, query } = await world(t);
  const [unknown, quick] = [await waiting(3), await waiting(12, { isQuick: true })];
  const count = async (terms: Partial<ClaimTerms> = {}) => {
    await lookAgain();
    const taken = await claim(terms);
    return [unknown, quick].map(({ id }) => taken.filter(({ endpointId }) => endpointId === id).length);
  };
  t.same(await count({ perReceiver: 3 }), [1, 3]);
  t.same(await count({ perReceiver: 5 }), [0, 2], 'one at once, and five');
  t.same(await count({ perReceiver: 8, perAccount: 6 }), [0, 1], 'six of the account');
  t.same(await count({ perReceiver: 8, perAccount: 6 }), [0, 0]);
  await query('update webhook_deliveries set due_at = now() where lease_owner is not null');
  t.same(await count({ perReceiver: 4 }), [1, 4], 'a lease that is over counts no more');
});

t.test('receivers of an account that has its share keep no others from their turn', async (t) => {
  const { claim, waiting, query } = await world(t);
  const full = await waiting(5, { isQuick: true });
  t.equal((await claim({ perAccount: 2 })).length, 2);
  const other = await waiting(3);
  // What waits to be tried again is not under way.
  await query(`update webhook_deliveries set due_at = now() + interval '1 hour' where id in
    (select id from webhook_deliveries where endpoint_id = '${other.id}' limit 2)`);
  await query("update webhook_receivers set next_due_at = now() - interval '1 hour' where endpoint_id = $1", [full.id]);
  t.same(
    (await claim({ perAccount: 2, limit: 1 })).map(({ endpointId }) => endpointId),
    [other.id],
  );
});

t.test('a call takes no more than its limit, and who was left out is due at once', async (t) => {
  const { claim, waiting, query } = await world(t);
  const first = await waiting(3, { isQuick: true });
  const second = await waiting(1);
  await query("update webhook_receivers set next_due_at = now() - interval '1 hour' where endpoint_id = $1", [
    first.id,
  ]);
  const taken = await claim({ limit: 2 });
  t.same(
    taken.map(({ endpointId }) => endpointId),
    [first.id, first.id],
  );
  t.same(
    (await claim()).map(({ endpointId }) => endpointId),
    [second.id],
  );
  for (let i = 0; i < 2; i++) await waiting(3, { isQuick: true });
  t.equal((await claim({ limit: 4 })).length, 4);
});

t.test(
  'after a claim a receiver is due when its next delivery is, or half a second later where it waits',
  async (t) => {
    const { fixture, waiting } = await world(t);
    const [all, left, other] = [await waiting(1), await waiting(2), await waiting(1)];
    const tx = await session(t, fixture);
    await tx.query('begin');
    await tx.query(
      `update webhook_receivers set next_due_at = case endpoint_id when $1 then now() + interval '1 hour' else now() end`,
      [other.id],
    );
    await tx.query('select from claim_webhook_deliveries($1)', [
      { worker: 'w1', limit: 9, slow: 9, lease_ms: 30_000, per_receiver: 8, per_account: 9 },
    ]);
    const rows = await tx.query<{ endpoint_id: string; in_ms: number }>(
      `select endpoint_id, extract(epoch from next_due_at - now())::float8 * 1000 as in_ms from webhook_receivers`,
    );
    await tx.query('rollback');
    const inMs = (id: string) => rows.find(({ endpoint_id }) => endpoint_id === id)?.in_ms;
    t.same(
      [all, left, other].map(({ id }) => inMs(id)),
      [30_000, 500, 3_600_000],
    );
  },
);

t.test('a lease, a secret and the term of a delivery end at their last moment', async (t) => {
  const { fixture, waiting } = await world(t);
  await waiting(1);
  const tx = await session(t, fixture);
  const claim = (perAccount: number) =>
    tx.query<{ is_last: boolean; previous_secret: string | null }>('select * from claim_webhook_deliveries($1)', [
      { worker: 'w2', limit: 9, slow: 9, lease_ms: 30_000, per_receiver: 8, per_account: perAccount },
    ]);
  const lastMoment = async (offset: string) => {
    await tx.query(
      `update webhook_deliveries set lease_owner = 'w1', due_at = now(), expires_at = now() + $1::interval`,
      [offset],
    );
    await tx.query(`update webhook_endpoints set previous_secret = 'before', previous_until = now() + $1::interval`, [
      offset,
    ]);
    await tx.query('update webhook_receivers set next_due_at = now()');
  };
  await tx.query('begin');
  await lastMoment('0');
  t.match(await claim(1), [{ is_last: true, previous_secret: null }]);
  await lastMoment('1 microsecond');
  t.match(await claim(1), [{ is_last: false, previous_secret: 'before' }]);
  await tx.query('rollback');
});

t.test('an endpoint that was removed is looked for once, the others as before', async (t) => {
  const { claim, waiting, storage, query } = await world(t);
  const [removed, other] = [await waiting(2), await waiting(1)];
  await removeWebhookEndpoint(storage, removed.accountId, removed.id);
  const taken = await claim();
  t.same(
    taken.map(({ endpointId }) => endpointId),
    [other.id],
  );
  t.same((await readWebhookFigures(storage)).oldestDueAt, null);
  t.match(await query('select from webhook_receivers where next_due_at < $1', ['infinity']), { length: 1 });
});

t.test('an attempt is ended by the worker that makes it, once, and by itself', async (t) => {
  const { claim, waiting, storage, query, statuses } = await world(t);
  const { id } = await waiting(3, { isQuick: true });
  const [one, two] = await claim({ limit: 2 });
  t.equal(await endAttempt(storage, one!, 'w2', delivered), false, 'not its worker');
  t.equal(await endAttempt(storage, { ...one!, attempt: 2 }, 'w1', delivered), false, 'not its attempt');
  t.equal(await endAttempt(storage, one!, 'w1', delivered), true);
  t.equal(await endAttempt(storage, one!, 'w1', retry), false, 'it has ended');
  t.same((await statuses(id)).toSorted(), ['delivered', 'pending', 'pending']);
  t.match(await query('select id from webhook_deliveries where lease_owner is not null'), [{ id: two!.id }]);
});

t.test('tries are counted without those that were given back; the log keeps the last twelve', async (t) => {
  const { claim, waiting, storage, query, lookAgain } = await world(t);
  await waiting(1);
  const again = async () => {
    await query("update webhook_deliveries set due_at = now() - interval '1 second'");
    await query("update webhook_receivers set resting_until = '-infinity'");
    await lookAgain();
    const [taken] = await claim();
    return taken!;
  };
  const tries: number[] = [];
  for (let attempt = 1; attempt <= 14; attempt++) {
    const taken = await again();
    tries.push(taken.tries);
    const end = attempt === 2 ? { kind: 'released' as const } : { ...retry, entry: { ...entry, took_ms: attempt } };
    t.ok(await endAttempt(storage, taken, 'w1', end));
  }
  t.same(tries, [1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  const [{ log } = { log: [] }] = await query<{ log: { took_ms: number }[] }>('select log from webhook_deliveries');
  t.same(
    log.map(({ took_ms }) => took_ms),
    [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
  );
});

t.test(
  'a rest begins with the fifth failure in a row: 10 s, twice as long each time, at most 10 minutes',
  async (t) => {
    const { claim, waiting, fixture } = await world(t);
    await waiting(1);
    const [taken] = await claim();
    const tx = await session(t, fixture);
    const rest = async (failures: number) => {
      await tx.query('begin');
      await tx.query('update webhook_receivers set failures = $1', [failures - 1]);
      const p = {
        ...retry,
        id: taken!.id,
        attempt: 1,
        worker: 'w1',
        outcome: 'retry',
        is_quick: false,
        retry_ms: 1_000,
      };
      await tx.query('select end_webhook_attempt($1)', [p]);
      const [row] = await tx.query<{ rest_s: number | null; due_s: number; failures: number }>(
        `select case when isfinite(resting_until) then extract(epoch from resting_until - now())::float8 end as rest_s,
              extract(epoch from next_due_at - now())::float8 as due_s, failures from webhook_receivers`,
      );
      await tx.query('rollback');
      return [row!.failures, row!.rest_s, row!.due_s];
    };
    for (const [failures, restS] of [
      [1, null],
      [4, null],
      [5, 10],
      [6, 20],
      [7, 40],
      [10, 320],
      [11, 600],
      [15, 600],
      [500, 600],
    ] as const)
      t.same(await rest(failures), [failures, restS, restS ?? 1], `${failures} in a row`);
  },
);

t.test('since when an endpoint fails is its own, from its first failure to its next success', async (t) => {
  const { claim, waiting, storage, query, lookAgain } = await world(t);
  const [one, other, fine] = [await waiting(3), await waiting(3), await waiting(3)];
  await query("update webhook_endpoints set failing_since = now() - interval '1 hour' where id = $1", [other.id]);
  const since = async ({ accountId, id }: { accountId: string; id: string }) =>
    (await findWebhookEndpoint(storage, accountId, id))?.failingSince ?? null;
  const before = await since(other);
  const round = async () => {
    await lookAgain();
    const taken = await claim();
    return (id: string) => taken.find(({ endpointId }) => endpointId === id)!;
  };
  let of = await round();
  await endAttempt(storage, of(one.id), 'w1', retry);
  const first = await since(one);
  t.ok(first);
  t.same(await since(other), before, 'that of another stays');
  t.equal(await since(fine), null);
  await endAttempt(storage, of(other.id), 'w1', retry);
  t.same(await since(other), before, 'a further failure changes nothing');
  await endAttempt(storage, of(fine.id), 'w1', delivered);
  t.same([await since(one), await since(other)], [first, before], 'nor does the success of another');
  of = await round();
  await endAttempt(storage, of(one.id), 'w1', delivered);
  t.equal(await since(one), null);
  t.same(await since(other), before);
});

t.test(
  'an endpoint is disabled when it has failed for longer than three days, and never that of webhook_url',
  async (t) => {
    const { claim, waiting, note, storage, fixture, query } = await world(t);
    const { accountId } = await waiting(1);
    const [taken] = await claim();
    const tx = await session(t, fixture);
    const isDisabled = async (failing: string) => {
      await tx.query('begin');
      await tx.query('update webhook_endpoints set failing_since = now() - $1::interval', [failing]);
      const p = { id: taken!.id, attempt: 1, worker: 'w1', outcome: 'retry', entry, is_quick: false, retry_ms: 1_000 };
      await tx.query('select end_webhook_attempt($1)', [p]);
      const [row] = await tx.query<{ why: string | null }>('select disabled_why as why from webhook_endpoints');
      await tx.query('rollback');
      return row!.why;
    };
    t.equal(await isDisabled('3 days'), null);
    t.equal(await isDisabled('3 days 1 microsecond'), 'failing');

    const own = `we_${'a'.repeat(32)}`;
    await ensureAccountEndpoint(storage, accountId, { id: own, secret: 'sealed' });
    for (const outcome of [retry, gone]) {
      await note(accountId, 1, 'https://once.example.com/');
      await spreadWebhookEvents(storage, 9);
      await query('update webhook_receivers set next_due_at = now()');
      const sent = (await claim()).find(({ endpointId }) => endpointId === own);
      t.ok(await endAttempt(storage, sent!, 'w1', outcome), outcome.kind);
      t.match(await findWebhookEndpoint(storage, accountId, null), { disabledAt: null, failingSince: null });
    }
  },
);

t.test('an endpoint hears of what happens from the moment it is made, while it is enabled', async (t) => {
  const { endpoint, note, storage, query, statuses } = await world(t);
  const accountId = await createAccount(storage);
  const [same, later, disabled] = [await endpoint(accountId), await endpoint(accountId), await endpoint(accountId)];
  t.ok(await changeWebhookEndpoint(storage, accountId, disabled, { isEnabled: false }));
  await note(accountId);
  await query(`update webhook_events set created_at = '2026-01-01'`);
  await query(
    `update webhook_endpoints set created_at = '2026-01-01'::timestamptz +
    case id when $1 then interval '1 microsecond' else interval '0' end`,
    [later],
  );
  t.equal(await spreadWebhookEvents(storage, 9), 1);
  t.same([await statuses(same), await statuses(later), await statuses(disabled)], [['pending'], [], []]);
});

t.test('what waits for an endpoint is counted without what has ended and without that of others', async (t) => {
  const { claim, waiting, note, storage, query } = await world(t);
  await waiting(5);
  const { accountId, id } = await waiting(3, { isQuick: true });
  for (const taken of (await claim()).filter(({ endpointId }) => endpointId === id).slice(0, 2))
    await endAttempt(storage, taken, 'w1', delivered);
  await note(accountId, 3);
  await query('select spread_webhook_events(9, 3)');
  t.match(await findWebhookEndpoint(storage, accountId, id), { pending: 3, skipped: 1 });
});

t.test('a receiver that rests goes on resting when something new happens', async (t) => {
  const { claim, waiting, note, storage, query } = await world(t);
  const { accountId, id } = await waiting(1);
  const due = async () => {
    const [row] = await query<{ is_resting: boolean }>(
      'select next_due_at = resting_until as is_resting from webhook_receivers where endpoint_id = $1',
      [id],
    );
    return row!.is_resting;
  };
  await query(`update webhook_receivers set resting_until = now() + interval '5 minutes', next_due_at = 'infinity'`);
  await note(accountId);
  await spreadWebhookEvents(storage, 9);
  t.equal(await due(), true);
  t.same(await claim(), []);
});

t.test('an account that was closed hears of nothing; one that moved on still does', async (t) => {
  const { note, storage, query } = await world(t);
  const [closed, moved] = [await createAccount(storage), await createAccount(storage)];
  for (const accountId of [closed, moved]) t.ok(await closeAccount(storage, accountId));
  await query("update accounts set moved_to = 'b' where id = $1", [moved]);
  for (const accountId of [closed, moved]) await note(accountId, 1, 'https://once.example.com/');
  t.same(await query('select account_id from webhook_events'), [{ account_id: moved }]);
});

t.test('a delivery is sent again at once, with all its tries, whatever its receiver does', async (t) => {
  const { claim, waiting, storage, query, statuses } = await world(t);
  const other = await waiting(2, { isQuick: true });
  for (const taken of await claim()) await endAttempt(storage, taken, 'w1', delivered);
  const { accountId, id } = await waiting(2);
  const [taken] = await claim();
  const resend = (account = accountId, endpoint = id, delivery = taken!.id) =>
    resendDelivery(storage, account, endpoint, delivery);
  t.equal(await resend(), 'under_way');
  await endAttempt(storage, taken!, 'w1', retry);
  await query(`update webhook_deliveries set tries = 7, expires_at = now() - interval '1 hour' where id = $1`, [
    taken!.id,
  ]);
  await query(`update webhook_deliveries set due_at = now() + interval '1 hour' where endpoint_id = $1`, [id]);
  await query(`update webhook_receivers set next_due_at = 'infinity'`);
  t.equal(await resend(other.accountId), null, 'not its account');
  t.equal(await resend(undefined, other.id), null, 'not its endpoint');
  t.equal(await resend(undefined, undefined, `wd_${'0'.repeat(32)}`), null, 'unknown');
  t.equal(await resend(), 'resent');
  const sent = await claim();
  t.match(sent, [{ id: taken!.id, tries: 1, attempt: 2, isLast: false }]);
  t.equal(sent.length, 1);
  t.same(await statuses(other.id), ['delivered', 'delivered'], 'others stay as they are');
  await query(`update webhook_deliveries set due_at = now() - interval '1 minute' where lease_owner is not null`);
  t.equal(await resend(), 'resent', 'its lease is over');
});

t.test('the month and the lease of a delivery end at their last moment for sending it again, too', async (t) => {
  const { claim, waiting, fixture } = await world(t);
  const { accountId, id } = await waiting(1);
  const [taken] = await claim();
  const tx = await session(t, fixture);
  const resent = async (age: string, leaseLeft: string) => {
    await tx.query('begin');
    await tx.query('update webhook_deliveries set created_at = now() - $1::interval, due_at = now() + $2::interval', [
      age,
      leaseLeft,
    ]);
    const [row] = await tx.query<{ answer: string | null }>('select resend_webhook_delivery($1, $2, $3) as answer', [
      accountId,
      id,
      taken!.id,
    ]);
    await tx.query('rollback');
    return row!.answer;
  };
  t.equal(await resent('0', '0'), 'resent');
  t.equal(await resent('0', '1 microsecond'), 'under_way');
  t.equal(await resent('30 days', '0'), null);
});

t.test('an endpoint is disabled once, for its own account, with what waits for it alone', async (t) => {
  const { claim, waiting, endpoint, note, storage, query, statuses } = await world(t);
  const { accountId, id } = await waiting(2, { isQuick: true });
  const sibling = await endpoint(accountId);
  const other = await waiting(1);
  const [taken] = await claim({ limit: 1 });
  await endAttempt(storage, taken!, 'w1', delivered);
  await note(accountId);
  await spreadWebhookEvents(storage, 9);
  const disable = async (account: string, endpointId: string) => {
    const [row] = await query<{ is: boolean }>(`select disable_webhook_endpoint($1, $2, 'owner') as is`, [
      account,
      endpointId,
    ]);
    return row!.is;
  };
  t.equal(await disable(other.accountId, id), false, 'not its account');
  t.equal(await disable(accountId, id), true);
  t.equal(await disable(accountId, id), false, 'it is already');
  const disabled = await query<{ id: string }>('select id from webhook_endpoints where disabled_at is not null');
  t.same(disabled, [{ id }]);
  t.same((await statuses(id)).toSorted(), ['delivered', 'failed', 'failed']);
  t.same([await statuses(sibling), await statuses(other.id)], [['pending'], ['pending']]);
  const due = await query<{ endpoint_id: string }>(
    "select endpoint_id from webhook_receivers where next_due_at < 'infinity'",
  );
  t.same(due.map(({ endpoint_id }) => endpoint_id).toSorted(), [sibling, other.id].toSorted());
  t.equal(await resendDelivery(storage, accountId, id, taken!.id), 'disabled');
  const [waits] = await query<{ id: string }>('select id from webhook_deliveries where endpoint_id = $1', [sibling]);
  t.equal(await resendDelivery(storage, accountId, sibling, waits!.id), 'resent', 'that of another is not');
});
