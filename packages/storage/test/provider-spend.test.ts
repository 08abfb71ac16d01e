import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import {
  type Acceptance,
  acceptPoll,
  cancelPoll,
  claimOverdue,
  claimPoll,
  finishPoll,
  pollClaimer,
  readProviderSpend,
} from '../src/index.ts';
import { acceptance, type Fixture, finished, funded, open, together, USD, vote } from './fixtures.ts';

// slow: 6 s

const CEILING = { hourU: 1_000_000n, dayU: 3_000_000n };

const asked = (accountId: string, reserveU: number, more: Partial<Acceptance> = {}) =>
  acceptance(accountId, { holdU: 10n, providerMaxU: reserveU, ceiling: CEILING, ...more });

const cost = (maxU: number) => ({ estimated_u: maxU, max_u: maxU, fault_u: 0 });

const spendOf = async ({ query }: Fixture) => {
  const [row] = await query<{ hour: number; held: number; day: number }>(
    'select sum(hour_u)::int as hour, sum(hour_held_u)::int as held, sum(day_u)::int as day from provider_spend',
  );
  return row!;
};

t.test('what is set aside at accept is replaced by what was spent; the next poll gets the difference', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const accountId = await funded(storage, 5n * USD);
  const first = asked(accountId, 900_000);
  t.match(await acceptPoll(storage, first), { kind: 'accepted' });
  t.same(await spendOf(fixture), { hour: 900_000, held: 900_000, day: 900_000 });
  const held = await acceptPoll(storage, asked(accountId, 200_000));
  t.equal(held.kind, 'over_ceiling');
  t.ok(
    held.kind === 'over_ceiling' && held.retryAfterS >= 1 && held.retryAfterS <= 5,
    'a running poll holds what is missing',
  );

  const claim = (await claimPoll(storage, first.poll.id, 'worker'))!;
  const aborted = [{ seat: 1, model_id: 'sim/m1', calls: 1, estimated_u: 1, max_u: 50_000 }];
  await finishPoll(storage, finished(claim, { votes: [vote(0, { billed_u: 1, cost: cost(100_000) })], aborted }));
  t.same(await spendOf(fixture), { hour: 150_000, held: 0, day: 150_000 });
  t.match(await readProviderSpend(storage), { hourU: 150_000n, dayU: 150_000n, heldU: 0n });
  t.match(await acceptPoll(storage, asked(accountId, 850_000)), { kind: 'accepted' });
});

t.test('a refused poll leaves nothing behind and says until when', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, 5n * USD);
  await query(`update provider_spend set hour = date_trunc('hour', now(), 'UTC'), hour_u = 62500,
                 day = (now() at time zone 'utc')::date, day_u = 62500`);
  const idempotency = { principal: 'p', key: 'k', fingerprint: 'f' };
  const hour = await acceptPoll(storage, asked(accountId, 1, { idempotency }));
  const [left] = await query<{ hour: number; day: number }>(`
    select extract(epoch from date_trunc('hour', now(), 'UTC') + interval '1 hour' - now())::float as hour,
           extract(epoch from date_trunc('day', now(), 'UTC') + interval '1 day' - now())::float as day`);
  t.ok(hour.kind === 'over_ceiling' && Math.abs(hour.retryAfterS - left!.hour) <= 20, 'until the hour is over');
  await query('update provider_spend set hour_u = 0, day_u = 187500');
  const day = await acceptPoll(storage, asked(accountId, 1, { idempotency }));
  t.ok(day.kind === 'over_ceiling' && Math.abs(day.retryAfterS - left!.day) <= 20, 'until midnight');
  t.same(
    await query('select (select count(*) from polls)::int as polls, (select count(*) from idempotency)::int as keys'),
    [{ polls: 0, keys: 0 }],
  );
  t.match(await query('select held_u from balances where account_id = $1', [accountId]), [{ held_u: '0' }]);
  await query("update provider_spend set day = day - 1, hour = hour - interval '1 hour'");
  t.match(await acceptPoll(storage, asked(accountId, 1, { idempotency })), { kind: 'accepted' }, 'a new day');
});

