import t from 'tap';
import {
  type Acceptance,
  acceptPoll,
  cancelPoll,
  claimPoll,
  findLapsed,
  finishPoll,
  pollClaimer,
  releaseLease,
  spendWaitMs,
} from '../src/index.ts';
import { acceptance, type Fixture, finished, funded, newPoll, open, spec, together, USD, vote } from './fixtures.ts';
import { wholeCheck } from './whole-check.ts';

// What flex polls may cost is set aside when they are claimed, in the hour in which that is.

/** Of the fleet 1 USD in an hour; of that, flex polls may use half. */
const ALL = { hourU: 1_000_000n, dayU: 3_000_000n };
const CEILING = { ...ALL, flex: { hourU: 500_000n, dayU: 1_500_000n } };
const MAX_U = 100_000;

const flexPoll = (accountId: string, more: Partial<Acceptance> = {}) =>
  acceptance(accountId, {
    poll: newPoll(accountId, { spec: { ...spec, service_tier: 'flex' } }),
    holdU: 10n,
    providerMaxU: MAX_U,
    ...more,
  });

async function accepted({ storage }: Fixture, accountId: string, count: number, more?: Partial<Acceptance>) {
  const requests = Array.from({ length: count }, () => flexPoll(accountId, more));
  for (const request of requests) t.match(await acceptPoll(storage, request), { kind: 'accepted' });
  return requests.map(({ poll }) => poll.id);
}

const costs = (maxU: number) => ({
  votes: [vote(0, { billed_u: 1, cost: { estimated_u: maxU, max_u: maxU, fault_u: 0 } })],
});

const claimIn = ({ storage }: Fixture, id: string) => claimPoll(storage, id, 'worker', undefined, CEILING);

const spendOf = async ({ query }: Fixture) => {
  const [row] = await query<{ hour: number; held: number; day: number }>(
    `select sum(hour_u) filter (where hour = date_trunc('hour', now(), 'UTC'))::int as hour,
            sum(hour_held_u) filter (where hour = date_trunc('hour', now(), 'UTC'))::int as held,
            sum(day_u)::int as day from provider_spend`,
  );
  return { hour: row!.hour ?? 0, held: row!.held ?? 0, day: row!.day ?? 0 };
};

const lose = ({ query }: Fixture) =>
  query("update polls set lease_until = now() - interval '1 second' where status = 'running' and lease_epoch > 0");

/** As if an hour had passed. */
const anHourLater = async ({ query }: Fixture) => {
  await query(`update polls set created_at = created_at - interval '1 hour', spend_at = spend_at - interval '1 hour'`);
  await query(`update provider_spend set hour = hour - interval '1 hour'`);
};

t.test('a flex poll counts in the hour in which it is claimed', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const [id] = await accepted(fixture, await funded(storage, USD), 1);
  t.same(await spendOf(fixture), { hour: 0, held: 0, day: 0 }, 'nothing while it waits');
  await anHourLater(fixture);
  const claim = (await claimIn(fixture, id!))!;
  t.same(await spendOf(fixture), { hour: MAX_U, held: MAX_U, day: MAX_U });
  t.equal((await finishPoll(storage, finished(claim, costs(7_000)))).outcome, 'stored');
  t.same(await spendOf(fixture), { hour: 7_000, held: 0, day: 7_000 });
  await finishPoll(storage, finished(claim, costs(7_000)));
  t.same(await spendOf(fixture), { hour: 7_000, held: 0, day: 7_000 }, 'once');
  t.same(await wholeCheck(storage), []);
});

t.test('a standard poll that was lost may use what flex polls may not', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const accountId = await funded(storage, USD);
  // Twice this is more than the part of flex polls, and less than the whole.
  const request = acceptance(accountId, { providerMaxU: 450_000, ceiling: ALL });
  t.match(await acceptPoll(storage, request), { kind: 'accepted' });
  t.match(await claimIn(fixture, request.poll.id), { epoch: 1 });
  await lose(fixture);
  t.match(await claimIn(fixture, request.poll.id), { epoch: 2 });
});

