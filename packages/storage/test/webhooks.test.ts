import { LIMITS } from '@eloquentpoll/contracts';
import { OPERATOR_ENTRY } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import t from 'tap';
import {
  acceptPoll,
  bury,
  type ClaimTerms,
  cancelPoll,
  changeWebhookEndpoint,
  claimDeliveries,
  claimPoll,
  closeAccount,
  endAttempt,
  ensureAccountEndpoint,
  findDelivery,
  findReceiptSource,
  findResult,
  findWebhookEndpoint,
  finishPoll,
  forgetClosedAccounts,
  insertWebhookEndpoint,
  inTransaction,
  listDeliveries,
  listPolls,
  listWebhookEndpoints,
  pruneExpired,
  readHistory,
  removeWebhookEndpoint,
  resendDelivery,
  spreadWebhookEvents,
  testWebhookEndpoint,
} from '../src/index.ts';
import {
  acceptance,
  type Fixture,
  finished,
  funded,
  newPoll,
  open,
  response,
  spec,
  USD,
  unique,
  vote,
} from './fixtures.ts';
import { rowsReadBy } from './query-plan.ts';
import { isWaitedFor, session } from './sessions.ts';

// slow: 5 s

const fixture = await open(t);
const { storage, query } = fixture;

const TERMS: ClaimTerms = { worker: 'w1', limit: 50, slow: 50, leaseMs: 30_000, perReceiver: 8, perAccount: 40 };
const entry = { at: new Date().toISOString(), http_status: 200, error: null, took_ms: 5 };
const delivered = { kind: 'delivered', entry, isQuick: true } as const;
const failed = { kind: 'retry', entry: { ...entry, http_status: 500 }, isQuick: false, retryMs: 60_000 } as const;

async function endpoint(accountId: string, eventTypes: Parameters<typeof insertWebhookEndpoint>[2]['eventTypes']) {
  const id = `we_${unique().padEnd(32, '0').slice(0, 32)}`;
  const made = { id, url: `https://${id}.example.com/`, description: '', eventTypes, secret: 'sealed' };
  return (await insertWebhookEndpoint(storage, accountId, made)) ? id : null;
}

async function endedPoll(accountId: string | null, webhookUrl?: string, end = finished): Promise<string> {
  const poll = newPoll(accountId, { webhookUrl, metadata: { customer: 'acme' } });
  await acceptPoll(storage, acceptance(accountId, { poll, ...(accountId === null && { free: { dailyCapU: USD } }) }));
  const claim = await claimPoll(storage, poll.id, 'w');
  await finishPoll(storage, end(claim!));
  return poll.id;
}

const eventsOf = (accountId: string) =>
  query<{ type: string; data: Record<string, unknown>; url: string | null }>(
    'select type, data, url from webhook_events where account_id = $1 order by created_at',
    [accountId],
  );
const note = (accountId: string, count = 1, type = 'poll.completed', url: string | null = null) =>
  query(`select note_webhook_event($1, $2, '{}', $4) from generate_series(1, $3::int)`, [accountId, type, count, url]);
const claim = (terms: Partial<ClaimTerms> = {}) => claimDeliveries(storage, { ...TERMS, ...terms });
const due = (fixture: Fixture) =>
  fixture
    .query("update webhook_deliveries set due_at = now() where status = 'pending'")
    .then(() => fixture.query("update webhook_receivers set next_due_at = now(), resting_until = '-infinity'"));
/** What other tests left waits no more. */
const clear = () => query('delete from webhook_events');