t.test('without a ceiling nothing is counted', async (t) => {
  const fixture = await open(t);
  const accountId = await funded(fixture.storage, 5n * USD);
  await acceptPoll(fixture.storage, acceptance(accountId, { providerMaxU: 900_000 }));
  t.same(await spendOf(fixture), { hour: 0, held: 0, day: 0 });
});

t.test('polls in many hands never come to more than the ceiling, and use all of it', async (t) => {
  const fixture = await open(t, { maxConnections: 12 });
  const { storage, query } = fixture;
  const accountId = await funded(storage, 100n * USD);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ reserveU: fc.integer({ min: 1, max: 90_000 }), share: fc.nat(100) }), {
        minLength: 80,
        maxLength: 120,
      }),
      async (polls) => {
        await query('update provider_spend set hour_u = 0, hour_held_u = 0, day_u = 0, day_held_u = 0');
        let spentU = 0;
        let mostU = 0;
        await together(polls.length, 12, async (n) => {
          const { reserveU, share } = polls[n]!;
          const request = asked(accountId, reserveU);
          const answer = await acceptPoll(storage, request);
          mostU = Math.max(mostU, (await spendOf(fixture)).hour);
          if (answer.kind === 'over_ceiling') return;
          if (share < 30) {
            spentU += reserveU;
            return;
          }
          const claim = (await claimPoll(storage, request.poll.id, 'worker'))!;
          const spent = Math.floor((reserveU * share) / 100);
          await finishPoll(storage, finished(claim, { votes: [vote(0, { billed_u: 1, cost: cost(spent) })] }));
          spentU += spent;
        });
        const { hour, day } = await spendOf(fixture);
        if (hour !== spentU || day !== spentU || mostU > Number(CEILING.hourU)) return false;
        // However the sum is spread, the last micro-USD can be had.
        const rest = Number(CEILING.hourU) - hour;
        const last = await acceptPoll(storage, asked(accountId, rest));
        const beyond = await acceptPoll(storage, asked(accountId, 1));
        return (rest === 0 || last.kind === 'accepted') && beyond.kind === 'over_ceiling';
      },
    ),
    { numRuns: 4 },
  );
  t.pass('the sums are right at every moment');
});

t.test('polls that lost their workers are claimed again as far as the ceiling allows; the rest wait', async (t) => {
  const fixture = await open(t, { maxConnections: 12 });
  const { storage, query } = fixture;
  const accountId = await funded(storage, 100n * USD);
  const requests = Array.from({ length: 24 }, () => asked(accountId, 25_000));
  for (const request of requests) t.match(await acceptPoll(storage, request), { kind: 'accepted' });
  const running = new Map(requests.map(({ poll }) => [poll.id, 0]));
  const ids = () => [...running.keys()];
  const claim = pollClaimer(storage, CEILING);
  let mostU = 0;
  const claimAll = async () => {
    const claims = await together(running.size, 12, async (n) => {
      const claimed = await claim(ids()[n]!, 'worker');
      mostU = Math.max(mostU, (await spendOf(fixture)).hour);
      return claimed;
    });
    return claims.filter((claim) => claim !== null);
  };
  const lose = () => query("update polls set lease_until = now() - interval '1 second' where status = 'running'");

  t.equal((await claimAll()).length, 24);
  t.same(
    await spendOf(fixture),
    { hour: 600_000, held: 600_000, day: 600_000 },
    'the first claim is set aside already',
  );
  await lose();
  const again = await claimAll();
  t.equal(again.length, 16, '400,000 are left for 25,000 each');
  t.same(
    await spendOf(fixture),
    { hour: 1_000_000, held: 600_000, day: 1_000_000 },
    'what the dead had counts as spent',
  );
  t.same(await claimAll(), [], 'the others wait');

  const [first, second] = again;
  const spent = (maxU: number) => ({ votes: [vote(0, { billed_u: 1, cost: cost(maxU) })] });
  await finishPoll(storage, finished(first!, spent(1_000)));
  running.delete(first!.id);
  t.equal((await spendOf(fixture)).hour, 976_000, 'what its first worker may have caused stays');
  t.same(await claimAll(), [], 'not enough yet');
  await finishPoll(storage, finished(second!, spent(0)));
  running.delete(second!.id);
  t.equal((await claimAll()).length, 1, 'one that waited');

  await lose();
  const [canceled, late] = ids();
  await cancelPoll(storage, accountId, canceled!);
  const calledOff = (await claim(canceled!, 'worker'))!;
  t.match(calledOff, { isCanceled: true }, 'it asks no model, and need not wait');
  await finishPoll(storage, finished(calledOff, spent(25_000)));
  await query("update polls set deadline_at = now() - interval '1 second' where id = $1", [late]);
  const overdue = (await claimOverdue(storage, late!, 'worker'))!;
  const { hour } = await spendOf(fixture);
  await finishPoll(storage, finished(overdue, spent(25_000)));
  t.equal((await spendOf(fixture)).hour, hour, 'votes that earlier workers heard are not counted twice');
  t.equal(mostU, 1_000_000);
});

