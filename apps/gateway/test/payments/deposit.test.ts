import { balanceOf, checkLedger, findIdentity } from '@eloquentpoll/storage';
import { FAKE_TOKEN } from '@eloquentpoll/testkit/fakes/chain';
import { SECRET_WORDS } from '@eloquentpoll/testkit/fakes/facilitator';
import { base64, FAKE_PAY_TO, sign, v1, v2 } from '@eloquentpoll/testkit/fakes/payer';
import { isPaymentRequiredV1, isPaymentRequiredV2 } from '@x402/core/schemas';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Wallet } from 'ethers';
import t from 'tap';
import { reconcileDeposits } from '../../src/payments/usdc/reconcile-deposits.ts';
import { build } from '../fixtures/build.ts';
import { cashier, openTestDeposits } from '../fixtures/deposits.ts';

// slow: 6 s

const shop = await cashier(t);
const { app, context, chain, facilitator, deposits, deposit, log } = shop;
const { storage } = context;

const credit = async (address: string) => {
  const known = await findIdentity(storage, { kind: 'wallet', address: Buffer.from(address.slice(2), 'hex') });
  return known ? Number((await balanceOf(storage, known.accountId))!.postedU / 10_000n) : null;
};
const reconcile = async (by = deposits) => {
  await storage.db
    .updateTable('deposits')
    .set({ check_at: new Date(0) })
    .where('closed_at', 'is', null)
    .execute();
  await reconcileDeposits(context, by, new AbortController().signal);
};
const decoded = (header: unknown) => JSON.parse(Buffer.from(String(header), 'base64').toString());
t.afterEach(() => {
  Object.assign(facilitator.state, { manner: 'kind', invalid: null, failure: null, before: () => {} });
  chain.state.down = false;
});

t.test(
  '[§4.5-deposit-402-requirements, §7-402-deposit] without a payment the answer is a 402 with the terms of both x402 versions',
  async (t) => {
    const answer = await deposit(12.34);
    t.equal(answer.statusCode, 402);
    const body = answer.json();
    t.ok(isPaymentRequiredV1(body));
    t.match(body, { code: 'payment_required', x402Version: 1, accepts: [{ maxAmountRequired: '12340000' }] });
    t.match(body.accepts, [{ asset: FAKE_TOKEN, payTo: FAKE_PAY_TO, network: 'base-sepolia' }]);
    const header = decoded(answer.headers['payment-required']);
    t.ok(isPaymentRequiredV2(header));
    t.match(header, { accepts: [{ amount: '12340000', network: 'eip155:84532' }] });
    // A facilitator catalogues what can be paid for only if the information fits the schema beside it.
    const { info, schema } = header.extensions.bazaar;
    t.ok(new Ajv2020().compile(schema)(info));
    t.match(info.input, { type: 'http', method: 'POST', bodyType: 'json', body: { amount_usd: 5 } });
    const problem = await app.inject({
      method: 'POST',
      url: '/api/deposit',
      headers: { accept: 'application/problem+json' },
      payload: { amount_usd: 5 },
    });
    t.match(problem.headers['content-type'], 'application/problem+json');
    t.match(problem.json(), { status: 402, x402Version: 1, accepts: [{ maxAmountRequired: '5000000' }] });
  },
);

t.test('a 401 recommends open_account where deposits are configured, and only there', async (t) => {
  const refusal = async (gateway: typeof app, url: string) => {
    const headers = { 'x-machine-client': 'true' };
    const payload = { question: 'Which one is the larger of the two?', options: ['A', 'B'] };
    const answer = await gateway.inject({ method: 'POST', url, headers, payload });
    t.equal(answer.statusCode, 401);
    return answer.json().recovery.map(({ action }: { action: string }) => action);
  };
  const without = await build(t);
  for (const url of ['/api/poll', '/api/polls', '/api/poll/stream']) {
    t.ok((await refusal(app, url)).includes('open_account'), url);
    t.notOk((await refusal(without.app, url)).includes('open_account'), url);
  }
});

t.test(
  '[§4.5-deposit-amount-required, §4.5-deposit-amount-range, §8-deposit-amount] an amount out of range or with more than two decimals is a 400',
  async (t) => {
    for (const [usd, units] of [
      [1, '1000000'],
      [1.1, '1100000'],
      [1.13, '1130000'],
      [9.95, '9950000'],
      [999.99, '999990000'],
      [1000, '1000000000'],
    ] as const)
      t.match((await deposit(usd)).json(), { accepts: [{ maxAmountRequired: units }] }, `${usd}`);
    for (const usd of [0.99, 1000.01, 1.005, 1.001, 5.0000001, -5, 0, 1e21, '5', null, undefined, [5], true])
      t.match((await deposit(usd)).json(), { code: 'validation_error' }, `${usd}`);
    t.match(
      (await deposit(1.005, { 'x-payment': 'whatever' })).json(),
      { code: 'validation_error' },
      'before the payment',
    );
  },
);

