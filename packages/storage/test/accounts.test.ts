import { randomBytes } from 'node:crypto';
import t from 'tap';
import {
  acceptPoll,
  admitIdentity,
  balanceOf,
  checkLedger,
  claimPoll,
  createAccount,
  deleteAccount,
  findAccount,
  findIdentity,
  findKeyByHash,
  findPoll,
  findResult,
  findWallet,
  finishPoll,
  insertKey,
  inTransaction,
  listKeys,
  readFeedbackSummary,
  readHistory,
  revokeAllKeys,
  revokeKey,
  storeFeedback,
  touchKeys,
} from '../src/index.ts';
import { acceptance, finished, funded, open, together, USD } from './fixtures.ts';

const newKey = (accountId: string, label = '') => ({ accountId, hash: randomBytes(32), prefix: 'ep_k_abcde', label });

const { storage, query } = await open(t, { maxConnections: 16 });

t.test('a key is found by its hash until its owner revokes it, once', async (t) => {
  const [owner, other] = [await createAccount(storage), await createAccount(storage)];
  const key = newKey(owner, 'mine');
  const { id } = await insertKey(storage, key);
  const second = await insertKey(storage, newKey(owner));
  t.same(await findKeyByHash(storage, key.hash), { keyId: id, accountId: owner, secondsLeft: null });
  t.equal(await findKeyByHash(storage, randomBytes(32)), null);
  await t.rejects(insertKey(storage, { ...newKey(owner), hash: key.hash }), { name: 'StorageRefused' });

  await touchKeys(storage, [id, '11111111-1111-4111-8111-111111111111']);
  t.equal(await revokeKey(storage, other, id), null, 'not by another account');
  t.same(await revokeKey(storage, owner, id), key.hash, 'for caches by hash');
  t.equal(await revokeKey(storage, owner, id), null, 'only once');
  t.equal(await findKeyByHash(storage, key.hash), null);
  t.match(await listKeys(storage, owner), [
    { id: second.id, label: '', lastUsedAt: null, revokedAt: null },
    { id, label: 'mine', prefix: 'ep_k_abcde', lastUsedAt: Date, revokedAt: Date, createdAt: Date },
  ]);
  t.same(await listKeys(storage, other), []);

  const { label: _, ...bare } = newKey(other);
  t.match(await insertKey(storage, bare), { label: '' }, 'a label may be left out');
  await insertKey(storage, { ...newKey(other), pepperId: 2 });
  const peppers = await query('select pepper_id from api_keys where account_id = $1 order by 1', [other]);
  t.same(peppers, [{ pepper_id: 1 }, { pepper_id: 2 }]);
});

t.test('of many who replace all keys at once each revokes what was there, and one key is left', async (t) => {
  const accountId = await createAccount(storage);
  const other = await insertKey(storage, newKey(await createAccount(storage)));
  for (let index = 0; index < 3; index++) await insertKey(storage, newKey(accountId));
  const revoked = await together(20, 20, () =>
    inTransaction(storage, async (tx) => {
      const hashes = await revokeAllKeys(tx, accountId);
      await insertKey(tx, newKey(accountId));
      return hashes;
    }),
  );
  const hashes = revoked.flat().map((hash) => hash.toString('hex'));
  t.equal(hashes.length, 3 + 19);
  t.equal(new Set(hashes).size, hashes.length, 'each key is revoked once');
  const keys = await listKeys(storage, accountId);
  t.equal(keys.filter((key) => key.revokedAt === null).length, 1);
  t.ok(keys.every(({ createdAt, revokedAt }) => revokedAt === null || revokedAt >= createdAt));
  t.same(await query('select revoked_at from api_keys where id = $1', [other.id]), [{ revoked_at: null }]);
});

t.test('an identity opens one account, however many first logins race', async (t) => {
  const wallet = { kind: 'wallet', address: randomBytes(20) } as const;
  const person = { kind: 'oidc', issuer: 'https://id.example', subject: 's1', email: 'a@example.com' } as const;
  for (const identity of [wallet, person]) {
    t.equal(await findIdentity(storage, identity), null);
    const admitted = await together(16, 16, () => admitIdentity(storage, identity));
    t.equal(new Set(admitted.map(({ accountId }) => accountId)).size, 1);
    t.equal(admitted.filter(({ isNewAccount }) => isNewAccount).length, 1);
    t.match(await findIdentity(storage, identity), { accountId: admitted[0]!.accountId });
    t.match(await balanceOf(storage, admitted[0]!.accountId), { availableU: 0n });
    const address = identity.kind === 'wallet' ? identity.address : null;
    t.same(await findWallet(storage, admitted[0]!.accountId), address);
  }
  const elsewhere = await admitIdentity(storage, { ...person, issuer: 'https://other.example' });
  t.same(
    await query(`select 1 from accounts a where kind = 'user' and email = 'a@example.com'
                  and not exists (select 1 from identities where account_id = a.id)`),
    [],
    'the losers of the race left no account behind',
  );
  t.ok(elsewhere.isNewAccount, 'the same subject and e-mail of another issuer is another person');
  t.match(await findAccount(storage, elsewhere.accountId), { email: 'a@example.com' });
  await t.rejects(admitIdentity(storage, { kind: 'wallet', address: randomBytes(19) }), { name: 'StorageRefused' });
});

t.test('a deleted account is forgotten; its results stay public, without an owner, and the books stay', async (t) => {
  const person = { kind: 'oidc', issuer: 'https://id.example', subject: 's2', email: 'b@example.com' } as const;
  const { accountId } = await admitIdentity(storage, person);
  await query(`select ledger_move('credit', $1, '00000000-0000-4000-8000-000000000003', 5000000, 'grant')`, [
    accountId,
  ]);
  const key = newKey(accountId);
  await insertKey(storage, key);
  const [ended, running] = [acceptance(accountId), acceptance(accountId)];
  for (const request of [ended, running]) await acceptPoll(storage, request);
  await finishPoll(storage, finished((await claimPoll(storage, ended.poll.id, 'worker'))!));
  const { resultId } = ended.poll;
  await storeFeedback(storage, { accountId, resultId, outcomeCorrect: true, confidence: null, notes: 'it is me' });

  t.equal(await deleteAccount(storage, accountId), true);
  t.equal(await deleteAccount(storage, accountId), false);
  t.equal(await findAccount(storage, accountId), null);
  t.equal(await findIdentity(storage, person), null);
  t.equal(await findKeyByHash(storage, key.hash), null);
  t.match(await findResult(storage, resultId), { accountId: null, status: 'success' });
  t.same(await readHistory(storage, accountId, 20, 0), []);
  t.match(await readFeedbackSummary(storage, resultId), { total: 1, correct: 1 });
  t.same(
    await query('select 1 from feedback where notes is not null union select 1 from accounts where email = $1', [
      'b@example.com',
    ]),
    [],
  );

  const late = await claimPoll(storage, running.poll.id, 'worker');
  t.match(await finishPoll(storage, finished(late!)), { outcome: 'stored' }, 'a poll that was running still ends');
  t.match(await findResult(storage, running.poll.resultId), { accountId: null });
  t.match(await findPoll(storage, running.poll.id), { accountId: null, status: 'completed' });
  t.same(await checkLedger(storage), []);
});

t.test('system accounts cannot be found or deleted', async (t) => {
  await funded(storage, USD);
  for (const { id } of await query<{ id: string }>("select id from accounts where kind <> 'user'")) {
    t.equal(await findAccount(storage, id), null);
    t.equal(await deleteAccount(storage, id), false);
  }
});