t.test(
  'the end of a poll is an event where an endpoint wants it, or its webhook_url does, and none elsewhere',
  async (t) => {
    const silent = await funded(storage, 10n * USD);
    await endedPoll(silent);
    t.same(await eventsOf(silent), []);

    const accountId = await funded(storage, 10n * USD);
    await endpoint(accountId, ['poll.failed']);
    await endedPoll(accountId);
    t.same(await eventsOf(accountId), [], 'another type');
    const url = 'https://once.example.com/';
    const good = await endedPoll(accountId, url);
    const bad = await endedPoll(accountId, undefined, (poll) =>
      finished(poll, { response: response({ status: 'failed', winning_option: null }) }),
    );
    const canceled = newPoll(accountId);
    await acceptPoll(storage, acceptance(accountId, { poll: canceled }));
    await cancelPoll(storage, accountId, canceled.id);
    const buried = newPoll(accountId);
    await acceptPoll(storage, acceptance(accountId, { poll: buried }));
    const { id, epoch } = (await claimPoll(storage, buried.id, 'w'))!;
    await bury(storage, { id, epoch, reason: 'poison' });

    const events = await eventsOf(accountId);
    t.match(events, [
      { type: 'poll.completed', url, data: { session_id: good, status: 'success', metadata: { customer: 'acme' } } },
      { type: 'poll.failed', url: null, data: { session_id: bad, status: 'failed' } },
      { type: 'poll.failed', data: { session_id: canceled.id, canceled: true, poll_id: null, cost_usd: 0 } },
      { type: 'poll.failed', data: { session_id: buried.id, poll_id: null } },
    ]);
    t.equal(events[0]!.data.cost_usd, 0.000801);
    t.notMatch(JSON.stringify(events), new RegExp(`${spec.question}|winning|option`), 'nothing of what was asked');
  },
);

t.test(
  'a poll that the free pool pays is at no cost in its event, lists, history and result: free or asked by an operator',
  async (t) => {
    const accountId = await funded(storage, 0n);
    await endpoint(accountId, ['poll.completed']);
    const asked = [{ spec: { ...spec, panel_name: 'free' as const } }, { entryPoint: OPERATOR_ENTRY }];
    const costly = { votes: [vote(0, { cost: { estimated_u: 300, max_u: 700, fault_u: 0 } }), vote(1)] };
    for (const more of asked) {
      const poll = newPoll(accountId, more);
      await acceptPoll(storage, acceptance(accountId, { poll, free: { dailyCapU: 10n * USD } }));
      await finishPoll(storage, finished((await claimPoll(storage, poll.id, 'w'))!, costly));
      t.match((await findResult(storage, poll.resultId))?.detail, { costs: { total_estimated_cost: 0 } });
      t.equal((await findReceiptSource(storage, poll.resultId))?.entryPoint, poll.entryPoint);
    }
    const [total] = await query('select sum(total_cost_u)::int as u from results where account_id = $1', [accountId]);
    t.same(total, { u: 2_202 }, 'the pool paid');
    const costs = (await eventsOf(accountId)).map(({ data }) => data.cost_usd);
    t.same(costs, [0, 0]);
    const { lines } = (await listPolls(storage, accountId, {}, { limit: 9 }))!;
    t.same(
      [lines, await readHistory(storage, accountId, 9, 0)].map((all) => all.length),
      [2, 2],
    );
    for (const { costU } of lines) t.equal(costU, 0n);
    for (const { totalCostU } of await readHistory(storage, accountId, 9, 0)) t.equal(totalCostU, 0n);
  },
);

t.test('an endpoint that is deleted meanwhile gets nothing, and the others get theirs', async (t) => {
  await clear();
  const accountId = await funded(storage, 0n);
  const [gone, kept] = [await endpoint(accountId, ['balance.low']), await endpoint(accountId, ['balance.low'])];
  await note(accountId, 1, 'balance.low');
  const deleting = await session(t, fixture);
  await deleting.query('begin');
  await deleting.query('delete from webhook_endpoints where id = $1', [gone]);
  const spread = spreadWebhookEvents(storage, 100);
  await isWaitedFor(t, fixture, deleting);
  await deleting.query('commit');
  t.equal(await spread, 1);
  t.same(await query('select endpoint_id from webhook_deliveries where account_id = $1', [accountId]), [
    { endpoint_id: kept },
  ]);
});

