import t, { type Test } from 'tap';
import {
  balanceOf,
  checkLedger,
  findCheckout,
  followCheckout,
  type HoldBackRules,
  hold,
  openCheckout,
  publishCheckout,
  releaseHeldBack,
} from '../src/index.ts';
import { funded, open, together, USD, unique } from './fixtures.ts';

const RULES: HoldBackRules = { days: 7, share: 0.5, freeU: 20n * USD };

async function paying(t: Test, rules = RULES) {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, 0n);
  const follow = async (id: string, processorId: string, reversedCents = 0) => {
    const known = await findCheckout(storage, { id });
    const facts = { processorId, paymentIntent: processorId, livemode: false, isPaid: true, isExpired: false };
    return followCheckout(storage, known!, { ...facts, reversedCents }, rules);
  };
  const pay = async (usd: number) => {
    const id = await openCheckout(storage, { accountId, amountCents: usd * 100 });
    const processorId = unique('cs_');
    await publishCheckout(storage, id, { processorId, url: 'https://pay.example', livemode: false });
    await follow(id, processorId);
    return { id, processorId };
  };
  const spendable = async () => {
    const { availableU, heldBackU } = (await balanceOf(storage, accountId))!;
    return { available: Number(availableU / USD), heldBack: Number(heldBackU / USD) };
  };
  const settle = () => query(`update checkouts set settles_at = now() - interval '1 second'`);
  const set = (usd: number) => hold(storage, { accountId, amountU: BigInt(usd) * USD, idem: unique('hold:') });
  return { ...fixture, accountId, pay, follow, spendable, settle, set };
}

t.test('half of a new card is held back, and no hold takes it', async (t) => {
  const { pay, spendable, set, storage } = await paying(t);
  await pay(100);
  t.same(await spendable(), { available: 100, heldBack: 50 });
  t.equal(await set(51), false);
  t.equal(await set(50), true);
  t.equal(await set(1), false);
  t.same(await checkLedger(storage), []);
});

t.test('what is below the free amount can be spent at once, over several payments together', async (t) => {
  const { pay, spendable } = await paying(t);
  await pay(15);
  t.same(await spendable(), { available: 15, heldBack: 0 });
  await pay(15);
  t.same(await spendable(), { available: 30, heldBack: 10 });
  await pay(70);
  t.same(await spendable(), { available: 100, heldBack: 50 });
});

t.test('payments at once are held back as one after the other', async (t) => {
  const { pay, spendable, storage } = await paying(t);
  await together(10, 10, () => pay(10));
  t.same(await spendable(), { available: 100, heldBack: 50 });
  t.same(await checkLedger(storage), []);
});

t.test('what has settled is released once, and the account is known from then on', async (t) => {
  const { pay, spendable, settle, set, storage } = await paying(t);
  await pay(100);
  t.equal(await releaseHeldBack(storage), 0);
  await settle();
  const released = await Promise.all([1, 2, 3].map(() => releaseHeldBack(storage)));
  t.same(
    released.toSorted((a, b) => a - b),
    [0, 0, 1],
  );
  t.same(await spendable(), { available: 100, heldBack: 0 });
  await pay(500);
  t.same(await spendable(), { available: 600, heldBack: 0 });
  t.equal(await set(600), true);
  t.same(await checkLedger(storage), []);
});

t.test('an account with a payment that was taken back is held to it again', async (t) => {
  const { pay, follow, spendable, settle, storage } = await paying(t);
  const first = await pay(100);
  await settle();
  await releaseHeldBack(storage);
  await follow(first.id, first.processorId, 10_000);
  await pay(100);
  t.same(await spendable(), { available: 100, heldBack: 50 });
});

t.test('a payment that is taken back holds nothing back', async (t) => {
  const { pay, follow, spendable, storage } = await paying(t);
  const { id, processorId } = await pay(100);
  await follow(id, processorId, 7_000);
  t.same(await spendable(), { available: 30, heldBack: 30 });
  await follow(id, processorId, 10_000);
  t.same(await spendable(), { available: 0, heldBack: 0 });
  t.same(await checkLedger(storage), []);
});

t.test('without days nothing is held back', async (t) => {
  const { pay, spendable } = await paying(t, { ...RULES, days: 0 });
  await pay(100);
  t.same(await spendable(), { available: 100, heldBack: 0 });
});
