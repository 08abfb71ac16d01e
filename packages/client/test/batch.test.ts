import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t from 'tap';
import { EXIT } from '../src/cli/exit-codes.ts';
import { run } from '../src/cli/run.ts';
import { ROWS, rowsIn, threeRows, used } from './commands.ts';
import { pipes, screen, terminal } from './screen.ts';
import { type Answering, batch, batchResult, isBackoff, jsonLines, serve, withoutWaiting } from './service.ts';

// `batch` at a service that answers as each test has it; with the real one in packages/lab/test/batch-client.test.ts.

const linesOf = (file: string): number[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text).line);

t.test('a file is handed over, followed in lines, and its results are beside it', async (t) => {
  const file = rowsIn(t);
  const { exit, out, err, asked } = await used(t, ['batch', file, '--preset', 'fast', '--metadata', 'a=b']);
  t.equal(exit, EXIT.winner, err);
  const results = file.replace('.jsonl', '.results.jsonl');
  t.equal(out, `pb_1 completed: 3 of 3 rows answered\nCost: $0.0300\nResults: ${results} (3 lines)\n`);
  t.match(err, /^0 of 3 rows · \$0\n1 of 3 rows · \$0\.0100 · about \d+ s left\n/);
  t.same(linesOf(results), [1, 2, 3]);
  t.equal(asked[0]?.body, ROWS);
  t.match(asked[0]?.path, '/api/batches?preset=fast&metadata%5Ba%5D=b');
  t.match(asked[0]?.headers['idempotency-key'], /^rows-[0-9a-f]{64}$/);
});

