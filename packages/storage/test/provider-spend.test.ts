import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { type Acceptance, acceptPoll, claimPoll, finishPoll, readProviderSpend } from '../src/index.ts';
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
  t.ok(hour.kind === 'over_ceiling' && Math.abs(hour.retryAfterS - left!.hour) <= 3, 'until the hour is over');
  await query('update provider_spend set hour_u = 0, day_u = 187500');
  const day = await acceptPoll(storage, asked(accountId, 1, { idempotency }));
  t.ok(day.kind === 'over_ceiling' && Math.abs(day.retryAfterS - left!.day) <= 3, 'until midnight');
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
