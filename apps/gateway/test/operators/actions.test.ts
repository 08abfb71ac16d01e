import { randomBytes, randomUUID } from 'node:crypto';
import { scanKeys } from '@eloquentpoll/services/redis-keys';
import {
  balanceOf,
  beginAct,
  checkLedger,
  claimPoll,
  createAccount,
  findPoll,
  freezeAccount,
  noteAct,
  readAccountRecord,
} from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { base64, FAKE_PAY_TO, sign, v1 } from '@eloquentpoll/testkit/fakes/payer';
import { delivery, fakeStripe } from '@eloquentpoll/testkit/fakes/stripe';
import { Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { stripeProcessor } from '../../src/payments/card/processor.ts';
import { syncPayment } from '../../src/payments/card/sync-payment.ts';
import { scanTransfers } from '../../src/payments/usdc/scan-transfers.ts';
import { openTestDeposits } from '../fixtures/deposits.ts';
import { ADMIN_TOKEN, operated } from '../fixtures/operator.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 8 s

const QUESTION = { question: 'Which one is the larger of the two?', options: ['The Sun', 'The Moon'], preset: 'fast' };
const FREE = { question: 'Which is larger?', options: ['Sun', 'Moon'] };

const dollars = async ({ context }: Awaited<ReturnType<typeof operated>>, accountId: string) =>
  Number((await balanceOf(context.storage, accountId))!.postedU) / 1e6;

t.test('a frozen account is a 403 by key, login and token of its sessions; its running polls end', async (t) => {
  const { app, context, act, keyWith, sessionFor } = await operated(t);
  const { accountId, bearer } = await keyWith(5);
  const cookie = await sessionFor(accountId);
  const run = { method: 'POST' as const, url: '/api/polls', headers: bearer, payload: QUESTION };
  const { session_id: id, status_url: status } = (await app.inject(run)).json();
  await claimPoll(context.storage, id, 'w_runs');
  t.equal((await app.inject({ url: new URL(status).pathname, headers: bearer })).statusCode, 200, 'its key is cached');

  t.match(await act('freeze', { subject: accountId }), { outcome: 'frozen', facts: { polls_ended: '1' } });
  t.match(await act('freeze', { subject: accountId }), { outcome: 'gone' });
  const refusesAll = async () => {
    for (const [request, name] of [
      [{ url: '/api/keys', headers: bearer }, 'key'],
      [run, 'key, to run a poll'],
      [{ url: new URL(status).pathname, headers: bearer }, 'key, by the path of sessions'],
      [{ url: '/api/balance', headers: cookie }, 'login'],
      [{ url: '/dashboard', headers: cookie }, 'login on a page'],
    ] as const) {
      const answer = await app.inject(request);
      t.equal(answer.statusCode, 403, name);
      if (!request.url.startsWith('/dash')) t.match(answer.json(), { code: 'account_frozen' }, name);
    }
  };
  await refusesAll();
  // Once the freeze's tombstones have expired, the key is cached with its frozen owner.
  const { redis, prefix } = context.bus;
  for await (const tombstones of scanKeys(redis, `${prefix}:key:*:revoked`)) await redis.del(tombstones);
  await refusesAll();
  await eventually('the frozen owner is cached', async () => (await redis.keys(`${prefix}:key:*`)).length === 1);
  await refusesAll();
  t.equal((await claimPoll(context.storage, id, 'w_other'))?.remainingMs, 0, 'its time is over');

  t.match(await act('unfreeze', { subject: accountId }), { outcome: 'unfrozen' });
  for (const request of [
    { url: '/api/keys', headers: bearer },
    { url: '/api/balance', headers: cookie },
  ])
    t.equal((await app.inject(request)).statusCode, 200);
  t.same(await checkLedger(context.storage), []);
});

t.test('a repeated freeze invalidates the keys that the first one left cached', async (t) => {
  const { app, context, act, keyWith } = await operated(t);
  const { accountId, bearer } = await keyWith(1);
  const read = async () => (await app.inject({ url: '/api/keys', headers: bearer })).statusCode;
  t.equal(await read(), 200, 'its key is cached');
  // As by a gateway that died right after its commit.
  t.match(await freezeAccount(context.storage, accountId), { isRepeated: false });
  t.equal(await read(), 200);
  t.match(await act('freeze', { subject: accountId }), { outcome: 'gone' });
  t.equal(await read(), 403);
});

t.test('a closed account is forgotten: keys, logins and results are gone, the ledger is kept', async (t) => {
  const { app, context, act, keyWith, sessionFor } = await operated(t);
  await standInWorker(t, context);
  const { accountId, bearer } = await keyWith(5);
  const cookie = await sessionFor(accountId);
  const { poll_id: result } = (
    await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload: QUESTION })
  ).json();
  const feedback = { poll_id: result, outcome_correct: true, notes: 'mine' };
  await app.inject({ method: 'POST', url: '/api/feedback', headers: bearer, payload: feedback });
  t.match(await act('close', { subject: accountId }), { outcome: 'closed', facts: { polls_emptied: '1' } });
  t.equal((await app.inject({ url: '/api/keys', headers: bearer })).statusCode, 401);
  t.equal((await app.inject({ url: '/api/balance', headers: cookie })).statusCode, 401);
  t.equal((await app.inject({ url: `/api/results/${result}` })).statusCode, 404);
  t.match((await app.inject({ url: `/api/feedback/${result}` })).json(), { total_feedback: 0 });
  const { db } = context.storage;
  const polls = await db.selectFrom('polls').innerJoin('results', 'results.poll_id', 'polls.id').selectAll().execute();
  t.notMatch(
    JSON.stringify(polls, (_, value) => (typeof value === 'bigint' ? 0 : value)),
    /larger of the two|The Sun/,
  );
  t.ok((await balanceOf(context.storage, accountId))!.usageU > 0n);
  t.same(await checkLedger(context.storage), []);
});

