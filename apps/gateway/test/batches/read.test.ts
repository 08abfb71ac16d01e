import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { keepBatchesRunning } from '../../src/batches/run/keep-batches-running.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 5 s

const gateway = await build(t);
const { app, context, keyWith, sessionFor } = gateway;
await standInWorker(t, context, {
  lane: 'flex',
  opinion: (seat, { question }) => (question.includes('nothing') ? null : question.includes('tie') ? seat % 2 : 0),
});
const runner = keepBatchesRunning(context, 200);
t.teardown(() => runner[Symbol.asyncDispose]());

const { accountId, bearer } = await keyWith(100);
const cookie = await sessionFor(accountId);
const QUESTION = 'Which of these is the best choice?';
const get = (url: string, headers: object = bearer) => app.inject({ url, headers: { ...headers } });
const post = (url: string, payload?: object, headers: object = bearer) =>
  app.inject({ method: 'POST', url, headers: { ...headers }, ...(payload && { payload }) });
const linesOf = (body: string) =>
  body
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

t.test('what became of each row, as JSON lines and as a table', async (t) => {
  const made = await post('/api/batches', {
    requests: [
      { custom_id: 'right', question: QUESTION, options: ['A', 'B'], gold: 'A' },
      { custom_id: 'wrong', question: QUESTION, options: ['A', 'B'], gold: 'B' },
      { custom_id: '=HYPERLINK("x")', question: QUESTION, options: ['=1+1', '-2, or "less"'] },
      { custom_id: 'open', question: `${QUESTION} nothing`, options: ['A', 'B'], gold: 'A' },
    ],
    metadata: { night: '7' },
  });
  const { batch_id: id, report_url } = made.json();
  t.match(report_url, /\/report$/);
  const ended = await get(`/api/batches/${id}`, { ...bearer, prefer: 'wait=30' });
  t.equal(ended.headers['preference-applied'], 'wait=30');
  const batch = ended.json();
  t.match(batch, {
    status: 'completed',
    counts: { total: 4, waiting: 0, running: 0, success: 3, partial: 0, failed: 1, canceled: 0, not_run: 0 },
    reserved_usd: 0,
    ended_at: /^\d{4}-/,
  });

  const results = await get(`/api/batches/${id}/results`, cookie);
  t.match(results.headers['content-type'], /^application\/jsonl/);
  t.equal(results.headers['x-total-count'], '4', 'a reader sees that an answer was cut off');
  const lines = linesOf(results.body);
  t.match(lines, [
    { custom_id: 'right', line: 1, status: 'success', gold: 'A', is_right: true, error: null },
    { custom_id: 'wrong', line: 2, status: 'success', gold: 'B', is_right: false },
    {
      custom_id: '=HYPERLINK("x")',
      line: 3,
      status: 'success',
      gold: null,
      is_right: null,
      result: { winning_option: '=1+1' },
    },
    { custom_id: 'open', line: 4, status: 'failed', result: null, error: { code: 'poll_failed' }, is_right: null },
  ]);
  for (const { session_id, result } of lines.slice(0, 3))
    t.same(result, (await get(`/api/polls/${session_id}/result`)).json(), 'as the poll alone says it');
  const costs = lines.map(({ result }) => result?.costs.total_estimated_cost ?? 0);
  t.ok(Math.abs(batch.cost_usd - costs.reduce((sum, cost) => sum + cost, 0)) < 1e-9);

  const tables = await Promise.all([
    get(`/api/batches/${id}/results?format=csv`),
    get(`/api/batches/${id}/results`, { ...bearer, accept: 'text/csv' }),
  ]);
  t.equal(tables[0].body, tables[1].body);
  t.match(tables[0].headers, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': /attachment; .*\.csv"$/,
  });
  const [header, right, , formula] = tables[0].body.split('\r\n');
  t.match(header, /^custom_id,line,status,question,winning_option,/);
  t.match(right, new RegExp(`^right,1,success,${QUESTION.replace('?', '\\?')},A,false,`));
  t.ok(formula!.startsWith(`"'=HYPERLINK(""x"")",3,success,${QUESTION},'=1+1,false,`), formula ?? '');
  t.equal((await get(`/api/batches/${id}/results?format=xml`)).statusCode, 400);
});

t.test('rows that the limit does not cover say so, in the batch, and in its results', async (t) => {
  const row = { question: QUESTION, options: ['A', 'B'] };
  const { reserved_usd: max_cost_usd } = (await post('/api/batches', { requests: [row] })).json();
  const made = await post('/api/batches', { requests: [row, row, row], max_cost_usd });
  t.equal(made.json().not_run_reason, null);
  const id = made.json().batch_id;
  const ended = (await get(`/api/batches/${id}`, { ...bearer, prefer: 'wait=30' })).json();
  t.match(ended, { status: 'completed', not_run_reason: 'uncovered' });
  const { not_run: left, success } = ended.counts;
  t.ok(left > 0 && success > 0, JSON.stringify(ended.counts));
  const lines = linesOf((await get(`/api/batches/${id}/results`)).body);
  t.match(lines[0], { status: 'success', not_run_reason: null });
  t.match(lines.at(-1), { status: 'not_run', not_run_reason: 'uncovered', session_id: null, error: null });
  const table = (await get(`/api/batches/${id}/results?format=csv`)).body.trimEnd().split('\r\n');
  t.match([table[0], table.at(-1)], [/,not_run_reason$/, /,uncovered$/]);
  const page = await get(`/dashboard/batches/${id}`, cookie);
  t.match(page.body, `${left} rows were not run: the rest of its limit`);
});

