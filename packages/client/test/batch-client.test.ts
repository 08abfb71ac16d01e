import t from 'tap';
import { type BatchRow, EloquentPoll } from '../src/eloquentpoll.ts';
import { batch, batchResult, isBackoff, jsonLines, serve, withoutWaiting } from './service.ts';

const ROW = { question: 'Which is larger?', options: ['The Sun', 'The Moon'] };

t.test('rows are uploaded as JSON lines with terms and one key, again after a failure', async (t) => {
  withoutWaiting(t);
  const { url, asked } = await serve(t, (_asked, response, nth) => {
    response.statusCode = nth === 1 ? 503 : 202;
    return nth === 1 ? { error: 'Away', code: 'service_unavailable', retryable: true } : batch(0, 2);
  });
  async function* rows(): AsyncGenerator<BatchRow> {
    yield { custom_id: 'a', ...ROW };
    yield { ...ROW, gold: 'The Sun' };
  }
  const terms = { preset: 'fast', max_cost_usd: 2, skip_invalid: true, metadata: { 'a b': 'ü&' } } as const;
  const run = await new EloquentPoll({ baseUrl: url, apiKey: 'k' }).batch(rows(), terms);
  t.equal(run.id, 'pb_1');
  t.equal(asked.length, 2);
  for (const { method, path, headers, body } of asked) {
    t.equal(method, 'POST');
    const { pathname, searchParams } = new URL(path, url);
    t.equal(pathname, '/api/batches');
    const query = { preset: 'fast', max_cost_usd: '2', skip_invalid: 'true', 'metadata[a b]': 'ü&' };
    t.same(Object.fromEntries(searchParams), query);
    t.match(headers, { 'content-type': 'application/jsonl', authorization: 'Bearer k' });
    t.equal(
      body,
      jsonLines([
        { custom_id: 'a', ...ROW },
        { ...ROW, gold: 'The Sun' },
      ]),
    );
  }
  t.match(asked[0]?.headers['idempotency-key'], /^[0-9a-f]{32}$/);
  t.equal(asked[0]?.headers['idempotency-key'], asked[1]?.headers['idempotency-key'], 'one batch');

  const csv = new Blob(['question,options\n'], { type: 'text/csv; charset=utf-8' });
  await new EloquentPoll({ baseUrl: url }).batch(csv, {}, { idempotencyKey: 'mine' });
  t.match(asked.at(-1)?.headers, { 'content-type': 'text/csv', 'idempotency-key': 'mine' });
});

t.test('a row that is no JSON is bad_request, and nothing is sent', async (t) => {
  const { url, asked } = await serve(t, () => batch(0, 1));
  const metadata: Record<string, string> = {};
  Object.assign(metadata, { of: metadata });
  const rows = [{ ...ROW, metadata }];
  await t.rejects(new EloquentPoll({ baseUrl: url }).batch(rows), { code: 'bad_request', message: /circular/ });
  t.equal(asked.length, 0);
});

t.test('rows that do not end are read until the signal', { timeout: 60_000 }, async (t) => {
  const enough = new AbortController();
  async function* endless(): AsyncGenerator<BatchRow> {
    for (let i = 0; ; i++) {
      if (i === 10) enough.abort(new Error('enough'));
      // Yields to other work, as a source of rows does.
      await new Promise((done) => setImmediate(done));
      yield ROW;
    }
  }
  await t.rejects(new EloquentPoll().batch(endless(), {}, { signal: enough.signal }), { message: 'enough' });
});

t.test('an upload that did not arrive in time is not sent again', async (t) => {
  withoutWaiting(t);
  const { url, asked } = await serve(t, (_asked, response) => {
    response.statusCode = 408;
    return { error: 'Send the file in parts.', code: 'request_timeout', retryable: true };
  });
  const polls = new EloquentPoll({ baseUrl: url });
  await t.rejects(polls.batch([ROW]), { code: 'request_timeout', message: 'Send the file in parts.' });
  t.equal(asked.length, 1);
  await t.rejects(polls.profiles(), { code: 'request_timeout' });
  t.equal(asked.length, 4, 'unlike other calls');
});

t.test('rows that are invalid are in the error, by line and field', async (t) => {
  const rows = [{ line: 17, custom_id: null, field: 'options[1]', message: 'must not be empty' }];
  const { url } = await serve(t, (_asked, response) => {
    response.statusCode = 400;
    return { error: 'Rows are invalid', code: 'batch_invalid', errors: rows, error_count: 3 };
  });
  const polls = new EloquentPoll({ baseUrl: url });
  await t.rejects(polls.batch([ROW]), { code: 'batch_invalid', rows, rowCount: 3, issues: [] });
});

t.test('wait() follows a batch to its end; it can be canceled, reported on and deleted', async (t) => {
  withoutWaiting(t, (ms) => ms > 1_500 && ms <= 2_000);
  const { url, asked } = await serve(t, ({ method, path }, _response, nth) => {
    if (method === 'DELETE') return { batch_id: 'pb_1', deleted: true };
    return path.endsWith('/report') ? { batch_id: 'pb_1', complete: true } : batch(nth, 3);
  });
  const run = new EloquentPoll({ baseUrl: url }).batchRun('pb_1');
  const seen: number[] = [];
  t.match(await run.wait({ onProgress: ({ counts }) => seen.push(counts.success) }), { status: 'completed' });
  t.same(seen, [1, 2, 3]);
  t.match(await run.report(), { complete: true });
  await run.cancel();
  t.match(await run.delete(), { deleted: true });
  t.same(
    asked.slice(3).map(({ method, path }) => `${method} ${path}`),
    ['GET /api/batches/pb_1/report', 'POST /api/batches/pb_1/cancel', 'DELETE /api/batches/pb_1'],
  );
});

