import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findPython } from '@eloquentpoll/services/python-program';
import t from 'tap';
import {
  batch,
  batchResult,
  complete,
  jsonLines,
  RESULT,
  serve,
  sse,
  started,
} from '../../../../packages/client/test/service.ts';
import { keepBatchesRunning } from '../../src/batches/run/keep-batches-running.ts';
import { build } from '../fixtures/build.ts';
import {
  batches,
  faultyCalls,
  lostAnswers,
  parsedEvents,
  shapes,
  verifiedWebhooks,
  wholeBatches,
  wholeService,
} from '../fixtures/python-programs.ts';
import { fieldsOf } from '../fixtures/python-shapes.ts';
import { listen } from '../fixtures/read-stream.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 10 s
// /eloquentpoll.py as it is copied into a project: read by a strict type checker and run by a real interpreter.

const PYRIGHT = join(dirname(createRequire(import.meta.url).resolve('pyright/package.json')), 'index.js');
const run = promisify(execFile);

const webhooks = { sealingKeys: ['a sealing key of 32 characters ..'], toLoopback: false };
const { app, context, keyWith, sessionFor } = await build(t, { webhooks });
await standInWorker(t, context, { announcesVotes: true });
const origin = await listen(app);
const folder = await mkdtemp(join(tmpdir(), 'python-client-'));
t.teardown(() => rm(folder, { recursive: true }));
const served = await app.inject({ url: '/eloquentpoll.py' });
await writeFile(join(folder, 'eloquentpoll.py'), served.body);
const { file, env } = await findPython(process.env);

async function python(program: string, args: Record<string, string>): Promise<unknown> {
  const name = join(folder, `${args.KIND ?? 'either'}-${program.length}.py`);
  await writeFile(name, program);
  // Warnings of the interpreter are failures: a coroutine that is not awaited, a connection that is not closed.
  const flags = ['-W', 'error', name];
  const { stdout, stderr } = await run(file, flags, { cwd: folder, env: { ...env, ...args } });
  t.equal(stderr, '');
  return JSON.parse(stdout);
}

t.test('the file is served as text that knows where it came from', async (t) => {
  t.equal(served.statusCode, 200);
  t.equal(served.headers['content-type'], 'text/x-python; charset=utf-8');
  t.match(served.body, /^BASE_URL = "https:\/\/polls\.example"$/m);
  const unchanged = await app.inject({ url: '/eloquentpoll.py', headers: { 'if-none-match': served.headers.etag } });
  t.equal(unchanged.statusCode, 304);
});

t.test('its types pass the strictest rules for Python 3.10, and are those of the contract', async (t) => {
  await writeFile(join(folder, 'uses.py'), wholeService);
  await writeFile(join(folder, 'batches.py'), wholeBatches);
  await writeFile(
    join(folder, 'pyrightconfig.json'),
    JSON.stringify({ typeCheckingMode: 'strict', pythonVersion: '3.10', include: ['*.py'] }),
  );
  await run(process.execPath, [PYRIGHT], { cwd: folder }).catch((error) => t.fail(error.stdout));
  const { schemas } = (await app.inject({ url: '/api/openapi.json' })).json().components;
  for (const [name, fields] of Object.entries((await python(shapes, {})) as Record<string, object>))
    t.same(fields, fieldsOf(schemas[name], schemas), name);
});

t.test('every call, blocking and with asyncio', async (t) => {
  const { accountId, key } = await keyWith(10);
  const { cookie } = await sessionFor(accountId);
  const session = cookie.slice('ep_session='.length);
  for (const KIND of ['blocking', 'asyncio']) {
    t.match(
      await python(wholeService, { BASE: origin, KEY: key, SESSION: session, KIND }),
      {
        ask: { outcome: 'A', status: 'success' },
        quick: 'A',
        session: { states: ['running', 'completed'], outcome: 'A', wait: 'A' },
        stream: { first: 'started', last: 'complete', outcome: 'A' },
        listed: [[true], true, ['completed'], 'A', 'completed'],
        estimate: 'fast',
        dry_run: { valid: true, figures: 4 },
        result: 'A',
        history: true,
        balance: true,
        feedback: true,
        account: [2, 'preset', null, 1.5, { length: 0 }, true, true],
        webhooks: ['whsec_', 'disabled', true, [true], { length: 0 }, 'account', true],
        keys: ['made', 'revoked'],
        refused: { code: 'validation_error', status: 400, pointer: '/options' },
      },
      KIND,
    );
  }
});