t.test('revoke ends every key and login of an account', async (t) => {
  const { app, act, keyWith, sessionFor } = await operated(t);
  const { accountId, bearer } = await keyWith(1);
  const cookie = await sessionFor(accountId);
  t.match(await act('revoke', { subject: accountId }), { outcome: 'revoked', facts: { keys: '1', logins: '1' } });
  t.equal((await app.inject({ url: '/api/keys', headers: bearer })).statusCode, 401);
  t.equal((await app.inject({ url: '/api/balance', headers: cookie })).statusCode, 401);
});

async function paidByCard(t: Test) {
  const stripe = await fakeStripe(t);
  const processor = stripeProcessor(stripe.settings, 'https://polls.example', 2_000);
  const shop = await operated(t, { checkout: stripe.settings }, { processor });
  const accountId = await createAccount(shop.context.storage);
  const headers = await shop.sessionFor(accountId);
  const { url } = (
    await shop.app.inject({ method: 'POST', url: '/api/checkout', headers, payload: { amount_cents: 1_000 } })
  ).json();
  const session = stripe.sessions.get(url.split('/').at(-1))!;
  await shop.app.inject(delivery(stripe.complete(session)));
  return { shop, stripe, session, accountId, checkout: session.client_reference_id! };
}

t.test('a refund is paid by the processor and taken from the account; more than is left is refused', async (t) => {
  const { shop, session, accountId, checkout } = await paidByCard(t);
  t.match(await shop.act('refund', { subject: checkout, amount: '4.50' }), { outcome: 'refunded' });
  t.equal(await dollars(shop, accountId), 5.5);
  t.match(session.refunds, [{ amount: 450 }]);
  t.match(await readAccountRecord(shop.context.storage, accountId), {
    postedU: 5_500_000n,
    checkouts: [{ id: checkout, state: 'credited', amountCents: 1_000, reversedCents: 450 }],
  });
  t.match(await shop.act('refund', { subject: checkout, amount: '5.51' }), { outcome: 'too_much' });
  t.match(await shop.act('refund', { subject: checkout, amount: '0' }), { outcome: 'too_much' });
  t.match(await shop.act('refund', { subject: checkout, amount: '5.50' }), { outcome: 'refunded' });
  t.equal(await dollars(shop, accountId), 0);
  t.same(await checkLedger(shop.context.storage), []);
});