t.test('what was claimed in an hour before is given back there, and takes nothing from this one', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const [old, id] = await accepted(fixture, await funded(storage, USD), 2);
  const before = (await claimIn(fixture, old!))!;
  await anHourLater(fixture);
  const claim = (await claimIn(fixture, id!))!;
  await finishPoll(storage, finished(before, costs(0)));
  t.match(await spendOf(fixture), { hour: MAX_U, held: MAX_U });
  await finishPoll(storage, finished(claim, costs(3_000)));
  t.match(await spendOf(fixture), { hour: 3_000, held: 0 });
});

t.test('flex polls leave their part to standard polls; those that do not fit wait', async (t) => {
  const fixture = await open(t, { maxConnections: 8 });
  const { storage } = fixture;
  const accountId = await funded(storage, 10n * USD);
  const ids = await accepted(fixture, accountId, 20);
  const claim = pollClaimer(storage, CEILING);
  let mostU = 0;
  const claimAll = async (some: readonly string[]) => {
    const claims = await together(some.length, 8, async (n) => {
      const claimed = await claim(some[n]!, 'worker');
      mostU = Math.max(mostU, (await spendOf(fixture)).hour);
      return claimed;
    });
    return claims.filter((each) => each !== null);
  };
  const claimed = await claimAll(ids);
  t.equal(claimed.length, 5, 'as many as fit');
  t.same(await spendOf(fixture), { hour: 500_000, held: 500_000, day: 500_000 });
  const waiting = ids.filter((id) => !claimed.some((each) => each.id === id));
  const waitMs = (await spendWaitMs(storage, waiting[0]!, CEILING))!;
  t.ok(waitMs >= 1_000 && waitMs <= 5_000, 'running polls hold what is missing');
  t.equal(await spendWaitMs(storage, claimed[0]!.id, CEILING), null, 'it does not wait');
  t.equal(await spendWaitMs(storage, waiting[0]!, ALL), null, 'there is space');
  t.equal(await spendWaitMs(storage, waiting[0]!, undefined), null, 'there is no ceiling');

  const standard = acceptance(accountId, { holdU: 10n, providerMaxU: 500_000, ceiling: ALL });
  t.match(await acceptPoll(storage, standard), { kind: 'accepted' }, 'standard polls have the rest');
  await finishPoll(storage, finished((await claimPoll(storage, standard.poll.id, 'worker'))!, costs(0)));
  for (const each of claimed) await finishPoll(storage, finished(each, costs(10_000)));
  t.equal((await claimAll(waiting)).length, 4, 'those that waited come, as far as 450,000 go');
  t.equal(mostU, 500_000);
});

t.test(
  'a flex poll that is large beside the ceiling waits alone: others that fit are not kept from their turn',
  async (t) => {
    const fixture = await open(t);
    const { storage } = fixture;
    const accountId = await funded(storage, USD);
    const [held] = await accepted(fixture, accountId, 1, { providerMaxU: 400_000 });
    const [large, never] = [
      ...(await accepted(fixture, accountId, 1, { providerMaxU: 300_000 })),
      ...(await accepted(fixture, accountId, 1, { providerMaxU: 600_000 })),
    ];
    t.ok(await claimIn(fixture, held!));
    for (const id of [large!, never!]) {
      t.equal(await claimIn(fixture, id), null);
      t.equal(await spendWaitMs(storage, id, CEILING), null, 'the lane goes on');
    }
    const [small] = await accepted(fixture, accountId, 1);
    t.ok(await claimIn(fixture, small!));
    t.ok(await spendWaitMs(storage, large!, CEILING), 'now there is space for hardly any');
  },
);

t.test('while the hour is used up, no sweep takes up a flex poll that was refused, for some seconds', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const [id] = await accepted(fixture, await funded(storage, USD), 1);
  await query(`update provider_spend set hour = date_trunc('hour', now(), 'UTC'), hour_u = 31250`);
  await query("update polls set lease_until = now() - interval '1 second'");
  t.match(await findLapsed(storage, 100), [{ id }]);
  t.equal(await claimIn(fixture, id!), null);
  t.same(await findLapsed(storage, 100), []);
  t.match(
    await query("select lease_until <= now() + interval '40 seconds' as soon, lease_owner, claims from polls"),
    [{ soon: true, lease_owner: null, claims: 0 }],
    'a ceiling may be raised',
  );
  await query('update provider_spend set hour_u = 0');
  t.match(await claimIn(fixture, id!), { epoch: 1 }, 'there is no need to wait for that');
});