t.test(
  '[§4.5-deposit-200, §4.5-deposit-id, §4.5-deposit-amounts, §4.5-deposit-tx-hash, §4.5-deposit-payer, §4.5-deposit-user-id, §4.5-deposit-is-new-user, §4.5-deposit-api-key, §4.5-deposit-credits, §5-payment-proof, §1-support-x402] a wallet pays, with version 1 and then 2',
  async (t) => {
    const wallet = Wallet.createRandom();
    const first = await deposit(5, { 'X-Payment': base64(v1(await sign(wallet, 5))) });
    t.equal(first.statusCode, 200, first.body);
    const body = first.json();
    t.match(body, { amount_usd: 5, amount_cents: 500, payer: wallet.address, is_new_user: true });
    const receipt = decoded(first.headers['x-payment-response']);
    t.match(receipt, { success: true, transaction: body.tx_hash, network: 'base-sepolia', payer: wallet.address });

    const keyed = await app.inject({ url: '/api/keys', headers: { authorization: `Bearer ${body.api_key}` } });
    t.match(keyed.json(), [{ label: 'First deposit' }]);

    const second = await deposit(7.25, { 'PAYMENT-SIGNATURE': base64(v2(await sign(wallet, 7.25))) });
    t.match(second.json(), { amount_usd: 7.25, amount_cents: 725, user_id: body.user_id, is_new_user: false });
    t.notOk('api_key' in second.json());
    t.match(decoded(second.headers['payment-response']), { network: 'eip155:84532' });
    t.equal(await credit(wallet.address), 1_225);
  },
);

t.test('a replayed payment is refused without details of the account', async (t) => {
  const wallet = Wallet.createRandom();
  const header = { 'x-payment': base64(v1(await sign(wallet, 5))) };
  t.equal((await deposit(5, header)).statusCode, 200);
  for (let i = 0; i < 20; i++) {
    const replay = await deposit(5, header);
    t.match(replay.json(), { code: 'payment_already_used' });
    t.notMatch(replay.body, /user_id|api_key|ep_k_/);
  }
  t.equal(await credit(wallet.address), 500);
});

t.test('the account of the signer is credited, not that of the login cookie', async (t) => {
  const { accountId, bearer } = await shop.keyWith(0);
  const cookie = await shop.sessionFor(accountId);
  const wallet = Wallet.createRandom();
  const header = { 'x-payment': base64(v1(await sign(wallet, 5))), ...bearer, ...cookie };
  t.not((await deposit(5, header)).json().user_id, accountId);
  t.match(await balanceOf(storage, accountId), { postedU: 0n });
  t.equal(await credit(wallet.address), 500);
});

t.test('[§4.5-deposit-402-verification] reasons of a facilitator map to our codes and are not quoted', async (t) => {
  for (const [reason, code] of [
    ['invalid_exact_evm_payload_signature', 'payment_invalid_signature'],
    ['invalid_exact_evm_payload_authorization_valid_before', 'payment_expired'],
    ['insufficient_funds', 'payment_insufficient_funds'],
    ['invalid_exact_evm_nonce_already_used', 'payment_already_used'],
    [SECRET_WORDS, 'payment_verification_failed'],
  ] as const) {
    facilitator.state.invalid = reason;
    const answer = await deposit(5, { 'x-payment': base64(v1(await sign(Wallet.createRandom(), 5))) });
    t.match(answer.json(), { code, x402Version: 1, accepts: [{ scheme: 'exact' }] });
    t.notMatch(answer.body, /secretwords|ContractFunction|invalid_exact/);
  }
  facilitator.state.invalid = null;
  facilitator.state.failure = SECRET_WORDS;
  const wallet = Wallet.createRandom();
  const header = { 'x-payment': base64(v1(await sign(wallet, 5))) };
  const refused = await deposit(5, header);
  t.match(refused.json(), { code: 'payment_settlement_failed' });
  t.notMatch(refused.body + refused.headers['payment-required'] + log.join(''), /secretwords/);
  facilitator.state.failure = null;
  t.equal((await deposit(5, header)).statusCode, 200, 'what did not settle may be tried again');
});