t.test('an event becomes one delivery for each endpoint that wants it and was there when it happened', async (t) => {
  await clear();
  const accountId = await funded(storage, 0n);
  const [all, some] = [
    await endpoint(accountId, ['poll.completed', 'balance.low']),
    await endpoint(accountId, ['balance.low']),
  ];
  await ensureAccountEndpoint(storage, accountId, { id: `we_${'a'.repeat(32)}`, secret: 'sealed' });
  await note(accountId, 1, 'poll.completed', 'https://hook.example.com/x');
  await note(accountId, 1, 'balance.low');
  await endpoint(accountId, ['balance.low']);
  t.equal(await spreadWebhookEvents(storage, 100), 2);
  t.equal(await spreadWebhookEvents(storage, 100), 0);
  const rows = await query('select endpoint_id, url from webhook_deliveries where account_id = $1', [accountId]);
  const one = `we_${'a'.repeat(32)}`;
  t.same(
    rows.map((row) => JSON.stringify(row)).sort(),
    [
      { endpoint_id: all, url: null },
      { endpoint_id: all, url: null },
      { endpoint_id: some, url: null },
      { endpoint_id: one, url: 'https://hook.example.com/x' },
    ]
      .map((row) => JSON.stringify(row))
      .sort(),
  );
});

t.test('a claim is a lease: nothing is taken twice, and what a dead worker had is taken when it ends', async (t) => {
  await clear();
  const accountId = await funded(storage, 0n);
  const id = (await endpoint(accountId, ['poll.completed']))!;
  await note(accountId, 3);
  await spreadWebhookEvents(storage, 100);
  const [first, ...none] = await claim();
  t.same(none, [], 'an unknown receiver gets one');
  t.same(await claim(), []);
  await endAttempt(storage, first!, 'w1', delivered);
  await query('update webhook_receivers set next_due_at = now()');
  const [second, third, ...rest] = await Promise.all([claim(), claim({ worker: 'w2' })]).then((both) => both.flat());
  t.same(rest, []);
  t.equal(new Set([first!.id, second!.id, third!.id]).size, 3);
  await due(fixture);
  const again = await claim({ worker: 'w3' });
  t.same(
    again.map(({ attempt }) => attempt),
    [2, 2],
  );
  t.equal(await endAttempt(storage, second!, 'w1', delivered), false, 'its lease is over');
  for (const delivery of again) t.equal(await endAttempt(storage, delivery, 'w3', delivered), true);
  t.match(await listDeliveries(storage, accountId, id, { limit: 9, status: 'delivered' }), {
    deliveries: { length: 3 },
    after: null,
  });
});

t.test('a receiver that fails rests, and its others wait; one success ends that', async (t) => {
  await clear();
  const accountId = await funded(storage, 0n);
  const id = (await endpoint(accountId, ['poll.completed']))!;
  await note(accountId, 20);
  await spreadWebhookEvents(storage, 100);
  for (let failure = 1; failure <= 5; failure++) {
    const taken = await claim();
    t.equal(taken.length, 1, `attempt ${failure}`);
    await endAttempt(storage, taken[0]!, 'w1', failed);
  }
  t.same(await claim(), [], 'it rests');
  t.ok((await findWebhookEndpoint(storage, accountId, id))?.failingSince);
  await query("update webhook_receivers set resting_until = '-infinity', next_due_at = now()");
  const [probe] = await claim();
  await endAttempt(storage, probe!, 'w1', delivered);
  t.equal((await claim()).length, 8, 'as many at once as a receiver gets');
  t.equal((await findWebhookEndpoint(storage, accountId, id))?.failingSince, null);
});

t.test('one account cannot take all places, nor can receivers that answer badly', async (t) => {
  await clear();
  const [greedy, modest] = [await funded(storage, 0n), await funded(storage, 0n)];
  for (let i = 0; i < 12; i++) await endpoint(greedy, ['poll.completed']);
  await endpoint(modest, ['poll.completed']);
  await note(greedy, 5);
  await note(modest, 1);
  await spreadWebhookEvents(storage, 100);
  const taken = await claim({ limit: 50, perAccount: 4 });
  t.equal(taken.length, 5);
  t.same(await claim({ perAccount: 4 }), []);
  await due(fixture);
  t.equal((await claim({ slow: 3 })).length, 3, 'none of them has answered well yet');
});

