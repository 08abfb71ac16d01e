import { connect } from 'node:net';
import type { Bus } from '@eloquentpoll/bus';
import { ERROR_CODES, ERRORS, RECOVERY_ACTIONS } from '@eloquentpoll/contracts';
import { bury, claimPoll, StorageUnavailable } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { fastify } from 'fastify';
import t from 'tap';
import { buildApp } from '../../src/app.ts';
import { access } from '../../src/http/access.ts';
import { ApiError } from '../../src/http/api-error.ts';
import { bodyTimeout } from '../../src/http/hooks/body-timeout.ts';
import { build } from '../fixtures/build.ts';
import { closeAtEnd } from '../fixtures/close-at-end.ts';

// slow: 4 s

const PROBLEM = 'application/problem+json';

t.test(
  '[§7-body, §2.9-error-required, §A6-additive-request-id, §I2-framework-errors] errors of the framework are errors of the contract',
  async (t) => {
    const { app, keyWith } = await build(t);
    const { bearer } = await keyWith(0);
    const cases = [
      [{ method: 'GET', url: '/api/nothing' }, 404, 'not_found'],
      [{ method: 'GET', url: '/api/health//' }, 404, 'not_found'],
      [{ method: 'POST', url: '/api/health', payload: {} }, 405, 'method_not_allowed'],
      [{ method: 'GET', url: '/api/poll' }, 405, 'method_not_allowed'],
      [{ method: 'DELETE', url: '/api/poll' }, 405, 'method_not_allowed'],
      [{ method: 'GET', url: '/api/%zz' }, 400, 'bad_request'],
      [{ method: 'POST', url: '/api/poll', headers: bearer, payload: 'x' }, 415, 'unsupported_media_type'],
      [
        { method: 'POST', url: '/api/poll', headers: { ...bearer, 'content-type': 'application/json' }, payload: '{' },
        400,
        'malformed_json',
      ],
      [
        { method: 'POST', url: '/api/poll', headers: bearer, payload: { a: 'x'.repeat(70_000) } },
        413,
        'payload_too_large',
      ],
      [{ method: 'POST', url: '/api/poll', payload: {} }, 401, 'authentication_required'],
    ] as const;
    for (const [request, status, code] of cases) {
      const plain = await app.inject({ ...request, headers: { ...('headers' in request && request.headers) } });
      t.equal(plain.statusCode, status, `${request.method} ${request.url}`);
      t.equal(plain.headers['content-type'], 'application/json; charset=utf-8');
      t.same(Object.keys(plain.json()).sort(), ['code', 'error', 'request_id']);
      t.match(plain.json(), { code, request_id: plain.headers['x-request-id'] });

      const asked = await app.inject({
        ...request,
        headers: { ...('headers' in request && request.headers), accept: PROBLEM },
      });
      t.match(String(asked.headers['content-type']), PROBLEM);
      t.match(asked.json(), { status, code, type: `https://polls.example/errors/${code}`, title: ERRORS[code].title });
      t.equal(asked.headers['x-content-type-options'], 'nosniff', 'errors carry the headers too');
    }
    const wrongMethod = await app.inject({ method: 'PUT', url: '/api/poll' });
    t.equal(wrongMethod.headers.allow, 'OPTIONS, POST');
  },
);

