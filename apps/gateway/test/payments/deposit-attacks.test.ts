import { randomBytes } from 'node:crypto';
import { balanceOf, checkLedger, findIdentity } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { base64, FAKE_PAY_TO, type Signed, sign, v1, v2 } from '@eloquentpoll/testkit/fakes/payer';
import fc from '@eloquentpoll/testkit/fast-check';
import { Signature, Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { reconcileDeposits } from '../../src/payments/usdc/reconcile-deposits.ts';
import { times } from '../attacks/full-scale.ts';
import { cashier } from '../fixtures/deposits.ts';
import { replicaOf } from '../fixtures/replica.ts';

// slow: 4 s

// The facilitator of these tests accepts everything, so every refusal is the gateway's.

const shop = await cashier(t);
const { context, chain, facilitator, deposits, deposit } = shop;
const { storage } = context;
const replica = await replicaOf(t, context, { deposits });

const OTHER = '0x00000000000000000000000000000000000000cc';
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const pay = (proof: unknown, usd = 5) => deposit(usd, { 'x-payment': base64(proof) });
const credit = async ({ address }: { address: string }) => {
  const known = await findIdentity(storage, { kind: 'wallet', address: Buffer.from(address.slice(2), 'hex') });
  return known ? Number((await balanceOf(storage, known.accountId))!.postedU / 10_000n) : null;
};
const transfers = async () => (await storage.db.selectFrom('transfers').select('id').execute()).length;
const inS = (seconds: number) => String(Math.floor(Date.now() / 1_000) + seconds);

t.test('a proof with any one field changed is refused, though the facilitator accepts it', async (t) => {
  const wallet = Wallet.createRandom();
  const good = await sign(wallet, 5);
  const other = await sign(Wallet.createRandom(), 5);
  const changed = (change: object): Signed => ({ ...good, authorization: { ...good.authorization, ...change } });
  const proofs: [string, unknown, string][] = [
    ['from', v1(changed({ from: other.authorization.from })), 'payment_invalid_signature'],
    ['to', v1(changed({ to: OTHER })), 'payment_payee_mismatch'],
    ['value more', v1(changed({ value: '5000001' })), 'payment_amount_mismatch'],
    ['value less', v1(changed({ value: '4999999' })), 'payment_amount_mismatch'],
    ['validAfter', v1(changed({ validAfter: '1' })), 'payment_invalid_signature'],
    [
      'validBefore',
      v1(changed({ validBefore: String(Number(good.authorization.validBefore) - 1) })),
      'payment_invalid_signature',
    ],
    ['nonce', v1(changed({ nonce: `0x${'1'.repeat(64)}` })), 'payment_invalid_signature'],
    ['signature of another', v1({ ...good, signature: other.signature }), 'payment_invalid_signature'],
    ['scheme', v1(good, { scheme: 'upto' }), 'payment_verification_failed'],
    ['network', v1(good, { network: 'base' }), 'payment_network_mismatch'],
    ['network of version 2', v1(good, { network: 'eip155:84532' }), 'payment_network_mismatch'],
    ['version 2: scheme', v2(good, { scheme: 'upto' }), 'payment_verification_failed'],
    ['version 2: network', v2(good, { network: 'eip155:8453' }), 'payment_network_mismatch'],
    ['version 2: network of version 1', v2(good, { network: 'base:sepolia' }), 'payment_network_mismatch'],
    ['version 2: asset', v2(good, { asset: OTHER }), 'payment_network_mismatch'],
    ['version 2: payTo', v2(good, { payTo: OTHER }), 'payment_payee_mismatch'],
    ['version 2: amount', v2(good, { amount: '50000000' }), 'payment_amount_mismatch'],
  ];
  for (const [name, proof, code] of proofs) t.match((await pay(proof)).json(), { code }, name);
  t.match((await pay(v1(good), 50)).json(), { code: 'payment_amount_mismatch' }, 'pay 5, ask for 50');
  t.match((await pay(v1(good), 4)).json(), { code: 'payment_amount_mismatch' }, 'pay 5, ask for 4');
  t.equal(facilitator.settlements(), 0);
  t.equal(await transfers(), 0);
});

t.test('proofs signed for another recipient, chain, token, amount or time are refused', async (t) => {
  const wallet = Wallet.createRandom();
  const signed: [string, Signed, string][] = [
    ['another payee', await sign(wallet, 5, { change: { to: OTHER } }), 'payment_payee_mismatch'],
    ['another chain', await sign(wallet, 5, { domain: { chainId: 8_453 } }), 'payment_invalid_signature'],
    ['another token', await sign(wallet, 5, { domain: { verifyingContract: OTHER } }), 'payment_invalid_signature'],
    ['another name', await sign(wallet, 5, { domain: { name: 'USDC' } }), 'payment_invalid_signature'],
    ['another version', await sign(wallet, 5, { domain: { version: '1' } }), 'payment_invalid_signature'],
    ['on behalf of another', await sign(wallet, 5, { change: { from: OTHER } }), 'payment_invalid_signature'],
    ['a micro-dollar less', await sign(wallet, 4.999999), 'payment_amount_mismatch'],
    ['a micro-dollar more', await sign(wallet, 5.000001), 'payment_amount_mismatch'],
    ['over', await sign(wallet, 5, { change: { validBefore: inS(-1) } }), 'payment_expired'],
    ['nearly over', await sign(wallet, 5, { change: { validBefore: inS(25) } }), 'payment_expired'],
    ['not yet', await sign(wallet, 5, { change: { validAfter: inS(60) } }), 'payment_not_yet_valid'],
    ['for too long', await sign(wallet, 5, { change: { validBefore: inS(7_200) } }), 'payment_expired'],
    ['for ever', await sign(wallet, 5, { change: { validBefore: String(2n ** 256n - 1n) } }), 'payment_expired'],
  ];
  for (const [name, proof, code] of signed) {
    t.match((await pay(v1(proof))).json(), { code }, name);
    t.match((await pay(v2(proof, { amount: '5000000' }))).json(), { code }, `${name}, version 2`);
  }
  t.equal(facilitator.settlements(), 0);
  t.equal(await transfers(), 0);
});

t.test('malleated and malformed signatures are refused', async (t) => {
  const wallet = Wallet.createRandom();
  const good = await sign(wallet, 5);
  const { r, s, v, compactSerialized } = Signature.from(good.signature);
  const highS = (ORDER - BigInt(s)).toString(16).padStart(64, '0');
  for (const [name, signature] of [
    ['high s', `${r}${highS}${v === 27 ? '1c' : '1b'}`],
    ['compact', compactSerialized],
    ['wrong v', `${r}${s.slice(2)}${v === 27 ? '1c' : '1b'}`],
    ['v of 35', `${r}${s.slice(2)}23`],
    ['r of 0', `0x${'0'.repeat(64)}${s.slice(2)}1b`],
    ['too long', `${good.signature}00`],
    ['empty', '0x'],
    ['wrapped for a contract (ERC-6492)', `${good.signature}${'6492'.repeat(16)}`],
  ] as const)
    t.match((await pay(v1({ ...good, signature }))).json(), { code: 'payment_invalid_signature' }, name);
  t.match((await pay(v1({ ...good, signature: `0x${'gg'.repeat(65)}` }))).json(), { code: 'invalid_payment' });
  for (let bit = 0; bit < 65 * 8; bit += 3) {
    const bytes = Buffer.from(good.signature.slice(2), 'hex');
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    const answer = await pay(v1({ ...good, signature: `0x${bytes.toString('hex')}` }));
    if (answer.json().code !== 'payment_invalid_signature') t.fail(`bit ${bit}: ${answer.body}`);
  }
  t.equal(await transfers(), 0);
});

t.test('payment headers that do not parse are a 400', async (t) => {
  const good = v1(await sign(Wallet.createRandom(), 5));
  const { authorization } = good.payload;
  const within = (change: object) => ({ ...good, payload: { ...good.payload, ...change } });
  let deep: unknown = 1;
  for (let i = 0; i < 1_000; i++) deep = [deep];
  for (const proof of [
    null,
    1,
    'payment',
    [],
    {},
    { ...good, x402Version: 3 },
    { ...good, x402Version: '1' },
    { ...good, scheme: undefined },
    { ...good, network: 5 },
    { ...good, payload: null },
    within({ signature: undefined }),
    within({ signature: 5 }),
    within({ authorization: undefined }),
    within({ authorization: [] }),
    ...Object.keys(authorization).flatMap((name) =>
      [undefined, null, 5, '', '0x', '-1', '5.0', '5e6', ' 5', `0x${'0'.repeat(65)}`, '\u0000', 'x'.repeat(100)].map(
        (value) => within({ authorization: { ...authorization, [name]: value } }),
      ),
    ),
    within({ authorization: { ...authorization, value: String(2n ** 256n) } }),
    within({ authorization: { ...authorization, nonce: String(BigInt(authorization.nonce)) } }),
    { ...good, extra: deep },
    { ...good, padding: 'x'.repeat(8_000) },
  ])
    t.match((await pay(proof)).json(), { code: 'invalid_payment' }, JSON.stringify(proof)?.slice(0, 60));
  for (const header of ['', '%%%', '{}', 'a'.repeat(9_000), 'bm90IGpzb24=', base64(good).slice(0, -8)]) {
    const answer = await deposit(5, { 'x-payment': header });
    t.match(answer.json(), { code: 'invalid_payment' }, header.slice(0, 40));
  }
  const proto = Buffer.from(`{"__proto__":{},${JSON.stringify(good).slice(1)}`).toString('base64');
  t.match((await deposit(5, { 'x-payment': proto })).json(), { code: 'invalid_payment' });
  const two = { 'x-payment': base64(good), 'payment-signature': base64(v2(good.payload)) };
  t.match((await deposit(5, two)).json(), { code: 'invalid_payment' });
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: fc.constantFrom(...'ABCabc019+/=_-{}" ') }), async (header) => {
      const { statusCode } = await deposit(5, { 'x-payment': `x${header}` });
      if (statusCode !== 400) t.fail(header);
    }),
    { numRuns: 200, verbose: true },
  );
});

