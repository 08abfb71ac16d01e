import t from 'tap';
import {
  balanceOf,
  capture,
  checkLedger,
  creditAccount,
  hold,
  isBooked,
  reverseCredit,
  voidHold,
} from '../src/index.ts';
import { funded, open, together, USD, unique } from './fixtures.ts';

const { storage, query } = await open(t, { maxConnections: 20 });

t.test('one event moves money once, however often and from wherever it arrives', async (t) => {
  const accountId = await funded(storage, 0n);
  const movement = { accountId, amountU: 5n * USD, source: 'operator', idem: 'event' } as const;
  const answers = await together(100, 100, () => creditAccount(storage, movement));
  t.equal(answers.filter(Boolean).length, 1);
  t.match(await balanceOf(storage, accountId), { postedU: 5n * USD });
  for (const other of [{ amountU: 1n }, { accountId: await funded(storage, 0n) }, { source: 'card' as const }])
    await t.rejects(creditAccount(storage, { ...movement, ...other }), { code: 'EP004' });
  await t.rejects(reverseCredit(storage, movement), { code: 'EP004' });
  t.same(await checkLedger(storage), []);
});

t.test('a hold is resolved at most once: by the first call', async (t) => {
  const accountId = await funded(storage, 100n * USD);
  for (let round = 0; round < 10; round++) {
    const idem = unique('hold:');
    t.equal(await hold(storage, { accountId, amountU: USD, idem }), true);
    const answers = await together(20, 20, (index) =>
      index % 2 === 0 ? capture(storage, idem, 300n) : voidHold(storage, idem),
    );
    t.equal(answers.filter(Boolean).length, 1);
  }
  t.match(await balanceOf(storage, accountId), { heldU: 0n });
  t.same(await checkLedger(storage), []);
});

t.test('a hold that is voided is released whole, and a transfer is known by its event', async (t) => {
  const accountId = await funded(storage, USD);
  const idem = unique('hold:');
  t.equal(await isBooked(storage, idem), false);
  await hold(storage, { accountId, amountU: 300n, idem });
  t.equal(await isBooked(storage, idem), true);
  t.equal(await voidHold(storage, idem), true);
  t.equal(await voidHold(storage, idem), false, 'once');
  t.match(await balanceOf(storage, accountId), { postedU: USD, heldU: 0n, usageU: 0n });
  t.same(await checkLedger(storage), []);
});

t.test('a balance says what batches have set aside, and what was used in other cells', async (t) => {
  const accountId = await funded(storage, 1_000n);
  const idem = unique('hold:');
  await hold(storage, { accountId, amountU: 100n, idem });
  await capture(storage, idem, 40n);
  await hold(storage, { accountId, amountU: 30n, idem: unique('hold:') });
  // As a batch and a move between cells leave them. Both have tests of their own.
  await query('update balances set reserved_u = 200, used_elsewhere_u = 7, low_balance_u = 5 where account_id = $1', [
    accountId,
  ]);
  t.match(await balanceOf(storage, accountId), {
    postedU: 960n,
    heldU: 30n,
    reservedU: 200n,
    availableU: 730n,
    usageU: 47n,
    lowU: 5n,
  });
  t.equal(await hold(storage, { accountId, amountU: 731n, idem: unique('hold:') }), false);
  t.equal(await hold(storage, { accountId, amountU: 730n, idem: unique('hold:') }), true);
  await query('update balances set reserved_u = 0, used_elsewhere_u = 0 where account_id = $1', [accountId]);
});

t.test('what was captured today is known apart from what was captured yesterday', async (t) => {
  const accountId = await funded(storage, 1_000n);
  const spend = async (amountU: bigint) => {
    const idem = unique('hold:');
    await hold(storage, { accountId, amountU, idem });
    await capture(storage, idem, amountU);
    const [row] = await query<{ today: number; yesterday: number }>(
      'select used_today_u::int as today, used_yesterday_u::int as yesterday from balances where account_id = $1',
      [accountId],
    );
    return row;
  };
  const daysLater = (days: number) =>
    query('update balances set used_on = used_on - $2::int where account_id = $1', [accountId, days]);
  t.same(await spend(40n), { today: 40, yesterday: 0 });
  await daysLater(1);
  t.same(await spend(5n), { today: 5, yesterday: 40 });
  t.same(await spend(7n), { today: 12, yesterday: 40 });
  await daysLater(-1);
  t.same(await spend(1n), { today: 13, yesterday: 40 }, 'in a transaction that began before midnight');
  await daysLater(3);
  t.same(await spend(2n), { today: 2, yesterday: 0 });
});