t.test(
  '[§7-problem-accept, §7-problem-machine-client] Problem Details are for callers that ask for them',
  async (t) => {
    const { app } = await build(t);
    const typeFor = async (headers: Record<string, string>) => {
      const answer = await app.inject({ method: 'GET', url: '/api/nothing', headers });
      t.equal(answer.headers.vary, 'Accept, X-Machine-Client');
      return String(answer.headers['content-type']).split(';')[0];
    };
    for (const accept of [
      PROBLEM,
      'Application/Problem+JSON',
      `text/html, ${PROBLEM};q=0.1`,
      `application/json,${PROBLEM} ; q=1.0`,
    ]) {
      t.equal(await typeFor({ accept }), PROBLEM, accept);
    }
    for (const accept of [
      '*/*',
      'application/*',
      'application/json',
      `${PROBLEM};q=0`,
      `${PROBLEM}; q=0.000`,
      '',
      `${PROBLEM}x`,
    ]) {
      t.equal(await typeFor({ accept }), 'application/json', accept);
    }
    t.equal(await typeFor({ 'x-machine-client': 'true' }), PROBLEM);
    t.equal(await typeFor({ 'x-machine-client': 'TRUE' }), PROBLEM);
    for (const value of ['1', 'yes', 'false', '', 'true,true'])
      t.equal(await typeFor({ 'x-machine-client': value }), 'application/json');
    for (const url of ['/nope', '/models/none', '/result/EP-unknown'])
      for (const headers of [
        { accept: 'text/html,*/*', 'x-machine-client': 'true' },
        { accept: `${PROBLEM}, text/html;q=0.1` },
      ]) {
        const answer = await app.inject({ url, headers });
        t.same([answer.statusCode, String(answer.headers['content-type']).split(';')[0]], [404, PROBLEM], url);
      }
  },
);

t.test(
  '[§7-problem-recovery, §7-catalog-complete] every code of the catalogue can be sent, with ways out',
  async (t) => {
    const { context } = await build(t);
    const app = buildApp(context);
    t.teardown(() => app.close());
    app.get('/throw/:code', { schema: { security: access.none, hide: true } }, async (request) => {
      const { code } = request.params as { code: (typeof ERROR_CODES)[number] };
      throw new ApiError(code, { retryAfterSeconds: 7 });
    });
    for (const code of ERROR_CODES) {
      const { statusCode, json, headers } = await app.inject({ url: `/throw/${code}`, headers: { accept: PROBLEM } });
      const problem = json();
      t.match({ ...problem, statusCode }, { statusCode: ERRORS[code].status, status: ERRORS[code].status, code }, code);
      t.equal(headers['retry-after'], '7');
      for (const { action, url, after_seconds } of problem.recovery) {
        t.ok(action in RECOVERY_ACTIONS, action);
        t.equal(after_seconds, action === 'back_off' ? 7 : undefined);
        t.ok(url === undefined || url.startsWith('https://polls.example/'));
      }
    }
  },
);

t.test('[§I2-errors-leak-nothing] a bug shows its request id and nothing else', async (t) => {
  const { context, log } = await build(t);
  const app = buildApp(context);
  t.teardown(() => app.close());
  const secret = 'select secret from /srv/app/file.ts';
  const errors = [
    new Error(secret),
    new TypeError(secret),
    secret,
    null,
    Object.assign(new Error(secret), { statusCode: 418, code: 'X' }),
  ];
  for (const [i, error] of errors.entries()) {
    app.get(`/bug/${i}`, { schema: { security: access.none, hide: true } }, async () => {
      throw error;
    });
  }
  for (const i of errors.keys()) {
    const answer = await app.inject({ url: `/bug/${i}`, headers: { accept: PROBLEM } });
    t.match(answer.json(), { status: 500, code: 'internal_error', error: 'Internal error' });
    // The id is random and may hold any digits.
    t.notMatch(answer.body.replaceAll(answer.json().request_id, ''), /secret|srv|418/);
    t.ok(
      log.some((line) => line.includes(answer.json().request_id)),
      'the log knows the request id',
    );
  }
});

