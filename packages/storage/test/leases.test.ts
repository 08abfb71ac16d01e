import t from 'tap';
import {
  acceptPoll,
  cancelPoll,
  checkLedger,
  claimOverdue,
  claimPoll,
  findLapsed,
  findOverdue,
  finishPoll,
  inTransaction,
  LEASE_MS,
  nextLapse,
  openStorage,
  readFleetFigures,
  releaseLease,
  renewLeases,
} from '../src/index.ts';
import { acceptance, finished, funded, newPoll, open, spec, together, USD, within } from './fixtures.ts';

t.test('of many workers that claim a poll, one gets it with all that it needs', async (t) => {
  const { storage } = await open(t, { maxConnections: 10 });
  const accountId = await funded(storage, USD);
  const poll = newPoll(accountId, { requestId: 'req', traceparent: 'trace' });
  await acceptPoll(storage, { poll, holdU: USD });
  const claims = await together(50, 50, (index) => claimPoll(storage, poll.id, `worker ${index}`));
  const [claim, ...others] = claims.filter((each) => each !== null);
  t.equal(others.length, 0);
  t.match(claim, {
    id: poll.id,
    resultId: poll.resultId,
    epoch: 1,
    claims: 1,
    schemaVersion: 1,
    entryPoint: 'rest',
    requestId: 'req',
    traceparent: 'trace',
  });
  t.same(claim?.spec, spec);
  t.ok(claim!.remainingMs > 0 && claim!.remainingMs <= 60_000);
  t.equal(await claimPoll(storage, 'ps_unknown', 'worker'), null);
});

t.test('a lease that ran out or was handed back can be claimed, with a new epoch and one more attempt', async (t) => {
  const { storage, query } = await open(t);
  const request = acceptance(await funded(storage, USD));
  await acceptPoll(storage, request);
  const { id } = request.poll;
  t.same(await findLapsed(storage, 10), [], 'a fresh poll gets the time to be enqueued');
  t.equal(await nextLapse(storage, 60_000), null, 'no worker can lose what none has had');
  await claimPoll(storage, id, 'first');
  t.equal(await claimPoll(storage, id, 'second'), null);
  t.equal(await claimPoll(storage, id, 'first'), null, 'not even its own worker runs it twice');
  t.equal(await nextLapse(storage, 3_000), null, 'it is renewed long before');
  await query(`update polls set lease_until = now() + interval '2 seconds'`);
  const lapse = await nextLapse(storage, 3_000);
  t.ok(lapse !== null && lapse > 500 && lapse <= 2_000, `${lapse}`);
  await query(`update polls set lease_until = now() - interval '1 second'`);
  t.equal(await nextLapse(storage, 3_000), null, 'it is over');
  t.same(await findLapsed(storage, 10), [{ id, epoch: 1, tenant: null, isAwaited: false, lane: 'standard' }]);
  t.match(await claimPoll(storage, id, 'second'), { epoch: 2, claims: 2 });
  t.same(await findLapsed(storage, 10), []);
  t.equal(await releaseLease(storage, { id, epoch: 1 }), false);
  t.equal(await claimPoll(storage, id, 'third'), null, 'a stale epoch hands nothing back');
  t.equal(await releaseLease(storage, { id, epoch: 2 }), true);
  t.equal(await releaseLease(storage, { id, epoch: 2 }), false, 'once');
  const last = await claimPoll(storage, id, 'third');
  t.match(last, { epoch: 3, claims: 2 }, 'a worker that leaves in good order costs no attempt');
  await finishPoll(storage, finished(last!));
  t.equal(await claimPoll(storage, id, 'fourth'), null, 'a poll that ended is never claimed');
  await query(`update polls set lease_until = now() - interval '1 second'`);
  t.same(await findLapsed(storage, 10), []);
});

