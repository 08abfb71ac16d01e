import { randomBytes } from 'node:crypto';
import t from 'tap';
import {
  type ApiKeyToStore,
  changeKey,
  createAccount,
  findKeyByHash,
  insertKey,
  inTransaction,
  type KeyTermsChange,
  keysEndedLately,
  listKeys,
  ownsKey,
  revokeAllKeys,
  revokeKey,
} from '../src/index.ts';
import { open } from './fixtures.ts';

// What a key may do, what is changed about it, and in which order keys are listed.

const { storage, query } = await open(t);
const HOUR_MS = 3_600_000;
const later = () => new Date(Date.now() + HOUR_MS);

async function key(accountId: string, terms: Partial<ApiKeyToStore> = {}) {
  const hash = randomBytes(32);
  const made = await insertKey(storage, { accountId, hash, prefix: 'ep_k_abcde', ...terms });
  const change = (change: KeyTermsChange, by = accountId) =>
    inTransaction(storage, (tx) => changeKey(tx, { accountId: by, keyId: made.id }, change));
  return { ...made, hash, change, found: () => findKeyByHash(storage, hash) };
}

t.test(
  'a key is restricted by a limit, an end or fewer rights, each alone, and until it has none of them',
  async (t) => {
    const accountId = await createAccount(storage);
    t.match(await (await key(accountId)).found(), { isRestricted: false, isReadOnly: false, secondsLeft: null });
    for (const [terms, expected, free] of [
      [{ isReadOnly: true }, { isReadOnly: true, secondsLeft: null }, { isReadOnly: false }],
      [{ expiresAt: later() }, { isReadOnly: false, secondsLeft: Number }, { expiresAt: null }],
      [
        { limit: { limitU: 0n, reset: 'daily' } },
        { isReadOnly: false, secondsLeft: null },
        { limit: { limitU: null } },
      ],
    ] as const) {
      const { found, change } = await key(accountId, terms);
      t.match(await found(), { ...expected, isRestricted: true });
      await change({ label: 'renamed' });
      t.match(await found(), { ...expected, isRestricted: true }, 'what is not named stays as it is');
      await change(free);
      t.match(await found(), { isRestricted: false, isReadOnly: false, secondsLeft: null });
    }
    const { secondsLeft } = (await (await key(accountId, { expiresAt: later() })).found())!;
    t.ok(secondsLeft! > 3_500 && secondsLeft! <= 3_601, `${secondsLeft} s`);
  },
);

t.test('a key is changed while it is active, by its account; a limit keeps what is not named', async (t) => {
  const accountId = await createAccount(storage);
  const { change, hash, id } = await key(accountId, { label: 'before', limit: { limitU: 7n, reset: 'monthly' } });
  const changed = await change({ label: '', isReadOnly: true, expiresAt: later() });
  t.match(changed, { hash, key: { id, label: '', isReadOnly: true, expiresAt: Date } });
  t.match((await change({ limit: { limitU: 9n } }))!.key, {
    limit: { limitU: 9n, reset: 'monthly' },
    isReadOnly: true,
  });
  t.match((await change({ limit: { reset: 'daily' } }))!.key, { limit: { limitU: 9n, reset: 'daily' } });
  const unlimited = await key(accountId);
  t.match((await unlimited.change({ limit: { limitU: 1n } }))!.key, { limit: { limitU: 1n, reset: 'never' } });
  await t.rejects((await key(accountId)).change({ limit: { reset: 'daily' } }), { name: 'NoLimitToReset' });

  const stranger = await createAccount(storage);
  t.equal(await change({ label: 'mine' }, stranger), null);
  t.same([await ownsKey(storage, accountId, id), await ownsKey(storage, stranger, id)], [true, false]);
  const expired = await key(accountId);
  await expired.change({ expiresAt: new Date(Date.now() - HOUR_MS) });
  t.equal(await expired.found(), null);
  t.equal(await expired.change({ expiresAt: null }), null, 'what has expired does not come back');
  t.equal(await revokeKey(storage, accountId, expired.id), true, 'but it is revoked');
  await revokeKey(storage, accountId, id);
  t.equal(await change({ label: 'late' }), null);
});

