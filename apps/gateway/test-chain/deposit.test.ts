import type { AddressInfo } from 'node:net';
import type { Deposit } from '@eloquentpoll/contracts';
import { balanceOf, checkLedger, findIdentity, openMisfits, openStorage, type Storage } from '@eloquentpoll/storage';
import { testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment as payByVersion2, x402Client } from '@x402/fetch';
import t from 'tap';
import { type Address, getAddress, type Hex } from 'viem';
import { wrapFetchWithPayment as payByVersion1 } from 'x402-fetch';
import type { DepositSettings } from '../src/config/payment-settings.ts';
import { readPolicies } from '../src/config/rate-limit-policies.ts';
import { openDepositService } from '../src/payments/usdc/deposit-service.ts';
import { reconcileDeposits } from '../src/payments/usdc/reconcile-deposits.ts';
import { scanTransfers } from '../src/payments/usdc/scan-transfers.ts';
import { build, PEPPER } from '../test/fixtures/build.ts';
import { replicaOf } from '../test/fixtures/replica.ts';
import { openChain } from './chain.ts';
import { openFacilitator } from './facilitator.ts';
import { startGateway } from './gateway-process.ts';

// Deposits with everything real: a chain, a token, the reference facilitator, and the clients that people use.

const chain = await openChain(t);
const facilitator = await openFacilitator(t, chain);
const treasury = chain.newAccount().address;
const settings: DepositSettings = {
  chainId: chain.chainId,
  network: 'base-sepolia',
  asset: chain.asset,
  payTo: treasury.toLowerCase() as `0x${string}`,
  rpcUrl: chain.url,
  logRange: 1_000,
  facilitator: { url: facilitator.url },
};
const common = { rateLimits: readPolicies('deposit=100000/60'), deposits: settings };
const gateway = await build(t, common);
await gateway.app.listen({ host: '127.0.0.1', port: 0 });
const url = `http://127.0.0.1:${(gateway.app.server.address() as AddressInfo).port}`;
const { storage } = gateway.context;

type Fetch = typeof globalThis.fetch;
type Payer = Awaited<ReturnType<typeof chain.payer>>;

/** What the clients' own caution allows by default is less than a deposit. */
const version1 = (payer: Payer, via: Fetch = fetch): Fetch =>
  payByVersion1(via, payer.client as never, 1_000_000_000n) as Fetch;
const version2 = (payer: Payer, via: Fetch = fetch): Fetch => {
  const client = new ExactEvmScheme(payer.account);
  return payByVersion2(
    via,
    x402Client.fromConfig({ schemes: [{ network: 'eip155:*', client }], spendControls: false }),
  ) as Fetch;
};