t.test('batches, blocking and with asyncio', async (t) => {
  await standInWorker(t, context, { lane: 'flex' });
  await using _ = keepBatchesRunning(context, 100);
  const { key } = await keyWith(10);
  const file = join(folder, 'rows.jsonl');
  const row = (options: string[]) => JSON.stringify({ question: 'Which of the two is it?', options });
  await writeFile(file, `${row(['A', 'B'])}\n${row(['A'])}\n${row(['B', 'A'])}\n`);
  for (const KIND of ['blocking', 'asyncio']) {
    t.same(
      await python(wholeBatches, { BASE: origin, KEY: key, FILE: file, KIND }),
      {
        ended: ['completed', 4, { kind: KIND }, 'completed'],
        results: [0, 1, 2, 3].map((i) => [`ü ${i}`, i % 2 === 0]),
        winners: ['A', 'A', 'A', 'A'],
        report: [true, 2, 4],
        refused: ['batch_invalid', 2, 'options', 1],
        file: [true, 1],
        same: true,
        listed: true,
        deleted: true,
      },
      KIND,
    );
  }
  const left = await app.inject({ url: '/api/batches', headers: { authorization: `Bearer ${key}` } });
  t.equal(left.json().batches.length, 2, 'of each client the batch of the file');
});

t.test('what fails is retried, resumed, paced or raised', async (t) => {
  await Promise.all(['blocking', 'asyncio'].map(misbehave));

  async function misbehave(KIND: string): Promise<void> {
    const times: Record<string, number[]> = {};
    const budgeted = callsPerSecond(5);
    let refusedAt = Infinity;
    const { url, asked } = await serve(t, ({ path }, response) => {
      times[path] = [...(times[path] ?? []), performance.now()];
      const nth = times[path]!.length;
      const json = (status: number, body: object, headers: Record<string, string | number> = {}) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        return body;
      };
      if (path === '/api/poll' && nth < 3) {
        const later = { error: 'Later', code: 'service_unavailable', retryable: true };
        return json(nth === 1 ? 503 : 429, later, { 'retry-after': nth - 1 });
      }
      if (path === '/api/poll') return RESULT;
      if (path === '/api/poll/stream') {
        if (nth === 1) return void response.socket?.destroy();
        if (nth === 4) return json(503, { error: 'Restarting', code: 'service_unavailable', retryable: true });
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        if (nth === 2)
          response.end(`retry: 10\n${sse('started', started(0))}${sse('started', started(1)).slice(0, -2)}`);
        if (nth === 3) response.write(sse('started', started(1)), () => response.socket?.destroy());
        if (nth === 5) response.end(sse('started', started(1)) + sse('started', started(4)) + complete(4));
        if (nth === 6) response.write(sse('started', started(5)), () => response.socket?.destroy());
        return undefined;
      }
      if (path === '/api/quick-poll') return void response.socket?.destroy();
      if (path === '/api/profiles') return json(200, { count: 0 }, { 'ratelimit-remaining': 0, 'ratelimit-reset': 2 });
      if (path === '/api/usage/balance') {
        if (nth > 1) return json(200, {});
        const tooMany = { error: 'Too many calls', code: 'rate_limited', retryable: true };
        return wait(500).then(() => {
          refusedAt = performance.now();
          return json(429, tooMany, { 'retry-after': 1 });
        });
      }
      if (path === '/api/poll/estimate') return budgeted(response);
      if (path === '/api/keys')
        return json(503, { code: 'service_unavailable', error: 'Off', retryable: true, session_id: 'ps_2' });
      if (path === '/api/results/silent') return undefined;
      if (path === '/api/results/drips') {
        response.writeHead(200, { 'content-type': 'application/json' });
        const drip = setInterval(() => response.write(' '), 30);
        return void response.once('close', () => clearInterval(drip));
      }
      if (path === '/api/results/moved') return json(302, {}, { location: 'http://127.0.0.1:9/' });
      if (path === '/api/results/html') return void response.writeHead(502).end('<h1>Bad gateway</h1>');
      return json(404, { detail: 'There is none.', code: 'not_found', request_id: 'r1' });
    });
    t.same(
      await python(faultyCalls, { BASE: url, KIND }),
      {
        ask: 'The Sun',
        stream: [0, 1, 4, 4],
        create_key: ['service_unavailable', 503, 'ps_2'],
        silent: ['timeout', null],
        drips: ['timeout', null],
        moved: ['http_302', 302],
        html: ['http_502', 502],
        none: ['not_found', 404, 'There is none.', 'r1', null],
        lost: ['network_error', null, 32],
        cut: ['network_error', 'ps_1', 32],
        unreachable: ['network_error', null],
        refused: ['rate_limited', 429],
        key: 'ValueError',
      },
      KIND,
    );
    const to = (path: string) => asked.filter((one) => one.path === path);
    t.equal(new Set(to('/api/poll').map(({ headers }) => headers['idempotency-key'])).size, 1, 'one poll');
    t.ok(times['/api/poll']![2]! - times['/api/poll']![1]! >= 1_000, 'not sooner than Retry-After');
    t.same(
      to('/api/poll/stream').map(({ headers }) => headers['last-event-id']),
      [undefined, undefined, 'ps_1:0', 'ps_1:1', 'ps_1:1', undefined],
    );
    t.equal(to('/api/poll/estimate').length, 9, 'none was refused and sent again');
    t.equal(to('/api/keys').length, 1, 'what is not idempotent is sent once');
    t.ok(times['/api/profiles']![1]! - times['/api/profiles']![0]! >= 1_000, 'a budget that is used up is waited for');
    t.ok(
      times['/api/usage/balance']![1]! - refusedAt >= 1_000,
      'a refusal that came late holds back other calls as long',
    );
  }
});

