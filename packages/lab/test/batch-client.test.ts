import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type BatchRow, EloquentPoll } from '@eloquentpoll/client/eloquentpoll.ts';
import { keepBatchesRunning } from '@eloquentpoll/gateway/batch-runner';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { wholeService } from './whole-service.ts';

// slow: 9 s

// Batches by the client and its command line against the whole product, over HTTP.

const RECORDED = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [i + 1, i % 4 === 3 ? 'AABBB' : 'AAAAA']));
const row = (id: number): BatchRow => ({
  custom_id: `row-${id}`,
  question: `Recorded question #${id}`,
  options: ['A', 'B', 'C'],
  gold: 'A',
});

const { app, gateway, headers } = await wholeService(t, RECORDED);
const runner = keepBatchesRunning(gateway, 100);
t.teardown(() => runner[Symbol.asyncDispose]());
await app.listen({ host: '127.0.0.1', port: 0 });
const baseUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
const apiKey = headers.authorization.slice('Bearer '.length);
const polls = new EloquentPoll({ baseUrl, apiKey });
const main = fileURLToPath(new URL('../../client/src/cli/main.ts', import.meta.url));

function eloquentpoll(...argv: string[]) {
  const env = { ...process.env, EP_URL: baseUrl, EP_KEY: apiKey };
  return spawn(process.execPath, [main, ...argv], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function ended(child: ReturnType<typeof eloquentpoll>) {
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, err, code };
}

t.test('values are a batch, whose results, report, usage and deletion are read', async (t) => {
  const run = await polls.batch([1, 2, 3, 4].map(row), { preset: 'fast', metadata: { job: 'lab' } });
  const batch = await run.wait();
  t.match(batch, { status: 'completed', counts: { total: 4, success: 4 }, metadata: { job: 'lab' }, has_gold: true });
  const results = await all(run.results());
  t.same(results.map(({ custom_id }) => custom_id).sort(), ['row-1', 'row-2', 'row-3', 'row-4']);
  for (const { result, is_right } of results) t.equal(is_right, result?.winning_option === 'A');
  const report = await eventually('a complete report', async () => {
    const found = await run.report();
    return found.complete ? found : null;
  });
  t.match(report, { accuracy: { of: 4 }, panels: [{ preset: 'fast' }] });
  t.ok((await polls.batches()).batches.some(({ batch_id }) => batch_id === run.id));
  t.match(await polls.usage({ group_by: 'preset' }), { groups: [{ group: 'fast', polls: 4 }] });
  const [first] = results;
  t.match(await run.delete(), { deleted: true });
  await t.rejects(run.status(), { code: 'batch_not_found' });
  await t.rejects(polls.result(first!.result!.poll_id), { code: 'result_not_found' });
});

t.test('a row that is invalid is named by its line and field', async (t) => {
  const invalid = [row(1), { ...row(2), options: ['A'] }];
  const error = await polls.batch(invalid).catch((caught: unknown) => caught);
  t.match(error, { code: 'batch_invalid', rowCount: 1, rows: [{ line: 2, custom_id: 'row-2', field: 'options' }] });
});

t.test('a batch that is killed on the way goes on, and its results are completed', async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'rows.csv');
  const rows = Array.from({ length: 40 }, (_, i) => row(i + 1));
  const lines = rows.map(({ custom_id, question, options, gold }) =>
    [custom_id, question, options.join('|'), gold].join(),
  );
  writeFileSync(file, ['custom_id,question,options,gold', ...lines, ''].join('\n'));
  const results = join(folder, 'rows.results.jsonl');
  const first = eloquentpoll('batch', file, '--preset', 'fast');
  await eventually('the batch is known', async () => existsSync(`${results}.batch.json`) && stateOf(results));
  first.kill('SIGKILL');
  await once(first, 'close');
  const { batch_id } = stateOf(results)!;
  // As if the command had been killed while it wrote.
  await polls.batchRun(batch_id).wait();
  const [some] = await all(polls.batchRun(batch_id).results());
  writeFileSync(results, `${JSON.stringify(some)}\n{"custom_id":"row-`);

  const second = await ended(eloquentpoll('batch', file, '--preset', 'fast'));
  t.equal(second.code, 0, second.err);
  t.match(second.out, `${batch_id} completed: 40 of 40 rows answered`);
  const written = readFileSync(results, 'utf8').trim().split('\n');
  t.equal(written.length, 40);
  t.equal(new Set(written.map((line) => JSON.parse(line).custom_id)).size, 40);
  t.same(JSON.parse(written[0]!), some);

  const judged = await ended(eloquentpoll('eval', batch_id));
  t.equal(judged.code, 0, judged.err);
  t.match(judged.out, /^Accuracy \d+\.\d% \(\d+ of 40 right/m);
  t.match(judged.out, /^ {2}sim\/\S+ +\d+\.\d%/m, 'each model alone');
  const [usage, listed, exported] = await Promise.all([
    ended(eloquentpoll('usage', '--by', 'preset')),
    ended(eloquentpoll('batches')),
    ended(eloquentpoll('export')),
  ]);
  t.match(usage.out, /^ {2}fast +44 /m);
  t.match(listed.out, `${batch_id}  completed  40/40`);
  t.match(exported.out, /"type":"end"\}\n$/);
});

async function all<T>(found: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const one of found) list.push(one);
  return list;
}

function stateOf(results: string): { batch_id: string } | null {
  const state = JSON.parse(readFileSync(`${results}.batch.json`, 'utf8'));
  return state.batch_id === null ? null : state;
}
