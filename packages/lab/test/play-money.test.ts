import { buildSimulator } from '@eloquentpoll/simulator/app';
import { CHAIN_ID, PAY_TO, TOKEN } from '@eloquentpoll/simulator/play-money';
import { base64, sign, v1 } from '@eloquentpoll/testkit/fakes/payer';
import { Wallet } from 'ethers';
import t from 'tap';
import { wholeService } from './whole-service.ts';

// slow: 3 s

// What `npm start` offers where no money is set up: deposits and checkout with the simulator's play money, to the end.

const simulator = buildSimulator();
const url = await simulator.listen({ host: '127.0.0.1', port: 0 });
t.teardown(() => simulator.close());
const { app } = await wholeService(
  t,
  {},
  {},
  {
    CHAIN_ID: `${CHAIN_ID}`,
    ETH_RPC_URL: `${url}/chain`,
    X402_ASSET: TOKEN,
    X402_PAY_TO: PAY_TO,
    X402_FACILITATOR_URL: `${url}/facilitator`,
    STRIPE_SECRET_KEY: 'sk_test_playmoney',
    STRIPE_WEBHOOK_SECRETS: 'whsec_playmoney',
    STRIPE_API_BASE: url,
  },
);

const wallet = Wallet.createRandom();
const deposit = (amount_usd: number, headers = {}) =>
  app.inject({ method: 'POST', url: '/api/deposit', headers, payload: { amount_usd } });
const payment = async (usd: number) => {
  const { accepts } = (await deposit(usd)).json();
  const { name, version } = accepts[0].extra;
  const domain = { name, version, verifyingContract: accepts[0].asset };
  return { 'x-payment': base64(v1(await sign(wallet, usd, { change: { to: accepts[0].payTo }, domain }))) };
};

t.test(
  '[§4.5-deposit-402-requirements, §4.5-deposit-200, §5-payment-proof] terms, a payment, credit; the same payment again is refused',
  async (t) => {
    const terms = await deposit(5);
    t.match(
      [terms.statusCode, terms.json().accepts],
      [402, [{ network: 'base-sepolia', maxAmountRequired: '5000000' }]],
    );
    const paid = await payment(5);
    const first = await deposit(5, paid);
    t.match([first.statusCode, first.json()], [200, { amount_cents: 500, is_new_user: true, api_key: /^ep_k_/ }]);
    t.match((await deposit(5, paid)).json(), { code: 'payment_already_used' });
    const large = await deposit(900, await payment(900));
    t.match(
      [large.statusCode, large.json()],
      [200, { amount_cents: 90_000, is_new_user: false }],
      'which blocks confirm',
    );
    t.equal((await deposit(6, await payment(5))).statusCode, 402);
  },
);

t.test('[§4.5-checkout-200, §4.5-checkout-credits] a page to pay on, and credit on the way back', async (t) => {
  const { message } = (await app.inject({ url: `/api/wallet/challenge?address=${wallet.address}` })).json();
  const proof = { message, signature: await wallet.signMessage(message) };
  const verified = await app.inject({ method: 'POST', url: '/api/wallet/verify', payload: proof });
  const cookie = String(verified.headers['set-cookie']).split(';')[0] ?? '';
  const balance = async () => (await app.inject({ url: '/api/balance', headers: { cookie } })).json().balance_cents;
  const order = async () => {
    const payload = { amount_cents: 1_250 };
    return (await app.inject({ method: 'POST', url: '/api/checkout', headers: { cookie }, payload })).json().url;
  };
  const answer = (page: string, body: string) =>
    fetch(page, { method: 'POST', body: new URLSearchParams({ answer: body }), redirect: 'manual' });

  const before = await balance();
  const left = await answer(await order(), 'cancel');
  t.match([left.status, left.headers.get('location')], [303, /\/dashboard\?checkout=cancelled$/]);

  const page = await order();
  const shown = await fetch(page);
  t.match([shown.status, await shown.text()], [200, /\$12\.50 of play money/]);
  const paid = await answer(page, 'pay');
  t.match([paid.status, paid.headers.get('location')], [303, /\/dashboard\?checkout=success$/]);
  t.equal(await balance(), before);
  await app.inject({ url: '/dashboard?checkout=success', headers: { cookie } });
  t.equal(await balance(), before + 1_250);

  // The nightly comparison reads every movement.
  const moved = await fetch(`${url}/v1/balance_transactions?created[gte]=0&created[lt]=9999999999&limit=100`);
  t.match(await moved.json(), {
    data: [{ amount: 1_250, source: { object: 'charge', metadata: { amount_cents: '1250', checkout_id: String } } }],
    has_more: false,
  });
});
