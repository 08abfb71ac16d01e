import { randomUUID } from 'node:crypto';
import { balanceOf, checkLedger, creditAccount } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { keyOf } from '../../src/http/hooks/idempotency-key.ts';
import { build } from '../fixtures/build.ts';
import { replicaOf } from '../fixtures/replica.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';
import { stored } from '../fixtures/stored.ts';

// slow: 3 s

const Q = 'Which of these is the best?';
const FULL = { question: Q, options: ['A', 'B'] };
const QUICK = { q: Q, o: ['A', 'B'] };

const gateway = await build(t, { rateLimits: readPolicies('poll=1000000/60,free_poll=1000000/60') });
const { app, context, keyWith } = gateway;
const { bearer, accountId } = await keyWith(100);
await standInWorker(t, context);

const post = (url: string, key: string, payload: object, headers: object = bearer, remoteAddress = '127.0.0.1') =>
  app.inject({ method: 'POST', url, headers: { ...headers, 'idempotency-key': key }, payload, remoteAddress });

t.test(
  '[§8-idempotency-key, §8-idempotency-key-response, §A6-idempotency-replayed] a retry gets the first answer, byte for byte',
  async (t) => {
    for (const [url, payload, headers] of [
      ['/api/poll', FULL, bearer],
      ['/api/poll', { q: Q, o: ['2', '1', '__proto__'] }, bearer],
      ['/api/quick-poll', { question: 'Is this question enough?' }, bearer],
      ['/api/quick-poll', QUICK, {}],
      ['/api/poll', QUICK, {}],
    ] as const) {
      const key = randomUUID();
      const first = await post(url, key, payload, headers);
      const before = await stored(context);
      const again = await post(url, key, payload, headers);
      t.equal(first.statusCode, 200);
      t.equal(again.statusCode, 200);
      t.ok(first.rawPayload.equals(again.rawPayload));
      t.equal(first.headers['content-type'], again.headers['content-type']);
      t.equal(first.headers['idempotent-replayed'], undefined);
      t.equal(again.headers['idempotent-replayed'], 'true');
      for (const answer of [first, again]) t.equal(answer.headers['idempotency-key'], key);
      t.same(await stored(context), before);
    }
  },
);

t.test('[§A6-idempotency-fingerprint] what means the same is the same request', async (t) => {
  const key = randomUUID();
  const first = await post('/api/poll', key, FULL);
  for (const [header, body] of [
    [`"${key}"`, FULL],
    [key, { options: ['A', 'B'], question: Q }],
    [key, { prompt: Q, options: ['A', 'B'] }],
    [key, { q: Q, o: ['A', 'B'] }],
    [key, { poll: `${Q} [A, B]` }],
    [key, { ...FULL, preset: 'broad', confidence_threshold: 0.95, max_cost_usd: 1, poll_type: 'fptp' }],
    [key, { ...FULL, profile: 'balanced', surface: 'elsewhere' }],
    [key, { ...QUICK, theme: 'broad' }],
  ] as const) {
    const again = await post('/api/poll', header, body);
    t.match([again.statusCode, again.body], [200, first.body], JSON.stringify(body));
    t.equal(again.headers['idempotency-key'], header, 'repeated as it came');
  }
});

t.test('[§A6-idempotency-422] another request with the same key is refused and does nothing', async (t) => {
  const key = randomUUID();
  await post('/api/poll', key, FULL);
  await post('/api/quick-poll', key, { q: 'Is this question enough?' });
  const before = [await stored(context), await balanceOf(context.storage, accountId)];
  for (const [url, body] of [
    ['/api/poll', { ...FULL, question: `${Q} ` }],
    ['/api/poll', { ...FULL, options: ['B', 'A'] }],
    ['/api/poll', { ...FULL, preset: 'fast' }],
    ['/api/poll', { ...FULL, confidence_threshold: 0.96 }],
    ['/api/poll', { ...FULL, max_cost_usd: 0.999999 }],
    ['/api/poll', { ...QUICK, theme: 'search' }],
    ['/api/poll', { ...QUICK, theme: 'free' }],
    ['/api/quick-poll', { q: 'Is this question enough?', o: ['Yes', 'No'] }],
  ] as const) {
    const answer = await post(url, key, body);
    const refusal = { code: 'idempotency_key_reused', error: /or use another key/ };
    t.match([answer.statusCode, answer.json()], [422, refusal], JSON.stringify(body));
    t.equal(answer.headers['idempotency-key'], key);
  }
  t.same([await stored(context), await balanceOf(context.storage, accountId)], before);
});

t.test('[§A6-idempotency-scope] a key is its owner’s and its operation’s', async (t) => {
  const key = randomUUID();
  const other = await keyWith(10);
  const answers = [
    await post('/api/poll', key, FULL),
    await post('/api/poll', key, FULL, other.bearer),
    await post('/api/quick-poll', key, QUICK),
    await post('/api/quick-poll', key, QUICK, {}, '198.51.100.1'),
    await post('/api/quick-poll', key, QUICK, {}, '198.51.100.2'),
    await post('/api/poll', key, QUICK, {}, '198.51.100.1'),
    await post('/api/quick-poll', key, QUICK, {}, '2001:db8:1:2::1'),
  ];
  for (const answer of answers) t.match([answer.statusCode, answer.headers['idempotent-replayed']], [200, undefined]);
  const neighbour = await post('/api/quick-poll', key, QUICK, {}, '2001:db8:1:2:ffff::2');
  t.equal(neighbour.headers['idempotent-replayed'], 'true', 'one network is one anonymous caller');
  const { rows } = { rows: await context.storage.db.selectFrom('idempotency').select('principal').execute() };
  t.notMatch(JSON.stringify(rows), /198\.51|2001:db8/, 'whose address is not kept');
});