t.test('a facilitator that falsely reports success does not cause a credit', async (t) => {
  for (const manner of ['down', 'huge', 'redirects', 'nonsense'] as const) {
    facilitator.state.manner = manner;
    const wallet = Wallet.createRandom();
    const header = { 'x-payment': base64(v1(await sign(wallet, 5))) };
    t.match((await deposit(5, header)).json(), { code: 'payment_processor_error' }, manner);
    facilitator.state.manner = 'kind';
    t.equal((await deposit(5, header)).statusCode, 200, 'and once more, when it is back');
  }
  facilitator.state.manner = 'liar';
  const wallet = Wallet.createRandom();
  const header = { 'x-payment': base64(v1(await sign(wallet, 5))) };
  t.match((await deposit(5, header)).json(), { code: 'deposit_in_progress' });
  t.match(Number((await deposit(5, header)).headers['retry-after']), Number);
  await reconcile();
  t.equal(await credit(wallet.address), null);
  t.ok(facilitator.asked.every(({ operation }) => operation !== 'elsewhere'));
});

t.test('transfers on the chain are credited despite lost, wrong or late answers of the facilitator', async (t) => {
  const mute = Wallet.createRandom();
  facilitator.state.manner = 'mute';
  const heard = await deposit(5, { 'x-payment': base64(v1(await sign(mute, 5))) });
  t.match(heard.json(), { is_new_user: true, api_key: /^ep_k_/ }, 'settled in silence, seen on the chain');
  t.equal(await credit(mute.address), 500);

  facilitator.state.manner = 'kind';
  const denied = Wallet.createRandom();
  const signed = await sign(denied, 5);
  facilitator.state.failure = 'invalid_transaction_state';
  t.match((await deposit(5, { 'x-payment': base64(v1(signed)) })).json(), { code: 'payment_settlement_failed' });
  chain.settle({ ...signed.authorization, value: 5_000_000n });
  await reconcile();
  t.equal(await credit(denied.address), 500, 'it said no and the transaction came through later');
  facilitator.state.failure = null;
  t.match((await deposit(5, { 'x-payment': base64(v1(signed)) })).json(), { code: 'payment_already_used' });

  const blind = Wallet.createRandom();
  facilitator.state.before = () => {
    chain.state.down = true;
  };
  const answer = await deposit(5, { 'x-payment': base64(v1(await sign(blind, 5))) });
  t.match(answer.json(), { code: 'deposit_in_progress' });
  chain.state.down = false;
  await reconcile();
  t.equal(await credit(blind.address), 500);
});

/** One that the facilitator says it settled, and that is not on the chain. */
async function unknownOutcome() {
  const wallet = Wallet.createRandom();
  const signed = await sign(wallet, 5);
  const send = () => deposit(5, { 'x-payment': base64(v1(signed)) });
  const settle = () => chain.settle({ ...signed.authorization, value: 5_000_000n })!;
  return { address: wallet.address, send, settle };
}

t.test('a payment whose earlier attempt may still move money is a 409, however it is refused now', async (t) => {
  for (const [name, refuse] of [
    ['too little money by now', (address: string) => void chain.balances.set(address.toLowerCase(), 0n)],
    ['refused by verify', () => void Object.assign(facilitator.state, { invalid: 'insufficient_funds' })],
    ['used, by verify', () => void Object.assign(facilitator.state, { invalid: 'nonce_already_used' })],
    ['refused by settle', () => void Object.assign(facilitator.state, { failure: 'insufficient_balance' })],
    ['failed in settle', () => void Object.assign(facilitator.state, { failure: SECRET_WORDS })],
  ] as const) {
    const { address, send, settle } = await unknownOutcome();
    facilitator.state.manner = 'liar';
    t.match((await send()).json(), { code: 'deposit_in_progress' });
    facilitator.state.manner = 'down';
    t.match((await send()).json(), { code: 'payment_processor_error' }, name);
    facilitator.state.manner = 'kind';
    refuse(address);
    for (let again = 0; again < 2; again++) {
      const answer = await send();
      t.match(answer.json(), { code: 'deposit_in_progress' }, name);
      t.ok(Number(answer.headers['retry-after']) > 0, name);
    }
    settle();
    t.match((await send()).json(), { payer: address }, `${name}; its transfer is credited`);
    t.equal(await credit(address), 500);
    Object.assign(facilitator.state, { invalid: null, failure: null });
  }
});