t.test('a store that is away answers 503, and a queue that is away delays the poll only', async (t) => {
  const { app: healthy, context, keyWith } = await build(t);
  const { bearer, accountId } = await keyWith(10);
  t.equal((await healthy.inject({ url: '/api/health' })).json().db, 'ok');

  const { app, context: broken } = await build(t, {
    database: { url: 'postgres://unknown@127.0.0.1:1/none', maxConnections: 1 },
  });
  const poll = {
    method: 'POST',
    url: '/api/poll',
    headers: bearer,
    payload: { question: 'Which is better?', options: ['A', 'B'] },
  } as const;
  const answer = await app.inject(poll);
  t.match([answer.statusCode, answer.json().code, answer.headers['retry-after']], [503, 'service_unavailable', '2']);
  t.equal((await app.inject({ url: '/api/health' })).json().db, 'error');
  await t.rejects(broken.storage.db.selectFrom('polls').select('id').execute(), StorageUnavailable);

  const away = async () => {
    throw new Error('Redis is away');
  };
  const bus: Bus = { ...context.bus, enqueuePoll: away, watchPoll: away };
  const alone = buildApp({ ...context, bus });
  t.teardown(() => alone.close());
  const asking = alone.inject(poll);
  const rows = async () =>
    context.storage.db.selectFrom('polls').select('id').where('account_id', '=', accountId).execute();
  const { id } = await eventually('the poll is stored', async () => (await rows())[0]);
  const claim = await claimPoll(context.storage, id, 'sweeper');
  await bury(context.storage, { id: claim!.id, epoch: claim!.epoch, reason: 'test' });
  t.equal(
    (await asking).json().code,
    'poll_execution_failed',
    'the poll was stored, found and ended without the queue',
  );
});

t.test('bytes that are no request get an answer too', async (t) => {
  const { app } = await build(t);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  t.match(app.server, { headersTimeout: 10_000, requestTimeout: 615_000 }, 'what comes too slowly is cut');
  const exchange = (bytes: string) =>
    new Promise<string>((resolve, reject) => {
      let answer = '';
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
      socket.setEncoding('utf8').on('data', (chunk) => (answer += chunk));
      socket.on('close', () => resolve(answer)).on('error', reject);
    });
  const garbage = await exchange('\u0001\u0002\r\n\r\n');
  t.match(garbage, /^HTTP\/1\.1 400 Bad Request\r\n/);
  t.match(JSON.parse(garbage.split('\r\n\r\n')[1]!), { code: 'bad_request', error: 'Bad request' });
  const huge = await exchange(`GET /api/health HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`);
  t.match(huge, /^HTTP\/1\.1 431 /);
  t.match(JSON.parse(huge.split('\r\n\r\n')[1]!), { code: 'headers_too_large' });
});

t.test('a body that comes too slowly is answered 408, where the route has not more time for it', async (t) => {
  const serve = async (afterMs: number) => {
    const app = fastify();
    app.register(bodyTimeout, { afterMs });
    app.post('/quick', async () => 'read');
    app.post('/upload', { config: { operation: 'batch', bodyTimeoutMs: 60_000 } }, async () => 'read');
    app.post('/brief-upload', { config: { operation: 'batch', bodyTimeoutMs: 50 } }, async () => 'read');
    closeAtEnd(t, app);
    await app.listen({ host: '127.0.0.1', port: 0 });
    return (app.server.address() as { port: number }).port;
  };
  const slowly = (port: number, path: string, rest: Promise<unknown>) =>
    new Promise<string>((resolve, reject) => {
      let answer = '';
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n`;
      const socket = connect(port, '127.0.0.1', () => socket.write(`${head}{`, () => void rest.then(finish)));
      const finish = () => socket.writable && socket.write('}');
      socket.setEncoding('utf8').on('data', (chunk) => (answer += chunk));
      socket.on('close', () => resolve(answer)).on('error', reject);
    });
  const port = await serve(100);
  const upload = Promise.withResolvers<void>();
  const uploaded = slowly(port, '/upload', upload.promise);
  t.match(await slowly(port, '/quick', new Promise(() => {})), /^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
  t.match(
    await slowly(port, '/brief-upload', new Promise(() => {})),
    /^HTTP\/1\.1 408 .*"error":"An upload may take at most 10 minutes: send the file in parts\."/s,
  );
  upload.resolve();
  t.match(await uploaded, /^HTTP\/1\.1 200 /, 'its rest came when the other had been given up');
  t.match(await slowly(await serve(60_000), '/quick', Promise.resolve()), /^HTTP\/1\.1 200 /);
});
