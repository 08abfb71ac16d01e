import t from 'tap';
import {
  acceptPoll,
  claimKey,
  completeKey,
  findPollOfKey,
  forgetPollKey,
  type IdempotencyKey,
  releaseKey,
} from '../src/index.ts';
import { acceptance, funded, newPoll, open, together, USD, unique } from './fixtures.ts';

const newKey = (more = {}) => ({ principal: 'p', entryPoint: 'checkout', key: unique(), fingerprint: 'body', ...more });

/** A poll that takes this key, by the entry point that the key is for. */
const accepted = (accountId: string, { entryPoint, ...idempotency }: IdempotencyKey) =>
  acceptance(accountId, { poll: newPoll(accountId, { entryPoint }), idempotency });
const response = Buffer.from('sealed');

const { storage, query } = await open(t, { maxConnections: 16 });

t.test('of many attempts one does the work, and all later ones get its answer', async (t) => {
  const key = newKey();
  const claims = await together(50, 50, () => claimKey(storage, key, 30_000));
  const winner = claims.find((claim) => claim.kind === 'claimed');
  t.equal(claims.filter(({ kind }) => kind === 'claimed').length, 1);
  t.equal(claims.filter(({ kind }) => kind === 'running').length, 49);
  const waiting = claims.find((claim) => claim.kind === 'running');
  t.ok(waiting!.retryAfterMs > 0 && waiting!.retryAfterMs <= 30_000);
  t.equal(await completeKey(storage, winner!.claim, key, response), true);
  t.same(await claimKey(storage, key, 30_000), { kind: 'done', response });
});

t.test('[§A6-idempotency-scope] a key stands for one request in one place', async (t) => {
  const key = newKey();
  await claimKey(storage, key, 30_000);
  t.same(await claimKey(storage, { ...key, fingerprint: 'other' }, 30_000), { kind: 'reused' });
  t.match(await claimKey(storage, { ...key, principal: 'q' }, 30_000), { kind: 'claimed' });
  t.match(await claimKey(storage, { ...key, entryPoint: 'keys' }, 30_000), { kind: 'claimed' });

  const accountId = await funded(storage, USD);
  const poll = newKey({ principal: accountId, entryPoint: 'poll' });
  await acceptPoll(storage, accepted(accountId, poll));
  t.same(await claimKey(storage, poll, 30_000), { kind: 'reused' }, 'a poll’s key is not for other work');
});

t.test('an attempt that died gives the key back, and cannot answer any more', async (t) => {
  const key = newKey();
  const dead = await claimKey(storage, key, 0);
  t.same(await claimKey(storage, { ...key, fingerprint: 'other' }, 0), { kind: 'reused' }, 'but not to another body');
  const next = await claimKey(storage, key, 30_000);
  t.equal(next.kind, 'claimed');
  if (dead.kind !== 'claimed' || next.kind !== 'claimed') return;
  t.equal(await completeKey(storage, dead.claim, key, response), false);
  await releaseKey(storage, dead.claim, key);
  t.match(await claimKey(storage, key, 30_000), { kind: 'running' });
  t.equal(await completeKey(storage, next.claim, key, response), true);
  await releaseKey(storage, next.claim, key);
  t.match(await claimKey(storage, key, 30_000), { kind: 'done' }, 'an answer is never released');
});

t.test('[§A6-idempotency-nothing-stored] a released key starts afresh, with any body', async (t) => {
  const key = newKey();
  const claim = await claimKey(storage, key, 30_000);
  if (claim.kind === 'claimed') await releaseKey(storage, claim.claim, key);
  t.match(await claimKey(storage, { ...key, fingerprint: 'other' }, 30_000), { kind: 'claimed' });
});

t.test('the key of a poll that was given up is forgotten, and no other', async (t) => {
  const accountId = await funded(storage, 9n * USD);
  const key = newKey({ principal: accountId, entryPoint: 'poll' });
  const others = [
    { ...key, key: unique() },
    { ...key, entryPoint: 'quick' },
    { ...key, principal: unique() },
  ];
  const [poll, ...rest] = [key, ...others].map((each) => accepted(accountId, each));
  for (const each of [poll!, ...rest]) await acceptPoll(storage, each);
  const { id } = poll!.poll;
  t.equal(await findPollOfKey(storage, key), id);
  await forgetPollKey(storage, key, rest[0]!.poll.id);
  t.equal(await findPollOfKey(storage, key), id, 'not for another poll');
  await forgetPollKey(storage, key, id);
  t.equal(await findPollOfKey(storage, key), null);
  for (const [i, other] of others.entries()) t.equal(await findPollOfKey(storage, other), rest[i]!.poll.id);
});

t.test('[§A6-idempotency-24h] an answer is kept for 24 hours', async (t) => {
  const key = newKey();
  const claim = await claimKey(storage, key, 30_000);
  if (claim.kind === 'claimed') await completeKey(storage, claim.claim, key, response);
  await query("update idempotency set expires_at = expires_at - interval '23 hours 59 minutes'");
  t.match(await claimKey(storage, key, 30_000), { kind: 'done' });
  await query("update idempotency set expires_at = expires_at - interval '1 minute'");
  t.match(await claimKey(storage, { ...key, fingerprint: 'other' }, 30_000), { kind: 'claimed' });
});
