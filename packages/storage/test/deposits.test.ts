import { randomBytes } from 'node:crypto';
import t from 'tap';
import {
  balanceOf,
  checkLedger,
  closeDeposit,
  creditDeposit,
  failDeposit,
  findKeyByHash,
  hasOwnKey,
  leaveDeposit,
  noteHanded,
  noteProcessorEvent,
  noteSettled,
  type OfferedDeposit,
  pruneExpired,
  type Reservation,
  reserveDeposit,
  reservedAlready,
  type Storage,
  unseenProcessorEvents,
  watchedDeposits,
} from '../src/index.ts';
import { open, together } from './fixtures.ts';

const now = () => BigInt(Math.floor(Date.now() / 1_000));

function offer(more: Partial<OfferedDeposit> = {}): OfferedDeposit {
  return {
    chainId: 84_532,
    asset: Buffer.alloc(20, 1),
    payer: randomBytes(20),
    nonce: randomBytes(32),
    payTo: Buffer.alloc(20, 2),
    amountU: 5_000_000n,
    validAfter: 0n,
    validBefore: now() + 300n,
    proof: { signature: '0x' },
    fromBlock: 7n,
    secretHash: null,
    isPublic: false,
    ...more,
  };
}

async function reserve(storage: Storage, deposit: OfferedDeposit): Promise<string> {
  const reservation = await reserveDeposit(storage, deposit);
  if (reservation.kind !== 'reserved') throw new Error(reservation.kind);
  return reservation.id;
}

const count = (reservations: Reservation[], kind: Reservation['kind']) =>
  reservations.filter((reservation) => reservation.kind === kind).length;

t.test('one authorization, many takers: one gets it, and after the credit none', async (t) => {
  const { storage } = await open(t);
  const deposit = offer();
  const taken = await together(100, 10, () => reserveDeposit(storage, deposit));
  t.equal(count(taken, 'reserved'), 1);
  t.equal(count(taken, 'in_progress'), 99);
  const reserved = taken.find((reservation) => reservation.kind === 'reserved')!;
  const id = reserved.id;

  const txHash = randomBytes(32);
  const key = { hash: randomBytes(32), prefix: 'ep_k_12345' };
  const credits = await together(50, 10, () => creditDeposit(storage, id, { txHash, key }));
  const [credit, ...others] = credits.filter((one) => one !== null);
  t.match(credit, { isNewAccount: true });
  t.equal(others.length, 0);
  t.match(await balanceOf(storage, credit!.accountId), { postedU: 5_000_000n });
  t.match(await findKeyByHash(storage, key.hash), { accountId: credit!.accountId });
  t.same(await reserveDeposit(storage, deposit), { kind: 'used' });
  t.ok(await hasOwnKey(storage, deposit.payer), 'who signs a payment has a private key');

  const second = await reserve(storage, offer({ payer: deposit.payer }));
  const again = await creditDeposit(storage, second, { txHash, key: { hash: randomBytes(32), prefix: 'ep_k_' } });
  t.same(again, { accountId: credit!.accountId, isNewAccount: false }, 'one transaction may settle two');
  t.same(await checkLedger(storage), []);
});

t.test('first deposits of one wallet that race open one account, and all are credited', async (t) => {
  const { storage, query } = await open(t);
  const payer = randomBytes(20);
  const ids = await together(20, 5, () => reserve(storage, offer({ payer })));
  const credits = await together(20, 10, (i) =>
    creditDeposit(storage, ids[i]!, { txHash: randomBytes(32), key: { hash: randomBytes(32), prefix: 'ep_k_' } }),
  );
  t.equal(credits.filter((credit) => credit?.isNewAccount).length, 1);
  t.equal(new Set(credits.map((credit) => credit?.accountId)).size, 1);
  t.match(await balanceOf(storage, credits[0]!.accountId), { postedU: 100_000_000n });
  t.match(await query('select count(*)::integer as keys from api_keys'), [{ keys: 1 }]);
  t.same(await checkLedger(storage), []);
});

t.test('the time window is judged by the clock of the database', async (t) => {
  const { storage, query } = await open(t);
  const FAR = 2n ** 256n - 1n;
  const windows: [bigint, bigint][] = [
    [0n, now() + 25n],
    [0n, now() - 1n],
    [0n, now() + 3_700n],
    [0n, FAR],
    [now() + 30n, now() + 300n],
    [FAR, FAR],
  ];
  for (const [validAfter, validBefore] of windows)
    t.same(await reserveDeposit(storage, offer({ validAfter, validBefore })), { kind: 'expired' });
  t.same(await query('select id from deposits'), []);
});

t.test('what failed may be tried again, a few times, with the same payment only', async (t) => {
  const { storage } = await open(t);
  const deposit = offer();
  const id = await reserve(storage, deposit);
  await failDeposit(storage, id, 'payment_settlement_failed');
  t.same(await reserveDeposit(storage, { ...deposit, amountU: 1n }), { kind: 'used' });
  t.same(await reserveDeposit(storage, { ...deposit, payTo: Buffer.alloc(20, 3) }), { kind: 'used' });
  for (let attempt = 2; attempt <= 5; attempt++) {
    t.equal(await reserve(storage, deposit), id);
    await failDeposit(storage, id, 'payment_settlement_failed');
  }
  t.same(await reserveDeposit(storage, deposit), { kind: 'used' });
});

