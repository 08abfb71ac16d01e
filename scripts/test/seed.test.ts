import { LOCAL_EMAIL, subjectOf } from '@eloquentpoll/identity-provider/people';
import { admitIdentity, openStorage } from '@eloquentpoll/storage';
import { testDatabase } from '@eloquentpoll/testkit/database';
import t from 'tap';
import { seedLocalAccount } from '../seed.ts';

const PEPPER = 'a pepper of at least thirty-two bytes';
const ISSUER = 'http://localhost:4000';

t.test('each database has one local account, and the login leads to it, whatever was started in between', async (t) => {
  const [one, other] = [await testDatabase(t), await testDatabase(t)];
  const first = await seedLocalAccount(one, PEPPER, {}, ISSUER);
  const elsewhere = await seedLocalAccount(other, PEPPER, first, ISSUER);
  t.not(elsewhere.accountId, first.accountId);
  const again = await seedLocalAccount(one, PEPPER, first, ISSUER);
  t.same([again.accountId, again.apiKey, again.balanceU], [first.accountId, first.apiKey, 25_000_000n]);
  const forgotten = await seedLocalAccount(one, PEPPER, elsewhere, ISSUER);
  t.equal(forgotten.accountId, first.accountId, 'also where only the login is known there');
  await using storage = openStorage({ databaseUrl: one, maxConnections: 1 });
  const person = { kind: 'oidc', issuer: ISSUER, subject: subjectOf(LOCAL_EMAIL) } as const;
  t.equal((await admitIdentity(storage, person)).accountId, first.accountId);
});

t.test('an account that was there before the login is led to by it', async (t) => {
  const url = await testDatabase(t);
  const first = await seedLocalAccount(url, PEPPER, {});
  t.equal((await seedLocalAccount(url, PEPPER, first, ISSUER)).accountId, first.accountId);
});
