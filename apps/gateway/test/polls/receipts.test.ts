import { createHash } from 'node:crypto';
import { type Known, RULE_VERSION, type SignedReceipt, verifyReceipt } from '@eloquentpoll/receipts';
import { closeAccount, sealReceipts } from '@eloquentpoll/storage';
import { calculateJwkThumbprint, flattenedVerify, importJWK } from 'jose';
import t from 'tap';
import { build, type Gateway } from '../fixtures/build.ts';
import { HOLDING } from '../fixtures/receipt-parts.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

const gateway = await build(t);
const { app, context, keyWith, sessionFor, asOwner } = gateway;
// Two for the second option, one model without a vote, the rest for the first.
await standInWorker(t, context, { opinion: (seat) => (seat === 1 ? null : seat < 4 ? 1 : 0) });

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });

async function poll({ key }: Pick<Awaited<ReturnType<Gateway['keyWith']>>, 'key'>, more: object = {}) {
  const payload = { question: 'Which of these is the best choice?', options: ['A', 'B'], reasons: true, ...more };
  const answer = await app.inject({
    method: 'POST',
    url: '/api/poll',
    headers: { authorization: `Bearer ${key}` },
    payload,
  });
  t.equal(answer.statusCode, 200, answer.body);
  return answer.json();
}

async function known(resultId: string): Promise<Known> {
  const [keys, days, result] = await Promise.all(
    ['/.well-known/jwks.json', '/api/receipts/days', `/api/results/${resultId}`].map(async (url) =>
      (await get(url)).json(),
    ),
  );
  return { keys: keys.keys, days: days.days, result };
}

const statesOf = async (body: string, with_: Known) =>
  Object.fromEntries((await verifyReceipt(body, with_)).parts.map(({ name, state }) => [name, state]));

