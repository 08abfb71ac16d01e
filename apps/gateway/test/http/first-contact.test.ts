import { type AddressInfo, connect } from 'node:net';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { build } from '../fixtures/build.ts';
import { listen, readStream } from '../fixtures/read-stream.ts';
import { type Opinion, standInWorker } from '../fixtures/stand-in-worker.ts';
import { stored } from '../fixtures/stored.ts';

// What a stranger who had only the contract stumbled over, a test for each row of docs/clients.md.

const UNSURE = 'Which of these do most models not know?';
const opinion: Opinion = (seat, { question }) => ((seat === 0) === (question === UNSURE) ? 0 : null);
const gateway = await build(t, { rateLimits: readPolicies('free_poll=2/3600,compute=50/60') });
const { app, context, keyWith } = gateway;
await standInWorker(t, context, { announcesVotes: true, opinion });
const origin = await listen(app);
const { bearer } = await keyWith(100);

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const QUICK = { q: 'Which is larger of these?', o: ['cat', 'house'] };
let networks = 0;
/** From a network of its own, unless it is given. */
const post = (url: string, payload: unknown, headers: object = {}, remoteAddress = `192.0.2.${++networks}`) =>
  app.inject({ method: 'POST', url, headers: { ...headers }, payload: payload as object, remoteAddress });
const dryRun = async (body: object) => (await post('/api/poll/dry-run', body, bearer)).json();

const callTool = (name: string, input: object, headers: object = {}) =>
  post(
    '/api/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } },
    { ...bearer, ...headers },
  );
/** What a tool answered, as an event stream. */
const messageIn = ({ body }: { body: string }) =>
  JSON.parse(body.slice(body.lastIndexOf('data: ') + 'data: '.length)).result;

t.test('1: the Idempotency-Key header of POST /api/mcp is that of its poll, and is echoed', async (t) => {
  const call = (input: object, header = 'mcp-1') => callTool('poll_question', input, { 'idempotency-key': header });
  const before = (await stored(context)).polls!;
  const answers = [await call(POLL), await call(POLL), await call({ ...POLL, idempotency_key: 'mcp-1' })];
  const ids = answers.map((answer) => messageIn(answer).structuredContent.poll_id);
  t.match(ids, [/^EP-/, ids[0], ids[0]]);
  t.equal((await stored(context)).polls, before + 1, 'one poll, paid once');
  for (const { headers } of answers) t.equal(headers['idempotency-key'], 'mcp-1');
  const twoKeys = messageIn(await call({ ...POLL, idempotency_key: 'mcp-2' }));
  t.match(twoKeys, { isError: true, content: [{ text: /idempotency_key and the Idempotency-Key header differ/ }] });
});

