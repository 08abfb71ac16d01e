import { balanceOf, checkLedger, closeMisfit, createAccount, openMisfits } from '@eloquentpoll/storage';
import { delivery, type FakeSession, fakeStripe, type StripeEvent } from '@eloquentpoll/testkit/fakes/stripe';
import t, { type Test } from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { compareMovements } from '../../src/payments/card/compare-movements.ts';
import { reconcilePayments } from '../../src/payments/card/reconcile-payments.ts';
import { build } from '../fixtures/build.ts';

// slow: 6 s

const DAY_S = 86_400;
const nowS = () => Math.floor(Date.now() / 1_000);

async function compared(t: Test) {
  const stripe = await fakeStripe(t);
  const rateLimits = readPolicies('checkout=100000/60,checkout_network=100000/60,webhook=100000/60');
  const gateway = await build(t, { checkout: stripe.settings, rateLimits });
  const { app, context, sessionFor } = gateway;
  const { storage } = context;
  const processor = context.processor!;
  const deliver = (event: StripeEvent) => app.inject(delivery(event));
  async function opened(cents = 5_000): Promise<{ accountId: string; session: FakeSession }> {
    const accountId = await createAccount(storage);
    const headers = await sessionFor(accountId);
    const answer = await app.inject({
      method: 'POST',
      url: '/api/checkout',
      headers,
      payload: { amount_cents: cents },
    });
    return { accountId, session: stripe.sessions.get(answer.json().url.split('/').at(-1))! };
  }
  /** A payment that was credited so many days ago. */
  async function paid(daysAgo: number, cents = 5_000) {
    const payment = await opened(cents);
    await deliver(stripe.complete(payment.session));
    for (const movement of stripe.movements)
      if (movement.source.payment_intent === payment.session.payment_intent) movement.created -= daysAgo * DAY_S;
    await storage.db
      .updateTable('checkouts')
      .set({ credited_at: daysBefore(daysAgo), updated_at: daysBefore(daysAgo) })
      .where('payment_intent', '=', payment.session.payment_intent)
      .execute();
    return payment;
  }
  /** As long ago as the newest movement and event. */
  function ago(days: number): void {
    const movement = stripe.movements.at(-1)!;
    movement.created -= days * DAY_S;
    const event = stripe.events.at(-1)!;
    event.created -= days * DAY_S;
  }
  const compare = async (signal = new AbortController().signal) => {
    await storage.db
      .updateTable('money_scans')
      .set({ due_at: new Date(0) })
      .execute();
    await compareMovements(context, processor, signal);
  };
  const cents = async (accountId: string) => Number((await balanceOf(storage, accountId))!.postedU / 10_000n);
  const row = () => storage.db.selectFrom('money_scans').selectAll().executeTakeFirstOrThrow();
  return { ...gateway, storage, stripe, processor, opened, paid, ago, compare, cents, row, deliver };
}

const daysBefore = (days: number) => new Date(Date.now() - days * DAY_S * 1_000);

t.test('a refund whose event was missed five days ago is reversed by the comparison, not by events', async (t) => {
  const { context, processor, stripe, paid, ago, compare, cents, storage } = await compared(t);
  const { accountId, session } = await paid(30);
  stripe.refund(session, 5_000);
  ago(5);
  for (let i = 0; i < 3; i++) await reconcilePayments(context, processor, new AbortController().signal);
  t.equal(await cents(accountId), 5_000);
  await compare();
  t.equal(await cents(accountId), 0);
  await compare();
  t.equal(await cents(accountId), 0);
  t.same(await openMisfits(storage, 10), []);
  t.same(await checkLedger(storage), []);
});

for (const type of ['refund.failed', 'refund.updated', 'charge.refund.updated'] as const)
  t.test(`a refund that fails (${type}) gives the money back to the account`, async (t) => {
    const { stripe, paid, deliver, cents } = await compared(t);
    const { accountId, session } = await paid(1);
    await deliver(stripe.refund(session, 5_000));
    t.equal(await cents(accountId), 0);
    await deliver(stripe.failRefund(session, type));
    t.equal(await cents(accountId), 5_000);
  });

t.test('every kind of movement that was missed is found: failed refund, lost, won and prevented dispute', async (t) => {
  const { stripe, paid, ago, compare, cents } = await compared(t);
  const [failed, lost, won, prevented] = [await paid(40), await paid(40), await paid(170), await paid(40)];
  stripe.refund(failed.session, 2_000);
  ago(20);
  stripe.failRefund(failed.session, 'refund.failed');
  ago(10);
  for (const [{ session }, status] of [
    [lost, 'lost'],
    [won, 'won'],
    [prevented, 'prevented'],
  ] as const) {
    stripe.dispute(session, 5_000);
    ago(20);
    stripe.closeDispute(session, status);
    if (status === 'won') ago(10);
  }
  await compare();
  t.equal(await cents(failed.accountId), 5_000);
  t.equal(await cents(lost.accountId), 0);
  t.equal(await cents(won.accountId), 5_000);
  t.equal(await cents(prevented.accountId), 0);
});