t.test(
  '410 and three days of failure disable an endpoint, end what waits, and are events for the others',
  async (t) => {
    await clear();
    const accountId = await funded(storage, 0n);
    const [gone, failing] = [
      (await endpoint(accountId, ['poll.completed']))!,
      (await endpoint(accountId, ['poll.completed']))!,
    ];
    await endpoint(accountId, ['endpoint.disabled']);
    await note(accountId, 3);
    await spreadWebhookEvents(storage, 100);
    const taken = await claim();
    const of = (id: string) => taken.find(({ endpointId }) => endpointId === id)!;
    await endAttempt(storage, of(gone), 'w1', { kind: 'gone', entry: { ...entry, http_status: 410 }, isQuick: false });
    await query("update webhook_endpoints set failing_since = now() - interval '73 hours' where id = $1", [failing]);
    await endAttempt(storage, of(failing), 'w1', failed);
    t.match(await findWebhookEndpoint(storage, accountId, gone), { disabledWhy: 'gone', pending: 0 });
    t.match(await findWebhookEndpoint(storage, accountId, failing), { disabledWhy: 'failing', pending: 0 });
    t.same(
      (await eventsOf(accountId)).slice(-2).map(({ data }) => data.reason),
      ['gone', 'failing'],
    );
    const {
      deliveries: [last],
    } = await listDeliveries(storage, accountId, gone, { limit: 1 });
    t.equal(await resendDelivery(storage, accountId, gone, last!.id), 'disabled');
    t.equal(await testWebhookEndpoint(storage, accountId, gone), null);
    t.ok(await changeWebhookEndpoint(storage, accountId, gone, { isEnabled: true }));
    t.equal(await resendDelivery(storage, accountId, gone, last!.id), 'resent');
    t.ok(await testWebhookEndpoint(storage, accountId, gone));
    t.equal((await claim()).filter(({ endpointId }) => endpointId === gone).length, 1);
  },
);

t.test('endpoints, what waits for each, and what is kept are bounded', async (t) => {
  await clear();
  const accountId = await funded(storage, 0n);
  const made = await Promise.all(Array.from({ length: 25 }, () => endpoint(accountId, ['poll.completed'])));
  t.equal(made.filter(Boolean).length, LIMITS.webhooks.endpoints);
  const other = await funded(storage, 0n);
  const id = (await endpoint(other, ['poll.completed']))!;
  await note(other, LIMITS.webhooks.pending + 50);
  while ((await spreadWebhookEvents(storage, 5_000)) > 0);
  t.match(await findWebhookEndpoint(storage, other, id), { pending: LIMITS.webhooks.pending, skipped: 50 });
  await query("update webhook_deliveries set expires_at = now() - interval '2 hours' where endpoint_id = $1", [id]);
  await pruneExpired(storage, 20_000);
  t.match(await findWebhookEndpoint(storage, other, id), { pending: 0 });
  const {
    deliveries: [shown],
  } = await listDeliveries(storage, other, id, { limit: 1 });
  await query("update webhook_deliveries set created_at = now() - interval '31 days' where account_id = $1", [other]);
  t.equal(await findDelivery(storage, other, id, shown!.id), null, 'before its month is dropped');
  t.equal(await resendDelivery(storage, other, id, shown!.id), null);
  t.same(await listDeliveries(storage, other, id, { limit: 5 }), { deliveries: [], after: null });
  t.ok(await closeAccount(storage, accountId));
  t.same(await listWebhookEndpoints(storage, accountId), []);
});