t.test(
  'a payment that is used, by a transaction that the node does not show yet, is a 409 until it does',
  async (t) => {
    const { address, send, settle } = await unknownOutcome();
    facilitator.state.manner = 'liar';
    t.match((await send()).json(), { code: 'deposit_in_progress' });
    facilitator.state.manner = 'kind';
    chain.state.hidden.add(settle());
    t.match((await send()).json(), { code: 'deposit_in_progress' });
    chain.state.hidden.clear();
    t.match((await send()).json(), { payer: address });
    t.equal(await credit(address), 500);

    for (const failure of [SECRET_WORDS, 'invalid_exact_evm_nonce_already_used']) {
      const first = await unknownOutcome();
      facilitator.state.failure = failure;
      facilitator.state.before = () => {
        facilitator.state.before = () => {};
        chain.state.hidden.add(first.settle());
      };
      t.match((await first.send()).json(), { code: 'deposit_in_progress' }, failure);
      chain.state.hidden.clear();
      facilitator.state.failure = null;
      t.match((await first.send()).json(), { payer: first.address });
      t.equal(await credit(first.address), 500);
    }
  },
);

t.test('an authorization submitted by a third party is credited to its signer, without a key', async (t) => {
  const wallet = Wallet.createRandom();
  const signed = await sign(wallet, 5);
  chain.settle({ ...signed.authorization, value: 5_000_000n });
  facilitator.state.invalid = 'invalid_exact_evm_nonce_already_used';
  const headers = { 'x-payment': base64(v1(signed)), 'deposit-secret': 'chosen-after-the-fact-by-a-watcher' };
  const body = (await deposit(5, headers)).json();
  t.match(body, { is_new_user: true, wallet_login: /\/api\/wallet\/challenge\?address=0x/ });
  t.notOk('api_key' in body);
  t.equal(await credit(wallet.address), 500);
});

t.test('a facilitator that does not answer is given up after the timeout', async (t) => {
  const hasty = await cashier(t, { timeoutMs: 300 });
  hasty.facilitator.state.manner = 'deaf';
  const header = { 'x-payment': base64(v1(await sign(Wallet.createRandom(), 5))) };
  t.match((await hasty.deposit(5, header)).json(), { code: 'payment_processor_error' });
});

t.test('after a crash behind the settlement the reconciler credits once', async (t) => {
  const wallet = Wallet.createRandom();
  const signed = await sign(wallet, 5);
  const { promise: died, resolve: die } = Promise.withResolvers<void>();
  const { promise: later, resolve: wake } = Promise.withResolvers<void>();
  facilitator.state.before = () => {
    // The transfer happens, and the response is lost.
    chain.settle({ ...signed.authorization, value: 5_000_000n });
    die();
    return later;
  };
  const request = deposit(5, { 'x-payment': base64(v1(signed)) });
  await died;
  await Promise.all([reconcile(), reconcile(), reconcile()]);
  t.equal(await credit(wallet.address), 500);
  wake();
  t.match((await request).json(), { code: 'payment_already_used' });
  t.equal(await credit(wallet.address), 500);
});

t.test('a larger amount is credited after three confirmations', async (t) => {
  const wallet = Wallet.createRandom();
  const header = { 'x-payment': base64(v1(await sign(wallet, 100))) };
  t.match((await deposit(100, header)).json(), { code: 'deposit_in_progress' });
  await reconcile();
  t.equal(await credit(wallet.address), null);
  chain.mine(2);
  await reconcile();
  t.equal(await credit(wallet.address), 10_000);
});

t.test('an authorization that expired unused is closed', async (t) => {
  facilitator.state.failure = 'whatever';
  const signed = await sign(Wallet.createRandom(), 5);
  await deposit(5, { 'x-payment': base64(v1(signed)) });
  await storage.db
    .updateTable('deposits')
    .set({ valid_before: new Date(0) })
    .where('state', '=', 'failed')
    .execute();
  await reconcile();
  const open = await storage.db
    .selectFrom('deposits')
    .select('id')
    .where('state', '=', 'failed')
    .where('closed_at', 'is', null)
    .execute();
  t.same(open, []);
});

t.test('a node that is behind closes nothing; when it has caught up, the money is credited', async (t) => {
  const behind = await openTestDeposits(t);
  const wallet = Wallet.createRandom();
  const signed = await sign(wallet, 500);
  facilitator.state.failure = 'no word from the sequencer';
  t.match((await deposit(500, { 'x-payment': base64(v1(signed)) })).json(), { code: 'payment_settlement_failed' });
  chain.settle({ ...signed.authorization, value: 500_000_000n });
  chain.mine(5);
  const sixteenMinutesAgo = Math.floor(Date.now() / 1_000) - 960;
  await storage.db
    .updateTable('deposits')
    .set({ valid_before: new Date(sixteenMinutesAgo * 1_000) })
    .where('payer', '=', Buffer.from(wallet.address.slice(2), 'hex'))
    .execute();
  for (const finalAt of [sixteenMinutesAgo - 900, sixteenMinutesAgo]) {
    behind.chain.state.finalAt = finalAt;
    await reconcile(behind.deposits);
  }
  t.equal(await credit(wallet.address), null);
  await reconcile();
  t.equal(await credit(wallet.address), 50_000);
});

