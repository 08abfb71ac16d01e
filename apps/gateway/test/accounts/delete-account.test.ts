import { newPollId } from '@eloquentpoll/polls';
import {
  admitIdentity,
  balanceOf,
  checkLedger,
  closeAccount,
  closeAlikeMisfits,
  createAccount,
  creditAccount,
  emptyClosedAccounts,
  openCheckout,
  openMisfits,
} from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { delivery, fakeStripe } from '@eloquentpoll/testkit/fakes/stripe';
import t from 'tap';
import { closeEverywhere } from '../../src/accounts/close-everywhere.ts';
import { createLogin, LOGIN_COOKIE } from '../../src/accounts/login/login-cookie.ts';
import { build } from '../fixtures/build.ts';
import { placesOf } from '../fixtures/places-of.ts';
import { patientReplicaOf } from '../fixtures/replica.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';
import { NO_LOGIN_LIMIT, walletOwner } from '../fixtures/wallet-owner.ts';

// slow: 3 s

const MARK = 'xylographic';
const gateway = await build(t, { rateLimits: NO_LOGIN_LIMIT });
const { app, context } = gateway;
await standInWorker(t, context, { announcesVotes: true });

const bearerOf = (key: string) => ({ authorization: `Bearer ${key}` });

/** A person with a balance, who has written the mark wherever there is space for it. */
async function person(subject: string, usd: number) {
  const identity = {
    kind: 'oidc',
    issuer: 'https://id.example',
    subject,
    email: `${subject}@${MARK}.example`,
  } as const;
  const { accountId } = await admitIdentity(context.storage, identity);
  if (usd > 0) {
    const amountU = BigInt(usd) * 1_000_000n;
    await creditAccount(context.storage, { accountId, amountU, source: 'operator', idem: `for ${subject}` });
  }
  const cookie = { cookie: `${LOGIN_COOKIE}=${await createLogin(context, { accountId })}` };
  const made = await app.inject({ method: 'POST', url: '/api/keys', headers: cookie, payload: { label: MARK } });
  return { accountId, cookie, bearer: bearerOf(made.json().key) };
}

const remove = (headers: object, query: object) =>
  app.inject({ method: 'DELETE', url: '/api/account', headers: { ...headers }, query: { ...query } as never });

t.test('a deleted account leaves the books and its ids, and nothing that it wrote', async (t) => {
  const { accountId, cookie, bearer } = await person('ada', 5);
  const headers = { ...bearer, 'idempotency-key': MARK };
  const send = (method: 'POST' | 'PUT', url: string, payload: object) => app.inject({ method, url, headers, payload });
  const poll = { question: `Which ${MARK} press is best?`, options: [`${MARK} A`, 'B'], metadata: { [MARK]: MARK } };
  const { poll_id: result } = (await send('POST', '/api/poll', poll)).json();
  await send('POST', '/api/feedback', { poll_id: result, outcome_correct: true, notes: MARK });
  const models = context.panels
    .models()
    .slice(0, 3)
    .map(({ id }) => id);
  await send('PUT', `/api/panels/${MARK}`, { models });
  const endpoint = { url: `https://${MARK}.example/hook`, event_types: ['poll.completed'], description: MARK };
  await send('POST', '/api/webhook-endpoints', endpoint);
  await send('POST', '/api/poll', poll);
  const before = await placesOf(gateway, MARK);
  for (const place of ['polls', 'results', 'feedback', 'saved_panels', 'accounts', 'api_keys', 'usage_labels'])
    t.ok(before.has(place), `${place} has it before`);

  t.equal((await remove(bearer, { confirm: accountId })).statusCode, 401, 'a key cannot');
  t.equal((await remove(cookie, {})).statusCode, 400);
  t.equal((await remove(cookie, { confirm: newPollId() })).statusCode, 400);
  const left = await remove(cookie, { confirm: accountId });
  t.match([left.statusCode, left.json()], [409, { code: 'balance_left', error: /\$4\.99 is left/ }]);
  const fromAfar = { ...cookie, origin: 'https://elsewhere.example' };
  t.equal((await remove(fromAfar, { confirm: accountId, give_up_balance: 'true' })).statusCode, 403);
  await gateway.asOwner(`update logins set created_at = now() - interval '16 minutes'`);
  const old = await remove(cookie, { confirm: accountId, give_up_balance: 'true' });
  t.match([old.statusCode, old.json().code], [403, 'recent_login_required']);
  t.equal((await app.inject({ url: `/api/results/${result}` })).statusCode, 200, 'nothing has happened');
  await gateway.asOwner('update logins set created_at = now()');

  const done = await remove(cookie, { confirm: accountId, give_up_balance: 'true' });
  t.match([done.statusCode, done.json()], [200, { deleted: true }], done.body);
  t.ok(done.json().given_up_usd > 4.9);
  t.match(String(done.headers['set-cookie']), new RegExp(`^${LOGIN_COOKIE}=;`));
  t.equal((await app.inject({ url: `/api/results/${result}` })).statusCode, 404, 'at once');
  for (const gone of [cookie, bearer])
    t.equal((await app.inject({ url: '/api/keys', headers: gone })).statusCode, 401, 'and no credential is left');
  t.equal((await remove(cookie, { confirm: accountId })).statusCode, 401);

  await context.bus.forgetPolls(await emptyClosedAccounts(context.storage));
  t.same(await placesOf(gateway, MARK), new Set());
  t.same(await checkLedger(context.storage), []);
  t.match(await gateway.asOwner(`select kind from transfers where '${accountId}' in (debit, credit) order by id`), [
    { kind: 'credit' },
    { kind: 'hold' },
    { kind: 'post' },
  ]);
});