/** Many spellings of the same authorization. */
function spellings(proof: Signed): Record<string, string>[] {
  const { authorization: a, signature } = proof;
  const v = signature.slice(-2);
  const numbers = (text: string, i: number) => '0'.repeat(i % 5) + text;
  return Array.from({ length: 50 }, (_, i) => {
    const mixed = (hex: string) =>
      `0x${[...hex.slice(2)].map((c, at) => ((at * 7 + i) % 3 ? c.toLowerCase() : c.toUpperCase())).join('')}`;
    const authorization = {
      from: mixed(a.from),
      to: mixed(a.to),
      value: numbers(a.value, i),
      validAfter: numbers(a.validAfter, i + 1),
      validBefore: numbers(a.validBefore, i + 2),
      nonce: i % 2 ? mixed(a.nonce) : a.nonce.replace('0x', '0X'),
      ...(i % 3 === 0 && { more: i }),
    };
    const odd = i % 4 === 0 ? (v === '1b' ? '00' : '01') : v;
    const payload = {
      signature: mixed(signature.slice(0, -2) + odd),
      authorization: i % 5 ? authorization : Object.fromEntries(Object.entries(authorization).reverse()),
    };
    const envelope = i % 2 ? v1(payload as Signed) : v2(payload as Signed, { amount: a.value });
    const json = i % 7 ? JSON.stringify(envelope) : JSON.stringify(envelope, null, 2).replace('nonce', '\\u006eonce');
    const encoding = i % 6 ? 'base64' : 'base64url';
    const header = Buffer.from(json).toString(encoding);
    return { [i % 8 < 4 ? 'X-PAYMENT' : 'payment-signature']: i % 9 ? header : header.replace(/=+$/, '') };
  });
}

