import { randomBytes } from 'node:crypto';
import t from 'tap';
import { consumeNonce, findNonce, issueNonce } from '../src/index.ts';
import { open, together, unique } from './fixtures.ts';

const ASKER = randomBytes(8);
const challenge = (address = randomBytes(20), asker = ASKER) => ({
  nonce: unique(),
  address,
  asker,
  purpose: null,
  message: () => 'sign this',
});

const { storage, query } = await open(t, { maxConnections: 16 });

t.test('a nonce is used by exactly one of many', async (t) => {
  for (let round = 0; round < 5; round++) {
    const nonce = challenge();
    await issueNonce(storage, nonce);
    const { asker: _, ...found } = nonce;
    t.same(await findNonce(storage, nonce.nonce), { ...found, message: 'sign this' });
    const uses = await together(100, 100, () => consumeNonce(storage, nonce.nonce, nonce.address));
    t.equal(uses.filter(Boolean).length, 1);
    t.equal(await findNonce(storage, nonce.nonce), null);
  }
});

t.test('a nonce is bound to its address, and trying another does not burn it', async (t) => {
  const nonce = { ...challenge(), purpose: 'rotate-key' };
  await issueNonce(storage, nonce);
  t.equal(await consumeNonce(storage, nonce.nonce, randomBytes(20)), false);
  t.equal(await consumeNonce(storage, 'unknown', nonce.address), false);
  t.match(await findNonce(storage, nonce.nonce), { purpose: 'rotate-key' });
  t.equal(await consumeNonce(storage, nonce.nonce, nonce.address), true);
});

t.test('[§5-wallet-nonce-5-minutes, §8-wallet-nonce] a nonce lives 5 minutes', async (t) => {
  const nonce = challenge();
  await issueNonce(storage, nonce);
  await query("update nonces set expires_at = expires_at - interval '4 minutes 50 seconds'");
  t.not(await findNonce(storage, nonce.nonce), null);
  await query("update nonces set expires_at = expires_at - interval '10 seconds'");
  t.equal(await findNonce(storage, nonce.nonce), null);
  t.equal(await consumeNonce(storage, nonce.nonce, nonce.address), false);
});

t.test('what a message says of its time is what is held against it', async (t) => {
  const nonce = { ...challenge(), message: (from: Date, to: Date) => `${from.toISOString()} ${to.toISOString()}` };
  const said = await issueNonce(storage, nonce, 90);
  t.match(await findNonce(storage, nonce.nonce), { message: said });
  const [from, to] = said.split(' ') as [string, string];
  t.equal(Date.parse(to) - Date.parse(from), 90_000);
  t.same(await query('select expires_at from nonces where nonce = $1', [nonce.nonce]), [{ expires_at: new Date(to) }]);
});

t.test('many challenges of one client: bounded, and those of others stay', async (t) => {
  const address = randomBytes(20);
  const own = challenge(address);
  await issueNonce(storage, own);
  let last = own;
  const others = randomBytes(8);
  for (let index = 0; index < 30; index++) {
    last = challenge(address, others);
    await issueNonce(storage, last);
  }
  t.same(await query('select count(*)::int as n from nonces where address = $1', [address]), [{ n: 6 }]);
  t.equal(await consumeNonce(storage, last.nonce, address), true, 'the newest works');
  t.equal(await consumeNonce(storage, own.nonce, address), true, 'and so does that of another asker');
});
