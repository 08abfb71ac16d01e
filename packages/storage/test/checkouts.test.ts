import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import {
  balanceOf,
  type CheckoutFacts,
  checkLedger,
  dueCheckouts,
  findCheckout,
  followCheckout,
  openCheckout,
  publishCheckout,
  type Storage,
} from '../src/index.ts';
import { type Fixture, funded, open, together, unique } from './fixtures.ts';

const ALL_AT_ONCE = { days: 0, share: 0, freeU: 0n };
const PAID = { paymentIntent: null, livemode: false, isPaid: true, isExpired: false, reversedCents: 0 };

async function published({ storage }: Fixture, amountCents = 500) {
  const accountId = await funded(storage, 0n);
  const id = await openCheckout(storage, { accountId, amountCents });
  const processorId = unique('cs_');
  await publishCheckout(storage, id, { processorId, url: 'https://pay.example', livemode: false });
  return { id, accountId, processorId };
}

/** As a careful caller does it: read, ask, write, and again after losing the compare-and-set. */
async function follow(storage: Storage, id: string, facts: CheckoutFacts): Promise<void> {
  for (;;) {
    const known = await findCheckout(storage, { id });
    if ((await followCheckout(storage, known!, facts, ALL_AT_ONCE)) !== 'outdated') return;
  }
}

t.test('a payment is credited once, however many hands follow it', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const { id, accountId, processorId } = await published(fixture);
  const facts = { ...PAID, processorId, paymentIntent: 'pi_1' };
  await together(100, 10, () => follow(storage, id, facts));
  t.match(await balanceOf(storage, accountId), { postedU: 5_000_000n });
  t.match(await findCheckout(storage, { paymentIntent: 'pi_1' }), { id, state: 'credited' });
  t.same(await checkLedger(storage), []);
});

t.test('an answer that is older than what was written changes nothing', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const { id, processorId } = await published(fixture);
  const early = await findCheckout(storage, { id });
  await follow(storage, id, { ...PAID, processorId, reversedCents: 200 });
  t.equal(await followCheckout(storage, early!, { ...PAID, processorId }, ALL_AT_ONCE), 'outdated');
  t.match(await findCheckout(storage, { id }), { reversedCents: 200 });
});

t.test('whatever is refunded, disputed and won, the account has what the processor keeps', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ isPaid: fc.boolean(), isExpired: fc.boolean(), reversedCents: fc.nat(700) }), {
        maxLength: 8,
      }),
      async (history) => {
        const { id, accountId, processorId } = await published(fixture, 700);
        let wasPaid = false;
        let kept = 0;
        for (const facts of history) {
          await follow(storage, id, { ...PAID, processorId, ...facts });
          wasPaid ||= facts.isPaid;
          if (wasPaid) kept = 700 - facts.reversedCents;
        }
        t.equal((await balanceOf(storage, accountId))?.postedU, BigInt(kept) * 10_000n);
      },
    ),
    { numRuns: 30, verbose: true },
  );
  t.same(await checkLedger(storage), []);
});

t.test('unpaid payments come up for a question, the older the rarer, until they are given up', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const { id } = await published(fixture);
  const unheard = await openCheckout(storage, { accountId: await funded(storage, 0n), amountCents: 100 });
  const due = async () => (await dueCheckouts(storage, 10)).map((checkout) => checkout.id);
  t.same(await due(), [id], 'one that the processor knows');

  const age = (hours: number, checkedHoursAgo: number) =>
    query(
      `update checkouts set created_at = now() - $1 * interval '1 hour', checked_at = now() - $2 * interval '1 hour'`,
      [hours, checkedHoursAgo],
    );
  await age(100, 4);
  t.same(await due(), []);
  await age(100, 6);
  t.same(await due(), [id]);
  t.match(await findCheckout(storage, { id: unheard }), { state: 'expired' });
  await age(24 * 31, 1_000);
  t.same(await due(), []);
  t.match(await findCheckout(storage, { id }), { state: 'expired' });
  await follow(storage, id, { ...PAID, processorId: (await findCheckout(storage, { id }))!.processorId! });
  t.match(await findCheckout(storage, { id }), { state: 'credited' }, 'money that comes late is credited');
  t.same(await checkLedger(storage), []);
});