t.test(
  '[§4.5-deposit-credits] 50 spellings of one proof, sent 200 times at once to two replicas, credit once',
  async (t) => {
    for (let round = 0; round < times(1, 50); round++) await raceOneProof(t);
  },
);

async function reconcileOpen(): Promise<void> {
  await storage.db
    .updateTable('deposits')
    .set({ check_at: new Date(0) })
    .where('closed_at', 'is', null)
    .execute();
  await reconcileDeposits(context, deposits, new AbortController().signal);
}

async function raceOneProof(t: Test): Promise<void> {
  const wallet = Wallet.createRandom();
  const headers = spellings(await sign(wallet, 5));
  const before = facilitator.settlements();
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => {
      const app = i % 2 ? shop.app : replica.app;
      const request = { method: 'POST' as const, url: '/api/deposit', payload: { amount_usd: 5 } };
      return app.inject({ ...request, headers: headers[i % 50]! });
    }),
  );
  const codes = answers.map((answer) => (answer.statusCode === 200 ? 'paid' : answer.json().code));
  // 503: a wait for a connection that reached its end on a busy machine. It is retried below like every other refusal.
  const expected = ['paid', 'deposit_in_progress', 'payment_already_used', 'service_unavailable'];
  t.same(
    [...new Set(codes)].filter((code) => !expected.includes(code)),
    [],
  );
  const isBrokenOff = codes.includes('service_unavailable');
  if (isBrokenOff) {
    await reconcileOpen();
    await eventually('the proof is used up', async () => {
      const answer = await deposit(5, headers[0]!);
      answers.push(answer);
      return answer.json().code === 'payment_already_used';
    });
  }
  for (const spelling of headers) t.match((await deposit(5, spelling)).json(), { code: 'payment_already_used' });
  // The one that was paid may have got the 503 instead of its answer.
  for (const notified of [
    answers.filter(({ statusCode }) => statusCode === 200),
    answers.filter(({ body }) => /api_key|user_id/.test(body)),
  ])
    t.ok(
      notified.length === 1 || (isBrokenOff && notified.length === 0),
      `${notified.length} answers say that it is paid`,
    );
  t.equal(facilitator.settlements() - before, 1);
  t.equal(await credit(wallet), 500);
}

