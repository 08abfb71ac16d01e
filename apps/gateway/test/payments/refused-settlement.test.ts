import { readJson } from '@eloquentpoll/services/json';
import { FAKE_TOKEN } from '@eloquentpoll/testkit/fakes/chain';
import { loopbackServer } from '@eloquentpoll/testkit/fakes/loopback-server';
import { base64, sign, v1, v2 } from '@eloquentpoll/testkit/fakes/payer';
import { Type } from '@sinclair/typebox';
import { Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { openDepositService } from '../../src/payments/usdc/deposit-service.ts';
import { build } from '../fixtures/build.ts';
import { cashier, openTestDeposits } from '../fixtures/deposits.ts';

// A settlement that is refused for a reason of ours: the payer is not blamed, and the log says why.

const NO_GAS = 'insufficient funds for gas * price + value: balance 0, tx cost 4242, overshot 4242';
const RpcCall = Type.Object({
  id: Type.Number(),
  method: Type.String(),
  params: Type.Optional(Type.Array(Type.Unknown())),
});

/** A node of the fake chain whose operators have a wallet without any ether. */
async function nodeOfPoorWallet(t: Test, chainUrl: string): Promise<string> {
  const answers: Record<string, unknown> = {
    eth_getTransactionCount: '0x0',
    eth_gasPrice: '0x1',
    eth_maxPriorityFeePerGas: '0x1',
    eth_getBlockByNumber: { number: '0x1', timestamp: '0x1', baseFeePerGas: '0x1', transactions: [] },
  };
  return loopbackServer(t, async ({ body, reply }) => {
    const { id, method, params = [] } = readJson(RpcCall, body);
    const result = (value: unknown) => reply(200, { jsonrpc: '2.0', id, result: value });
    if (method === 'eth_estimateGas' || method === 'eth_sendRawTransaction')
      return reply(200, { jsonrpc: '2.0', id, error: { code: -32_000, message: NO_GAS } });
    if (method === 'eth_getCode') return result(String(params[0]).toLowerCase() === FAKE_TOKEN ? '0x60' : '0x');
    if (method in answers) return result(answers[method]);
    const answer = await fetch(chainUrl, { method: 'POST', body: JSON.stringify({ id, method, params }) });
    reply(200, { ...((await answer.json()) as object), id });
  });
}

t.test(
  'a wallet of ours without gas: the payer is not blamed, and the log says so without any text of the node',
  async (t) => {
    const { chain, deposits: fakes } = await openTestDeposits(t);
    const gateway = await build(t);
    const settings = {
      ...fakes.settings,
      rpcUrl: await nodeOfPoorWallet(t, chain.url),
      facilitator: { key: `0x${'11'.repeat(32)}` as const },
    };
    Object.assign(gateway.context, { deposits: openDepositService(settings, gateway.context) });
    for (const [version, wrap] of [
      ['x-payment', v1],
      ['payment-signature', v2],
    ] as const) {
      gateway.log.length = 0;
      const headers = { [version]: base64(wrap(await sign(Wallet.createRandom(), 5))) };
      const answer = await gateway.app.inject({
        method: 'POST',
        url: '/api/deposit',
        headers,
        payload: { amount_usd: 5 },
      });
      t.equal(answer.statusCode, 402);
      t.match(answer.json(), { code: 'payment_settlement_failed' }, version);
      const logged = gateway.log.join('');
      t.match(logged, /"errors":\[.*"InsufficientFundsError".*deposit\.submission_failed/);
      t.match(logged, /deposit\.settlement_refused/);
      t.notMatch(logged, /4242|11111111/);
    }
  },
);

t.test(
  'the chain says whether the payer has too little, and the log has the code of the facilitator only',
  async (t) => {
    const { chain, facilitator, deposit, log } = await cashier(t);
    const wallet = Wallet.createRandom();
    const pay = async () => deposit(5, { 'x-payment': base64(v1(await sign(wallet, 5))) });
    facilitator.state.failure = `invalid_exact_evm_insufficient_balance: of ${wallet.address}`;
    t.match((await pay()).json(), { code: 'payment_settlement_failed' });
    t.match(log.join(''), /"reason":"invalid_exact_evm_insufficient_balance".*deposit\.settlement_refused/);
    facilitator.state.before = () => void chain.balances.set(wallet.address.toLowerCase(), 1n);
    t.match((await pay()).json(), { code: 'payment_insufficient_funds' });
    facilitator.state.before = () => {};
    chain.balances.clear();
    facilitator.state.failure = 'The total cost (gas * gas fee + value) exceeds the balance of the account.';
    t.match((await pay()).json(), { code: 'payment_settlement_failed' }, 'a text names values, not what is wrong');
    t.notMatch(log.filter((line) => line.includes('settlement_refused')).join(''), /total cost|0x/);
    facilitator.state.failure = null;
    facilitator.state.invalid = `invalid_exact_evm_payload_signature 0x${'ab'.repeat(20)}`;
    t.match((await pay()).json(), { code: 'payment_invalid_signature' });
    t.match(log.join(''), /"reason":"invalid_exact_evm_payload_signature".*deposit\.verification_refused/);
  },
);