t.test('an account without money needs no confirmation of that; one that is frozen cannot go', async (t) => {
  const { accountId, cookie } = await person('bob', 0);
  t.match((await remove(cookie, { confirm: accountId })).json(), { deleted: true, given_up_usd: 0 });
  const cyd = await person('cyd', 0);
  await gateway.asOwner(`update accounts set frozen_at = now() where id = '${cyd.accountId}'`);
  t.equal((await remove(cyd.cookie, { confirm: cyd.accountId })).statusCode, 403);
});

t.test('a wallet deletes its account by a signature that is for nothing else', async (t) => {
  const owner = walletOwner(gateway);
  const { user_id: accountId, api_key: key } = (await owner.verify()).json();
  const post = (payload: object) => app.inject({ method: 'POST', url: '/api/wallet/delete-account', payload });
  for (const purpose of [undefined, 'login', 'revoke', 'rotate'])
    t.equal((await post(await owner.proof(purpose))).statusCode, 401, purpose ?? 'for anything');
  const proof = await owner.proof('delete');
  t.match(proof.message, /Delete the EloquentPoll account of this wallet/);
  t.equal((await owner.verify(proof)).statusCode, 401, 'nor does it sign in');
  t.equal((await post(await walletOwner(gateway).proof('delete'))).statusCode, 404, 'of a wallet without an account');
  await creditAccount(context.storage, { accountId, amountU: 1_000_000n, source: 'operator', idem: 'wallet' });
  t.equal((await post(proof)).json().code, 'balance_left');
  t.match((await post({ ...proof, give_up_balance: true })).json(), { deleted: true, given_up_usd: 1 });
  t.equal((await post({ ...proof, give_up_balance: true })).statusCode, 401, 'the proof is used up');
  t.equal((await app.inject({ url: '/api/keys', headers: bearerOf(key) })).statusCode, 401);
  t.ok((await owner.verify()).json().is_new_user, 'the wallet may begin again');
});

async function customer(shop: Awaited<ReturnType<typeof build>>, stripe: Awaited<ReturnType<typeof fakeStripe>>) {
  const accountId = await createAccount(shop.context.storage);
  const headers = await shop.sessionFor(accountId);
  const order = { method: 'POST', url: '/api/checkout', headers, payload: { amount_cents: 700 } } as const;
  const { url } = (await shop.app.inject(order)).json();
  const leave = async (query: object = {}) => {
    const answer = await shop.app.inject({
      ...{ method: 'DELETE', url: '/api/account', headers },
      query: { confirm: accountId, ...query } as never,
    });
    return [answer.statusCode, answer.json().code ?? answer.json().given_up_usd];
  };
  return { accountId, leave, session: stripe.sessions.get(url.split('/').at(-1))! };
}