t.test('concurrent first deposits of one wallet create one account with one key, and all are credited', async (t) => {
  const wallet = Wallet.createRandom();
  const proofs = await Promise.all(Array.from({ length: 10 }, () => sign(wallet, 5)));
  const answers = await Promise.all(proofs.map((proof) => pay(v1(proof))));
  t.equal(answers.filter((answer) => answer.json().is_new_user).length, 1);
  t.equal(answers.filter((answer) => answer.json().api_key).length, 1);
  t.equal(await credit(wallet), 5_000);
});

t.test('a transaction with several transfers credits each authorization once', async (t) => {
  const wallet = Wallet.createRandom();
  const [paid, unpaid] = [await sign(wallet, 5), await sign(wallet, 5)];
  const elsewhere = { from: wallet.address, to: OTHER, value: 5_000_000n };
  const { usedEvent, transferEvent } = chain;
  // `unpaid` names us, but on the chain its nonce paid another address, beside a real payment to us.
  chain.transaction([
    usedEvent(unpaid.authorization),
    transferEvent(elsewhere),
    usedEvent(paid.authorization),
    transferEvent({ ...elsewhere, to: FAKE_PAY_TO }),
  ]);
  t.match((await pay(v1(unpaid))).json(), { code: 'payment_already_used' });
  t.equal((await pay(v1(paid))).statusCode, 200);
  await reconcileOpen();
  t.equal(await credit(wallet), 500);
});

