import { randomUUID } from 'node:crypto';
import { balanceOf, capture, checkLedger, createAccount, hold } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { delivery, type FakeSession, fakeStripe, type StripeEvent } from '@eloquentpoll/testkit/fakes/stripe';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { paymentOnReturn } from '../../src/payments/card/payment-return.ts';
import { stripeProcessor } from '../../src/payments/card/processor.ts';
import { reconcilePayments } from '../../src/payments/card/reconcile-payments.ts';
import { startReconciler } from '../../src/payments/reconciler.ts';
import { build } from '../fixtures/build.ts';

// slow: 5 s

const stripe = await fakeStripe(t);
const settings = {
  checkout: stripe.settings,
  rateLimits: readPolicies('checkout=100000/60,checkout_network=100000/60,webhook=100000/60'),
};
const gateway = await build(t, settings);
const { app, context, sessionFor, keyWith, log, asOwner } = gateway;
const { storage } = context;
const processor = context.processor!;

async function customer() {
  const accountId = await createAccount(storage);
  return { accountId, headers: await sessionFor(accountId) };
}

const order = (headers: object, payload: object) =>
  app.inject({ method: 'POST', url: '/api/checkout', headers: { ...headers }, payload });

/** A payment page opened for an account. */
async function opened(cents = 500): Promise<{ accountId: string; session: FakeSession }> {
  const { accountId, headers } = await customer();
  const { url } = (await order(headers, { amount_cents: cents })).json();
  return { accountId, session: stripe.sessions.get(url.split('/').at(-1))! };
}

const deliver = async (event: StripeEvent, options = {}) => (await app.inject(delivery(event, options))).statusCode;
const cents = async (accountId: string) => Number((await balanceOf(storage, accountId))!.postedU / 10_000n);
const reconcile = () => reconcilePayments(context, processor, new AbortController().signal);

t.test('[§4.5-checkout-200] POST /api/checkout opens a page for the exact amount with our checkout id', async (t) => {
  const { headers } = await customer();
  const answer = await order(headers, { amount_cents: 1_234 });
  t.equal(answer.statusCode, 200);
  const session = stripe.sessions.get(answer.json().url.split('/').at(-1))!;
  t.match(session.form, {
    mode: 'payment',
    'line_items[0][quantity]': '1',
    'line_items[0][price_data][currency]': 'usd',
    'line_items[0][price_data][unit_amount]': '1234',
    client_reference_id: /^[0-9a-f-]{36}$/,
    success_url: 'https://polls.example/dashboard?checkout=success',
    cancel_url: 'https://polls.example/dashboard?checkout=cancelled',
  });
});

t.test(
  '[§4.5-checkout-amount-required, §4.5-checkout-amount-range, §8-checkout-amount] an amount out of range or not whole cents is a 400',
  async (t) => {
    const { headers } = await customer();
    for (const amount of [100, 100_000]) t.equal((await order(headers, { amount_cents: amount })).statusCode, 200);
    const before = stripe.sessions.size;
    for (const amount of [99, 100_001, 100.5, '500', null, undefined, -100, 0, 1e21, [500], true])
      t.match((await order(headers, { amount_cents: amount })).json(), { code: 'validation_error' }, `${amount}`);
    t.equal(stripe.sessions.size, before);
  },
);

t.test(
  '[§4.5-checkout-401, §5-rule-cookie-only] checkout takes a login cookie; a key or no credential is a 401',
  async (t) => {
    const { accountId, bearer } = await keyWith(1);
    for (const headers of [{}, bearer]) t.equal((await order(headers, { amount_cents: 500 })).statusCode, 401);
    const { cookie } = await sessionFor(accountId);
    t.match((await order({ cookie, origin: 'https://evil.example' }, { amount_cents: 500 })).json(), {
      code: 'forbidden_origin',
    });
    t.equal(
      (await order({ cookie }, { amount_cents: 500 })).statusCode,
      200,
      'a program with a cookie names no origin',
    );
  },
);

t.test('a retry with the same Idempotency-Key gets the same page', async (t) => {
  const { headers } = await customer();
  const keyed = { ...headers, 'idempotency-key': randomUUID() };
  const before = stripe.sessions.size;
  const first = await order(keyed, { amount_cents: 700 });
  const again = await order(keyed, { amount_cents: 700 });
  t.equal(again.body, first.body);
  t.equal(again.headers['idempotent-replayed'], 'true');
  t.equal(stripe.sessions.size, before + 1);
  t.match((await order(keyed, { amount_cents: 701 })).json(), { code: 'idempotency_key_reused' });
});

