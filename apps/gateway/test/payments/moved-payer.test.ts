import { randomUUID } from 'node:crypto';
import { balanceOf, checkLedger } from '@eloquentpoll/storage';
import { base64, type Signed, sign, v1 } from '@eloquentpoll/testkit/fakes/payer';
import { Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { reconcileDeposits } from '../../src/payments/usdc/reconcile-deposits.ts';
import { cashier } from '../fixtures/deposits.ts';

/** A wallet with an account that can leave for cell 1. */
async function movable(t: Test) {
  const shop = await cashier(t);
  const { asOwner, context, deposit } = shop;
  const wallet = Wallet.createRandom();
  const pay = (signed: Signed) => deposit(5, { 'x-payment': base64(v1(signed)) });
  const accountId: string = (await pay(await sign(wallet, 5))).json().user_id;
  async function leave() {
    const id = randomUUID();
    await asOwner(`insert into account_moves (id, account_id, direction, kind, from_cell, to_cell, state)
      values ('${id}', '${accountId}', 'out', 'account', '0', '1', 'frozen')`);
    await asOwner(`update accounts set moving_at = now() where id = '${accountId}'`);
    await asOwner(`select leave_cell('${id}', '96 hours')`);
  }
  /** What came after it had left. */
  const cents = async () => Number((await balanceOf(context.storage, accountId))!.postedU / 10_000n);
  return { ...shop, wallet, pay, accountId, leave, cents };
}

t.test('a caller who waits for a deposit while the account leaves gets a 200', async (t) => {
  const { wallet, pay, accountId, leave, cents, facilitator, context } = await movable(t);
  facilitator.state.before = leave;
  const answer = await pay(await sign(wallet, 5));
  t.equal(answer.statusCode, 200, answer.body);
  t.match(answer.json(), { user_id: accountId, is_new_user: false });
  t.notOk('api_key' in answer.json());
  t.equal(await cents(), 500);
  t.same(await checkLedger(context.storage), []);
});

t.test('what is signed for our payee ends here, also after its account left; another is sent on', async (t) => {
  const { wallet, pay, accountId, leave, cents, facilitator, context } = await movable(t);
  const signed = await sign(wallet, 5);
  facilitator.state.manner = 'liar';
  t.match((await pay(signed)).json(), { code: 'deposit_in_progress' });
  await leave();
  facilitator.state.manner = 'kind';
  const elsewhere = await pay(await sign(wallet, 5, { change: { to: Wallet.createRandom().address } }));
  t.match(elsewhere.json(), { code: 'account_moving' });
  t.equal(elsewhere.headers['x-accel-redirect'], '@ep_cell_1');
  const fresh = await pay(await sign(wallet, 5));
  t.equal(fresh.statusCode, 200, fresh.body);
  t.match(fresh.json(), { user_id: accountId, is_new_user: false });
  t.notOk('api_key' in fresh.json());
  t.equal(await cents(), 500);
  t.match((await pay(signed)).json(), { user_id: accountId, is_new_user: false });
  t.match((await pay(signed)).json(), { code: 'payment_already_used' });
  t.equal(await cents(), 1_000);
  t.same(await checkLedger(context.storage), []);
});

t.test('the reconciler credits what the chain has of an account that left', async (t) => {
  const { wallet, pay, leave, cents, facilitator, chain, context, deposits } = await movable(t);
  const signed = await sign(wallet, 5);
  facilitator.state.manner = 'liar';
  await pay(signed);
  await leave();
  chain.settle({ ...signed.authorization, value: 5_000_000n });
  await reconcileDeposits(context, deposits, new AbortController().signal);
  t.equal(await cents(), 500);
  t.same(await checkLedger(context.storage), []);
});