t.test('a refund whose answer is lost is paid once, and the ledger has it', async (t) => {
  const { shop, stripe, session, accountId, checkout } = await paidByCard(t);
  stripe.trouble('late');
  t.match(await shop.act('refund', { subject: checkout, amount: '4.00' }), { outcome: 'refunded' });
  t.match(session.refunds, [{ amount: 400 }]);
  t.equal(await dollars(shop, accountId), 6);
  t.same(await checkLedger(shop.context.storage), []);
});

t.test('a refund and a correction that are sent twice under one id are done once, with the first answer', async (t) => {
  const { shop, session, accountId, checkout } = await paidByCard(t);
  const refund = { id: randomUUID(), subject: checkout, amount: '2.00' };
  const correction = { id: randomUUID(), subject: accountId, wrong: '3', right: '1' };
  for (const [verb, fields] of [
    ['refund', refund],
    ['correct', correction],
  ] as const) {
    const first = await shop.send(verb, fields);
    const again = await shop.send(verb, fields, { 'x-operator': 'grace' });
    t.same([first.status, again.status], [200, 200]);
    t.same(JSON.parse(again.text), JSON.parse(first.text));
  }
  t.equal(session.refunds.length, 1);
  t.equal(await dollars(shop, accountId), 6);
  const other = await shop.send('refund', { ...refund, amount: '2.50' });
  t.match(other, { status: 409, text: /another action/ });
  t.equal((await shop.send('correct', { ...correction, id: refund.id })).status, 409);
  t.equal((await shop.send('refund', { ...refund, id: 'x' })).status, 400);
  t.equal((await shop.look()).log.length, 2);
  t.same(await checkLedger(shop.context.storage), []);
});

t.test(
  'a refund that failed is repeated under its id, which pays what was paid once; one under way is not',
  async (t) => {
    const { shop, session, accountId, checkout } = await paidByCard(t);
    const refund = { id: randomUUID(), subject: checkout, amount: '8.00' };
    const { processor } = shop.context;
    const real = processor!.refund;
    // The processor pays, and no answer comes.
    let hasPaid = () => {};
    const paid = new Promise<void>((resolve) => (hasPaid = resolve));
    let fail: (error: Error) => void = () => {};
    processor!.refund = async (given) => {
      await real(given);
      await new Promise((_, reject) => {
        fail = reject;
        hasPaid();
      });
    };
    const sent = shop.send('refund', refund);
    await paid;
    t.match(await shop.send('refund', refund), { status: 409, text: /under way/ });
    fail(new Error('the answer was lost'));
    t.equal((await sent).status, 500);
    processor!.refund = real;
    await syncPayment(shop.context, processor!, { id: checkout, processorId: session.id });
    t.equal(await dollars(shop, accountId), 2, 'the ledger has it before the action is repeated');
    t.match(await shop.act('refund', refund), { outcome: 'refunded' });
    t.match(await shop.act('refund', refund), { outcome: 'refunded', facts: { amount_cents: '800' } });
    t.equal(session.refunds.length, 1);
    t.equal(await dollars(shop, accountId), 2);
  },
);

t.test('an action that ended without an outcome half a day ago is not done again', async (t) => {
  const { shop, session, checkout } = await paidByCard(t);
  const refund = { id: randomUUID(), subject: checkout, amount: '2.00' };
  await shop.context.storage.db
    .insertInto('operator_log')
    .values({
      ...{ action_id: refund.id, operator: 'ada', verb: 'refund', subject: checkout, reason: 'asked for it' },
      ...{ outcome: 'begun', facts: JSON.stringify({ amount: '2.00' }), at: new Date(Date.now() - 13 * 3_600_000) },
    })
    .execute();
  t.match(await shop.send('refund', refund), { status: 409, text: /too old to be repeated, and may have been done/ });
  t.same(session.refunds, []);
});

/** A browser of an operator, with the forms of the page. */
function browser(url: string) {
  const headers = { authorization: `Basic ${Buffer.from(`ada:${ADMIN_TOKEN}`).toString('base64')}` };
  const read = async (path = '/admin') => (await fetch(`${url}${path}`, { headers })).text();
  async function submit(form: string, typed: Record<string, string> = {}) {
    const [, action = ''] = /action="([^"]+)"/.exec(form) ?? [];
    const hidden = [...form.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value?.replaceAll('&quot;', '"'),
    ]);
    const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...typed });
    const answer = await fetch(`${url}${action}`, { method: 'POST', headers, body, redirect: 'manual' });
    return answer.headers.get('location') ?? '';
  }
  const formsOf = (html: string, label: string) =>
    [...html.matchAll(/<form .*?<\/form>/g)].map(([form]) => form).filter((form) => form.includes(`>${label}<`));
  return { read, submit, formsOf };
}