t.test('claimed together, flex polls are set aside in one sum', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const ids = await accepted(fixture, await funded(storage, USD), 4);
  const claim = pollClaimer(storage, CEILING);
  const claims = await Promise.all(ids.map((id) => claim(id, 'worker')));
  t.equal(new Set((await query<{ x: string }>('select xmin::text as x from polls')).map(({ x }) => x)).size, 1);
  t.same(await spendOf(fixture), { hour: 4 * MAX_U, held: 4 * MAX_U, day: 4 * MAX_U });
  for (const each of claims) await finishPoll(storage, finished(each!, costs(1_000)));
  t.same(await spendOf(fixture), { hour: 4_000, held: 0, day: 4_000 });
});

t.test('a flex poll whose worker died is settled once, whatever its workers did', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const [id] = await accepted(fixture, await funded(storage, USD), 1);
  await claimIn(fixture, id!);
  await lose(fixture);
  await anHourLater(fixture);
  const second = (await claimIn(fixture, id!))!;
  t.same(await spendOf(fixture), { hour: MAX_U, held: 0, day: 2 * MAX_U }, 'the calls of the dead one are not known');
  await releaseLease(storage, second);
  const third = (await claimIn(fixture, id!))!;
  t.same(await spendOf(fixture), { hour: 2 * MAX_U, held: 0, day: 3 * MAX_U });
  await finishPoll(storage, finished(third, costs(1_000)));
  // What was set aside on the day before stays in that day, so in the first hour of a day the whole third claim counts.
  const [row] = await fixture.query<{ is_same: boolean }>(
    `select date_trunc('day', now(), 'UTC') <= now() - interval '1 hour' as is_same`,
  );
  const day = row!.is_same ? 2 * MAX_U + 1_000 : 3 * MAX_U;
  t.same(await spendOf(fixture), { hour: 2 * MAX_U, held: 0, day });
});

t.test(
  'a flex poll that was canceled before its claim gives nothing back; one without a ceiling takes nothing',
  async (t) => {
    const fixture = await open(t);
    const { storage } = fixture;
    const accountId = await funded(storage, USD);
    const [canceled, claimed, unlimited] = await accepted(fixture, accountId, 3);
    const claim = (await claimIn(fixture, claimed!))!;
    t.match(await cancelPoll(storage, accountId, canceled!), { outcome: 'ended_now' });
    t.same(await spendOf(fixture), { hour: MAX_U, held: MAX_U, day: MAX_U });
    const free = (await claimPoll(storage, unlimited!, 'worker'))!;
    await finishPoll(storage, finished(free, costs(5_000)));
    await finishPoll(storage, finished(claim, costs(5_000)));
    t.same(await spendOf(fixture), { hour: 5_000, held: 0, day: 5_000 });
  },
);

t.test('the release before: what its gateways set aside is counted once, and its workers set aside too', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, USD);
  const [reserved] = await accepted(fixture, accountId, 1, { ceiling: ALL });
  t.same(await spendOf(fixture), { hour: MAX_U, held: MAX_U, day: MAX_U });
  const claim = (await claimIn(fixture, reserved!))!;
  t.same(await spendOf(fixture), { hour: MAX_U, held: MAX_U, day: MAX_U }, 'it has its sum');
  await finishPoll(storage, finished(claim, costs(2_000)));
  t.same(await spendOf(fixture), { hour: 2_000, held: 0, day: 2_000 });

  const [id, other] = await accepted(fixture, accountId, 2);
  t.same(await query("select * from claim_polls($1, 'older', 8000, 1, 3)", [[id, other]]), []);
  t.same(await query("select * from claim_reserved_poll($1, 'older', 8000, 1, 3)", [id]), []);
  const again = "select lease_epoch from claim_poll_again($1, 'older', 8000, 1, 3, $2, $3)";
  t.same(await query(again, [id, ALL.hourU, ALL.dayU]), [{ lease_epoch: 1 }]);
  t.match(await spendOf(fixture), { hour: MAX_U + 2_000, held: MAX_U });
  t.same(await query(again, [other, null, null]), [{ lease_epoch: 1 }], 'without a ceiling');
  await finishPoll(storage, finished({ id: id!, epoch: 1 }, costs(0)));
  t.same(await spendOf(fixture), { hour: 2_000, held: 0, day: 2_000 });
});