t.test(
  '[§4.5-checkout-credits, §A6-stripe-webhook, §1-support-card] 100 concurrent deliveries of an event credit once',
  async (t) => {
    const { accountId, session } = await opened(1_500);
    const event = stripe.complete(session);
    const codes = await Promise.all(Array.from({ length: 100 }, () => deliver(event)));
    t.ok(
      codes.every((code) => code === 200 || code === 503),
      `${new Set(codes)}`,
    );
    t.equal(await deliver(event), 200);
    t.equal(await cents(accountId), 1_500);
  },
);

t.test('a client of the processor that could not be made is made by the next request', async (t) => {
  let asked = 0;
  const failing = {
    ...stripe.settings,
    get apiBase() {
      if (asked++ === 0) throw new Error('EMFILE: too many open files');
      return stripe.settings.apiBase;
    },
  };
  const { openPage } = stripeProcessor(failing, 'https://polls.example');
  const page = { id: randomUUID(), accountId: await createAccount(storage), amountCents: 500 };
  await t.rejects(openPage(page), { code: 'payment_processor_error' });
  t.match(await openPage(page), { url: /^http/ });
});

t.test('two events of one payment, in any order, credit once', async (t) => {
  const { accountId, session } = await opened(500);
  const early = stripe.complete(session, { paid: false });
  t.equal(await deliver(early), 200);
  t.equal(await cents(accountId), 0, 'not paid yet');
  const late = stripe.confirm(session);
  for (const event of [late, early, { ...early, id: 'evt_again' }, late]) t.equal(await deliver(event), 200);
  t.equal(await cents(accountId), 500);
});

t.test('an expired checkout credits nothing', async (t) => {
  const { accountId, session } = await opened();
  t.equal(await deliver(stripe.expire(session)), 200);
  t.equal(await cents(accountId), 0);
});

t.test('refunds and disputes debit the balance, below zero if need be; won disputes are credited back', async (t) => {
  const { accountId, session } = await opened(1_000);
  await deliver(stripe.complete(session));
  await deliver(stripe.refund(session, 300));
  t.equal(await cents(accountId), 700);
  const dispute = stripe.dispute(session, 1_000);
  await Promise.all(Array.from({ length: 20 }, () => deliver(dispute)));
  t.equal(await cents(accountId), 0, 'never more than was paid');
  await deliver(stripe.closeDispute(session, 'won'));
  t.equal(await cents(accountId), 700);
  await deliver(dispute);
  await deliver({ ...dispute, id: 'evt_late' });
  t.equal(await cents(accountId), 700, 'an old event asks what is true now');
});

t.test('a refund of spent money leaves a negative balance, and new polls are refused', async (t) => {
  const { accountId, session } = await opened(200);
  await deliver(stripe.complete(session));
  await hold(storage, { accountId, amountU: 1_500_000n, idem: `hold:${session.id}` });
  await capture(storage, `hold:${session.id}`, 1_500_000n);
  await deliver(stripe.refund(session, 200));
  t.equal(await cents(accountId), -150);
  t.equal(await hold(storage, { accountId, amountU: 1n, idem: randomUUID() }), false);
});

t.test('a refund event before the payment event ends with the correct balance', async (t) => {
  const { accountId, session } = await opened(400);
  const paid = stripe.complete(session);
  const refund = stripe.refund(session, 400);
  await deliver(refund);
  await deliver(paid);
  t.equal(await cents(accountId), 0);
});

t.test('a payment that another cell took is not credited again, whatever the processor says here', async (t) => {
  const { accountId, session } = await opened(700);
  await asOwner(`update checkouts set state = 'moved', processor_id = null where account_id = '${accountId}'`);
  for (const event of [stripe.complete(session), stripe.refund(session, 300)]) t.equal(await deliver(event), 200);
  t.equal(await cents(accountId), 0);
  t.ok(log.some((line) => line.includes('"mismatch":"cell"')));
});

t.test('with every webhook lost the reconciler credits and reverses', async (t) => {
  const payments = await Promise.all(Array.from({ length: 5 }, () => opened(600)));
  for (const { session } of payments) stripe.complete(session);
  await reconcile();
  for (const { accountId } of payments) t.equal(await cents(accountId), 600);
  stripe.refund(payments[0]!.session, 200);
  stripe.dispute(payments[1]!.session, 600);
  await Promise.all([reconcile(), reconcile()]);
  t.equal(await cents(payments[0]!.accountId), 400);
  t.equal(await cents(payments[1]!.accountId), 0);
  const asked = stripe.asked.length;
  await reconcile();
  t.ok(stripe.asked.length - asked < 10, 'what is settled is not asked about again');
});

