import { randomUUID } from 'node:crypto';
import { admitIdentity, capture, createAccount, creditAccount, hold, reverseCredit } from '@eloquentpoll/storage';
import t from 'tap';
import { build } from '../fixtures/build.ts';

// slow: 3 s

const { app, context, keyWith, sessionFor } = await build(t);
const { storage } = context;

t.test(
  '[§1-balance-cents, §2.7-balance-cents, §2.7-balance, §2.7-usage-cents, §4.5-balance-200] the balance is what can be spent, rounded down to whole cents',
  async (t) => {
    const { accountId } = await keyWith(12.34);
    const headers = await sessionFor(accountId);
    const read = async () => (await app.inject({ url: '/api/balance', headers })).json();
    t.same(await read(), { balance_cents: 1234, balance: '$12.34', usage_cents: 0 });

    await hold(storage, { accountId, amountU: 1_000_001n, idem: 'hold' });
    t.same(await read(), { balance_cents: 1133, balance: '$11.33', usage_cents: 0 }, 'set aside, rounded down');
    await capture(storage, 'hold', 4_999n);
    t.same(await read(), { balance_cents: 1233, balance: '$12.33', usage_cents: 0 });
    await hold(storage, { accountId, amountU: 1n, idem: 'hold 2' });
    await capture(storage, 'hold 2', 1n);
    t.same(await read(), { balance_cents: 1233, balance: '$12.33', usage_cents: 1 }, 'rounded as a sum');

    await creditAccount(storage, { accountId, amountU: 20_000n, source: 'operator', idem: 'refunded later' });
    await reverseCredit(storage, { accountId, amountU: 12_365_001n, source: 'operator', idem: 'refund' });
    t.same(await read(), { balance_cents: -2, balance: '-$0.02', usage_cents: 1 }, 'below zero it rounds down too');
    await creditAccount(storage, { accountId, amountU: 1_234_567_800_000n, source: 'operator', idem: 'much' });
    t.match(await read(), { balance_cents: 123_456_778, balance: '$1234567.78' });

    const poor = await app.inject({ url: '/api/balance', headers: await sessionFor(await createAccount(storage)) });
    t.same(poor.json(), { balance_cents: 0, balance: '$0.00', usage_cents: 0 });
  },
);

t.test(
  '[§2.15-user-id, §2.15-user-email, §4.5-me-200] /api/auth/me has a user id and the e-mail address, or one under .invalid',
  async (t) => {
    const me = async (accountId: string) =>
      (await app.inject({ url: '/api/auth/me', headers: await sessionFor(accountId) })).json();
    const person = { kind: 'oidc', issuer: 'https://id.example', subject: 's', email: 'ada@example.com' } as const;
    const address = Buffer.from('d8da6bf26964af9d7eed9e03e53415d37aa96045', 'hex');
    const known = await admitIdentity(storage, person);
    t.same(await me(known.accountId), { userId: known.accountId, email: 'ada@example.com' });
    const wallet = await admitIdentity(storage, { kind: 'wallet', address });
    const email = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045@wallet.invalid';
    t.same(await me(wallet.accountId), { userId: wallet.accountId, email });
    const neither = await createAccount(storage);
    t.same(await me(neither), { userId: neither, email: `${neither}@user.invalid` });
  },
);

t.test(
  '[§4.5-balance-401, §4.5-me-401, §5-rule-cookie-only, §A6-cookie-only-bearer-401] balance and me take the cookie only',
  async (t) => {
    const { bearer } = await keyWith(1);
    for (const url of ['/api/balance', '/api/auth/me']) {
      const none = await app.inject({ url });
      t.match([none.statusCode, none.json().code], [401, 'authentication_required']);
      const key = await app.inject({ url, headers: bearer });
      t.match([key.statusCode, key.json().error], [401, /session cookie of a login/]);
      t.equal((await app.inject({ url, headers: { cookie: `ep_session=${randomUUID()}` } })).statusCode, 401);
      t.equal(key.headers['access-control-allow-origin'], undefined, 'no other origin reads it');
    }
  },
);