t.test('[§A6-idempotency-nothing-stored] what executed nothing leaves the key free', async (t) => {
  const poor = await keyWith(0);
  const key = randomUUID();
  const before = await stored(context);
  for (const [status, payload, headers] of [
    [400, { ...FULL, options: ['A'] }, poor.bearer],
    [401, FULL, {}],
    [401, FULL, { authorization: 'Bearer nonsense' }],
    [402, FULL, poor.bearer],
  ] as const)
    t.equal((await post('/api/poll', key, payload, headers)).statusCode, status);
  t.same(await stored(context), before);
  await creditAccount(context.storage, {
    accountId: poor.accountId,
    amountU: 1_000_000n,
    source: 'operator',
    idem: key,
  });
  const paid = await post('/api/poll', key, FULL, poor.bearer);
  t.match([paid.statusCode, paid.headers['idempotent-replayed']], [200, undefined], 'topped up, and the same key runs');
});

t.test('absurd keys are refused before anything else is looked at', async (t) => {
  const before = await stored(context);
  for (const key of [
    '',
    '""',
    '"',
    '"open',
    'closed"x"y z',
    'x'.repeat(256),
    `"${'x'.repeat(256)}"`,
    'x'.repeat(10_000),
    'two words',
    'a, b',
    'ü',
    'tab\there',
    '"a"b"',
    '"a\\x"',
    '"a b"',
  ]) {
    const answer = await post('/api/poll', key, FULL);
    t.match([answer.statusCode, answer.json().code], [400, 'validation_error'], JSON.stringify(key.slice(0, 20)));
    t.match(answer.json().error, /Idempotency-Key must be 1 to 255 visible ASCII characters/);
    t.equal(answer.headers['idempotency-key'], undefined, 'and not repeated');
  }
  t.same(await stored(context), before);
  t.equal(keyOf('x'.repeat(255)), 'x'.repeat(255));
  t.equal(keyOf(`"${'~'.repeat(255)}"`), '~'.repeat(255));
  t.equal(keyOf('"a\\"b\\\\c"'), 'a"b\\c');
  t.equal(keyOf('a"b\\c'), 'a"b\\c');
});

t.test('a retry at another gateway finds the poll of one that went away', async (t) => {
  const leaving = await build(t);
  const { bearer, accountId } = await leaving.keyWith(10);
  const { app: other } = await replicaOf(t, leaving.context);
  const gate = Promise.withResolvers<void>();
  await standInWorker(t, leaving.context, { holdUntil: gate.promise });
  const request = {
    method: 'POST',
    url: '/api/poll',
    headers: { ...bearer, 'idempotency-key': 'k' },
    payload: FULL,
  } as const;
  const lost = leaving.app.inject(request);
  // It is watched before it is accepted; one that waits for its turn then would not be made.
  await eventually('its poll is accepted', async () => (await stored(leaving.context)).polls === 1);
  leaving.context.shutdown.end();
  const refused = await lost;
  t.match([refused.statusCode, refused.headers['retry-after'], refused.headers['idempotency-key']], [503, '1', 'k']);
  const retried = other.inject(request);
  gate.resolve();
  const answer = await retried;
  t.match([answer.statusCode, answer.headers['idempotent-replayed']], [200, 'true']);
  t.match(await stored(leaving.context), { polls: 1, results: 1, idempotency: 1 });
  t.match(await balanceOf(leaving.context.storage, accountId), { usageU: 900n, heldU: 0n }, 'paid once');
});

const KEYS = Number(process.env.IDEMPOTENCY_TEST_KEYS ?? 6);
const PARALLEL = 100;

t.test(`[§A6-idempotency-running] ${KEYS} keys, ${PARALLEL} requests each at once on two gateways`, async (t) => {
  const { app: other } = await replicaOf(t, context);
  const rich = await keyWith(10_000);
  const before = await stored(context);
  let replayed = 0;
  for (let n = 0; n < KEYS; n++) {
    const free = n % 3 === 2;
    const headers = { ...(free ? {} : rich.bearer), 'idempotency-key': `concurrent-${n}` };
    const url = n % 3 === 0 ? '/api/poll' : '/api/quick-poll';
    const request = { method: 'POST', url, headers, payload: QUICK } as const;
    const answers = await Promise.all(
      Array.from({ length: PARALLEL }, (_, i) => (i % 2 === 0 ? app : other).inject(request)),
    );
    t.same(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]));
    t.equal(new Set(answers.map(({ body }) => body)).size, 1, 'one answer');
    replayed += answers.filter(({ headers }) => headers['idempotent-replayed'] === 'true').length;
  }
  t.equal(replayed, KEYS * (PARALLEL - 1), 'of every hundred one made the poll');
  const after = await stored(context);
  const more = (table: string) => after[table]! - before[table]!;
  t.equal(more('polls'), KEYS);
  t.equal(more('results'), KEYS);
  t.equal(more('idempotency'), KEYS);
  const captures = await context.storage.db
    .selectFrom('transfers')
    .innerJoin('idempotency', 'idempotency.poll_id', 'transfers.poll_id')
    .where('idempotency.key', 'like', 'concurrent-%')
    .where('kind', '=', 'post')
    .select(['transfers.poll_id'])
    .execute();
  t.equal(captures.length, KEYS, 'one capture each');
  t.equal(new Set(captures.map((capture) => capture.poll_id)).size, KEYS);
  t.same(await checkLedger(context.storage), []);
  t.comment(`${KEYS} keys, ${KEYS * PARALLEL} requests: ${more('polls')} polls, ${captures.length} captures`);
});