t.test('a receipt is a JWS that another library verifies, and everything in it holds', async (t) => {
  const { poll_id } = await poll(await keyWith(1));
  const answer = await get(`/api/results/${poll_id}/receipt`);
  t.equal(answer.statusCode, 200, answer.body);
  t.match(answer.headers, { 'cache-control': 'public, no-cache', 'x-robots-tag': 'noindex', etag: /^"/ });
  const receipt = answer.json() as SignedReceipt;

  const { keys } = (await get('/.well-known/jwks.json')).json();
  t.equal(await calculateJwkThumbprint(keys[0]), keys[0].kid);
  const { payload, protectedHeader } = await flattenedVerify(receipt, await importJWK(keys[0]));
  t.match(protectedHeader, { alg: 'EdDSA', kid: keys[0].kid });
  const statement = JSON.parse(Buffer.from(payload).toString());
  t.match(statement, {
    version: 1,
    result_id: poll_id,
    options: ['A', 'B'],
    order: 'shuffled',
    decision: { winner: 0 },
  });
  t.match(statement.votes[1], { seat: 1, option: null, error: 'refusal' });

  t.same(await statesOf(answer.body, await known(poll_id)), HOLDING);
  const { result, ...others } = await known(poll_id);
  const claims = {
    confidence_threshold: 0.5,
    tally: { A: 9, B: 0 },
    models_skipped: 7,
    confidence: 0.999,
    chances: result!.chances!.toReversed(),
    track_record: { audits: 500, same_leader: 480 },
    timing: { arrivals: [{ confidence: 0.999 }] },
    simulated: !result!.simulated,
    winning_option: 'B',
  };
  for (const [name, value] of Object.entries(claims))
    t.equal((await statesOf(answer.body, { ...others, result: { ...result!, [name]: value } })).result, 'fails', name);
  const again = await get(`/api/results/${poll_id}/receipt`, { 'if-none-match': String(answer.headers.etag) });
  t.equal(again.statusCode, 304);
});

t.test('a receipt says nothing about money, reasons and the account, but to the owner', async (t) => {
  const owner = await keyWith(1);
  const { poll_id } = await poll(owner);
  const url = `/api/results/${poll_id}/receipt`;
  const publicly = (await get(url)).json();
  const text = Buffer.from(publicly.payload, 'base64url').toString();
  for (const secret of [
    'usd',
    'cost',
    'reserve',
    'billed',
    'Because it is',
    'best choice',
    owner.accountId,
    'seed',
    '"ps_',
  ])
    t.notMatch(text, secret);
  t.notOk('price' in publicly);

  const stranger = await keyWith(1);
  t.notOk('price' in (await get(url, stranger.bearer)).json());
  for (const headers of [owner.bearer, await sessionFor(owner.accountId)]) {
    const answer = await get(url, headers);
    t.equal(answer.headers['cache-control'], 'private, no-store');
    t.match(answer.json(), { payload: publicly.payload, price: { max_cost_u: 1_000_000 } });
    t.equal((await statesOf(answer.body, await known(poll_id))).price, 'holds');
    const cheaper = JSON.stringify(answer.json()).replace('"billed_u":100', '"billed_u":1');
    t.equal(
      (await statesOf(cheaper, await known(poll_id))).price,
      'fails',
      'another price is not the one that was signed',
    );
  }
  t.equal((await get(url, { authorization: 'Bearer ep_k_wrong' })).statusCode, 401);
});

t.test('once its day is sealed a receipt proves that the day holds it, and the day is published', async (t) => {
  const { poll_id } = await poll(await keyWith(1));
  // As if it had been stored the day before yesterday.
  await asOwner(`update results set created_at = created_at - interval '2 days' where result_id = '${poll_id}'`);
  await asOwner(
    "update receipt_leaves set day = day - 2 where leaf = (select receipt_leaf from results where result_id = '" +
      poll_id +
      "')",
  );
  await asOwner(
    "insert into receipt_leaves select (now() - interval '2 days')::date, sha256(i::text::bytea) from generate_series(1, 600) i",
  );
  const sealed: unknown[] = [];
  await sealReceipts(context.storage, (day) => sealed.push(day), { maxLeaves: 512 });
  t.match(sealed, [{ receipts: 601 }]);

  const answer = await get(`/api/results/${poll_id}/receipt`);
  t.equal(answer.headers['cache-control'], 'public, no-cache');
  const with_ = await known(poll_id);
  t.match(with_.days, [{ receipts: 601, root: /^[\w-]{43}$/, seal: /^[\w-]{43}$/ }]);
  t.same(await statesOf(answer.body, with_), { ...HOLDING, inclusion: 'holds' });
  const elsewhere = [{ ...with_.days![0]!, root: with_.days![0]!.seal }];
  t.equal(
    (await statesOf(answer.body, { ...with_, days: elsewhere })).inclusion,
    'fails',
    'a day that was sealed anew',
  );
  t.same((await get(`/api/receipts/days?before=${with_.days![0]!.day}`)).json(), { days: [] });
  for (const query of ['before=yesterday', 'before=0000-01-01', 'day=0000-12-31', 'day=2026-02-30'])
    t.match((await get(`/api/receipts/days?${query}`)).json(), { code: 'validation_error' }, query);
  t.same((await get('/api/receipts/days?before=0001-01-01')).json(), { days: [] });
  t.same((await get(`/api/receipts/days?result_id=${poll_id}`)).json().days, with_.days);
  t.equal((await get('/api/receipts/days?result_id=nonsense')).statusCode, 400);
});

t.test('a poll that ended by earlier rules keeps its receipt, and nothing is said of its decision', async (t) => {
  const owner = await keyWith(1);
  const { poll_id } = await poll(owner);
  const url = `/api/results/${poll_id}/receipt`;
  const now = Buffer.from((await get(url)).json().payload, 'base64url').toString();
  const earlier = now.replace(`"version":${RULE_VERSION}},"simulated"`, '"version":1},"simulated"');
  t.not(earlier, now);
  const leaf = createHash('sha256').update(`\0${earlier}`).digest('hex');
  await asOwner(`update results set receipt_leaf = '\\x${leaf}' where result_id = '${poll_id}'`);

  const answer = await get(url);
  t.equal(Buffer.from(answer.json().payload, 'base64url').toString(), earlier);
  t.match(await statesOf(answer.body, await known(poll_id)), {
    signature: 'holds',
    panel: 'holds',
    tally: 'unchecked',
    odds: 'unchecked',
    decision: 'unchecked',
  });
});

t.test('a result without a receipt, one that was changed, and one that is gone', async (t) => {
  const [owner, leaving] = [await keyWith(1), await keyWith(1)];
  const [old, changed, gone] = [await poll(owner), await poll(owner), await poll(leaving)];
  await asOwner(`update results set receipt_leaf = null where result_id = '${old.poll_id}'`);
  const text = `replace(detail::text, '"winning_option":"A"', '"winning_option":"B"')::json`;
  await asOwner(`update results set detail = ${text} where result_id = '${changed.poll_id}'`);
  await closeAccount(context.storage, leaving.accountId);
  const codeOf = async (id: string) => (await get(`/api/results/${id}/receipt`)).json().code;
  t.equal(await codeOf(old.poll_id), 'receipt_not_found');
  t.equal(await codeOf(changed.poll_id), 'receipt_not_found');
  t.ok(gateway.log.some((line) => line.includes('receipt.source_changed') && line.includes(changed.poll_id)));
  t.equal(await codeOf(gone.poll_id), 'result_not_found');
  t.equal(await codeOf('EP-2026-11-20-0000000000000000'), 'result_not_found');
  t.equal(await codeOf('nonsense'), 'result_not_found');
});

t.test(
  'the key is replaced: what the old one signed still verifies, and one without a key is not set up',
  async (t) => {
    const { poll_id } = await poll(await keyWith(1));
    const before = (await get(`/api/results/${poll_id}/receipt`)).body;
    const { keys: old } = (await get('/.well-known/jwks.json')).json();
    const receipts = { key: Buffer.alloc(32, 9), pastKeys: [Buffer.from(old[0].x, 'base64url')] };
    const later = await build(t, { receipts });
    const { keys } = (await later.app.inject('/.well-known/jwks.json')).json();
    t.equal(keys.length, 2);
    t.same(keys[1], old[0]);
    t.not(keys[0].kid, old[0].kid);
    t.equal((await statesOf(before, { keys })).signature, 'holds');
    t.equal((await statesOf(before, { keys: [keys[0]] })).key, 'fails');

    const without = await build(t, { receipts: null });
    for (const url of ['/.well-known/jwks.json', `/api/results/${poll_id}/receipt`])
      t.match((await without.app.inject(url)).json(), { code: 'not_configured' });
  },
);
