import t from 'tap';
import { readConfig } from '../../src/config/config.ts';

const BASE = { DATABASE_URL: 'postgres://127.0.0.1/db', REDIS_URL: 'redis://127.0.0.1', KEY_PEPPER: 'x'.repeat(32) };
const decide = (env: Record<string, string>) => readConfig({ ...BASE, ...env });

const CARDS = { STRIPE_SECRET_KEY: 'sk_live_hunter2hunter2', STRIPE_WEBHOOK_SECRETS: 'whsec_newer_secret' };
const WALLETS = {
  X402_PAY_TO: '0xAbAbAbAbAbAbAbAbAbAbAbAbAbAbAbAbAbAbAbAb',
  X402_FACILITATOR_URL: 'https://facilitator.example/v2/',
  ETH_RPC_URL: 'https://node.example/hunter2',
};
const KEY = `0x${'5'.repeat(63)}e`;

t.test('without settings no money comes in', (t) => {
  t.match(decide({}), {
    checkout: null,
    deposits: null,
    reconcile: { checkoutsS: 900, depositsS: 60, transfersS: 3_600, movementsS: 86_400 },
  });
  t.match(decide({ ETH_RPC_URL: 'http://node.internal' }), { deposits: null });
  t.end();
});

t.test('cards: the key says whether the money is real', (t) => {
  t.match(decide(CARDS).checkout, { livemode: true, webhookSecrets: ['whsec_newer_secret'] });
  const rotating = {
    STRIPE_SECRET_KEY: 'rk_test_12345678',
    STRIPE_WEBHOOK_SECRETS: 'whsec_newer_one, whsec_older_one',
  };
  t.match(decide(rotating).checkout, { livemode: false, webhookSecrets: ['whsec_newer_one', 'whsec_older_one'] });
  t.end();
});

t.test('wallets: one chain, one token, one payee, one facilitator', (t) => {
  t.match(decide(WALLETS).deposits, {
    chainId: 8_453,
    network: 'base',
    asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    payTo: '0xabababababababababababababababababababab',
    facilitator: { url: 'https://facilitator.example/v2' },
  });
  const own = { ...WALLETS, X402_FACILITATOR_URL: '', X402_FACILITATOR_KEY: KEY, CHAIN_ID: '84532' };
  t.match(decide(own).deposits, { network: 'base-sepolia', facilitator: { key: KEY } });
  t.end();
});

const WRONG: [Record<string, string>, string][] = [
  [{ ...CARDS, STRIPE_SECRET_KEY: '' }, 'STRIPE_SECRET_KEY'],
  [{ ...CARDS, STRIPE_SECRET_KEY: 'pk_live_hunter2hunter2' }, 'STRIPE_SECRET_KEY'],
  [{ ...CARDS, STRIPE_WEBHOOK_SECRETS: '' }, 'STRIPE_WEBHOOK_SECRETS'],
  [{ ...CARDS, STRIPE_WEBHOOK_SECRETS: 'hunter2hunter2' }, 'STRIPE_WEBHOOK_SECRETS'],
  [{ ...CARDS, STRIPE_WEBHOOK_SECRETS: 'whsec_hunter2hunter2,' }, 'STRIPE_WEBHOOK_SECRETS'],
  [{ ...CARDS, STRIPE_API_BASE: 'http://stripe.example' }, 'STRIPE_API_BASE'],
  [{ ...WALLETS, X402_PAY_TO: '' }, 'X402_PAY_TO'],
  [{ ...WALLETS, X402_PAY_TO: 'vitalik.eth' }, 'X402_PAY_TO'],
  [{ ...WALLETS, X402_PAY_TO: `0x${'0'.repeat(40)}` }, 'X402_PAY_TO'],
  [{ ...WALLETS, X402_ASSET: 'USDC' }, 'X402_ASSET'],
  [{ ...WALLETS, CHAIN_ID: '1' }, 'CHAIN_ID'],
  [{ ...WALLETS, ETH_RPC_URL: '' }, 'ETH_RPC_URL'],
  [{ ...WALLETS, ETH_RPC_URL: 'http://node.example/hunter2' }, 'ETH_RPC_URL'],
  [{ ...WALLETS, ETH_RPC_URL: 'https://user:hunter2@node.example' }, 'ETH_RPC_URL'],
  [{ ...WALLETS, X402_FACILITATOR_URL: '' }, 'X402_FACILITATOR_URL'],
  [{ ...WALLETS, X402_FACILITATOR_URL: 'http://facilitator.example' }, 'X402_FACILITATOR_URL'],
  [{ ...WALLETS, X402_FACILITATOR_KEY: KEY }, 'X402_FACILITATOR_URL'],
  [{ ...WALLETS, X402_FACILITATOR_URL: '', X402_FACILITATOR_KEY: 'hunter2' }, 'X402_FACILITATOR_KEY'],
  [{ ...WALLETS, X402_FACILITATOR_TOKEN: 'hunter2 hunter2' }, 'X402_FACILITATOR_TOKEN'],
  [{ RECONCILE_CHECKOUTS_S: '0' }, 'RECONCILE_CHECKOUTS_S'],
  [{ RECONCILE_DEPOSITS_S: 'often' }, 'RECONCILE_DEPOSITS_S'],
];

t.test('[§I2-setting-named] a wrong setting is one line that names the variable and repeats no secret', (t) => {
  for (const [env, name] of WRONG) {
    try {
      decide(env);
      t.fail(`${JSON.stringify(env)} was accepted`);
    } catch (error) {
      const message = error instanceof Error ? error.message : '';
      t.ok(message.startsWith(`${name}: `), message);
      t.notMatch(message, /hunter2|\n/);
    }
  }
  t.end();
});
