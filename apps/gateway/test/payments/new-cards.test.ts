import { createAccount, insertKey } from '@eloquentpoll/storage';
import { delivery, fakeStripe } from '@eloquentpoll/testkit/fakes/stripe';
import t from 'tap';
import { apiKeyPrefix, hashApiKey, newApiKey } from '../../src/accounts/keys/api-key.ts';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { build, PEPPER } from '../fixtures/build.ts';

const stripe = await fakeStripe(t);
const order = (amount_cents: number) => ({ method: 'POST' as const, url: '/api/checkout', payload: { amount_cents } });
const poll = { question: 'Which one is the larger of the two?', options: ['The Sun', 'The Moon'], preset: 'strong' };

t.test('a top-up is credited at once; what has not settled is in the balance and pays for no poll', async (t) => {
  const cardHoldBack = { days: 7, share: 1, freeU: 0n };
  const { app, context, sessionFor } = await build(t, { checkout: stripe.settings, cardHoldBack });
  const accountId = await createAccount(context.storage);
  const headers = await sessionFor(accountId);
  const { url } = (await app.inject({ ...order(500), headers })).json();
  await app.inject(delivery(stripe.complete(stripe.sessions.get(url.split('/').at(-1))!)));
  const balance = await app.inject({ url: '/api/balance', headers });
  t.same(balance.json(), { balance_cents: 500, balance: '$5.00', usage_cents: 0, held_back_cents: 500 });
  const key = newApiKey();
  await insertKey(context.storage, { accountId, hash: hashApiKey(PEPPER, key), prefix: apiKeyPrefix(key) });
  const bearer = { authorization: `Bearer ${key}` };
  const refused = await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload: poll });
  t.equal(refused.statusCode, 402);
  t.match(refused.json(), { code: 'insufficient_balance', error: /5\.00 USD more can be used .* after 7 days/ });
  const dry = await app.inject({ method: 'POST', url: '/api/poll/dry-run', headers: bearer, payload: poll });
  t.match(dry.json(), { estimates: { balance_sufficient: false } });
});

t.test(
  'an account opens ten checkouts an hour, then 429 with Retry-After; another one is not limited by it',
  async (t) => {
    const { app, context, sessionFor } = await build(t, { checkout: stripe.settings });
    const [headers, others] = [
      await sessionFor(await createAccount(context.storage)),
      await sessionFor(await createAccount(context.storage)),
    ];
    for (let i = 0; i < 10; i++) t.equal((await app.inject({ ...order(500), headers })).statusCode, 200);
    const refused = await app.inject({ ...order(500), headers });
    t.equal(refused.statusCode, 429);
    t.match(refused.json(), { code: 'rate_limited' });
    t.ok(Number(refused.headers['retry-after']) > 3_000);
    t.equal((await app.inject({ ...order(500), headers: others })).statusCode, 200);
  },
);

t.test('the accounts of one network share a budget of checkouts', async (t) => {
  const rateLimits = readPolicies('checkout_network=6/3600');
  const { app, context, sessionFor } = await build(t, { checkout: stripe.settings, rateLimits });
  const open = async (remoteAddress: string) => {
    const headers = await sessionFor(await createAccount(context.storage));
    return app.inject({ ...order(500), headers, remoteAddress });
  };
  for (let i = 0; i < 6; i++) t.equal((await open('192.0.2.1')).statusCode, 200);
  const refused = await open('192.0.2.1');
  t.equal(refused.statusCode, 429);
  t.ok(Number(refused.headers['retry-after']) > 3_000);
  t.equal((await open('198.51.100.1')).statusCode, 200);
});