t.test('a refund that is done and cannot be recorded is answered as done, and repeated under its id', async (t) => {
  const { shop, session, accountId, checkout } = await paidByCard(t);
  const { asOwner, log } = shop;
  await asOwner(`create function fail() returns trigger language plpgsql as $$ begin raise 'broken'; end $$`);
  await asOwner(
    `create trigger fails before insert on operator_log for each row when (new.outcome <> 'begun') execute function fail()`,
  );
  const refund = { id: randomUUID(), subject: checkout, amount: '4.00' };
  const { status, text } = await shop.send('refund', refund);
  t.equal(status, 200);
  t.match(JSON.parse(text), { id: refund.id, outcome: 'refunded', note: /could not be written/ });
  t.ok(log.some((line) => line.includes('console.action_not_recorded') && line.includes(refund.id)));

  const { read, submit, formsOf } = browser(shop.url);
  const [form = ''] = formsOf(await read(), 'Refund a card payment');
  const location = await submit(form, { subject: checkout, amount: '1.00', reason: 'by the page' });
  t.match(location, /^\/admin\?done=refunded&again=[0-9a-f-]{36}$/);
  const shown = await read(location);
  t.match(shown, /<p role="status">The money goes back.* could not be written.* Its id is/);
  await asOwner('drop trigger fails on operator_log');
  await asOwner('alter table operator_log disable trigger all');
  await asOwner(`update operator_log set at = at - interval '2 minutes'`);
  await asOwner('alter table operator_log enable trigger all');
  const [again = ''] = formsOf(shown, 'Repeat under its id');
  t.equal(await submit(again), '/admin?done=refunded');
  t.match(await shop.act('refund', refund), { outcome: 'refunded' });
  t.equal(session.refunds.length, 2);
  t.equal(await dollars(shop, accountId), 5);
  t.match((await shop.look()).log, [{ outcome: 'refunded' }, { outcome: 'refunded' }]);
});

t.test('the page offers an action that failed again under its id, from its answer and from the log', async (t) => {
  const { shop, session, accountId, checkout } = await paidByCard(t);
  const { read, submit, formsOf } = browser(shop.url);
  const { processor } = shop.context;
  const real = processor!.refund;
  processor!.refund = async (given) => {
    await real(given);
    throw new Error('the answer was lost');
  };
  const [form = ''] = formsOf(await read(), 'Refund a card payment');
  const typed = { subject: checkout, amount: '4.00', reason: 'asked "twice"' };
  const location = await submit(form, typed);
  const [, id] = /^\/admin\?done=failed&again=([0-9a-f-]{36})$/.exec(location) ?? [];
  t.ok(id && form.includes(id));
  const offered = formsOf(await read(location), 'Repeat under its id');
  t.equal(offered.length, 2);
  t.equal(offered[0], offered[1]);
  processor!.refund = real;
  t.equal(await submit(offered[0]!), '/admin?done=refunded');
  t.same([session.refunds.length, await dollars(shop, accountId)], [1, 6]);
  t.same(formsOf(await read(location), 'Repeat under its id'), [], 'it has an outcome now');
});

t.test('forms of the console have an id each', async (t) => {
  const { url, look } = await operated(t);
  const headers = { authorization: `Basic ${Buffer.from(`ada:${ADMIN_TOKEN}`).toString('base64')}` };
  const html = await (await fetch(`${url}/admin`, { headers })).text();
  const ids = [...html.matchAll(/name="id" value="([0-9a-f-]{36})"/g)].map(([, id]) => id);
  t.ok(ids.length > 3);
  t.equal(new Set(ids).size, ids.length);
  const form = /name="form" value="([^"]+)"/.exec(html)![1]!;
  const body = new URLSearchParams({ form, id: ids[0]!, reason: 'a second click' });
  const click = () => fetch(`${url}/admin/stop-free`, { method: 'POST', headers, body, redirect: 'manual' });
  for (const _ of [1, 2]) t.match((await click()).headers.get('location'), '/admin?done=stopped');
  t.equal((await look()).log.length, 1);
});