t.test('a dispute that was prevented by a refund is taken back once', async (t) => {
  const { stripe, paid, deliver, cents } = await compared(t);
  const { accountId, session } = await paid(1);
  await deliver(stripe.refund(session, 5_000));
  session.disputes = [{ id: 'dp_early', amount: 5_000, status: 'prevented', balance_transactions: [] }];
  await deliver(stripe.closeDispute(session, 'prevented'));
  t.equal(await cents(accountId), 0);
});

t.test('a payment that was never heard of again is credited by the comparison', async (t) => {
  const { opened, stripe, compare, cents, storage } = await compared(t);
  const { accountId, session } = await opened();
  stripe.complete(session);
  for (const movement of stripe.movements) movement.created -= DAY_S;
  await storage.db.updateTable('checkouts').set({ state: 'expired' }).execute();
  await compare();
  t.equal(await cents(accountId), 5_000);
});

t.test('a payment whose row was lost is stored again', async (t) => {
  const { paid, compare, cents, storage, stripe, asOwner } = await compared(t);
  const { accountId, session } = await paid(3);
  stripe.refund(session, 1_000);
  await asOwner(`delete from checkouts where account_id = '${accountId}'`);
  await compare();
  t.match(await storage.db.selectFrom('checkouts').select('account_id').execute(), [{ account_id: accountId }]);
  t.equal(await cents(accountId), 4_000, 'credited once, and what was refunded meanwhile is taken back');
});

t.test('what processor and ledger go on disagreeing about is a misfit until they agree', async (t) => {
  const { paid, compare, storage, stripe, log, row, asOwner } = await compared(t);
  const { accountId, session } = await paid(3);
  const strange = stripe.move(session, -700, { id: 're_x', object: 'refund' }, nowS() - DAY_S);
  await compare();
  t.match(await openMisfits(storage, 10), [
    {
      source: 'card',
      reason: 'unlike_processor',
      amountU: -7_000_000n,
      details: { account_id: accountId, processor_cents: '4300', ledger_cents: '5000' },
    },
  ]);
  t.equal(log.filter((line) => line.includes('checkout.unreconciled')).length, 1);
  await compare();
  t.equal(log.filter((line) => line.includes('checkout.unreconciled')).length, 1);
  await asOwner(`delete from card_movements where id = '${strange.id}'`);
  await compare();
  t.same(await openMisfits(storage, 10), []);
  t.ok(Date.now() - (await row()).reached_at!.getTime() < 600_000);
});

const SAID = 'checkout.unreconciled';

t.test('a payment that was alike for a while and differs again is a misfit again, and said again', async (t) => {
  const { paid, compare, storage, stripe, log, asOwner } = await compared(t);
  const { session } = await paid(3);
  const said = () => log.filter((line) => line.includes(SAID)).length;
  for (let time = 1; time <= 2; time++) {
    const strange = stripe.move(session, -700, { id: `re_${time}`, object: 'refund' }, nowS() - 600);
    // As if it had not been compared so far.
    await storage.db
      .updateTable('money_scans')
      .set({ position: BigInt(nowS() - DAY_S) })
      .execute();
    await compare();
    t.match(await openMisfits(storage, 10), [{ reason: 'unlike_processor', amountU: -7_000_000n }]);
    t.equal(said(), time);
    await asOwner(`delete from card_movements where id = '${strange.id}'`);
    stripe.movements.splice(stripe.movements.indexOf(strange), 1);
    await compare();
    t.same(await openMisfits(storage, 10), []);
  }
});

t.test('a misfit that an operator ignored stays closed until it differs by another amount', async (t) => {
  const { paid, compare, storage, stripe, log } = await compared(t);
  const { session } = await paid(3);
  const said = () => log.filter((line) => line.includes(SAID)).length;
  stripe.move(session, -700, { id: 're_x', object: 'refund' }, nowS() - DAY_S);
  await compare();
  t.ok(await closeMisfit(storage, { source: 'card', reference: session.payment_intent! }, 'ignored'));
  await compare();
  t.same(await openMisfits(storage, 10), []);
  t.equal(said(), 1);
  stripe.move(session, -300, { id: 're_y', object: 'refund' }, nowS() - 600);
  await storage.db
    .updateTable('money_scans')
    .set({ position: BigInt(nowS() - DAY_S) })
    .execute();
  await compare();
  t.match(await openMisfits(storage, 10), [{ amountU: -10_000_000n }]);
  t.equal(said(), 2);
});