t.test('a batch that runs: no line for what has not ended, cancel, and only then delete', async (t) => {
  await gateway.asOwner('update controls set polls_stopped = true');
  const request = {
    requests: [
      { question: QUESTION, options: ['A', 'B'] },
      { question: QUESTION, options: ['A', 'B'] },
    ],
  };
  const { batch_id: id } = (await post('/api/batches', request)).json();
  t.match((await get(`/api/batches/${id}`)).headers, { 'retry-after': '5', 'cache-control': 'private, no-cache' });
  t.match(await get(`/api/batches/${id}/results`), { body: '', headers: { 'x-total-count': undefined } });
  const began = performance.now();
  t.match((await get(`/api/batches/${id}`, { ...bearer, prefer: 'wait=1' })).json(), {
    status: 'running',
    ended_at: null,
  });
  t.ok(performance.now() - began >= 990);
  const remove = (headers: object = bearer) =>
    app.inject({ method: 'DELETE', url: `/api/batches/${id}`, headers: { ...headers } });
  t.match((await remove()).json(), { code: 'batch_not_ended' });
  t.match((await post(`/api/batches/${id}/cancel`)).json().status, /^cancel(ing|ed)$/);
  await gateway.asOwner('update controls set polls_stopped = false');
  const ended = (await get(`/api/batches/${id}`, { ...bearer, prefer: 'wait=30' })).json();
  t.match(ended, { status: 'canceled', counts: { canceled: 2, not_run: 0 }, cost_usd: 0, reserved_usd: 0 });
  t.match(linesOf((await get(`/api/batches/${id}/results`)).body), [
    { line: 1, status: 'canceled', session_id: null, result: null, error: { code: 'poll_canceled' } },
    { line: 2, status: 'canceled', not_run_reason: 'canceled' },
  ]);
  t.equal((await post(`/api/batches/${id}/cancel`)).json().status, 'canceled', 'again, nothing changes');
  t.equal((await remove({ cookie: cookie.cookie, origin: 'https://other.example' })).statusCode, 403);
  t.same((await remove(cookie)).json(), { batch_id: id, deleted: true });
  for (const path of ['', '/results'])
    t.match((await get(`/api/batches/${id}${path}`)).json(), { code: 'batch_not_found' });
});

t.test('the results of a deleted batch are gone for all, and the list goes on by cursor', async (t) => {
  const request = (n: number) => ({ requests: [{ question: `${QUESTION} ${n}`, options: ['A', 'B'] }] });
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.unshift((await post('/api/batches', request(n))).json().batch_id);
  for (const id of ids)
    await eventually('it has ended', async () => (await get(`/api/batches/${id}`)).json().ended_at !== null);
  const [line] = linesOf((await get(`/api/batches/${ids[0]}/results`)).body);
  const address = `/api/results/${line.result.poll_id}`;
  t.equal((await get(address, {})).statusCode, 200);
  t.equal((await app.inject({ method: 'DELETE', url: `/api/batches/${ids[0]}`, headers: bearer })).statusCode, 200);
  t.equal((await get(address, {})).statusCode, 404);

  const idsIn = (answer: Awaited<ReturnType<typeof get>>) =>
    answer.json().batches.map(({ batch_id }: { batch_id: string }) => batch_id);
  const first = await get('/api/batches?limit=1&status=completed');
  t.match([idsIn(first), first.json().has_more, first.json().before], [[ids[1]], true, null]);
  const next = /<([^>]+)>; rel="next"/.exec(String(first.headers.link))![1]!;
  const second = await get(next.slice(context.config.baseUrl.length));
  t.match([idsIn(second), second.json().has_more], [[ids[2]], true]);
  t.same(idsIn(await get(`/api/batches?limit=1&status=completed&before=${ids[2]}`)), [ids[1]]);
  const theirs = await keyWith(1);
  t.same((await get('/api/batches', theirs.bearer)).json().batches, []);
  t.equal((await get(`/api/batches?after=${ids[1]}`, theirs.bearer)).statusCode, 400);
  for (const query of [
    '?limit=0',
    '?limit=101',
    '?status=done',
    '?after=x',
    `?after=${ids[1]}&before=${ids[1]}`,
    '?state=running',
  ])
    t.equal((await get(`/api/batches${query}`)).statusCode, 400, query);
});