t.test(
  '2, 3: options that differ, have lines or flags are polled as they are; look-alikes are a warning',
  async (t) => {
    const alike = ['git branch -d', 'git branch -D'];
    t.match(await dryRun({ ...POLL, options: alike }), {
      valid: true,
      errors: { length: 0 },
      warnings: ['options[0] "git branch -d" and options[1] "git branch -D" look alike to a reader'],
    });
    t.same((await dryRun(POLL)).warnings, []);
    const options = ['line 1\nline 2', 'a\tb', '\u2067שלום\u2069', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🏴󠁧󠁢󠁳󠁣󠁴󠁿', ...alike];
    const result = (await post('/api/poll', { ...POLL, options }, bearer)).json();
    t.same(result.options, options);
    t.equal(result.tally['line 1\nline 2'], result.votes.length - 1);
    const page = await app.inject({ url: `/result/${result.poll_id}` });
    t.match(page.body, /dir="auto">line 1\nline 2</);
  },
);

t.test('4, 5: a streamed free poll costs 0, ends with the quick answer, and its addresses open', async (t) => {
  const headers = { accept: 'text/event-stream' };
  const all = await (await readStream(t, origin, headers, { path: '/api/quick-poll', body: QUICK })).all();
  const [first, end] = [all[0]!.data, all.at(-1)!.data];
  t.notOk('status_url' in first, 'a caller without an account has no session to read');
  t.match(end, { answer: 'cat', cost: 0, theme: 'free', result_url: first.result_url, page_url: first.page_url });
  t.match(end.reasoning, /confidence/);
  t.same(end.costs, { total_estimated_cost: 0 });
  const votes = all.flatMap(({ data }) => data.votes ?? data.vote ?? []);
  t.ok(votes.length > 3);
  for (const vote of votes) t.equal(vote.estimated_cost, 0);
  for (const url of [end.result_url, end.page_url]) {
    t.equal((await app.inject({ url: new URL(url).pathname })).statusCode, 200, url);
  }

  const paid = (
    await (await readStream(t, origin, { ...headers, ...bearer }, { path: '/api/quick-poll', body: QUICK })).all()
  ).at(-1)!;
  t.ok(paid.data.cost > 0 && paid.data.cost === paid.data.costs.total_estimated_cost);
});

t.test('6: a dry run in shorthand needs no credentials; one in full still does', async (t) => {
  const answer = await post('/api/poll', { ...QUICK, dry_run: true });
  t.match(
    [answer.statusCode, answer.json()],
    [200, { dry_run: true, valid: true, estimates: { preset: 'free', estimated_cost_usd: 0, cost_usd: { max: 0 } } }],
  );
  t.match((await post('/api/poll', { ...QUICK, o: ['cat'], dry_run: true })).json(), {
    valid: false,
    errors: [/at least 2/],
  });
  t.equal((await post('/api/poll', { ...POLL, dry_run: true })).statusCode, 401);
});

t.test('11: amounts with parts of a cent are refused by the schema that is published', async (t) => {
  const { components } = (await app.inject({ url: '/api/openapi.json' })).json();
  t.equal(components.schemas.DepositRequest.properties.amount_usd.multipleOf, 0.01);
  const refused = await post('/api/deposit', { amount_usd: 1.005 });
  t.match([refused.statusCode, refused.json().error], [400, /multiple of 0.01/]);
  for (const amount_usd of [1.1, 4.35, 999.99, 1000]) {
    t.equal((await post('/api/deposit', { amount_usd })).statusCode, 503, 'deposits are not set up here');
  }
});

t.test('12: a paid quick poll says which poll it was, how it ended and where its votes are', async (t) => {
  const { poll_id, status, result_url } = (await post('/api/quick-poll', { ...POLL, question: UNSURE }, bearer)).json();
  t.equal(status, 'partial', 'only one model gave a vote');
  t.equal(result_url, `https://polls.example/api/results/${poll_id}`);
  t.equal((await app.inject({ url: new URL(result_url).pathname })).json().poll_id, poll_id);
});

t.test('words: what is missing is called missing, by both of its names', async (t) => {
  const call = async (input: object) => messageIn(await callTool('get_poll_result', input));
  t.match((await call({})).content[0].text, /result_id or poll_id is required/);
  t.match((await call({ poll_id: 5 })).content[0].text, /poll_id must be a string/);
  t.match((await call({ poll_id: 'a', result_id: 'b' })).content[0].text, /differ/);
  const { poll_id } = (await post('/api/quick-poll', POLL, bearer)).json();
  for (const id of [{ poll_id }, { result_id: poll_id }]) t.equal((await call(id)).structuredContent.poll_id, poll_id);
  t.match(
    (await post('/api/quick-poll', { ...QUICK, theme: null })).json().error,
    /theme must be one of free, free_search/,
  );

  const send = (question: string) =>
    post('/api/a2a/tasks/send', { id: 'task-1', message: { parts: [{ data: { ...POLL, question } }] } }, bearer);
  await send(POLL.question);
  t.match((await send('Another question, but the same id?')).json(), {
    code: 'idempotency_key_reused',
    error: /^This task id was used before/,
  });
});

t.test('what costs money and is not known is refused by its name, and nothing is charged', async (t) => {
  const before = await stored(context);
  const hook = { webhook_url: 'https://caller.example/hook' };
  for (const [url, body, field] of [
    ['/api/polls', { ...POLL, theme: 'free' }, 'theme'],
    ['/api/polls', { ...POLL, ...hook }, 'webhook_url'],
    ['/api/poll/stream', { ...POLL, ...hook }, 'webhook_url'],
    ['/api/poll', { ...POLL, ...hook }, 'webhook_url'],
    ['/api/quick-poll', { ...POLL, ...hook }, 'webhook_url'],
    ['/api/poll', { ...POLL, idempotency_key: 'order-1234' }, 'idempotency_key'],
    ['/api/quick-poll', { ...POLL, idempotency_key: 'order-1234' }, 'idempotency_key'],
    ['/api/polls', { ...POLL, idempotency_key: 'order-1234' }, 'idempotency_key'],
  ] as const) {
    const answer = await post(url, body, { ...bearer, 'x-machine-client': 'true' });
    t.match(
      [answer.statusCode, answer.json().errors],
      [400, [{ pointer: `#/${field}`, detail: `${field} is not known here` }]],
      url,
    );
  }
  t.match(await dryRun({ ...POLL, ...hook }), { valid: false, errors: [/^webhook_url is not known here/] });
  t.match(await dryRun({ ...POLL, theme: 'free' }), { valid: true, estimates: { preset: 'free' } });
  t.match((await post('/api/polls', { ...POLL, customer: 'other fields are ignored' }, bearer)).statusCode, 202);
  await eventually('the one poll has ended', async () => (await stored(context)).results === before.results! + 1);
  t.equal((await stored(context)).polls, before.polls! + 1);
});

t.test('Idempotency-Key is honoured, harmless or refused by every POST, never ignored', async (t) => {
  const key = { ...bearer, 'idempotency-key': 'once' };
  for (const [url, body] of [
    ['/api/keys', { label: 'second' }],
    ['/api/keys/redeem', {}],
    ['/api/deposit', { amount_usd: 5 }],
    ['/api/wallet/rotate-key', {}],
  ] as const) {
    const answer = await post(url, body, key);
    t.match(
      [answer.statusCode, answer.json().error],
      [400, `Idempotency-Key is not supported by POST ${url}; send the request without it`],
    );
  }
  t.equal((await app.inject({ url: '/api/keys', headers: bearer })).json().length, 1, 'no key was made');
  const { poll_id } = (await post('/api/quick-poll', POLL, bearer)).json();
  const feedback = [1, 2].map(() => post('/api/feedback', { poll_id, outcome_correct: true }, key));
  const [one, two] = await Promise.all(feedback);
  t.same(one!.json(), two!.json());
  t.equal(two!.headers['idempotency-key'], 'once');
  t.equal((await post('/api/poll/dry-run', POLL, key)).headers['idempotency-key'], 'once');
});

t.test('a free poll that is refused for its body uses up none of the free polls of the hour', async (t) => {
  const here = '198.51.100.7';
  const ask = (body: object, url = '/api/quick-poll') => post(url, body, {}, here);
  for (let i = 0; i < 5; i++) {
    t.equal((await ask({ ...QUICK, o: ['cat'] }, i % 2 ? '/api/poll' : '/api/quick-poll')).statusCode, 400);
  }
  const left = async (body: object) => (await ask(body)).headers['ratelimit-remaining'];
  t.same([await left(QUICK), await left(QUICK), await left(QUICK)], ['1', '0', '0']);
  t.equal((await ask(QUICK)).statusCode, 429);
  t.equal((await ask({ ...QUICK, o: [] })).statusCode, 400, 'a mistake is still explained');
  for (let i = 0; i < 50; i++) await ask({ ...QUICK, o: [] });
  t.equal((await ask({ ...QUICK, o: [] })).statusCode, 429, 'within the budget of what is computed');
});

t.test('a path may end in a slash, and an unknown one is still 404', async (t) => {
  t.equal((await app.inject({ url: '/api/health/' })).statusCode, 200);
  t.equal((await post('/api/quick-poll/', QUICK)).statusCode, 200);
  t.equal((await app.inject({ url: '/pricing/' })).statusCode, 200);
  const wrongMethod = await app.inject({ method: 'DELETE', url: '/api/health/' });
  t.match([wrongMethod.statusCode, wrongMethod.headers.allow], [405, 'GET, HEAD, OPTIONS']);
  for (const url of ['/api/health//', '//api/health', '/api/nothing/', '/api/examples/'])
    t.equal((await app.inject({ url })).statusCode, 404, url);
});

t.test('a path whose id is empty is not the collection', async (t) => {
  const { accountId, bearer: own } = await keyWith(0);
  for (const url of ['/api/keys/', '/api/%6beys/', '/api/keys/?x=1']) {
    const answer = await app.inject({ method: 'DELETE', url, headers: own });
    t.ok([400, 404].includes(answer.statusCode), `${url}: ${answer.statusCode}`);
  }
  const session = await gateway.sessionFor(accountId);
  t.match((await app.inject({ url: '/api/keys', headers: session })).json(), [{ revoked_at: null }]);
});

t.test('9, 10: what the parser refuses has the body and a code of the catalogue', async (t) => {
  const codes = (await app.inject({ url: '/api/errors/catalog' }))
    .json()
    .errors.map(({ code }: { code: string }) => code);
  for (const [lines, status, code] of [
    [['GET /api/health HTTP/1.1'], 400, 'bad_request'],
    [['GET /api/health HTTP/1.1', 'Host: a', 'Host: b'], 400, 'bad_request'],
    [['GET /api/health HTTP/1.1', 'Host: a', 'Host: a'], 400, 'bad_request'],
    [['GET /api/health HTTP/1.1', 'Host: a', 'Expect: 200-ok'], 417, 'expectation_failed'],
    [['GET /api/health HTTP/1.1', 'Host: a', `X: ${'x'.repeat(20_000)}`], 431, 'headers_too_large'],
    [['GET /api/health HTTP/1.1', 'Host: a', 'bad header'], 400, 'bad_request'],
    [['GET /api/health HTTP/1.0'], 200, undefined],
  ] as const) {
    const answer = await raw([...lines, 'Connection: close', '', ''].join('\r\n'));
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
    t.equal(Number(answer.split(' ')[1]), status, lines.slice(1).join().slice(0, 40));
    t.equal(body.code, code);
    if (code === undefined) continue;
    t.type(body.error, 'string');
    t.ok(codes.includes(code));
  }
});

t.test('an encoded body is 415 and says what is read', async (t) => {
  const answer = await post('/api/quick-poll', QUICK, { 'content-encoding': 'gzip' });
  t.match(
    [answer.statusCode, answer.headers['accept-encoding'], answer.json().code],
    [415, 'identity', 'unsupported_media_type'],
  );
  t.equal((await post('/api/quick-poll', QUICK, { 'content-encoding': 'identity' })).statusCode, 200);
});

t.test('who has seen the last event is answered 204, which ends an EventSource', async (t) => {
  const all = await (await readStream(t, origin, bearer, { body: POLL })).all();
  const last = all.at(-1)!;
  t.equal(last.id, `${last.data.session_id}:end`);
  const resume = (id: string, headers = bearer) => post('/api/poll/stream', POLL, { ...headers, 'last-event-id': id });
  const over = await resume(last.id);
  t.match([over.statusCode, over.body], [204, '']);
  const stranger = await keyWith(1);
  t.equal((await resume(last.id, stranger.bearer)).statusCode, 404, 'to its owner only');
  const again = await readStream(t, origin, { ...bearer, 'last-event-id': all[0]!.id });
  t.same(await again.all(), [last], 'the same event under the same id');
});

t.test('a homepage that is asked for two views shows the one for people', async (t) => {
  const page = await app.inject({ url: '/?view=human&view=x', headers: { accept: 'text/html' } });
  t.match([page.statusCode, page.headers['content-type']], [200, /^text\/html/]);
  t.equal(page.body, (await app.inject({ url: '/?view=human' })).body);
});

function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
    socket.write(bytes);
  });
}