t.test('a payment that the round brings nearer, but not in line, stays a misfit', async (t) => {
  const { paid, compare, storage, stripe, cents, log } = await compared(t);
  const { accountId, session } = await paid(3);
  stripe.move(session, -700, { id: 're_x', object: 'refund' }, nowS() - DAY_S);
  await compare();
  const [open] = await openMisfits(storage, 10);
  stripe.refund(session, 200);
  await compare();
  t.equal(await cents(accountId), 4_800, 'it was synced');
  t.match(await openMisfits(storage, 10), [{ id: open!.id }]);
  t.equal(log.filter((line) => line.includes(SAID)).length, 1);
});

t.test('payments of other services in the same account at the processor are left alone', async (t) => {
  const { compare, storage, stripe, paid } = await compared(t);
  const { session } = await paid(3);
  const foreign = { ...session, payment_intent: 'pi_foreign' };
  stripe.move(foreign, 900, { id: 'ch_f', object: 'charge', metadata: {} }, nowS() - DAY_S);
  stripe.move(foreign, -900, { id: 're_f', object: 'refund' }, nowS() - DAY_S);
  stripe.move(foreign, -10_000, { id: 'po_f', object: 'payout', payment_intent: undefined }, nowS() - DAY_S);
  await compare();
  t.same(await openMisfits(storage, 10), []);
  t.equal((await storage.db.selectFrom('card_movements').select('id').execute()).length, 1);
});

t.test('a round that is ended goes on where it was, and the oldest movement is read first', async (t) => {
  const { context, processor, paid, ago, stripe, cents, compare, row } = await compared(t);
  const { accountId, session } = await paid(179);
  stripe.refund(session, 5_000);
  ago(178);
  const stop = new AbortController();
  let asked = 0;
  const movements: typeof processor.movements = (from, before) => {
    if (++asked === 10) stop.abort();
    return processor.movements(from, before);
  };
  await compareMovements(context, { ...processor, movements }, stop.signal);
  const { position, reached_at: reachedAt } = await row();
  t.ok(Math.abs(Number(position) - (nowS() - 170 * DAY_S)) < 60);
  t.equal(reachedAt, null);
  t.equal(await cents(accountId), 5_000);
  const before = stripe.asked.length;
  await compare();
  t.equal(await cents(accountId), 0);
  t.equal(stripe.asked.slice(before).filter((path) => path.endsWith('balance_transactions')).length, 170);
});

t.test('a day with more movements than are read at once is read in parts', async (t) => {
  const { processor, context, paid, stripe, storage, ago } = await compared(t);
  const { session } = await paid(3, 100_000);
  for (let i = 0; i < 50; i++) {
    stripe.move(session, i % 2 === 0 ? -100 : 100, { id: `re_${i}`, object: 'refund' }, nowS() - DAY_S + i);
  }
  stripe.refund(session, 100);
  ago(1);
  let asked = 0;
  const movements: typeof processor.movements = async (from, before) => {
    asked++;
    const found = await processor.movements(from, before);
    return found && found.length > 10 ? null : found;
  };
  await compareMovements(context, { ...processor, movements }, new AbortController().signal);
  t.equal((await storage.db.selectFrom('card_movements').select('id').execute()).length, 52);
  t.ok(asked < 300, `${asked} times for 180 days`);
});

t.test('events and movements are read page by page, up to ten thousand', async (t) => {
  const { processor, stripe, paid } = await compared(t);
  const { session } = await paid(3);
  for (let i = 0; i < 250; i++)
    stripe.event('charge.refunded', { object: 'charge', payment_intent: session.payment_intent });
  t.equal((await processor.reversals(0)).length, 250);
  for (let i = 0; i < 250; i++) stripe.move(session, -1, { id: `re_${i}`, object: 'refund' });
  const found = await processor.movements(0, nowS() + 60);
  t.equal(found?.length, 251);
  t.equal(found?.[0]?.amountCents, 5_000, 'the oldest first');
  for (let i = 0; i < 9_750; i++) stripe.move(session, -1, { id: `re_${i}`, object: 'refund' });
  t.equal(await processor.movements(0, nowS() + 60), null, '10,001 are asked for in parts');
});

t.test('a processor that is away for five days: nothing is lost or taken twice', async (t) => {
  const { storage, stripe, paid, ago, compare, cents, row } = await compared(t);
  const { accountId, session } = await paid(10);
  await compare();
  const fiveDaysAgo = BigInt(nowS() - 5 * DAY_S);
  await storage.db.updateTable('money_scans').set({ position: fiveDaysAgo, proved_position: fiveDaysAgo }).execute();
  stripe.trouble('errors');
  stripe.refund(session, 2_000);
  ago(4);
  await t.rejects(compare(), { code: 'payment_processor_error' });
  t.equal((await row()).position, fiveDaysAgo);
  stripe.trouble('none');
  await compare();
  await compare();
  t.equal(await cents(accountId), 3_000);
});
