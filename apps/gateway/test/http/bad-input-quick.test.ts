import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { balanceOf, FREE_POOL, findPollByResult } from '@eloquentpoll/storage';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';
import { stored } from '../fixtures/stored.ts';

// Bad input at the entry points that need no key: it is refused in the contract's words, and
// no row and no micro-USD moves.

const Q = 'Which of these is the best?';
const GOOD = { q: Q, o: ['A', 'B'] };
const { app, context, keyWith } = await build(t, { rateLimits: readPolicies('free_poll=1000000/60,poll=1000000/60') });
const { bearer, accountId } = await keyWith(10);

const TARGETS = [
  { url: '/api/quick-poll', headers: {} },
  { url: '/api/quick-poll', headers: bearer },
  { url: '/api/poll', headers: {} },
  { url: '/api/poll', headers: bearer },
];
const post = (
  target: (typeof TARGETS)[number],
  payload: string | Buffer,
  type = 'application/json',
  more: object = {},
) =>
  app.inject({
    method: 'POST',
    url: target.url,
    headers: { ...target.headers, ...more, 'content-type': type },
    payload,
  });

/** Runs what must change nothing. */
async function unmoved(t: Tap, work: () => Promise<void>): Promise<void> {
  const state = async () => [
    await stored(context),
    await balanceOf(context.storage, accountId),
    await balanceOf(context.storage, FREE_POOL),
  ];
  const before = await state();
  await work();
  t.same(await state(), before, 'nothing was stored or held');
}
type Tap = Pick<typeof t, 'same'>;