const deposit = (pay: Fetch, usd: number, at = url) =>
  pay(`${at}/api/deposit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ amount_usd: usd }),
  });

/** The request that pays, as the client would send it. */
async function proofOf(pay: (payer: Payer, via: Fetch) => Fetch, payer: Payer, usd: number): Promise<Headers> {
  const { promise, resolve } = Promise.withResolvers<Headers>();
  const spy: Fetch = async (input, init) => {
    const request = new Request(input, init);
    if (!request.headers.has('x-payment') && !request.headers.has('payment-signature')) return fetch(request);
    resolve(request.headers);
    return new Response('{}', { status: 500 });
  };
  await deposit(pay(payer, spy), usd);
  return promise;
}

const send = (headers: Headers, usd: number, at = url) =>
  deposit((input, init) => fetch(input, { ...init, headers }), usd, at);

async function credited(address: Address, from: Storage = storage): Promise<number | null> {
  const known = await findIdentity(from, { kind: 'wallet', address: Buffer.from(address.slice(2), 'hex') });
  return known ? Number((await balanceOf(from, known.accountId))!.postedU / 10_000n) : null;
}

const lapse = (from: Storage) =>
  from.db
    .updateTable('deposits')
    .set({ check_at: new Date(0) })
    .execute();

for (const [name, pay, receipt] of [
  ['x402-fetch (version 1)', version1, 'x-payment-response'],
  ['@x402/fetch (version 2)', version2, 'payment-response'],
] as const)
  t.test(`[§4.5-deposit-200, §4.5-deposit-credits, §1-support-x402] ${name} deposits`, async (t) => {
    const payer = await chain.payer(20);
    const before = await chain.balanceOf(treasury);
    const first = await deposit(pay(payer), 5);
    t.equal(first.status, 200);
    const body = (await first.json()) as Deposit;
    t.match(body, {
      amount_usd: 5,
      amount_cents: 500,
      payer: payer.account.address,
      is_new_user: true,
      api_key: /^ep_k_/,
    });
    const shown = JSON.parse(Buffer.from(first.headers.get(receipt)!, 'base64').toString());
    t.match(shown, { success: true, transaction: body.tx_hash, payer: payer.account.address });
    const { status } = await chain.bank.getTransactionReceipt({ hash: body.tx_hash as Hex });
    t.equal(status, 'success');

    const second = (await (await deposit(pay(payer), 2.5)).json()) as Deposit;
    t.match(second, { is_new_user: false, user_id: body.user_id });
    t.notOk('api_key' in second);
    t.equal((await chain.balanceOf(treasury)) - before, 7_500_000n);
    t.equal(await credited(payer.account.address), 750);
  });

t.test('a proof that is sent again, and by many at once, moves and credits once', async (t) => {
  for (const pay of [version1, version2]) {
    const payer = await chain.payer(20);
    const proof = await proofOf(pay, payer, 5);
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(proof, 5)));
    t.equal(answers.filter(({ status }) => status === 200).length, 1);
    const again = await send(proof, 5);
    t.match(await again.json(), { code: 'payment_already_used' });
    t.equal(await credited(payer.account.address), 500);
    t.equal(await chain.balanceOf(payer.account.address), 15_000_000n);
    t.match(await (await send(proof, 50)).json(), { code: 'payment_amount_mismatch' });
  }
});

t.test('a payer without the money, and one who takes his word back', async (t) => {
  const poor = await chain.payer(1);
  const refused = await deposit(version1(poor), 5);
  t.equal(refused.status, 402);
  t.match(await refused.json(), { code: 'payment_insufficient_funds' });
  t.equal(await credited(poor.account.address), null);

  const wavering = await chain.payer(10);
  const proof = await proofOf(version1, wavering, 5);
  const { nonce } = authorizationIn(proof);
  await chain.withEther(wavering.account.address);
  await chain.write('cancel', [nonce], chain.clientOf(wavering.account) as never);
  t.match(await (await send(proof, 5)).json(), { code: 'payment_already_used' });
  t.equal(await credited(wavering.account.address), null);
  t.equal(await chain.balanceOf(wavering.account.address), 10_000_000n);
});

const authorizationIn = (proof: Headers) => {
  const header = proof.get('x-payment') ?? proof.get('payment-signature') ?? '';
  const { payload } = JSON.parse(Buffer.from(header, 'base64').toString());
  return { ...payload.authorization, signature: payload.signature };
};

t.test('an authorization that a third party submits first: its signer is credited', async (t) => {
  const payer = await chain.payer(10);
  const proof = await proofOf(version2, payer, 5);
  const a = authorizationIn(proof);
  await chain.write('transferWithAuthorization', [
    a.from,
    a.to,
    BigInt(a.value),
    BigInt(a.validAfter),
    BigInt(a.validBefore),
    a.nonce,
    a.signature,
  ]);
  t.equal((await send(proof, 5)).status, 200);
  t.equal(await credited(payer.account.address), 500);
});

t.test('a larger deposit waits for blocks on top of it', async (t) => {
  const payer = await chain.payer(200);
  const answer = deposit(version2(payer), 200);
  await eventually('the transfer is mined', async () => (await chain.balanceOf(payer.account.address)) === 0n);
  t.equal(await credited(payer.account.address), null);
  await chain.bank.mine({ blocks: 3 });
  t.equal((await answer).status, 200);
  t.equal(await credited(payer.account.address), 20_000);
});

t.test('a facilitator of our own: one wallet, two replicas, many deposits at once', async (t) => {
  const own = await build(t, { ...common, deposits: { ...settings, facilitator: { key: await chain.signerKey() } } });
  const replica = await replicaOf(t, own.context);
  const urls: string[] = [];
  for (const { app } of [own, replica]) {
    await app.listen({ host: '127.0.0.1', port: 0 });
    urls.push(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
  }
  // The first one of each replica loads the library and opens connections, which is not what is raced here.
  for (const [i, at] of urls.entries()) {
    const refused = await deposit(version1(await chain.payer(1)), 5, at);
    t.match(await refused.json(), { code: 'payment_insufficient_funds' });
    const { storage } = [own, replica][i]!.context;
    await Promise.all(Array.from({ length: 6 }, () => credited(treasury, storage)));
  }
  const payers: Payer[] = [];
  for (let i = 0; i < 6; i++) payers.push(await chain.payer(10));
  const answers = await Promise.all(
    payers.map((payer, i) => deposit((i % 3 ? version1 : version2)(payer), 5, urls[i % 2])),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  t.same(await Promise.all(refused.map((answer) => answer.text())), [], 'each is credited');
  for (const { account } of payers) t.equal(await credited(account.address, own.context.storage), 500);
  t.same(await checkLedger(own.context.storage), []);
});

t.test('a facilitator of our own confirms side by side: a block of two seconds takes many deposits', async (t) => {
  const own = await build(t, { ...common, deposits: { ...settings, facilitator: { key: await chain.signerKey() } } });
  await own.app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(own.app.server.address() as AddressInfo).port}`;
  t.match(await (await deposit(version1(await chain.payer(1)), 5, url)).json(), { code: 'payment_insufficient_funds' });
  const payers: Payer[] = [];
  for (let i = 0; i < 12; i++) payers.push(await chain.payer(10));
  await chain.bank.setAutomine(false);
  await chain.bank.setIntervalMining({ interval: 2 });
  t.teardown(async () => {
    await chain.bank.setIntervalMining({ interval: 0 });
    await chain.bank.setAutomine(true);
  });
  const before = await chain.bank.getBlockNumber();
  const answers = await Promise.all(payers.map((payer) => deposit(version1(payer), 5, url)));
  const settled = new Map<bigint, number>();
  for (let block = before + 1n; block <= (await chain.bank.getBlockNumber()); block++) {
    const found = await chain.bank.getBlockTransactionCount({ blockNumber: block });
    if (found > 0) settled.set(block, found);
  }
  t.same(
    answers.map(({ status }) => status),
    payers.map(() => 200),
  );
  const inBlocks = [...settled.values()].join(', ');
  t.ok(settled.size <= 6, `12 deposits in blocks of ${inBlocks}; one after the other they take a block each`);
  t.comment(`deposits in each block: ${inBlocks}`);
  t.same(await checkLedger(own.context.storage), []);
});