t.test('chain events with a wrong token, payer, amount, nonce or status are not credited', async (t) => {
  const { usedEvent, transferEvent, transaction } = chain;
  facilitator.state.manner = 'liar';
  const tries: ((signed: Signed, from: string) => void)[] = [
    ({ authorization }) => transaction([usedEvent(authorization)]),
    ({ authorization }, from) =>
      transaction([usedEvent(authorization), transferEvent({ from, to: FAKE_PAY_TO, value: 4_999_999n })]),
    ({ authorization }) =>
      transaction([usedEvent(authorization), transferEvent({ from: OTHER, to: FAKE_PAY_TO, value: 5_000_000n })]),
    ({ authorization }, from) =>
      transaction([
        { ...usedEvent(authorization), address: OTHER },
        { ...transferEvent({ from, to: FAKE_PAY_TO, value: 5_000_000n }), address: OTHER },
      ]),
    ({ authorization }, from) =>
      transaction([
        usedEvent(authorization),
        { ...transferEvent({ from, to: FAKE_PAY_TO, value: 5_000_000n }), address: OTHER },
      ]),
    ({ authorization }, from) =>
      transaction([usedEvent(authorization), transferEvent({ from, to: FAKE_PAY_TO, value: 5_000_000n })], false),
    ({ authorization }, from) =>
      transaction([
        usedEvent({ ...authorization, nonce: `0x${randomBytes(32).toString('hex')}` }),
        transferEvent({ from, to: FAKE_PAY_TO, value: 5_000_000n }),
      ]),
  ];
  for (const [i, attempt] of tries.entries()) {
    const wallet = Wallet.createRandom();
    const signed = await sign(wallet, 5);
    attempt(signed, wallet.address);
    const code = chain.isUsed(signed.authorization) ? 'payment_already_used' : 'deposit_in_progress';
    t.match((await pay(v1(signed))).json(), { code }, `${i}`);
    t.equal(await credit(wallet), null);
  }
  facilitator.state.manner = 'kind';
});

t.test(
  'the key of a new account goes to its payer, not to those who repeat a payment that became public',
  async (t) => {
    const secret = randomBytes(24).toString('base64url');
    const outcomes = async (first: Record<string, string>, retry: Record<string, string>) => {
      const wallet = Wallet.createRandom();
      const signed = await sign(wallet, 500);
      const send = (headers: Record<string, string>) => deposit(500, { 'x-payment': base64(v1(signed)), ...headers });
      facilitator.state.failure = 'no word from the sequencer';
      t.match((await send(first)).json(), { code: 'payment_settlement_failed' });
      chain.settle({ ...signed.authorization, value: 500_000_000n });
      chain.mine(5);
      Object.assign(facilitator.state, { failure: null, invalid: 'invalid_exact_evm_nonce_already_used' });
      const body = (await send(retry)).json();
      t.match(body, { is_new_user: true, payer: wallet.address });
      t.equal(await credit(wallet), 50_000);
      facilitator.state.invalid = null;
      return body;
    };
    for (const [first, retry, name] of [
      [{}, {}, 'no secret'],
      [{}, { 'deposit-secret': secret }, 'a secret that the first submission did not have'],
      [{ 'deposit-secret': secret }, {}, 'without the secret'],
      [{ 'deposit-secret': secret }, { 'deposit-secret': `${secret}x` }, 'another secret'],
    ] as const) {
      const body = await outcomes(first, retry);
      t.notOk('api_key' in body, name);
      t.match(body.wallet_login, /^https:\/\/polls\.example\/api\/wallet\/challenge\?address=0x/);
    }
    t.match(await outcomes({ 'deposit-secret': secret }, { 'deposit-secret': secret }), { api_key: /^ep_k_/ });
    const rows = await storage.db.selectFrom('deposits').select(['secret_hash', 'proof']).execute();
    t.notMatch(JSON.stringify(rows) + shop.log.join(''), new RegExp(secret), 'stored hashed');
    for (const weak of ['', 'short', 'with a blank in the middle of it', 'x'.repeat(129)])
      t.match((await deposit(5, { 'deposit-secret': weak })).json(), { code: 'validation_error' });
  },
);

t.test('a payment that cannot move money is refused before anything is stored', async (t) => {
  const count = async () => (await storage.db.selectFrom('deposits').select('id').execute()).length;
  const before = [await count(), facilitator.asked.length];
  const empty = Wallet.createRandom();
  chain.balances.set(empty.address.toLowerCase(), 4_999_999n);
  const cancelled = await sign(Wallet.createRandom(), 5);
  chain.transaction([chain.usedEvent(cancelled.authorization)]);
  t.match((await pay(v1(await sign(empty, 5)))).json(), { code: 'payment_insufficient_funds' });
  t.match((await pay(v1(cancelled))).json(), { code: 'payment_already_used' });
  t.same([await count(), facilitator.asked.length], before);
});

t.test('the ledger balances after all tests', async (t) => {
  t.same(await checkLedger(storage), []);
});