t.test('after a crash the same command goes on: the batch is the same, and the results are completed', async (t) => {
  const file = rowsIn(t);
  const results = file.replace('.jsonl', '.results.jsonl');
  const enough = new AbortController();
  const dying: Answering = (asked, response, nth) => {
    if (nth === 2) enough.abort();
    return threeRows()(asked, response, nth);
  };
  const { url, asked } = await serve(t, dying);
  const env = { EP_URL: url, EP_KEY: 'ep_k_x' };
  const first = pipes();
  t.equal(await run(['batch', file], terminal({ ...first, env, signal: enough.signal })), EXIT.interrupted);
  t.match(first.texts.err, /eloquentpoll batch pb_1\nTo stop it: eloquentpoll cancel pb_1\n$/);
  writeFileSync(results, `${jsonLines([batchResult(2)])}{"line": 3, "cust`);
  const uploads = () => asked.filter(({ method }) => method === 'POST').length;
  for (const expected of [EXIT.winner, EXIT.winner]) {
    withoutWaiting(t, (ms) => ms > 1_500 && ms <= 2_000);
    const second = pipes();
    const ended: Answering = (one, response, nth) =>
      one.path.endsWith('/results') ? dying(one, response, nth) : batch(3, 3);
    const again = await serve(t, ended);
    // The state names the service that took the rows.
    const state = `${results}.batch.json`;
    writeFileSync(state, readFileSync(state, 'utf8').replace(/http:[^"]+/, again.url));
    t.equal(
      await run(['batch', file], terminal({ ...second, env: { ...env, EP_URL: again.url } })),
      expected,
      second.texts.err,
    );
    t.equal(again.asked.filter(({ method }) => method === 'POST').length, 0, 'not handed over again');
    t.same(linesOf(results), [2, 1, 3], 'each row once, what was there first');
  }
  t.equal(uploads(), 1);
});

t.test('an upload that was interrupted is repeated under its own key', async (t) => {
  const file = rowsIn(t);
  const keys: unknown[] = [];
  for (const isLost of [true, false]) {
    const answering: Answering = (asked, response, nth) => {
      if (asked.method === 'POST') keys.push(asked.headers['idempotency-key']);
      if (!isLost || asked.method !== 'POST') return threeRows()(asked, response, nth);
      response.statusCode = 400;
      return { error: 'Lost', code: 'bad_request' };
    };
    await used(t, ['batch', file, '--again', '--detach'], answering);
  }
  t.equal(keys.length, 2);
  t.match(keys[0], /^rows-[0-9a-f]{64}-[0-9a-f]{12}$/);
});

t.test('rows that are invalid are listed by line and field, and nothing was run', async (t) => {
  const errors = [
    { line: 2, custom_id: 'b', field: 'options[1]', message: 'must not be empty' },
    { line: 3, custom_id: null, field: 'question', message: 'question is required' },
  ];
  const refusing: Answering = (_asked, response) => {
    response.statusCode = 400;
    return { error: 'Rows are invalid', code: 'batch_invalid', errors, error_count: 7 };
  };
  const file = rowsIn(t);
  const { exit, err, out } = await used(t, ['batch', file], refusing);
  t.equal(exit, EXIT.usage);
  t.equal(out, '');
  t.equal(
    err,
    `eloquentpoll: Rows are invalid
  line 2 (b): options[1]: must not be empty
  line 3: question is required
  and 5 more
  Nothing was run. To skip these rows: --skip-invalid
`,
  );
  const poor = await used(t, ['batch', file], (_asked, response) => {
    response.statusCode = 402;
    return { error: 'Insufficient balance', code: 'insufficient_balance', required_usd: 12.5 };
  });
  t.equal(poor.exit, EXIT.refused);
  t.match(poor.err, 'A balance of $12.5 is needed');
});

t.test('standard input, standard output, CSV, and a batch by its id', async (t) => {
  const csv = 'question,options\nWhich is larger?,The Sun|The Moon\n';
  const input = Readable.from([csv]);
  const piped = await used(t, ['batch', '-', '--format', 'csv'], threeRows(), { input });
  t.equal(piped.exit, EXIT.winner, piped.err);
  t.equal(piped.out, jsonLines([1, 2, 3].map((line) => batchResult(line))));
  t.equal(piped.asked[0]?.body, csv);
  t.equal(piped.asked[0]?.headers['content-type'], 'text/csv');

  const table = join(t.testdir(), 'table.csv');
  const byId = await used(t, ['batch', 'pb_1', '--out', table, '--json']);
  t.match(JSON.parse(byId.out), { batch_id: 'pb_1', status: 'completed' });
  const [head, first] = readFileSync(table, 'utf8').split('\n');
  t.equal(head, 'custom_id,line,status,answer,confidence,cost_usd,gold,is_right,error,id');
  t.equal(first, 'row-1,1,success,The Sun,0.9567,0.0042,,,,EP-2026-11-20-0123456789abcdef');
  t.notOk(existsSync(`${table}.part`));
});

t.test('a table holds no formula, whatever the rows say', async (t) => {
  const out = join(t.testdir(), 'table.csv');
  const names = ['=1+1', 'a;=1+1', '@x', '-2', '+3', '\tb', 'a\t=1', 'plain'];
  const rows = names.map((custom_id, i) => batchResult(i + 1, { custom_id, gold: '=2', result: null }));
  await used(t, ['batch', 'pb_1', '--out', out], ({ path }, response) => {
    if (!path.endsWith('/results')) return batch(8, 8);
    response.setHeader('content-type', 'application/jsonl');
    return void response.end(jsonLines(rows));
  });
  const lines = readFileSync(out, 'utf8').trim().split('\n').slice(1);
  const cells = ["'=1+1", '"a;=1+1"', "'@x", "'-2", "'+3", `"'\tb"`, '"a\t=1"', 'plain'];
  t.same(
    lines,
    cells.map((one, i) => `${one},${i + 1},success,,,,'=2,,,ps_${i + 1}`),
  );
});

t.test('watch follows a batch to its end', async (t) => {
  const { exit, out, err } = await used(t, ['watch', 'pb_1']);
  t.equal(exit, EXIT.winner);
  t.equal(out, 'pb_1 completed: 3 of 3 rows answered\nCost: $0.0300\n');
  t.match(err, /^0 of 3 rows/);

  const counts = { total: 3, waiting: 0, running: 0, success: 1, partial: 0, failed: 0, canceled: 0, not_run: 2 };
  const short = await used(t, ['watch', 'pb_1'], () => batch(3, 3, { counts, not_run_reason: 'uncovered' }));
  t.match(short.out, '1 of 3 rows answered, 2 not run, because the rest of its limit or of the balance did not');
  t.match(await used(t, ['watch', 'pb_1', 'ps_1']), {
    exit: EXIT.usage,
    err: /one batch \(pb_…\) at a time/,
    asked: { length: 0 },
  });
});

t.test('a terminal shows a bar on standard error, and takes it away', async (t) => {
  const drawn = screen(60);
  const { out } = await used(t, ['batch', rowsIn(t)], threeRows(), { err: drawn.out });
  t.match(drawn.written.join(''), /█+░+.* 33%/s);
  t.equal(drawn.text().trim(), '');
  t.match(out, /^pb_1 completed/);
});

t.test('what cannot be done is said before anything is sent', async (t) => {
  const file = rowsIn(t);
  writeFileSync(file.replace('.jsonl', '.results.jsonl'), jsonLines([batchResult(1)]));
  writeFileSync(join(t.testdirName, 'empty.csv'), '');
  for (const [argv, says] of [
    [['batch', file], /has other results\. Name another file with --out/],
    [['batch', join(t.testdirName, 'empty.csv')], /is empty/],
    [['batch', join(t.testdirName, 'none.csv')], /is not a file/],
    [['batch', 'rows.txt'], /is not known: add --format/],
    [['batch'], /takes one file of rows/],
    [['batch', 'pb_1', '--skip-invalid'], /pb_… has no option --skip-invalid; it takes --out, --detach/],
    [['batch', file, '--free'], /has no option --free/],
    [['eval', file, '--out', '-', '--yes'], /no right answers: add a field "gold"/],
    [['batchs'], /Did you mean batch/],
  ] as const) {
    const { exit, err, asked } = await used(t, [...argv]);
    t.equal(exit, EXIT.usage, err);
    t.match(err, says);
    t.equal(asked.length, 0);
  }
});

t.test('results of two batches are not mixed', async (t) => {
  const out = join(t.testdir(), 'results.jsonl');
  await used(t, ['batch', 'pb_1', '--out', out]);
  t.equal((await used(t, ['batch', 'pb_1', '--out', out])).exit, EXIT.winner, 'its own are completed');
  t.match(await used(t, ['batch', 'pb_2', '--out', out]), {
    exit: EXIT.usage,
    err: /has other results/,
    asked: { length: 0 },
  });
  t.same(linesOf(out), [1, 2, 3]);
});

t.test('a file that cannot be written is a sentence, and the batch that was paid is named', async (t) => {
  const file = rowsIn(t);
  const results = file.replace('.jsonl', '.results.jsonl');
  const hint = 'To read them, here or into another file:\n  eloquentpoll batch pb_1 --out FILE\n';
  /** A folder in the way of a file, from when the batch is handed over or its results are asked for. */
  const blocking = (path: string, at: RegExp): Answering => {
    const answering = threeRows();
    return (asked, response, nth) => {
      if (at.test(`${asked.method} ${asked.path}`)) {
        rmSync(path, { force: true });
        mkdirSync(join(path, 'full'), { recursive: true });
      }
      return answering(asked, response, nth);
    };
  };
  const state = `${results}.batch.json`;
  const unknown = await used(t, ['batch', file, '--json'], blocking(state, /^POST/));
  t.equal(unknown.exit, EXIT.usage);
  t.match(JSON.parse(unknown.err), { code: 'file_error', batch_id: 'pb_1', error: /batch\.json cannot be used: / });
  rmSync(state, { recursive: true });

  const table = join(t.testdirName, 'table.csv');
  const full = await used(t, ['batch', file, '--out', table], blocking(table, /results$/));
  t.equal(full.exit, EXIT.usage);
  t.match(full.err, `${hint}eloquentpoll: ${table} cannot be used: `);
  t.equal(full.out, '');

  const nowhere = join(t.testdirName, 'none', 'results.jsonl');
  const { exit, err, asked } = await used(t, ['batch', file, '--out', nowhere]);
  t.match({ exit, err }, { exit: EXIT.usage, err: /^eloquentpoll: .*cannot be used: no such file or directory\.\n$/ });
  t.equal(asked.length, 0, 'nothing was handed over');
});

t.test('two commands on the same rows write each result once, and say how many there are', async (t) => {
  withoutWaiting(t, (ms) => ms > 1_500 && ms <= 2_000);
  const file = rowsIn(t);
  const results = file.replace('.jsonl', '.results.jsonl');
  const both = Promise.withResolvers<void>();
  let readers = 0;
  const { url } = await serve(t, async ({ method, path }, response) => {
    if (method === 'POST') response.statusCode = 202;
    if (!path.endsWith('/results')) return method === 'POST' ? batch(0, 3) : batch(3, 3);
    response.setHeader('content-type', 'application/jsonl');
    response.write(jsonLines([batchResult(1)]));
    // Answered once the other command waits, or reads too.
    if (++readers === 2) both.resolve();
    await both.promise;
    return void response.end(jsonLines([2, 3].map((line) => batchResult(line))));
  });
  const commands = [pipes(), pipes()].map(async ({ texts, out, err }) => {
    const noting = {
      write(text: string) {
        err.write(text);
        if (text.includes('waiting until it ends')) both.resolve();
      },
    };
    const exit = await run(['batch', file], terminal({ out, err: noting, env: { EP_URL: url, EP_KEY: 'ep_k_x' } }));
    return { exit, ...texts };
  });
  for (const { exit, out, err } of await Promise.all(commands)) {
    t.equal(exit, EXIT.winner, err);
    t.match(out, /\.results\.jsonl \(3 lines\)\n$/);
  }
  t.same(linesOf(results), [1, 2, 3]);
  t.notOk(existsSync(`${results}.lock`));
});

t.test('rows that were written twice are kept once, and the lock of a dead process is taken over', async (t) => {
  const file = rowsIn(t);
  const results = file.replace('.jsonl', '.results.jsonl');
  t.equal((await used(t, ['batch', file])).exit, EXIT.winner);
  const state = `${results}.batch.json`;
  const { pid } = spawnSync(process.execPath, ['--version']);
  for (const left of [`${pid} dead`, `${process.pid} of an earlier process with this id`]) {
    writeFileSync(results, jsonLines([batchResult(2), batchResult(1), batchResult(2)]));
    writeFileSync(`${results}.lock`, left);
    const { url } = await serve(t, threeRows());
    writeFileSync(state, readFileSync(state, 'utf8').replace(/http:[^"]+/, url));
    withoutWaiting(t, (ms) => ms > 1_500 && ms <= 2_000);
    const { texts, ...outputs } = pipes();
    t.equal(await run(['batch', file], terminal({ ...outputs, env: { EP_URL: url, EP_KEY: 'ep_k_x' } })), EXIT.winner);
    t.match(texts.out, '(3 lines)');
    t.same(linesOf(results), [2, 1, 3]);
    t.notOk(existsSync(`${results}.lock`));
  }
});

t.test('whatever ends the wait, the way to go on is said, except of a batch that is not there', async (t) => {
  const hint = 'The batch continues, and its answers are charged. To resume this command:\n';
  const failing = (status: number, code: string): Answering => {
    return (_asked, response, nth) => {
      if (nth === 1 && status !== 404) return batch(1, 3);
      response.statusCode = status;
      return { error: 'Not now', code, retryable: false };
    };
  };
  const refused = await used(t, ['watch', 'pb_1'], failing(401, 'invalid_api_key'));
  t.equal(refused.exit, EXIT.refused);
  t.match(
    refused.err,
    `${hint}  eloquentpoll watch pb_1\nTo stop it: eloquentpoll cancel pb_1\neloquentpoll: Not now\n`,
  );
  const failed = await used(t, ['batch', 'pb_1', '--out', '-'], failing(500, 'internal_error'));
  t.equal(failed.exit, EXIT.unavailable);
  t.match(failed.err, `${hint}  eloquentpoll batch pb_1\n`);
  const missing = await used(t, ['watch', 'pb_1'], failing(404, 'batch_not_found'));
  t.equal(missing.err, 'eloquentpoll: Not now\n');
  const json = await used(t, ['watch', 'pb_1', '--json'], failing(401, 'invalid_api_key'));
  t.match(JSON.parse(json.err), { code: 'invalid_api_key' });
});

t.test('a service that is away while a batch is followed is waited for', async (t) => {
  withoutWaiting(t, (ms) => isBackoff(ms) && ms <= 30_000);
  const { exit, out, err } = await used(t, ['watch', 'pb_1'], (_asked, response, nth) => {
    if (nth === 1 || nth > 8) return batch(nth === 1 ? 1 : 3, 3);
    if (nth % 2 === 0) return void response.socket?.destroy();
    response.statusCode = 503;
    return { error: 'Away', code: 'service_unavailable', retryable: true };
  });
  t.equal(exit, EXIT.winner, err);
  t.match(out, /^pb_1 completed: 3 of 3 rows answered\n/);
});