t.test('a transfer of five hours ago is found by a node that answers 1,000 blocks at a time', async (t) => {
  const wallet = Wallet.createRandom();
  const signed = await sign(wallet, 5);
  facilitator.state.failure = 'no word from the sequencer';
  await deposit(5, { 'x-payment': base64(v1(signed)) });
  chain.settle({ ...signed.authorization, value: 5_000_000n });
  chain.mine(9_000);
  await reconcile();
  t.equal(await credit(wallet.address), 500);
});

t.test('a round in which a deposit could not be looked up goes through the others, and fails', async (t) => {
  const busy = await cashier(t);
  busy.facilitator.state.failure = 'no word from the sequencer';
  const signed = await Promise.all([1, 2].map((usd) => sign(Wallet.createRandom(), usd)));
  for (const [i, each] of signed.entries()) await busy.deposit(i + 1, { 'x-payment': base64(v1(each)) });
  for (const { authorization } of signed) busy.chain.settle({ ...authorization, value: BigInt(authorization.value) });
  const { findTransfer } = busy.deposits.chain;
  let isFirst = true;
  busy.deposits.chain.findTransfer = async (...asked) => {
    if (!isFirst) return findTransfer.apply(busy.deposits.chain, asked);
    isFirst = false;
    throw new Error('the node hung up');
  };
  const round = reconcileDeposits(busy.context, busy.deposits, new AbortController().signal);
  await t.rejects(round, { message: '1 deposits could not be reconciled' });
  const { db } = busy.context.storage;
  t.match(await db.selectFrom('deposits').select('id').where('state', '=', 'credited').execute(), [{ id: String }]);
});

t.test('proofs that were not handed to be settled do not delay others', async (t) => {
  const busy = await cashier(t);
  busy.facilitator.state.invalid = 'insufficient_funds';
  for (let i = 0; i < 60; i++) await busy.deposit(1, { 'x-payment': base64(v1(await sign(Wallet.createRandom(), 1))) });
  const { db } = busy.context.storage;
  const open = () => db.selectFrom('deposits').select('id').where('closed_at', 'is', null).execute();
  t.same(await open(), []);
  const wallet = Wallet.createRandom();
  const signed = await sign(wallet, 5);
  Object.assign(busy.facilitator.state, { invalid: null, failure: 'no word from the sequencer' });
  await busy.deposit(5, { 'x-payment': base64(v1(signed)) });
  busy.chain.settle({ ...signed.authorization, value: 5_000_000n });
  t.equal((await open()).length, 1);
  await reconcileDeposits(busy.context, busy.deposits, new AbortController().signal);
  t.match(await db.selectFrom('deposits').select('id').where('state', '=', 'credited').execute(), [{ id: String }]);
});

t.test('a node that answers fewer blocks than ETH_LOG_RANGE is a 503 before the terms', async (t) => {
  const limited = await cashier(t);
  limited.chain.state.maxRange = 10;
  t.match((await limited.deposit(5)).json(), { code: 'service_unavailable' });
  limited.chain.state.maxRange = 500;
  t.equal((await limited.deposit(5)).statusCode, 402);
});

t.test('a node that does not answer or is on another chain is a 503 before the terms', async (t) => {
  const other = await cashier(t);
  for (const wrong of [{ down: true }, { chainId: 1 }, { decimals: 18n }]) {
    Object.assign(other.chain.state, { down: false, chainId: 84_532, decimals: 6n }, wrong);
    t.match((await other.deposit(5)).json(), { code: 'service_unavailable' }, Object.keys(wrong).join());
  }
  Object.assign(other.chain.state, { down: false, chainId: 84_532, decimals: 6n });
  t.equal((await other.deposit(5)).statusCode, 402, 'and good again when it is');
});

t.test('without settings deposits are not_configured', async (t) => {
  const { app } = await build(t);
  const answer = await app.inject({ method: 'POST', url: '/api/deposit', payload: { amount_usd: 5 } });
  t.match(answer.json(), { code: 'not_configured' });
});

t.test('the ledger balances, and no payment proof is in the log', async (t) => {
  t.same(await checkLedger(storage), []);
  t.notMatch(log.join(''), /0x[0-9a-f]{130}|ep_k_/);
});