/** All but the time that one look may take. */
const isPause = (ms: number): boolean => isBackoff(ms) && !(ms > 54_000 && ms < 55_000);

t.test('wait() waits out what may pass, longer each time, until there is news', async (t) => {
  const waits = withoutWaiting(t, isPause);
  const { url } = await serve(t, (_asked, response, nth) => {
    if (nth === 9) return batch(1, 3);
    if (nth === 11) return batch(3, 3);
    if (nth % 2 === 0 && nth < 8) return void response.socket?.destroy();
    if (nth === 8) response.setHeader('retry-after', '90');
    response.statusCode = nth === 8 ? 429 : 503;
    return { error: 'Away', code: 'service_unavailable', retryable: true };
  });
  const run = new EloquentPoll({ baseUrl: url, maxRetries: 0, pace: false }).batchRun('pb_1');
  t.match(await run.wait(), { status: 'completed' });
  const bounds = [...[2, 4, 8, 16, 30, 30, 30].map((most) => [most / 2, most] as const), [90, 105] as const];
  const isWithin = (ms: number | undefined, [least, most]: readonly [number, number]) =>
    t.ok(ms !== undefined && ms >= least * 1_000 && ms <= most * 1_000, `${ms} ms is ${least} to ${most} s`);
  for (const [i, bound] of bounds.entries()) isWithin(waits[i], bound);
  isWithin(waits.at(-1), [1, 2]);
});

t.test('wait() gives up at once on what does not pass, and when a pause would outlast its time', async (t) => {
  withoutWaiting(t, isPause);
  const refusal = { error: 'Refused', code: 'refused', retryable: false };
  const { url, asked } = await serve(t, ({ path }, response) => {
    const isAway = path.endsWith('pb_away');
    response.writeHead(isAway ? 503 : 401, { 'retry-after': '5' });
    return { ...refusal, retryable: isAway };
  });
  const polls = new EloquentPoll({ baseUrl: url, maxRetries: 0, pace: false });
  await t.rejects(polls.batchRun('pb_1').wait(), { code: 'refused', status: 401 });
  await t.rejects(polls.batchRun('pb_away').wait({ timeoutMs: 4_000 }), { code: 'refused', status: 503 });
  t.equal(asked.length, 2);
  const enough = AbortSignal.abort(new Error('enough'));
  await t.rejects(polls.batchRun('pb_away').wait({ signal: enough }), { message: 'enough' });
});

t.test('results are read as they come, and none twice after a broken connection', async (t) => {
  withoutWaiting(t);
  const { url, asked } = await serve(t, (_asked, response, nth) => {
    response.writeHead(200, { 'content-type': 'application/jsonl' });
    const lines = jsonLines([1, 2, 3].map((line) => batchResult(line)));
    if (nth === 2) return void response.end(lines);
    return void response.write(lines.slice(0, lines.length / 2), () => response.socket?.destroy());
  });
  const found: number[] = [];
  for await (const { line } of new EloquentPoll({ baseUrl: url }).batchRun('pb_1').results()) found.push(line);
  t.same(found, [1, 2, 3]);
  t.equal(asked.length, 2);
});

t.test('an answer that was cut between two lines is read again, and never taken for all results', async (t) => {
  withoutWaiting(t);
  const { url, asked } = await serve(t, ({ path }, response, nth) => {
    response.writeHead(200, { 'content-type': 'application/jsonl', 'x-total-count': '3' });
    const isCut = nth === 1 || path.includes('pb_cut');
    return void response.end(jsonLines((isCut ? [1, 2] : [1, 2, 3]).map((line) => batchResult(line))));
  });
  const polls = new EloquentPoll({ baseUrl: url });
  const read = async (id: string) => {
    const lines: number[] = [];
    for await (const { line } of polls.batchRun(id).results()) lines.push(line);
    return lines;
  };
  t.same(await read('pb_1'), [1, 2, 3]);
  t.equal(asked.length, 2);
  await t.rejects(read('pb_cut'), { code: 'network_error', message: 'The answer broke off.' });
});

t.test('results that always break at the same place have an end; while lines are new they go on', async (t) => {
  withoutWaiting(t);
  const { url, asked } = await serve(t, ({ path }, response) => {
    const nth = asked.filter((one) => one.path === path).length;
    response.writeHead(200, { 'content-type': 'application/jsonl' });
    const lines = Array.from({ length: path.includes('pb_cut') ? 2 : nth }, (_, i) => batchResult(i + 1));
    if (lines.length === 6) return void response.end(jsonLines(lines));
    return void response.write(jsonLines(lines), () => response.socket?.destroy());
  });
  const polls = new EloquentPoll({ baseUrl: url });
  const found: number[] = [];
  const read = async (id: string) => {
    for await (const { line } of polls.batchRun(id).results()) found.push(line);
  };
  await t.rejects(read('pb_cut'), { code: 'network_error' });
  t.same(found.splice(0), [1, 2]);
  t.equal(asked.length, 3, 'the first one and two retries');
  await read('pb_grows');
  t.same(found, [1, 2, 3, 4, 5, 6]);
});

t.test('leaving the loop of results closes the connection, and nonsense is an error', async (t) => {
  const { url } = await serve(t, ({ path }, response) => {
    response.writeHead(200, { 'content-type': 'application/jsonl' });
    return void (path.includes('pb_bad') ? response.end('<html>\n') : response.write(jsonLines([batchResult(1)])));
  });
  const polls = new EloquentPoll({ baseUrl: url });
  for await (const { line } of polls.batchRun('pb_1').results()) {
    t.equal(line, 1);
    break;
  }
  await t.rejects(polls.batchRun('pb_bad').results().next(), { code: 'bad_response' });
});
