import {
  balanceOf,
  createAccount,
  findCheckout,
  followCheckout,
  openCheckout,
  publishCheckout,
} from '@eloquentpoll/storage';
import t from 'tap';
import { holdBackSentence } from '../../src/pages/hold-back-sentence.ts';
import { build } from '../fixtures/build.ts';

t.test('what is said before a card payment is what is held back of it', async (t) => {
  const { context } = await build(t);
  const { storage, config } = context;
  const rules = { ...config.cardHoldBack, days: 7, share: 0.5, freeU: 20_000_000n };
  t.equal(
    holdBackSentence(rules),
    'The full amount is credited. A payment settles after 7 days; until then 50% of it cannot be spent, but $20.00 of all such payments always can. Once one payment has settled, later ones can be spent in full at once.',
  );
  const accountId = await createAccount(storage);
  const id = await openCheckout(storage, { accountId, amountCents: 10_000 });
  await publishCheckout(storage, id, { processorId: id, url: 'https://pay.example', livemode: false });
  const paid = { processorId: id, paymentIntent: id, livemode: false, isPaid: true, isExpired: false };
  await followCheckout(storage, (await findCheckout(storage, { id }))!, { ...paid, reversedCents: 0 }, rules);
  t.match(await balanceOf(storage, accountId), { postedU: 100_000_000n, heldBackU: 50_000_000n });
});

t.test('where nothing is held back nothing is said of it', async (t) => {
  const rules = { days: 7, share: 0.5, freeU: 20_000_000n };
  for (const none of [{ days: 0 }, { share: 0 }])
    t.equal(holdBackSentence({ ...rules, ...none }), 'The full amount is credited.');
});