t.test('an endpoint and an account with 20,000 events are gone at once, and their rows in steps', async (t) => {
  const { storage, query } = await open(t);
  const MANY = 20_000;
  const plant = async (accountId: string, endpointId: string) => {
    await query(
      `with r as (insert into webhook_receivers (endpoint_id, account_id, origin, next_due_at)
                  values ($1, $2, 'https://hook.example', now()) returning id),
            e as (insert into webhook_events (account_id, type, data, spread_at)
                  select $2, 'balance.low', '{}', now() from generate_series(1, $3::int) returning id)
       insert into webhook_deliveries (event_id, endpoint_id, receiver_id, account_id) select e.id, $1, r.id, $2 from e, r`,
      [endpointId, accountId, MANY],
    );
    await query('analyze webhook_events, webhook_deliveries');
  };
  const count = async () =>
    (
      await query<{
        n: number;
      }>(`select (select count(*) from webhook_deliveries)::int + (select count(*) from webhook_receivers)::int
        + (select count(*) from webhook_endpoints where removed_at is not null)::int as n`)
    )[0]!.n;
  const left = async () =>
    (
      await query<{ kept: number; touched: number }>(
        `select count(*)::int as kept, (count(*) filter (where xmax::text <> '0'))::int as touched
           from webhook_deliveries where account_id = $1`,
        [accountId],
      )
    )[0]!;
  const forgotten = async () => {
    const { kept } = await left();
    await forgetClosedAccounts(storage, 2_000);
    const afterStep = (await left()).kept;
    t.ok(afterStep < kept && afterStep >= kept - 3_000, `a step leaves ${afterStep} of ${kept}`);
    for (let round = 0; round < 200 && (await forgetClosedAccounts(storage, 2_000)) > 0; round++);
  };
  const register = async (accountId: string) => {
    const id = `we_${unique().padEnd(32, '0').slice(0, 32)}`;
    const terms = { description: 'mine', eventTypes: ['balance.low' as const], secret: 'sealed' };
    t.ok(await insertWebhookEndpoint(storage, accountId, { id, url: 'https://hook.example/mine', ...terms }));
    return id;
  };

  const accountId = await funded(storage, 0n);
  const [removed, kept] = [await register(accountId), await register(accountId)];
  await plant(accountId, removed);
  const {
    deliveries: [listed],
  } = await listDeliveries(storage, accountId, removed, { limit: 1 });
  t.equal(await removeWebhookEndpoint(storage, accountId, removed), true);
  t.same(await left(), { kept: MANY, touched: 0 }, 'at once');
  t.equal(await removeWebhookEndpoint(storage, accountId, removed), false);
  t.match(await listWebhookEndpoints(storage, accountId), [{ id: kept }]);
  t.equal(await findWebhookEndpoint(storage, accountId, removed), null);
  t.match(await listDeliveries(storage, accountId, removed, { limit: 1 }), { deliveries: { length: 0 } });
  t.equal(await findDelivery(storage, accountId, removed, listed!.id), null);
  t.equal(await resendDelivery(storage, accountId, removed, listed!.id), null);
  t.equal(await testWebhookEndpoint(storage, accountId, removed), null);
  t.equal(await changeWebhookEndpoint(storage, accountId, removed, { isEnabled: true }), false);
  t.same(
    await query("select from webhook_endpoints where id = $1 and concat(url, description, secret) <> ''", [removed]),
    [],
  );
  const claim = () =>
    claimDeliveries(storage, { worker: 'w', limit: 9, slow: 9, leaseMs: 9_000, perReceiver: 9, perAccount: 9 });
  t.same(await claim(), [], 'nothing is sent any more');
  await query("select note_webhook_event($1, 'balance.low', '{}')", [accountId]);
  t.equal(await spreadWebhookEvents(storage, 10), 1);
  t.match(await claim(), [{ endpointId: kept }]);
  await forgotten();
  t.equal(await count(), 2, 'the delivery and the receiver of the other');
  t.equal(await removeWebhookEndpoint(storage, accountId, kept), true);

  await plant(accountId, await register(accountId));
  const before = await left();
  t.ok(await closeAccount(storage, accountId));
  t.same(await left(), before, 'at once');
  await forgotten();
  t.equal(await count(), 0);
  t.same(await query('select from webhook_events'), []);
  t.match(await query('select emptied_at from accounts where id = $1', [accountId]), [{ emptied_at: Date }]);
});

t.test('a look for due messages reads no others, also in a month that is not analyzed yet', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 0n);
  const id = `we_${unique().padEnd(32, '0').slice(0, 32)}`;
  const terms = { description: 'mine', eventTypes: ['balance.low' as const], secret: 'sealed' };
  t.ok(await insertWebhookEndpoint(storage, accountId, { id, url: 'https://hook.example/mine', ...terms }));
  await query(
    `with r as (insert into webhook_receivers (endpoint_id, account_id, origin, next_due_at)
                values ($1, $2, 'https://hook.example', 'infinity') returning id),
          e as (insert into webhook_events (account_id, type, data, spread_at)
                select $2, 'balance.low', '{}', now() from generate_series(1, 5000) returning id)
     insert into webhook_deliveries (event_id, endpoint_id, receiver_id, account_id, status, ended_at)
     select e.id, $1, r.id, $2, 'delivered', now() from e, r`,
    [id, accountId],
  );
  const read = await inTransaction(storage, (tx) =>
    rowsReadBy(tx, 'webhook_deliveries', async () => t.same(await claimDeliveries(tx, TERMS), [])),
  );
  t.ok(read < 100, `${read} of 5,000 deliveries`);
  const all = await inTransaction(storage, (tx) =>
    rowsReadBy(tx, 'webhook_deliveries', () => sql`select count(log) from webhook_deliveries`.execute(tx.db)),
  );
  t.equal(all, 5_000, 'what is read is counted');
});