t.test('[§I2-body-64kb-413, §I2-proto-body-400] size, depth, prototypes and syntax', async (t) => {
  const nested = (depth: number) => `{"q":${JSON.stringify(Q)},"x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  await unmoved(t, async () => {
    for (const target of TARGETS) {
      for (const [payload, status, code] of [
        [JSON.stringify({ ...GOOD, pad: 'x'.repeat(70_000) }), 413, 'payload_too_large'],
        ['['.repeat(50_000), 400, 'malformed_json'],
        [nested(21), 400, 'validation_error'],
        [`{"q":${JSON.stringify(Q)},"__proto__":{"theme":"free"}}`, 400, 'validation_error'],
        [`{"q":${JSON.stringify(Q)},"o":[{"__proto__":1},"B"]}`, 400, 'validation_error'],
        ['{"q":', 400, 'malformed_json'],
        [Buffer.from([0x22, 0xff, 0x22]), 400, 'malformed_json'],
        [`{"q":"${Q}\\u0000"}`, 400, 'validation_error'],
        [`{"q":"${Q}","o":["A","\\ud800"]}`, 400, 'validation_error'],
        [`{"poll":"${Q} [A, \\udc00]"}`, 400, 'validation_error'],
        [`{"q":"${Q}","\\u0000":1}`, 400, 'validation_error'],
        // As many members as fit: read once, and looked through once.
        [`{${Array.from({ length: 6_000 }, (_, n) => `"k${n}":1`).join()}}`, undefined, undefined],
      ] as const) {
        const answer = await post(target, payload);
        const name = `${target.url} ${String(payload).slice(0, 30)}`;
        if (status) t.match([answer.statusCode, answer.json().code], [status, code], name);
        else t.ok(answer.statusCode === 400 || answer.statusCode === 401, name);
      }
    }
  });
});

t.test('[§I2-never-coerced, §A6-never-coerced] a wrong type is refused, never read as another', async (t) => {
  await unmoved(t, async () => {
    for (const target of TARGETS)
      for (const [field, values] of Object.entries({
        q: [5, true, null, [Q], { toString: Q }],
        o: ['A, B', { length: 2, 0: 'A', 1: 'B' }, null, 2, [['A'], ['B']], ['A', null]],
        poll: [5, [`${Q} [A, B]`], null],
        theme: [1, null, ['free'], { free: true }],
      }))
        for (const value of values) {
          const answer = await post(target, JSON.stringify({ ...GOOD, [field]: value }));
          t.match(
            [answer.statusCode, answer.json().code],
            [400, 'validation_error'],
            `${field} ${JSON.stringify(value)}`,
          );
        }
  });
});

t.test('no content type is a way round the checks', async (t) => {
  const bad = JSON.stringify({ q: 5, o: 'no', theme: [] });
  await unmoved(t, async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonx',
      'application/json\t',
      'application /json',
      'application/json, text/plain',
      '*/*',
      'application/json;',
      'APPLICATION/JSON',
      'application/json; charset=utf-16',
      '',
    ])
      for (const target of TARGETS) {
        const { statusCode } = await post(target, bad, type);
        t.ok(statusCode === 400 || statusCode === 415, `${JSON.stringify(type)}: ${statusCode}`);
      }
  });
});

t.test('[§A6-option-uniqueness-folded] no decoration makes two options of one', async (t) => {
  const decorations = [
    (s: string) => ` ${s}`,
    (s: string) => `${s}\u200B`,
    (s: string) => s.normalize('NFD'),
    (s: string) => `\u00AD${s}`,
    (s: string) => `\u2066${s}\u2069`,
  ];
  const word = fc.stringMatching(/^[a-zé]{1,8}( [a-z]{1,8})?$/);
  await unmoved(t, () =>
    fc.assert(
      fc.asyncProperty(word, fc.subarray(decorations, { minLength: 1 }), fc.nat(3), async (option, by, target) => {
        const twin = by.reduce((text, decorate) => decorate(text), option);
        const answer = await post(TARGETS[target]!, JSON.stringify({ q: Q, o: [option, twin] }));
        return answer.statusCode === 400 && /unique/.test(answer.json().error);
      }),
      { numRuns: 200 },
    ),
  );
});

t.test('[§A6-unknown-fields-ignored] nothing of ours can be set from outside', async (t) => {
  await standInWorker(t, context);
  const ours = {
    account_id: accountId,
    user_id: accountId,
    id: 'ps_x',
    poll_id: 'ps_x',
    result_id: 'EP-x',
    cost: -1,
    cost_usd: 0,
    hold_u: 1,
    max_cost_u: 1,
    min_votes: 0,
    seats: [],
    seed: 'x',
    simulated: false,
    panel_name: 'strong',
    search: true,
    status: 'completed',
    surface: 'x',
    free: true,
    deadline_ms: 1,
    balance_cents: 1e9,
    billed_u: 0,
  };
  const answer = await post(TARGETS[0]!, JSON.stringify({ ...GOOD, ...ours }));
  t.equal(answer.statusCode, 200);
  const poll = await findPollByResult(context.storage, answer.json().poll_id);
  t.match(poll, {
    accountId: null,
    spec: { panel_name: 'free', max_cost_u: 100_000, min_votes: 1, search: false, simulated: true },
  });
  t.match(poll?.id, /^ps_[0-9a-z]{24}$/);
});

t.test('no header of a request breaks out into the answer', async (t) => {
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const body = JSON.stringify({ q: 'too short' });
  const send = async (header: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `POST /api/quick-poll HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${header}\r\n\r\n${body}`,
      'latin1',
    );
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    await once(socket, 'close');
    return Buffer.concat(chunks).toString('latin1');
  };
  t.match(await send('Idempotency-Key: fine'), /^HTTP\/1\.1 400 .*idempotency-key: fine\r\n/is);
  for (const header of [
    'Idempotency-Key: a\nX-Injected: 1',
    'Idempotency-Key: a\rX-Injected: 1',
    'Idempotency-Key: a\0b',
    'Idempotency-Key: a\r\n X-Injected: 1',
    'Idempotency-Key: a%0d%0aX-Injected: 1',
    'Idempotency-Key: "a\\\r\\\nX-Injected: 1"',
    'Idempotency-Key: \x7f',
    'Idempotency-Key: a\r\nIdempotency-Key: b',
    'X-Request-Id: abcdefgh\tX-Injected: 1',
  ]) {
    const answer = await send(header);
    t.match(answer, /^HTTP\/1\.1 400 /, JSON.stringify(header));
    t.notMatch(answer, /\n ?x-injected/i, JSON.stringify(header));
    t.equal(answer.match(/^HTTP\/1\.1 /gm)?.length, 1, 'one answer');
  }
});