t.test('an account whose card payment is under way is deleted once that has ended', async (t) => {
  const stripe = await fakeStripe(t);
  const shop = await build(t, { checkout: stripe.settings });
  const [paid, slow, unpaid] = [
    await customer(shop, stripe),
    await customer(shop, stripe),
    await customer(shop, stripe),
  ];
  stripe.complete(paid.session);
  t.same(await paid.leave(), [409, 'balance_left'], 'the event of the payment has not come yet');
  t.same(await paid.leave({ give_up_balance: 'true' }), [200, 7]);

  stripe.complete(slow.session, { paid: false });
  t.same(await slow.leave(), [409, 'payment_under_way'], 'its bank has not confirmed it');
  stripe.confirm(slow.session);
  t.same(await slow.leave(), [409, 'balance_left']);

  stripe.trouble('errors');
  t.same(await unpaid.leave(), [409, 'payment_under_way'], 'it cannot be read');
  stripe.trouble('none');
  t.same(await unpaid.leave(), [200, 0]);
  t.equal(unpaid.session.status, 'expired', 'its page cannot be paid on any more');
  t.same(await checkLedger(shop.context.storage), []);
});

t.test('an account whose payment page is being opened is deleted once that is decided', async (t) => {
  const stripe = await fakeStripe(t);
  const shop = await build(t, { checkout: stripe.settings });
  const { storage } = shop.context;
  const { accountId, leave, session } = await customer(shop, stripe);
  await openCheckout(storage, { accountId, amountCents: 700 });
  t.same(await leave(), [409, 'payment_under_way']);
  t.equal(session.status, 'expired', 'the pages that are open are ended meanwhile');
  await storage.db
    .updateTable('checkouts')
    .set({ created_at: new Date(Date.now() - 120_000) })
    .where('account_id', '=', accountId)
    .execute();
  t.same(await leave(), [200, 0], 'the processor did not answer');
});

t.test('a payment that a closed account got is a misfit, until an operator has seen to it', async (t) => {
  const stripe = await fakeStripe(t);
  const shop = await build(t, { checkout: stripe.settings });
  const { storage } = shop.context;
  const { accountId, session } = await customer(shop, stripe);
  t.ok(await closeEverywhere(shop.context, accountId));
  await shop.app.inject(delivery(stripe.complete(session)));
  t.equal((await balanceOf(storage, accountId))!.postedU, 7_000_000n);
  await closeAlikeMisfits(storage);
  const checkout_id = session.client_reference_id!;
  const details = { checkout_id, account_id: accountId };
  t.match(await openMisfits(storage, 10), [{ source: 'card', reason: 'closed_account', amountU: 7_000_000n, details }]);
  t.same(await checkLedger(storage), []);
});

t.test('a request that was let in before its account was deleted is a 401, and leaves nothing', async (t) => {
  const { accountId, bearer } = await person('hopper', 0);
  const models = context.panels
    .models()
    .slice(0, 3)
    .map(({ id }) => id);
  const patient = await patientReplicaOf(t, context);
  const saving = Promise.withResolvers<Awaited<ReturnType<typeof app.inject>>>();
  const beforeCommit = async () => {
    patient.app
      .inject({ method: 'PUT', url: '/api/panels/late', headers: bearer, payload: { models } })
      .then(saving.resolve, saving.reject);
    await eventually('it waits for the account', async () => {
      const waiting = await gateway.asOwner(
        'select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0',
      );
      return (waiting as unknown[]).length > 0;
    });
  };
  t.ok(await closeAccount(context.storage, accountId, { beforeCommit }));
  const late = await saving.promise;
  t.match([late.statusCode, late.json().code], [401, 'authentication_required']);
  t.same(await gateway.asOwner(`select from saved_panels where account_id = '${accountId}'`), []);
});