t.test('a worker renews all of its leases at once and learns which it lost', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 9n * USD);
  const ids: string[] = [];
  for (let index = 0; index < 4; index++) {
    const request = acceptance(accountId);
    await acceptPoll(storage, request);
    await claimPoll(storage, request.poll.id, 'worker');
    ids.push(request.poll.id);
  }
  const [kept, stale, taken, over] = ids as [string, string, string, string];
  await query(`update polls set lease_until = now() - interval '1 second' where id = any($1)`, [[kept, taken]]);
  await claimPoll(storage, taken, 'thief');
  await finishPoll(storage, finished({ id: over, epoch: 1 }));
  const still = await renewLeases(storage, 'worker', [
    { id: kept, epoch: 1 },
    { id: stale, epoch: 0 },
    { id: taken, epoch: 1 },
    { id: over, epoch: 1 },
  ]);
  t.same(still, [{ id: kept, isCanceled: false, leftMs: LEASE_MS }]);
  t.same(await query('select id from polls where id = $1 and lease_until > now()', [kept]), [{ id: kept }]);
  await using nowhere = openStorage({ databaseUrl: 'postgres://none@127.0.0.1:1/none', askAgainForMs: 0 });
  t.same(await renewLeases(nowhere, 'worker', []), [], 'nothing is asked about nothing');
});

t.test('a poll that another transaction has locked delays the renewal of no other, and counts as held', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 4 });
  const accountId = await funded(storage, 9n * USD);
  const leases: { id: string; epoch: number }[] = [];
  for (let index = 0; index < 3; index++) {
    const request = acceptance(accountId);
    await acceptPoll(storage, request);
    await claimPoll(storage, request.poll.id, 'worker');
    leases.push({ id: request.poll.id, epoch: 1 });
  }
  const [locked, ...others] = leases as [{ id: string; epoch: number }, ...{ id: string; epoch: number }[]];
  await query(`update polls set lease_until = now() + interval '5 seconds'`);
  await cancelPoll(storage, accountId, locked.id);
  await inTransaction(storage, async ({ db }) => {
    await db.selectFrom('polls').select('id').where('id', '=', locked.id).forUpdate().execute();
    const held = await renewLeases(storage, 'worker', leases);
    t.same(held.map(({ id }) => id).sort(), leases.map(({ id }) => id).sort());
    for (const { id, leftMs, isCanceled } of held) {
      t.equal(isCanceled, id === locked.id);
      if (id === locked.id) t.ok(leftMs > 1_000 && leftMs <= 5_000, `not extended: ${leftMs} ms are left`);
      else t.equal(leftMs, LEASE_MS);
    }
  });
  const renewed = await query<{ id: string }>(
    `select id from polls where lease_until > now() + interval '6 seconds' order by id`,
  );
  t.same(
    renewed.map(({ id }) => id),
    others.map(({ id }) => id).sort(),
  );
  t.equal((await renewLeases(storage, 'worker', leases)).length, 3);
  await query(`update polls set lease_until = now() - interval '1 second' where id = $1`, [locked.id]);
  await inTransaction(storage, async ({ db }) => {
    await db.selectFrom('polls').select('id').where('id', '=', locked.id).forUpdate().execute();
    const held = await renewLeases(storage, 'worker', leases);
    t.notOk(
      held.some(({ id }) => id === locked.id),
      'another worker may be claiming it',
    );
  });
});

t.test('every way to a lease grants LEASE_MS: a claim, a renewal, the claim of an overdue poll', async (t) => {
  const { storage, query } = await open(t);
  const request = acceptance(await funded(storage, USD));
  await acceptPoll(storage, request);
  const { id } = request.poll;
  const term = async (take: () => Promise<unknown>): Promise<number> => {
    const [before] = await query<{ ms: number }>('select extract(epoch from clock_timestamp())::float8 * 1000 as ms');
    await take();
    const [after] = await query<{ ms: number; until: number }>(
      `select extract(epoch from clock_timestamp())::float8 * 1000 as ms,
              extract(epoch from lease_until)::float8 * 1000 as until from polls`,
    );
    const within = after!.until - LEASE_MS >= before!.ms && after!.until - LEASE_MS <= after!.ms;
    return within ? LEASE_MS : after!.until - after!.ms;
  };
  t.equal(await term(() => claimPoll(storage, id, 'worker')), LEASE_MS);
  t.equal(await term(() => renewLeases(storage, 'worker', [{ id, epoch: 1 }])), LEASE_MS);
  await query(`update polls set deadline_at = now() - interval '1 second'`);
  t.equal(await term(() => claimOverdue(storage, id, 'sweeper')), LEASE_MS);
});