t.test('an attempt says whether an earlier one may have moved money', async (t) => {
  const { storage } = await open(t);
  const attempt = async (deposit: OfferedDeposit) => {
    const reservation = await reserveDeposit(storage, deposit);
    return reservation.kind === 'reserved' ? reservation : null;
  };
  const deposit = offer();
  t.equal(await reservedAlready(storage, deposit), null);
  const first = await attempt(deposit);
  t.match(first, { mayHaveMoved: false });
  const { id } = first!;
  t.match(await reservedAlready(storage, deposit), { kind: 'in_progress' });
  await leaveDeposit(storage, id);
  t.equal(await reservedAlready(storage, deposit), null, 'it was not handed to be settled');
  t.match(await attempt(deposit), { id, mayHaveMoved: false });
  await noteHanded(storage, id);
  await failDeposit(storage, id, 'payment_settlement_failed');
  t.equal(await reservedAlready(storage, deposit), null, 'it was refused');
  t.match(await attempt(deposit), { id, mayHaveMoved: false });
  await leaveDeposit(storage, id);
  t.match(await reservedAlready(storage, deposit), { kind: 'unknown_outcome' });
  t.match(await attempt(deposit), { id, mayHaveMoved: true });
  t.match(await attempt(offer({ isPublic: true })), { mayHaveMoved: true }, 'the chain shows it');
});

t.test('a deposit is watched from when its settler is silent until nothing can happen to it', async (t) => {
  const { storage, query } = await open(t);
  const watched = async () => (await watchedDeposits(storage, 84_532, 10)).map(({ id, isOver }) => ({ id, isOver }));
  const lapse = () => query("update deposits set check_at = now() - interval '1 second'");
  const settling = await reserve(storage, offer());
  await noteHanded(storage, settling);
  t.same(await watched(), [], 'its settler is at work');
  await leaveDeposit(storage, settling);
  t.same(await watched(), [{ id: settling, isOver: false }]);
  t.same(await watched(), [], 'one looker at a time');
  await lapse();
  t.same(await watchedDeposits(storage, 1, 10), [], 'another chain');
  await noteSettled(storage, settling, randomBytes(32));
  t.match(await watched(), [{ id: settling }]);
  await creditDeposit(storage, settling, { txHash: randomBytes(32) });
  await lapse();
  t.same(await watched(), [], 'credited');
  await failDeposit(storage, settling, 'late');
  await closeDeposit(storage, settling, 'late');
  t.match(await query('select state, failure from deposits'), [{ state: 'credited', failure: null }]);

  const failed = await reserve(storage, offer());
  await noteHanded(storage, failed);
  await failDeposit(storage, failed, 'payment_expired');
  t.match(await watched(), [{ id: failed }], 'who has the proof could still use it');
  await query("update deposits set valid_before = now() - interval '1 second'");
  await lapse();
  t.same(await watched(), [{ id: failed, isOver: true }]);
  await closeDeposit(storage, failed, 'unused');
  await lapse();
  t.same(await watched(), []);

  const crashed = await reserve(storage, offer());
  await lapse();
  t.same(await watched(), [], 'was never handed to be settled');
  t.match(await query('select state from deposits where id = $1 and closed_at is not null', [crashed]), [
    { state: 'failed' },
  ]);
  const refused = await reserve(storage, offer());
  await failDeposit(storage, refused, 'payment_verification_failed');
  t.same(await watched(), [], 'was refused before that');
  t.same(await checkLedger(storage), []);
});

t.test('what came to nothing is kept for questions, and then pruned with the events of card payments', async (t) => {
  const { storage, query } = await open(t);
  const old = await reserve(storage, offer());
  await closeDeposit(storage, old, 'payment_expired');
  await query("update deposits set closed_at = now() - interval '91 days'");
  const [recent, credited] = [await reserve(storage, offer()), await reserve(storage, offer())];
  await closeDeposit(storage, recent, 'payment_expired');
  await creditDeposit(storage, credited, { txHash: randomBytes(32) });
  await query("update deposits set closed_at = now() - interval '91 days' where id = $1", [credited]);
  for (const id of ['evt_1', 'evt_2', 'evt_1']) await noteProcessorEvent(storage, { id, type: 'charge.refunded' });
  t.same(await unseenProcessorEvents(storage, ['evt_1', 'evt_2', 'evt_3']), new Set(['evt_3']));
  await query("update processor_events set received_at = now() - interval '32 days' where id = 'evt_1'");
  t.equal(await pruneExpired(storage), 2);
  t.same(await unseenProcessorEvents(storage, ['evt_1', 'evt_2']), new Set(['evt_1']));
  t.same(new Set((await query('select id from deposits')).map((row) => row.id)), new Set([recent, credited]));
});