/** Answers so many calls of a window, which it says is a second long, rounded up, and refuses the others. */
function callsPerSecond(limit: number) {
  let window = { endsAt: 0, calls: 0 };
  return (response: ServerResponse) => {
    const now = performance.now();
    if (now >= window.endsAt) window = { endsAt: now + 300, calls: 0 };
    window.calls++;
    response.writeHead(window.calls <= limit ? 200 : 429, {
      'content-type': 'application/json',
      'ratelimit-limit': limit,
      'ratelimit-remaining': Math.max(0, limit - window.calls),
      'ratelimit-reset': 1,
      'ratelimit-policy': `${limit};w=1`,
      'retry-after': '1',
    });
    return { preset: 'fast', error: 'Too many calls', code: 'rate_limited', retryable: true };
  };
}

t.test('deliveries of webhooks are verified', async (t) => {
  t.same(await python(verifiedWebhooks, {}), [
    'poll.completed',
    'poll.completed',
    'bad',
    'bad',
    'bad',
    'bad',
    'bad',
    'bad',
  ]);
});

t.test('a batch is uploaded from a file or from values, and its results are read once', async (t) => {
  const rows = Array.from({ length: 3 }, (_, i) => ({ question: `Which is larger, ${i}?`, options: ['ü', 'B'] }));
  const lines = [1, 2, 3].map((line) => `${JSON.stringify(batchResult(line))}\n`).join('');
  for (const KIND of ['blocking', 'asyncio']) {
    const { url, asked } = await serve(t, ({ method, path }, response, nth) => {
      const json = (status: number, body: object) => {
        response.writeHead(status, { 'content-type': 'application/json' });
        return body;
      };
      if (nth === 1) return json(503, { error: 'Away', code: 'service_unavailable', retryable: true });
      if (path.endsWith('?max_cost_usd=1'))
        return json(408, { error: 'Late', code: 'request_timeout', retryable: true });
      if (method === 'POST' && path.startsWith('/api/batches?')) return json(202, batch(0, 3));
      if (method === 'POST') {
        const errors = [{ line: 2, custom_id: null, field: 'options', message: 'is missing' }];
        return json(400, { error: 'Invalid', code: 'batch_invalid', errors, error_count: 9 });
      }
      if (!path.endsWith('/results')) return batch(3, 3);
      response.writeHead(200, { 'content-type': 'application/jsonl' });
      if (asked.filter((one) => one.path === path).length > 1) return void response.end(lines);
      return void response.write(lines.slice(0, lines.length / 2), () => response.socket?.destroy());
    });
    const file = join(folder, 'rows.csv');
    await writeFile(file, 'question,options\n');
    const said = await python(batches, { BASE: url, KIND, ROWS: JSON.stringify(rows), FILE: file });
    const late = ['request_timeout', 408];
    t.same(said, { id: 'pb_1', lines: [1, 2, 3], status: 'completed', refused: ['batch_invalid', 2, 9], late }, KIND);
    t.equal(asked.filter(({ path }) => path.endsWith('?max_cost_usd=1')).length, 1, 'one that was late is sent once');
    const [lost, sent, refused] = asked;
    t.equal(
      sent?.body,
      rows
        .map((row) => `${JSON.stringify(row)}\n`)
        .join('')
        .replaceAll('":', '": ')
        .replaceAll(',"', ', "'),
    );
    t.match(sent?.path, '?max_cost_usd=2&skip_invalid=true&metadata%5Ba%5D=b');
    t.equal(sent?.headers['idempotency-key'], lost?.headers['idempotency-key']);
    t.match(refused, { body: 'question,options\n', headers: { 'content-type': 'text/csv' } });
  }
});