t.test('a refund that the processor refuses fails, is in the log, and takes nothing', async (t) => {
  const { shop, stripe, session, accountId, checkout } = await paidByCard(t);
  stripe.trouble('errors');
  const failed = await shop.send('refund', { subject: checkout, amount: '4.00' });
  t.equal(failed.status, 500);
  t.match((await shop.look()).log, [{ verb: 'refund', outcome: 'failed' }]);
  t.same(session.refunds, []);
  t.equal(await dollars(shop, accountId), 10);
});

async function paidInUsdc(t: Test) {
  const { deposits, chain } = await openTestDeposits(t);
  const shop = await operated(t, {}, { deposits });
  const { storage } = shop.context;
  const scan = async () => {
    await storage.db
      .updateTable('money_scans')
      .set({ due_at: new Date(0) })
      .execute();
    await scanTransfers(shop.context, deposits, new AbortController().signal);
  };
  await scan();
  return { shop, chain, scan, storage };
}

t.test('a refund of USDC is booked once per transaction, and never beyond the deposit', async (t) => {
  const { shop, storage } = await paidInUsdc(t);
  const signed = await sign(Wallet.createRandom(), 10);
  const headers = { 'x-payment': base64(v1(signed)) };
  const paid = await shop.app.inject({ method: 'POST', url: '/api/deposit', headers, payload: { amount_usd: 10 } });
  const { deposit_id: subject, user_id: accountId } = paid.json();
  const tx = () => `0x${randomBytes(32).toString('hex')}`;
  const first = { subject, amount: '4.00', tx: tx() };
  t.match(await shop.act('refund-deposit', first), { outcome: 'refunded' });
  t.match(await shop.act('refund-deposit', first), { outcome: 'gone' });
  const lost = { ...first, id: randomUUID() };
  const act = { actionId: lost.id, operator: 'ada', verb: 'refund-deposit', subject, reason: 'asked for it' };
  await beginAct(storage, act, { amount: first.amount, tx: first.tx });
  await noteAct(storage, act, 'failed');
  t.match(await shop.act('refund-deposit', lost), { outcome: 'refunded' }, 'its answer was lost, and it was booked');
  t.equal(await dollars(shop, accountId), 6);
  const both = await Promise.all([1, 2].map(() => shop.act('refund-deposit', { subject, amount: '6.00', tx: tx() })));
  t.same(both.map(({ outcome }) => outcome).toSorted(), ['refunded', 'too_much']);
  t.equal(await dollars(shop, accountId), 0);
  t.same(await checkLedger(storage), []);
});

t.test('a transfer without a deposit is credited to its wallet or a given account, once, or ignored', async (t) => {
  const { shop, chain, scan, storage } = await paidInUsdc(t);
  const accountId = await createAccount(storage);
  const move = (usd: number) => ({ from: Wallet.createRandom().address, to: FAKE_PAY_TO, value: BigInt(usd * 1e6) });
  chain.settle({ ...move(7), nonce: `0x${randomBytes(32).toString('hex')}` });
  chain.transaction([chain.transferEvent(move(3))]);
  chain.transaction([chain.transferEvent(move(2))]);
  await scan();
  const { misfits } = await shop.look();
  t.match(misfits, [{ reason: 'no_deposit' }, { reason: 'no_authorization' }, { reason: 'no_authorization' }]);
  const [signed, plain, foreign] = misfits.map(({ id }: { id: string }) => id);
  const { facts } = await shop.act('match', { subject: signed });
  t.equal(await dollars(shop, facts.account_id), 7);
  t.match(await shop.act('match', { subject: signed, account: accountId }), { outcome: 'gone' });
  t.match(await shop.act('match', { subject: plain, account: accountId }), { outcome: 'matched' });
  t.match(await shop.act('ignore', { subject: foreign }), { outcome: 'ignored' });
  t.equal(await dollars(shop, accountId), 3);
  await storage.db.updateTable('money_scans').set({ position: 1n }).execute();
  await scan();
  t.same((await shop.look()).misfits, [], 'seen again, they stay explained');
  t.equal(await dollars(shop, accountId), 3);
  t.same(await checkLedger(storage), []);
});

