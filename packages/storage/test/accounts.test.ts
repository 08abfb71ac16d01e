import { randomBytes } from 'node:crypto';
import t from 'tap';
import {
  acceptPoll,
  admitIdentity,
  balanceOf,
  checkLedger,
  claimPoll,
  closeAccount,
  createAccount,
  emptyClosedAccounts,
  findAccount,
  findIdentity,
  findKeyByHash,
  findLogin,
  findResult,
  findWallet,
  finishPoll,
  freezeAccount,
  insertKey,
  insertLogin,
  inTransaction,
  listKeys,
  readHistory,
  renewLeases,
  revokeAllKeys,
  revokeKey,
  storeFeedback,
  touchKeys,
  unfreezeAccount,
} from '../src/index.ts';
import { acceptance, finished, funded, open, together, USD } from './fixtures.ts';
import { rowsReadBy } from './query-plan.ts';

const newKey = (accountId: string, label = '') => ({ accountId, hash: randomBytes(32), prefix: 'ep_k_abcde', label });

const { storage, query } = await open(t, { maxConnections: 16 });

t.test('a key is found by its hash until its owner revokes it, once', async (t) => {
  const [owner, other] = [await createAccount(storage), await createAccount(storage)];
  const key = newKey(owner, 'mine');
  const { id } = await insertKey(storage, key);
  const second = await insertKey(storage, newKey(owner));
  t.same(await findKeyByHash(storage, key.hash), {
    keyId: id,
    accountId: owner,
    secondsLeft: null,
    isFrozen: false,
    isMoving: false,
    isReadOnly: false,
    isRestricted: false,
  });
  t.equal(await findKeyByHash(storage, randomBytes(32)), null);
  await t.rejects(insertKey(storage, { ...newKey(owner), hash: key.hash }), { name: 'StorageRefused' });

  await touchKeys(storage, [id, '11111111-1111-4111-8111-111111111111']);
  t.equal(await revokeKey(storage, other, id), false, 'not by another account');
  t.equal(await revokeKey(storage, owner, id), true);
  t.equal(await revokeKey(storage, owner, id), false, 'only once');
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

t.test('a revoked key is looked up in the same steps as one that never was: no row is read for either', async (t) => {
  const owner = await createAccount(storage);
  await query(`insert into api_keys (account_id, hash, prefix, revoked_at)
    select '${owner}', sha256(n::text::bytea), 'ep_k_abcde', now() from generate_series(1, 2000) n`);
  const [active, revoked] = [newKey(owner), newKey(owner)];
  await insertKey(storage, active);
  await revokeKey(storage, owner, (await insertKey(storage, revoked)).id);
  await query('vacuum analyze api_keys');
  const rowsReadFor = (hash: Buffer) =>
    inTransaction(storage, (tx) => rowsReadBy(tx, 'api_keys', () => findKeyByHash(tx, hash)));
  t.equal(await rowsReadFor(active.hash), 1);
  t.equal(await rowsReadFor(revoked.hash), 0);
  t.equal(await rowsReadFor(randomBytes(32)), 0);
});

t.test('of many who replace all keys at once each revokes what was there, and one key is left', async (t) => {
  const accountId = await createAccount(storage);
  const other = await insertKey(storage, newKey(await createAccount(storage)));
  for (let index = 0; index < 3; index++) await insertKey(storage, newKey(accountId));
  const revoked = await together(20, 20, () =>
    inTransaction(storage, async (tx) => {
      const ids = await revokeAllKeys(tx, accountId);
      await insertKey(tx, newKey(accountId));
      return ids;
    }),
  );
  const ids = revoked.flat();
  t.equal(ids.length, 3 + 19);
  t.equal(new Set(ids).size, ids.length, 'each key is revoked once');
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

t.test('a closed account is forgotten at once, what it asked batch by batch, and the books stay', async (t) => {
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
  const opinion = { accountId, resultId, outcomeCorrect: true, confidence: null, notes: 'it is me' };
  await storeFeedback(storage, opinion);

  t.match(await closeAccount(storage, accountId), { keys: [key.hash], ended: [{ id: running.poll.id }] });
  t.equal(await closeAccount(storage, accountId), null);
  t.equal(await findAccount(storage, accountId), null);
  t.equal(await findIdentity(storage, person), null);
  t.equal(await findKeyByHash(storage, key.hash), null);
  t.equal(await findResult(storage, resultId), null, 'before it is emptied');
  t.equal(await storeFeedback(storage, { ...opinion, accountId: await funded(storage, 0n) }), null);
  t.match(await acceptPoll(storage, acceptance(accountId)), { kind: 'frozen' });
  const late = await claimPoll(storage, running.poll.id, 'worker');
  t.equal(late?.remainingMs, 0);

  t.equal((await emptyClosedAccounts(storage)).length, 1, 'the poll that is running is left');
  t.match(await finishPoll(storage, finished(late!)), { outcome: 'stored' }, 'it ends');
  t.equal(await findResult(storage, running.poll.resultId), null);
  t.equal((await emptyClosedAccounts(storage)).length, 1);
  t.equal((await emptyClosedAccounts(storage)).length, 0);
  const texts = await query<{ text: string }>(
    `
    select concat(p.spec, r.detail, r.winning_option, p.account_id, r.account_id, p.tenant, p.request_id) as text
      from polls p join results r on r.poll_id = p.id where p.id = any($1)`,
    [[ended.poll.id, running.poll.id]],
  );
  t.equal(texts.length, 2);
  for (const { text } of texts) t.notMatch(text, new RegExp(`${ended.poll.spec.question}|${accountId}`));
  t.same(await readHistory(storage, accountId, 20, 0), []);
  t.same(
    await query('select 1 from feedback union all select 1 from accounts where email is not null and id = $1', [
      accountId,
    ]),
    [],
  );
  t.match(await query('select 1 as one from accounts where emptied_at is not null'), [{ one: 1 }]);
  t.ok((await balanceOf(storage, accountId))!.usageU > 0n);
  t.same(await checkLedger(storage), []);
});

t.test('a frozen account keeps everything and may use nothing until it is unfrozen', async (t) => {
  const accountId = await funded(storage, 5n * USD);
  const key = newKey(accountId);
  const { id: keyId } = await insertKey(storage, key);
  const login = await insertLogin(storage, { accountId });
  const running = acceptance(accountId);
  await acceptPoll(storage, running);
  const claim = await claimPoll(storage, running.poll.id, 'worker');
  t.match(await freezeAccount(storage, accountId), {
    keys: [key.hash],
    ended: [{ id: running.poll.id, epoch: claim!.epoch }],
    isRepeated: false,
  });
  t.same(await freezeAccount(storage, accountId), { keys: [key.hash], ended: [], isRepeated: true });
  t.match(await findKeyByHash(storage, key.hash), { keyId, isFrozen: true });
  t.match(await findLogin(storage, login), { accountId, isFrozen: true });
  t.match(await acceptPoll(storage, acceptance(accountId)), { kind: 'frozen' });
  t.same(
    await renewLeases(storage, 'worker', [{ id: running.poll.id, epoch: claim!.epoch }]),
    [],
    'the worker has lost it',
  );
  t.match(await claimPoll(storage, running.poll.id, 'other'), { remainingMs: 0 });

  t.same(await unfreezeAccount(storage, accountId), [key.hash]);
  t.equal(await unfreezeAccount(storage, accountId), null);
  t.match(await findKeyByHash(storage, key.hash), { keyId, isFrozen: false });
  t.match(await acceptPoll(storage, acceptance(accountId)), { kind: 'accepted' });
});

t.test('of polls that are accepted while an account is frozen none is left running', async (t) => {
  const accountId = await funded(storage, 50n * USD);
  const requests = Array.from({ length: 30 }, () => acceptance(accountId));
  const [accepted, frozen] = await Promise.all([
    Promise.all(requests.map((request) => acceptPoll(storage, request))),
    freezeAccount(storage, accountId),
  ]);
  const kinds = accepted.map(({ kind }) => kind);
  t.equal(kinds.filter((kind) => kind === 'accepted').length, frozen!.ended.length);
  t.same(
    await query("select 1 from polls where account_id = $1 and status = 'running' and deadline_at > now()", [
      accountId,
    ]),
    [],
  );
});

t.test('system accounts cannot be found, frozen or closed', async (t) => {
  await funded(storage, USD);
  for (const { id } of await query<{ id: string }>("select id from accounts where kind <> 'user'")) {
    t.equal(await findAccount(storage, id), null);
    t.equal(await freezeAccount(storage, id), null);
    t.equal(await closeAccount(storage, id), null);
  }
});