t.test('a flex poll has the time of its panel from each claim on, within its day', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, USD);
  const flex = newPoll(accountId, { deadlineMs: 86_400_000 });
  const poll = { ...flex, spec: { ...flex.spec, panel_name: 'fast' as const, service_tier: 'flex' as const } };
  await acceptPoll(storage, acceptance(accountId, { poll }));
  await query(`update polls set created_at = now() - interval '20 hours', deadline_at = now() + interval '4 hours'`);
  t.same(await findLapsed(storage, 10), [], 'it may wait, and need not be looked for');
  const first = await claimPoll(storage, poll.id, 'first');
  t.ok(first!.remainingMs > 44_000 && first!.remainingMs <= 45_000, 'the time of a fast poll');
  t.ok(first!.ageMs >= 72_000_000);
  await query(`update polls set run_until = now() - interval '6 seconds'`);
  t.match(await findOverdue(storage, 10, 5_000), [{ id: poll.id, lane: 'flex' }], 'a worker that hangs loses it');
  t.match(await readFleetFigures(storage), { overdue: 1, lapsed: 0 });
  await query(`update polls set lease_until = now() - interval '1 second'`);
  t.match(
    await readFleetFigures(storage),
    { overdue: 0, lapsed: 1 },
    'left by a worker, unlike one that no worker has had',
  );
  await query(`update polls set run_until = now() - interval '2 minutes'`);
  t.same(await findOverdue(storage, 10, 5_000), [], 'where it cannot be claimed again yet, it waits');
  t.equal(await claimOverdue(storage, poll.id, 'another', 5_000), null);
  t.same(await checkLedger(storage), []);
  const second = await claimPoll(storage, poll.id, 'second');
  t.ok(second!.remainingMs > 44_000, 'the next worker has the whole time again');
  t.ok(await releaseLease(storage, second!));
  t.same(await findOverdue(storage, 10), []);
  await query(`update polls set deadline_at = now() + interval '10 seconds'`);
  t.ok((await claimPoll(storage, poll.id, 'third'))!.remainingMs <= 10_000, 'within its day');
  t.same(await checkLedger(storage), []);
});

t.test('a poll whose end cannot be stored is taken from its worker ever later', async (t) => {
  const { storage } = await open(t);
  const request = acceptance(await funded(storage, USD));
  await acceptPoll(storage, request);
  const { id } = request.poll;
  await claimPoll(storage, id, 'first');
  // In one transaction, for which the time stands still.
  for (const [seconds, claims] of [
    [5, null],
    [5.001, 2],
    [10, null],
    [10.001, 3],
    [20, null],
    [20.001, 4],
  ] as const)
    await inTransaction(storage, async ({ db }) => {
      const standing = within(storage, db);
      await standing.call(`update polls set deadline_at = now() - $1 * interval '1 second'`, [seconds]);
      t.same(
        await findOverdue(standing, 10, 5_000),
        claims === null ? [] : [{ id, epoch: claims - 1, tenant: null, isAwaited: false, lane: 'standard' }],
      );
      const taken = await claimOverdue(standing, id, 'another', 5_000);
      t.equal(taken?.claims ?? null, claims, `${seconds} s after its deadline`);
    });
});

t.test('a poll past its deadline is taken from its worker and settled', async (t) => {
  const { storage, query } = await open(t);
  const request = acceptance(await funded(storage, USD));
  await acceptPoll(storage, request);
  const { id } = request.poll;
  const hung = await claimPoll(storage, id, 'a worker that hangs but renews');
  t.equal(await claimOverdue(storage, id, 'sweeper'), null, 'not before its time');
  await query(`update polls set deadline_at = now() - interval '40 seconds'`);
  t.same(await findOverdue(storage, 10, 3_600_000), []);
  t.same(await findOverdue(storage, 10, 5_000), [{ id, epoch: 1, tenant: null, isAwaited: false, lane: 'standard' }]);
  t.equal(await claimOverdue(storage, id, 'sweeper', 3_600_000), null);
  const taken = await claimOverdue(storage, id, 'sweeper', 5_000);
  t.match(taken, { epoch: 2, remainingMs: 0 });
  t.match(await query('select spend_again_u::int from polls'), [{ spend_again_u: 0 }], 'no model is asked again');
  t.match(await finishPoll(storage, finished(taken!)), { outcome: 'stored' });
  t.match(await finishPoll(storage, finished(hung!)), { outcome: 'fenced' });
  t.same(await findOverdue(storage, 10), []);
  t.same(await checkLedger(storage), []);
});