t.test('keys that ended lately are found by hash, for as long as gateways may have them in a cache', async (t) => {
  const [accountId, stranger] = [await createAccount(storage), await createAccount(storage)];
  const [one, two, old] = [await key(accountId), await key(accountId), await key(accountId)];
  await key(accountId);
  const theirs = await key(stranger);
  const [expired, longExpired, expiring] = [await key(accountId), await key(accountId), await key(accountId)];
  await expired.change({ expiresAt: new Date(Date.now() - 5_000) });
  await longExpired.change({ expiresAt: new Date(Date.now() - HOUR_MS) });
  await expiring.change({ expiresAt: later() });
  for (const { id } of [one, two, old]) await revokeKey(storage, accountId, id);
  await revokeKey(storage, stranger, theirs.id);
  await query(`update api_keys set revoked_at = now() - interval '31 seconds' where id = $1`, [old.id]);
  await query(`update api_keys set revoked_at = now() - interval '20 seconds' where id = $1`, [two.id]);
  const sorted = (hashes: Buffer[]) => hashes.map((hash) => hash.toString('hex')).sort();
  t.same(sorted(await keysEndedLately(storage, accountId)), sorted([one.hash, two.hash, expired.hash]));
  t.same(await keysEndedLately(storage, stranger), [theirs.hash]);
});

t.test('active keys are listed first, then those that are over, each newest first, on pages of any size', async (t) => {
  const accountId = await createAccount(storage);
  await key(await createAccount(storage));
  const labels = ['active, older', 'revoked, older', 'expired', 'revoked', 'active', 'active until later'];
  for (const [i, label] of labels.entries()) {
    const { id, change } = await key(accountId, { label });
    await query(`update api_keys set created_at = now() - interval '1 day' + $2 * interval '1 minute' where id = $1`, [
      id,
      i,
    ]);
    if (label.startsWith('revoked')) await revokeKey(storage, accountId, id);
    if (label === 'expired') await change({ expiresAt: new Date(Date.now() - HOUR_MS) });
    if (label === 'active until later') await change({ expiresAt: later() });
  }
  const all = await listKeys(storage, accountId);
  t.same(
    all.map(({ label }) => label),
    ['active until later', 'active', 'active, older', 'revoked', 'expired', 'revoked, older'],
  );
  for (const limit of [1, 2, 4, 6]) {
    const paged: typeof all = [];
    for (;;) {
      const page = await listKeys(storage, accountId, { after: paged.at(-1)?.id, limit });
      if (page.length === 0) break;
      t.ok(page.length <= limit);
      paged.push(...page);
    }
    t.same(paged, all, `${limit} on a page`);
  }
  t.equal((await revokeAllKeys(storage, accountId)).length, 4, 'also the expired one, and none twice');
  t.ok((await listKeys(storage, accountId)).every(({ revokedAt }) => revokedAt !== null));
});

t.test('a key counts as moving from when its account is copied until it has arrived elsewhere', async (t) => {
  const moved = async (direction: string, state: string) => {
    const accountId = await createAccount(storage);
    const { found } = await key(accountId);
    const other = await key(await createAccount(storage));
    await query(
      `insert into account_moves (id, account_id, direction, kind, from_cell, to_cell, state)
       values (gen_random_uuid(), $1, $2, 'account', '0', '1', $3)`,
      [accountId, direction, state],
    );
    t.match(await other.found(), { isMoving: false });
    return (await found())?.isMoving;
  };
  for (const state of ['copying', 'frozen', 'left']) t.equal(await moved('out', state), true, state);
  for (const state of ['arrived', 'abandoned']) t.equal(await moved('out', state), false, state);
  for (const state of ['copying', 'frozen', 'arrived']) t.equal(await moved('in', state), false, `in, ${state}`);
});