t.test('a deposit that the chain has dropped is taken back and ignored, and cannot be credited again', async (t) => {
  const { shop, chain, scan, storage } = await paidInUsdc(t);
  const headers = { 'x-payment': base64(v1(await sign(Wallet.createRandom(), 10))) };
  const paid = await shop.app.inject({ method: 'POST', url: '/api/deposit', headers, payload: { amount_usd: 10 } });
  const { deposit_id: deposit, user_id: accountId, tx_hash: tx } = paid.json();
  chain.drop(tx);
  chain.state.finalAt = Math.floor(Date.now() / 1_000) + 3_600;
  await scan();
  const { misfits } = await shop.look();
  t.match(misfits, [{ source: 'chain', reason: 'lost_transfer', amountU: '-10000000' }]);
  const subject = misfits[0].id;
  t.match(await shop.act('match', { subject }), { outcome: 'not_by_hand' });
  t.match(await shop.act('refund-deposit', { subject: deposit, amount: '10.00', tx }), { outcome: 'refunded' });
  t.match(await shop.act('ignore', { subject }), { outcome: 'ignored' });
  await scan();
  t.same((await shop.look()).misfits, []);
  t.equal(await dollars(shop, accountId), 0);
  t.same(await checkLedger(storage), []);
});

t.test('a correction is two entries, to the same account or another', async (t) => {
  const shop = await operated(t);
  const { storage } = shop.context;
  const [wrong, right] = [await shop.keyWith(50), await shop.keyWith(0)];
  const takes = { subject: wrong.accountId, wrong: '50', right: '5' };
  t.match(await shop.act('correct', takes), { outcome: 'corrected' });
  t.equal(await dollars(shop, wrong.accountId), 5);
  t.match(await shop.act('correct', { subject: wrong.accountId, wrong: '5', right: '5', account: right.accountId }), {
    outcome: 'corrected',
  });
  t.equal(await dollars(shop, wrong.accountId), 0);
  t.equal(await dollars(shop, right.accountId), 5);
  const entries = await storage.db
    .selectFrom('transfers')
    .select(['kind', 'idem'])
    .where('idem', 'like', 'correction:%')
    .execute();
  t.equal(entries.length, 4);
  t.match(await shop.act('correct', { ...takes, subject: '11111111-1111-4111-8111-111111111111' }), {
    outcome: 'gone',
  });
  t.same(await checkLedger(storage), []);
});

t.test('a correction only takes or only gives, to the millionth of a dollar', async (t) => {
  const shop = await operated(t);
  const { storage } = shop.context;
  const { accountId: subject } = await shop.keyWith(50);
  t.match(await shop.act('correct', { subject, wrong: '7.000001', right: '0' }), {
    outcome: 'corrected',
    facts: { takes_u: '7000001', gives_u: '0' },
  });
  t.equal((await balanceOf(storage, subject))!.postedU, 42_999_999n);
  t.match(await shop.act('correct', { subject, wrong: '0', right: '0.000002' }), { outcome: 'corrected' });
  t.equal((await balanceOf(storage, subject))!.postedU, 43_000_001n);
  t.match(await shop.act('correct', { subject, wrong: '0.00', right: '0' }), { outcome: 'no_amount' });
  t.equal((await shop.send('correct', { subject, wrong: '1.0000001', right: '0' })).status, 400, 'not seven decimals');
  t.same(await checkLedger(storage), []);
});

t.test(
  'a misfit is shown with its exact amount and what identifies it, and can be refunded to the last unit',
  async (t) => {
    const { shop, chain, scan, storage } = await paidInUsdc(t);
    const from = Wallet.createRandom().address;
    chain.transaction([chain.transferEvent({ from, to: FAKE_PAY_TO, value: 3_000_001n })]);
    await scan();
    const [misfit] = (await shop.look()).misfits;
    t.match(misfit, { amountU: '3000001', details: { payer: from.toLowerCase(), tx_hash: /^0x[0-9a-f]{64}$/ } });
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const html = await (await fetch(`${shop.url}/admin`, { headers })).text();
    t.ok(html.includes('3.000001') && html.includes(`payer ${from.toLowerCase()}`));
    const accountId = await createAccount(storage);
    await shop.act('match', { subject: misfit.id, account: accountId });
    const { id } = await storage.db.selectFrom('deposits').select('id').executeTakeFirstOrThrow();
    const tx = `0x${randomBytes(32).toString('hex')}`;
    t.match(await shop.act('refund-deposit', { subject: id, amount: '3.000001', tx }), { outcome: 'refunded' });
    t.equal(await dollars(shop, accountId), 0);
    t.same(await checkLedger(storage), []);
  },
);