t.test('a reversal may take an account below zero: then nothing is held until credits lift it', async (t) => {
  const accountId = await funded(storage, 5n * USD);
  await hold(storage, { accountId, amountU: 4n * USD, idem: 'spent' });
  await capture(storage, 'spent', 4n * USD);
  await hold(storage, { accountId, amountU: USD, idem: 'open' });
  t.equal(await reverseCredit(storage, { accountId, amountU: 5n * USD, source: 'operator', idem: 'dispute' }), true);
  t.same(await balanceOf(storage, accountId), {
    postedU: -4n * USD,
    heldU: USD,
    heldBackU: 0n,
    reservedU: 0n,
    availableU: -5n * USD,
    usageU: 4n * USD,
    lowU: null,
  });
  t.equal(await capture(storage, 'open', 1n), true, 'what was promised before is kept');
  t.equal(await hold(storage, { accountId, amountU: 1n, idem: 'refused' }), false);
  t.same(await checkLedger(storage), []);
  await creditAccount(storage, { accountId, amountU: 4n * USD + 1n, source: 'operator', idem: 'paid' });
  t.match(await balanceOf(storage, accountId), { availableU: 0n });
  t.equal(await hold(storage, { accountId, amountU: 1n, idem: 'still refused' }), false);
  await creditAccount(storage, { accountId, amountU: 1n, source: 'operator', idem: 'and more' });
  t.equal(await hold(storage, { accountId, amountU: 1n, idem: 'accepted' }), true);
  t.same(await checkLedger(storage), []);
});

t.test(
  'only who is below zero may be: exactly nothing is not, and a credit that does not lift it changes nothing',
  async (t) => {
    const mayBeNegative = async (accountId: string) => {
      const [row] = await query<{ allow_negative: boolean }>(
        'select allow_negative from balances where account_id = $1',
        [accountId],
      );
      return row!.allow_negative;
    };
    const move = (accountId: string, amountU: bigint) => ({
      accountId,
      amountU,
      source: 'operator' as const,
      idem: unique('move:'),
    });
    const emptied = await funded(storage, USD);
    await reverseCredit(storage, move(emptied, USD));
    t.equal(await mayBeNegative(emptied), false);
    const below = await funded(storage, 100n);
    await hold(storage, { accountId: below, amountU: 50n, idem: unique('hold:') });
    await reverseCredit(storage, move(below, 100n));
    t.equal(await mayBeNegative(below), true);
    await creditAccount(storage, move(below, 30n));
    t.match(await balanceOf(storage, below), { postedU: 30n, heldU: 50n, availableU: -20n });
    t.equal(await mayBeNegative(below), true);
    await creditAccount(storage, move(below, 20n));
    t.equal(await mayBeNegative(below), false);

    const lifted = await funded(storage, 100n);
    const idem = unique('hold:');
    await hold(storage, { accountId: lifted, amountU: 80n, idem });
    await reverseCredit(storage, move(lifted, 50n));
    t.equal(await mayBeNegative(lifted), true);
    await capture(storage, idem, 20n);
    t.match(await balanceOf(storage, lifted), { availableU: 30n });
    t.equal(await mayBeNegative(lifted), false, 'what the end of a poll released has lifted it');

    const kept = await funded(storage, 100n);
    const [first, second] = [unique('hold:'), unique('hold:')];
    for (const idem of [first, second]) await hold(storage, { accountId: kept, amountU: 40n, idem });
    await reverseCredit(storage, move(kept, 90n));
    await capture(storage, first, 5n);
    t.match(await balanceOf(storage, kept), { postedU: 5n, heldU: 40n, availableU: -35n });
    t.equal(await mayBeNegative(kept), true, 'what another poll holds keeps it below zero');

    for (const [takenBackU, is] of [
      [80n, false],
      [90n, true],
    ] as const) {
      const ended = await funded(storage, 100n);
      const hold80 = { accountId: ended, amountU: 80n, idem: unique('hold:') };
      await hold(storage, hold80);
      await reverseCredit(storage, move(ended, takenBackU));
      await capture(storage, hold80.idem, 20n);
      t.match(await balanceOf(storage, ended), { heldU: 0n, availableU: 80n - takenBackU });
      t.equal(await mayBeNegative(ended), is, 'the end of a poll has left exactly nothing, or less');
    }
    t.same(await checkLedger(storage), []);
  },
);

t.test('amounts and references that make no sense are refused, and nothing moves', async (t) => {
  const accountId = await funded(storage, USD);
  await hold(storage, { accountId, amountU: 10n, idem: 'hold' });
  const credit = (amountU: bigint) =>
    creditAccount(storage, { accountId, amountU, source: 'operator', idem: unique() });
  for (const amountU of [0n, -1n, 10n ** 15n + 1n]) await t.rejects(credit(amountU), { name: 'StorageRefused' });
  await t.rejects(credit(2n ** 63n), { name: 'StorageRefused' }, 'beyond int8');
  for (const amountU of [0n, -1n])
    await t.rejects(hold(storage, { accountId, amountU, idem: unique() }), { name: 'StorageRefused' });
  await t.rejects(capture(storage, 'hold', 11n), {
    code: 'EP003',
    cause: { message: /^a capture of 11 does not fit into hold \d+ of 10$/ },
  });
  await t.rejects(capture(storage, 'hold', -1n), { code: 'EP003' });
  await t.rejects(capture(storage, 'no such hold', 1n), { code: 'EP002' });
  const unknown = '11111111-1111-4111-8111-111111111111';
  t.equal(await hold(storage, { accountId: unknown, amountU: 1n, idem: unique() }), false);
  await t.rejects(creditAccount(storage, { accountId: unknown, amountU: 1n, source: 'card', idem: unique() }), {
    code: 'EP002',
  });
  t.equal(await balanceOf(storage, unknown), null);
  t.match(await balanceOf(storage, accountId), { postedU: USD, heldU: 10n });
  t.equal(await credit(10n ** 15n), true, 'the largest amount there is');
  t.same(await checkLedger(storage), []);
});