t.test(
  'calls that may have cost more than all claims set aside count in full, also those that were aborted',
  async (t) => {
    const fixture = await open(t);
    const { storage, query } = fixture;
    const request = asked(await funded(storage, USD), 25_000);
    await acceptPoll(storage, request);
    const claim = pollClaimer(storage, CEILING);
    await claim(request.poll.id, 'dies');
    await query("update polls set lease_until = now() - interval '1 second'");
    const again = (await claim(request.poll.id, 'worker'))!;
    t.equal((await spendOf(fixture)).hour, 50_000);
    const votes = [vote(0, { billed_u: 1, cost: cost(40_000) })];
    const aborted = [{ seat: 1, model_id: 'sim/m1', calls: 1, estimated_u: 0, max_u: 20_000 }];
    await finishPoll(storage, finished(again, { votes, aborted }));
    t.same(await spendOf(fixture), { hour: 60_000, held: 0, day: 60_000 });
  },
);

t.test('a poll that the release before claimed again counts at its end', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, USD);
  const request = asked(accountId, 50_000);
  await acceptPoll(storage, request);
  const { id } = request.poll;
  await claimPoll(storage, id, 'dies');
  await query("update polls set lease_until = now() - interval '1 second'");
  await query("select * from claim_poll($1, 'older', 8000, 1, 3)", [id]);
  await finishPoll(storage, finished({ id, epoch: 2 }, { votes: [vote(0, { billed_u: 1, cost: cost(7_000) })] }));
  t.same(await spendOf(fixture), { hour: 57_000, held: 0, day: 57_000 });
});

t.test('what was accepted since an hour began is kept by a poll that waited for a lock since before', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, USD);
  const next = (share: number) => `update provider_spend
    set hour = date_trunc('hour', now(), 'UTC') + interval '1 hour', hour_u = ${share}, hour_held_u = 0,
        day = (now() at time zone 'utc')::date + 1, day_u = ${share}, day_held_u = 0`;
  await query(next(50_000));
  t.match(await acceptPoll(storage, asked(accountId, 10_000)), { kind: 'accepted' }, 'by one row');
  t.same(await spendOf(fixture), { hour: 810_000, held: 10_000, day: 810_000 });
  t.match(await acceptPoll(storage, asked(accountId, 20_000)), { kind: 'accepted' }, 'by all rows');
  t.same(await spendOf(fixture), { hour: 830_000, held: 30_000, day: 830_000 });
  await query(next(62_500));
  t.match(await acceptPoll(storage, asked(accountId, 1)), { kind: 'over_ceiling' });
});