t.test(
  'free polls, then all, are stopped with 503 and Retry-After on every gateway, and go on; running polls end',
  async (t) => {
    const shop = await operated(t);
    const { app, act, keyWith, context } = shop;
    const other = await operated(t, { database: context.config.database, redis: context.config.redis });
    const { bearer } = await keyWith(5);
    const paid = (gateway = app) =>
      gateway.inject({ method: 'POST', url: '/api/polls', headers: bearer, payload: QUESTION });
    const free = (gateway = app) => gateway.inject({ method: 'POST', url: '/api/quick-poll', payload: FREE });
    const { session_id: running } = (await paid()).json();

    t.match(await act('stop-free'), { outcome: 'stopped' });
    t.match(await act('stop-free'), { outcome: 'gone' });
    for (const gateway of [app, other.app]) {
      const refused = await free(gateway);
      t.equal(refused.statusCode, 503);
      t.match(refused.json(), { code: 'polls_stopped' });
      t.ok(Number(refused.headers['retry-after']) >= 30);
      t.equal((await paid(gateway)).statusCode, 202);
    }
    t.match(await act('stop-all'), { outcome: 'stopped' });
    for (const gateway of [app, other.app]) t.match((await paid(gateway)).json(), { code: 'polls_stopped' });
    t.match(await shop.look(), { controls: { pollsStopped: true, freePollsStopped: true } });
    t.ok(await claimPoll(context.storage, running, 'w'), 'what was accepted is run');
    t.match(await act('resume-all'), { outcome: 'resumed' });
    t.equal((await paid(other.app)).statusCode, 202);
    t.match(await act('resume-free'), { outcome: 'resumed' });
    t.equal((await findPoll(context.storage, running))?.status, 'running');
  },
);

t.test('every action needs a name and a reason and is in a log that is never rewritten', async (t) => {
  const { act, send, look, keyWith, context } = await operated(t);
  const { accountId } = await keyWith(1);
  for (const [fields, headers, said] of [
    [{ reason: '' }, {}, /Say why/],
    [{ reason: 'x'.repeat(501) }, {}, /Say why/],
    [{}, { 'x-operator': '' }, /who you are/],
    [{ subject: 'no-uuid' }, {}, /account id/],
  ] as const) {
    const refused = await send('freeze', { subject: accountId, ...fields }, headers);
    t.equal(refused.status, 400);
    t.match(refused.text, said);
  }
  t.equal((await send('destroy', { subject: accountId })).status, 404);
  t.same((await look()).log, [], 'nothing was done');
  await act('freeze', { subject: accountId, reason: 'chargebacks of three cards' });
  t.match((await look()).log, [
    { operator: 'ada', verb: 'freeze', subject: accountId, reason: 'chargebacks of three cards', outcome: 'frozen' },
  ]);
  const { db } = context.storage;
  t.same(
    (await db.selectFrom('operator_log').select('outcome').orderBy('id').execute()).map(({ outcome }) => outcome),
    ['begun', 'frozen'],
  );
  await t.rejects(db.updateTable('operator_log').set({ operator: 'bob' }).execute(), { name: 'StorageRefused' });
  await t.rejects(db.deleteFrom('operator_log').execute(), { name: 'StorageRefused' });
});

t.test('an action that a crash ended is in the log as begun', async (t) => {
  const { context, keyWith, look, send } = await operated(t);
  const { accountId } = await keyWith(1);
  Object.assign(context, { keys: { ...context.keys, invalidate: () => new Promise(() => {}) } });
  void send('freeze', { subject: accountId }).catch(() => {});
  await eventually('the action is in the log', async () => (await look()).log[0]?.outcome === 'begun');
});
