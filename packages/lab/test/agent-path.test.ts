import { FAKE_TOKEN, fakeChain } from '@eloquentpoll/testkit/fakes/chain';
import { fakeFacilitator } from '@eloquentpoll/testkit/fakes/facilitator';
import { base64, FAKE_PAY_TO, sign, v1 } from '@eloquentpoll/testkit/fakes/payer';
import { Wallet } from 'ethers';
import t from 'tap';
import { walk } from './agent-path.ts';
import { askerOf } from './agent-steps.ts';
import { wholeService } from './whole-service.ts';

// slow: 3 s

t.test('an agent with one address finds, tries, pays, polls and sends feedback', async (t) => {
  const chain = await fakeChain(t);
  const facilitator = await fakeFacilitator(t, chain);
  const { app } = await wholeService(
    t,
    {},
    {},
    {
      CHAIN_ID: '84532',
      X402_PAY_TO: FAKE_PAY_TO,
      X402_ASSET: FAKE_TOKEN,
      X402_FACILITATOR_URL: facilitator.url,
      ETH_RPC_URL: chain.url,
    },
  );
  const wallet = Wallet.createRandom();
  const pay = async ({ maxAmountRequired }: Record<string, unknown>) =>
    base64(v1(await sign(wallet, Number(maxAmountRequired) / 1_000_000)));

  const steps = await walk({ ask: askerOf(app), pay }, 'http://localhost:8080/');
  for (const { why, lines } of steps) t.comment([why, ...lines].join('\n'));
  t.same(
    steps.map(({ status }) => status),
    [200, 200, 200, 200, 200, 401, 402, 200, 200, 201, 402, 402],
  );
  t.match(steps.at(-2)?.lines.at(-1), /"code":"insufficient_balance".*"action":"add_funds"/);
  t.equal(facilitator.settlements(), 1);
  t.match(steps[8]?.lines.at(-1), /"status":"success"/);
});