t.test('a round in which the processor lists no events has failed, and syncs payments all the same', async (t) => {
  const { accountId, session } = await opened(700);
  stripe.complete(session);
  const silent = {
    ...processor,
    reversals: async () => {
      throw new Error('the key may not list events');
    },
  };
  const round = reconcilePayments(context, silent, new AbortController().signal);
  await t.rejects(round, { message: /1 payments or lists of events/ });
  t.equal(await cents(accountId), 700);
});

t.test('a running gateway reconciles periodically', async (t) => {
  const { accountId, session } = await opened(800);
  stripe.complete(session);
  const eager = {
    ...context,
    config: { ...context.config, reconcile: { ...context.config.reconcile, checkoutsS: 0.01 } },
  };
  await using _one = startReconciler(eager);
  await using _other = startReconciler(eager);
  await eventually('the payment is credited', async () => (await cents(accountId)) > 0);
  t.equal(await cents(accountId), 800);
});

t.test('events in any order, with repeats, end with the amount that the processor kept', async (t) => {
  const payments = await Promise.all(Array.from({ length: 6 }, () => opened(900)));
  const events = payments.flatMap(({ session }) => [
    stripe.complete(session, { paid: false }),
    stripe.confirm(session),
    stripe.refund(session, 100),
    stripe.dispute(session, 300),
    stripe.closeDispute(session, 'lost'),
  ]);
  const twice = [...events, ...events];
  const [shuffled = []] = fc.sample(fc.shuffledSubarray(twice, { minLength: twice.length }), 1);
  const lanes = Array.from({ length: 4 }, async () => {
    for (let event = shuffled.pop(); event; event = shuffled.pop()) await deliver(event);
  });
  await Promise.all(lanes);
  await reconcile();
  for (const { accountId } of payments) t.equal(await cents(accountId), 500);
});

t.test('forged, altered, stale and foreign events have no effect', async (t) => {
  const { accountId, session } = await opened();
  const event = stripe.complete(session);
  const good = delivery(event);
  const signature = good.headers['stripe-signature'];

  for (let i = 0; i < signature.length; i++) {
    for (const bit of [1, 2, 4, 8, 16, 32, 64]) {
      const flipped = String.fromCharCode(signature.charCodeAt(i) ^ bit);
      if (!/[\x21-\x7e]/.test(flipped)) continue;
      const forged = signature.slice(0, i) + flipped + signature.slice(i + 1);
      const answer = await app.inject({ ...good, headers: { ...good.headers, 'stripe-signature': forged } });
      if (answer.statusCode !== 400) t.fail(`accepted ${forged}`);
    }
  }
  for (let i = 0; i < good.payload.length; i += 3) {
    const bytes = Buffer.from(good.payload);
    bytes[i]! ^= 1;
    const answer = await app.inject({ ...good, payload: bytes });
    if (answer.statusCode !== 400) t.fail(`accepted a changed byte ${i}`);
  }
  for (const options of [{ secret: 'whsec_of_another_account' }, { ageS: 301 }, { payload: `${good.payload} ` }])
    t.match((await app.inject({ ...delivery(event, options), payload: good.payload })).json(), {
      code: 'invalid_webhook',
    });
  const bare = { ...good, headers: { 'content-type': 'application/json' } };
  t.match((await app.inject(bare)).json(), { code: 'invalid_webhook' });
  t.match((await app.inject({ ...bare, payload: '' })).json(), { code: 'invalid_webhook' });
  t.equal(await deliver({ ...event, id: 'evt_live', livemode: true }), 200);
  t.equal(await deliver(event, { payload: JSON.stringify({ ...event, data: { object: {} } }) }), 200);
  t.equal(await cents(accountId), 0, 'nothing so far');

  t.equal(await deliver(event, { secret: stripe.secrets[1] }), 200, 'the secret that is being replaced is still good');
  t.equal(await cents(accountId), 500);
});