t.test('a gateway that is killed after the settlement: the next one credits', async (t) => {
  const databaseUrl = await testDatabase(t);
  const redis = testRedis(t);
  const env = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    KEY_PEPPER: PEPPER,
    CHAIN_ID: String(chain.chainId),
    ETH_RPC_URL: chain.url,
    X402_PAY_TO: getAddress(treasury),
    X402_ASSET: chain.asset,
    X402_FACILITATOR_URL: facilitator.url,
    RECONCILE_DEPOSITS_S: '1',
  };
  const books = openStorage({ databaseUrl });
  t.teardown(() => books[Symbol.asyncDispose]());
  const first = await startGateway(t, env);
  const payer = await chain.payer(10);
  const proof = await proofOf((who, via) => version1(who, via), payer, 5);
  facilitator.state.afterSettling = first.kill;
  await t.rejects(send(proof, 5, first.url));
  facilitator.state.afterSettling = async () => {};
  t.equal(await chain.balanceOf(payer.account.address), 5_000_000n, 'the money moved');
  t.equal(await credited(payer.account.address, books), null, 'and no account was credited');

  await lapse(books);
  const second = await startGateway(t, env);
  await eventually(
    'the deposit is credited',
    async () => (await credited(payer.account.address, books)) !== null,
    60_000,
  );
  t.equal(await credited(payer.account.address, books), 500);
  t.match(await (await send(proof, 5, second.url)).json(), { code: 'payment_already_used' });
  await second.kill();
  t.same(await checkLedger(books), []);
});

t.test('the scan of a real chain proves every transfer to us, and finds the one without a deposit', async (t) => {
  const plain = await chain.write('mint', [treasury, 3_000_000n]);
  // Final is what 64 blocks are on top of.
  await chain.bank.mine({ blocks: 70 });
  const deposits = openDepositService({ ...settings, logRange: 20 }, gateway.context);
  await scanTransfers(gateway.context, deposits, new AbortController().signal);
  const { proved_balance_u: proved } = await storage.db
    .selectFrom('money_scans')
    .select('proved_balance_u')
    .executeTakeFirstOrThrow();
  t.equal(proved, await chain.balanceOf(treasury));
  const unmatched = new Set((await openMisfits(storage, 100)).map(({ details }) => details.tx_hash));
  t.ok(unmatched.has(plain));
  const credited = await storage.db.selectFrom('deposits').select('tx_hash').where('state', '=', 'credited').execute();
  t.ok(credited.length > 5);
  for (const { tx_hash: hash } of credited) t.notOk(unmatched.has(`0x${hash!.toString('hex')}`));
  t.same(await checkLedger(storage), []);
});

t.test('the books are right after all of it, and agree with the chain', async (t) => {
  await lapse(storage);
  await reconcileDeposits(gateway.context, openDepositService(settings, gateway.context), new AbortController().signal);
  t.same(await checkLedger(storage), []);
});