t.test('while an endpoint is removed, events of others are spread', async (t) => {
  await clear();
  const [accountId, other] = [await funded(storage, 0n), await funded(storage, 0n)];
  const removed = await endpoint(accountId, ['balance.low']);
  const kept = await endpoint(other, ['balance.low']);
  await note(accountId, 1, 'balance.low');
  await note(other, 1, 'balance.low');
  const removing = await session(t, fixture);
  await removing.query('begin');
  await removing.query('select remove_webhook_endpoints($1, $2)', [accountId, removed]);
  t.equal(await spreadWebhookEvents(storage, 100), 2);
  await removing.query('commit');
  t.match(await query('select endpoint_id from webhook_deliveries where account_id = $1', [other]), [
    { endpoint_id: kept },
  ]);
});

t.test('deliveries of a status are listed by pages that read a bounded number of rows', async (t) => {
  await clear();
  const accountId = await funded(storage, 0n);
  const id = await endpoint(accountId, ['balance.low']);
  await note(accountId, 2_000, 'balance.low');
  t.equal(await spreadWebhookEvents(storage, 5_000), 2_000);
  await query("update webhook_deliveries set status = 'delivered', ended_at = now() where account_id = $1", [
    accountId,
  ]);
  const failing = await query<{ id: string }>(
    `update webhook_deliveries set status = 'failed' where id in (
       select id from webhook_deliveries where account_id = $1 order by created_at, id limit 3) returning id`,
    [accountId],
  );
  const pages: number[] = [];
  const found: string[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await listDeliveries(storage, accountId, id!, { status: 'failed', limit: 2, after });
    pages.push(page.deliveries.length);
    found.push(...page.deliveries.map((delivery) => delivery.id));
    if (page.after === null) break;
    after = page.after;
  }
  t.same(pages, [0, 0, 2, 1]);
  t.same(found.toSorted(), failing.map((delivery) => delivery.id).toSorted());
  t.match(await listDeliveries(storage, accountId, id!, { limit: 100 }), {
    deliveries: { length: 100 },
    after: String,
  });
  t.same(await listDeliveries(storage, await funded(storage, 0n), id!, { limit: 9, after: found[0]! }), {
    deliveries: [],
    after: null,
  });
});

t.test('a waiting delivery is given up an hour after its days, an unused receiver is deleted after 65', async (t) => {
  await clear();
  const accountId = await funded(storage, 0n);
  await endpoint(accountId, ['poll.completed']);
  await note(accountId, 2);
  t.equal(await spreadWebhookEvents(storage, 100), 2);
  const deliveries = () =>
    query<{ id: string; status: string }>(
      'select id, status from webhook_deliveries where account_id = $1 order by expires_at desc',
      [accountId],
    );
  const [first, second] = await deliveries();
  const expire = (id: string, ago: string) =>
    query('update webhook_deliveries set expires_at = now() - $2::interval where id = $1', [id, ago]);
  await expire(first!.id, '59 minutes');
  await expire(second!.id, '61 minutes');
  await pruneExpired(storage);
  t.same(await deliveries(), [
    { id: first!.id, status: 'pending' },
    { id: second!.id, status: 'failed' },
  ]);

  const unused = async (days: number) => {
    await query("update webhook_receivers set used_at = now() - $2 * interval '1 day' where account_id = $1", [
      accountId,
      days,
    ]);
    await pruneExpired(storage);
    return (await query('select from webhook_receivers where account_id = $1', [accountId])).length === 0;
  };
  t.equal(await unused(64), false);
  t.equal(await unused(66), true);
});