t.test('a payment that does not match its checkout is not credited, even with a valid signature', async (t) => {
  for (const change of [
    { amount_total: 50_000 },
    { currency: 'eur' },
    { livemode: true },
    { client_reference_id: randomUUID() },
    { payment_status: 'unpaid' },
  ] as Partial<FakeSession>[]) {
    const { accountId, session } = await opened();
    const event = stripe.complete(session);
    Object.assign(session, change);
    t.equal(await deliver(event), 200);
    t.equal(await cents(accountId), 0, JSON.stringify(change));
  }
  const { accountId, session } = await opened(100);
  const other = await opened(100);
  const event = stripe.complete(session);
  event.data.object.client_reference_id = other.session.client_reference_id;
  await deliver(event);
  t.equal((await cents(accountId)) + (await cents(other.accountId)), 0);
  for (const id of ['not-a-uuid', '', randomUUID()]) {
    event.data.object.client_reference_id = id;
    t.equal(await deliver({ ...event, id: randomUUID() }), 200);
  }
});

t.test(
  'while Stripe does not answer checkout and webhook are a 502 without its message; the event works later',
  async (t) => {
    const { accountId, session } = await opened();
    const event = stripe.complete(session);
    const { headers } = await customer();
    for (const kind of ['down', 'errors', 'nonsense'] as const) {
      stripe.trouble(kind);
      const answer = await order(headers, { amount_cents: 500 });
      t.match(answer.json(), { code: 'payment_processor_error' }, kind);
      t.notMatch(answer.body, /secret words|html/);
      t.equal(await deliver(event), 502);
    }
    stripe.trouble('none');
    t.notMatch(log.join(''), /secret words|sk_test|whsec/);
    t.equal(await deliver(event), 200);
    t.equal(await cents(accountId), 500);
  },
);

t.test('a payment whose row was lost is stored again from what the processor says, and credited once', async (t) => {
  const { accountId, session } = await opened(50_000);
  await asOwner(`delete from checkouts where processor_id = '${session.id}'`);
  const event = stripe.complete(session);
  t.equal(await deliver(event), 200);
  t.equal(await cents(accountId), 50_000);
  t.ok(log.some((line) => line.includes('checkout.recreated')));
  t.equal(await deliver({ ...event, id: 'evt_again' }), 200);
  t.equal(await cents(accountId), 50_000);

  const gone = await opened(500);
  await asOwner(`delete from checkouts where processor_id = '${gone.session.id}'`);
  gone.session.form['metadata[account_id]'] = randomUUID();
  const lost = stripe.complete(gone.session);
  t.equal(await deliver(lost), 502, 'whose account is gone too is not acknowledged');
  t.ok(log.some((line) => line.includes('checkout.lost')));

  const foreign = await opened(500);
  await asOwner(`delete from checkouts where processor_id = '${foreign.session.id}'`);
  foreign.session.form['metadata[origin]'] = 'https://other.example';
  t.equal(await deliver(stripe.complete(foreign.session)), 200, 'of another installation');
  t.equal(await cents(foreign.accountId), 0);
});

t.test('a page that is loaded again and again asks the processor about a payment once in five seconds', async (t) => {
  const { accountId, session } = await opened(500);
  const before = stripe.asked.length;
  for (let i = 0; i < 20; i++) await paymentOnReturn(context, accountId);
  t.equal(stripe.asked.length - before, 1);
  stripe.complete(session);
  await storage.db
    .updateTable('checkouts')
    .set({ returned_at: new Date(Date.now() - 6_000) })
    .where('processor_id', '=', session.id)
    .execute();
  t.match(await paymentOnReturn(context, accountId), { state: 'credited' });
});

t.test('a checkout retried after a timeout gets the same page', async (t) => {
  const hasty = await build(t, settings, {
    processor: stripeProcessor(stripe.settings, 'https://polls.example', 1_000),
  });
  const accountId = await createAccount(hasty.context.storage);
  const before = stripe.sessions.size;
  stripe.trouble('late');
  const answer = await hasty.app.inject({
    method: 'POST',
    url: '/api/checkout',
    headers: await hasty.sessionFor(accountId),
    payload: { amount_cents: 500 },
  });
  t.equal(answer.statusCode, 200);
  t.equal(stripe.sessions.size, before + 1);
});

t.test('[§A6-stripe-webhook] without Stripe settings both operations are not_configured', async (t) => {
  const bare = await build(t);
  const accountId = await createAccount(bare.context.storage);
  const headers = await bare.sessionFor(accountId);
  const answer = await bare.app.inject({
    method: 'POST',
    url: '/api/checkout',
    headers,
    payload: { amount_cents: 500 },
  });
  t.match(answer.json(), { code: 'not_configured' });
  const event = await bare.app.inject({ method: 'POST', url: '/api/webhooks/stripe', payload: {} });
  t.match(event.json(), { code: 'not_configured' });
});

t.test('the ledger balances after all tests', async (t) => {
  t.same(await checkLedger(storage), []);
});