t.test('what passes is waited out, and a deletion whose answer was lost is one', async (t) => {
  for (const KIND of ['blocking', 'asyncio']) {
    const { url, asked } = await serve(t, ({ method, path }, response) => {
      const nth = asked.filter((one) => one.path === path).length;
      const json = (status: number, body: object, headers: Record<string, string> = {}) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        return body;
      };
      const away = { error: 'Away', code: 'service_unavailable', retryable: true };
      const broken = (lines: readonly object[]) => {
        response.writeHead(200, { 'content-type': 'application/jsonl' });
        return void response.write(jsonLines(lines), () => response.socket?.destroy());
      };
      if (method === 'DELETE') {
        if (nth === 1 && /lost|proxy/.test(path)) return void response.socket?.destroy();
        if (nth === 1 && path.includes('busy')) return json(429, away);
        if (path.includes('proxy')) return void response.writeHead(404).end('<h1>Not found</h1>');
        return json(404, { error: 'There is none.', code: 'result_not_found', retryable: false });
      }
      if (path === '/api/polls') return json(202, { session_id: 'ps_standard', status: 'running', result_id: null });
      if (path === '/api/polls/ps_flex/result') return RESULT;
      if (path.endsWith('/status')) {
        if (path.includes('ps_flex') && nth % 2 === 0 && nth < 8) return json(503, away);
        const status = path.includes('ps_flex') && nth > 8 ? 'completed' : 'running';
        return json(200, { session_id: 'ps_flex', status, result_id: null }, { 'retry-after': '30' });
      }
      if (path === '/api/poll/stream') {
        if (nth > 1 && nth < 6) return void response.socket?.destroy();
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        return void response.end(nth === 1 ? sse('started', started(0)) : complete(1));
      }
      if (path.endsWith('pb_refused')) return json(401, { error: 'No', code: 'invalid_api_key', retryable: false });
      if (path.endsWith('pb_late')) return json(503, away, { 'retry-after': '5' });
      if (path.endsWith('pb_away')) {
        if (nth === 9) return json(200, batch(1, 3));
        if (nth === 11) return json(200, batch(3, 3));
        if (nth % 2 === 0 && nth < 8) return void response.socket?.destroy();
        return nth === 8 ? json(429, away, { 'retry-after': '90' }) : json(503, away);
      }
      if (path.endsWith('pb_cut/results')) return broken([1, 2].map((line) => batchResult(line)));
      if (path.endsWith('pb_grows/results')) {
        const lines = Array.from({ length: nth }, (_, i) => batchResult(i + 1));
        if (nth < 6) return broken(lines);
        response.writeHead(200, { 'content-type': 'application/jsonl' });
        return void response.end(jsonLines(lines));
      }
      if (path.includes('cursor=c1')) return broken([{ type: 'poll', id: 1 }]);
      return broken([{ type: 'account' }, { type: 'cursor', cursor: 'c1' }]);
    });
    const { waits, ...said } = (await python(lostAnswers, { BASE: url, KIND })) as { waits: number[] };
    const missing = ['result_not_found', 404];
    t.same(
      said,
      {
        lost: [
          [{ deleted: true, session_id: 'ps_lost' }],
          [{ deleted: true, session_id: '' }],
          [{ removed: true }],
          [{ batch_id: 'pb_lost', deleted: true }],
        ],
        busy: [missing, missing, missing, missing],
        missing: [missing, missing, missing, missing],
        proxy: Array.from({ length: 4 }, () => ['http_404', 404]),
        ended: 'completed',
        flex: ['The Sun', ['started', 'complete']],
        standard: ['timeout', null],
        refused: ['invalid_api_key', 401],
        late: ['service_unavailable', 503],
        pb_cut: ['network_error', [1, 2]],
        pb_grows: ['whole', [1, 2, 3, 4, 5, 6]],
        export: ['network_error', ['account', 'cursor']],
      },
      KIND,
    );
    const isWithin = (seconds: number | undefined, least: number, most: number) =>
      t.ok(seconds !== undefined && seconds >= least && seconds <= most, `${seconds} s is ${least} to ${most}`);
    for (const [i, most] of [2, 4, 8, 16, 30, 30, 30].entries()) isWithin(waits[i], most / 2, most);
    isWithin(waits[7], 90, 105);
    isWithin(waits.at(-1), 1, 2);
    t.equal(asked.filter(({ path }) => path.endsWith('pb_cut/results')).length, 3, 'the first one and two retries');
  }
});

t.test('events are read however their bytes are cut and their lines end', async (t) => {
  t.equal(await python(parsedEvents, {}), 'same');
});
