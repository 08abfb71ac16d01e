import { request as send } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { balanceOf } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { takeBatch } from '../../src/batches/upload/take-batch.ts';
import { build } from '../fixtures/build.ts';

// slow: 9 s

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const gateway = await build(t);
const { app, context, keyWith, sessionFor } = gateway;
const { storage } = context;
const QUESTION = 'Which of these is the best choice?';
const ROW = { question: QUESTION, options: ['A', 'B'] };
const lines = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

const post = (payload: string | Buffer | object, headers: Record<string, string>, query = '') =>
  app.inject({ method: 'POST', url: `/api/batches${query}`, headers, payload });
const jsonl = (bearer: object) => ({ ...bearer, 'content-type': 'application/jsonl' });
const csv = (bearer: object) => ({ ...bearer, 'content-type': 'text/csv' });
const reservedOf = async (accountId: string) => (await balanceOf(storage, accountId))!.reservedU;
const stored = () =>
  gateway.asOwner(
    "select line, custom_id, request, gold from batch_rows r join batches b on b.id = r.batch_id where b.status = 'running' order by b.created_at, line",
  ) as Promise<{ line: number; custom_id: string; request: Record<string, unknown>; gold: string | null }[]>;

t.test('rows come as JSON, as JSON lines, as CSV and by the form of a page, and are the same rows', async (t) => {
  const { accountId, bearer } = await keyWith(100);
  const rows = [
    { custom_id: 'one', ...ROW, gold: 'B', metadata: { customer: '42' } },
    {
      question: 'Is "this, and that" right?\nOr not?',
      options: ['Yes', 'No', 'It depends'],
      preset: 'fast',
      max_cost_usd: 0.5,
    },
    { custom_id: 'three', ...ROW, confidence_threshold: 0.8 },
  ];
  const table = [
    'custom_id,question,options,gold,preset,confidence_threshold,max_cost_usd,metadata.customer',
    `one,${QUESTION},A|B,B,,,,42`,
    ',"Is ""this, and that"" right?\nOr not?",Yes | No | It depends,,fast,,0.5,',
    `three,${QUESTION},A|B,,,0.8,,`,
  ].join('\r\n');
  const form = (file: string, name: string): string => {
    const parts = [
      ['name="preset"', 'strong'],
      ['name="metadata[night]"', '7'],
      ['name="skip_invalid"', 'on'],
      [`name="file"; filename="${name}"\r\nContent-Type: application/octet-stream`, file],
    ].map(([head, value]) => `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`);
    return `${parts.join('')}--x--\r\n`;
  };
  const multipart = (headers: object) => ({ ...headers, 'content-type': 'multipart/form-data; boundary=x' });
  const query = '?preset=strong&metadata[night]=7&skip_invalid=true';
  const cookie = await sessionFor(accountId);
  const answers = [
    await post({ requests: rows, preset: 'strong', metadata: { night: '7' } }, { ...bearer }),
    await post(`\ufeff\n${lines(rows).replaceAll('\n', '\r\n')}\n \n`, jsonl(bearer), query),
    await post(`\ufeff${table}\r\n\r\n`, csv(bearer), query),
    await post(form(table, 'rows.csv'), multipart(cookie)),
    await post(form(`\n${lines(rows).trimEnd()}`, 'rows'), multipart(bearer)),
  ];
  for (const answer of answers) {
    t.equal(answer.statusCode, 202, answer.body);
    t.match(answer.json(), {
      batch_id: /^pb_[0-9a-f]{32}$/,
      status: 'running',
      counts: { total: 3, waiting: 3, running: 0 },
      skipped: { count: 0 },
      has_gold: true,
      cost_usd: 0,
      max_cost_usd: null,
      metadata: { night: '7' },
      ended_at: null,
    });
    t.equal(answer.headers.location, answer.json().status_url);
  }
  t.equal(new Set(answers.map((answer) => answer.json().reserved_usd)).size, 1);
  const all = await stored();
  const batches = Array.from({ length: 5 }, (_, i) => all.slice(i * 3, i * 3 + 3));
  t.match(batches[0], [
    {
      line: 1,
      custom_id: 'one',
      gold: 'B',
      request: { panel_name: 'strong', service_tier: 'flex', metadata: { customer: '42' } },
    },
    { line: 2, custom_id: '2', gold: null, request: { panel_name: 'fast', max_cost_u: 500_000 } },
    { line: 3, custom_id: 'three', request: { confidence_threshold: 0.8, options: ['A', 'B'] } },
  ]);
  for (const batch of batches.slice(1))
    t.same(
      batch.map(({ request }) => request),
      batches[0]!.map(({ request }) => request),
    );
  // A row's line is where it begins in the file; CSV has a header, and one row here has two lines.
  t.same(
    batches.map((batch) => batch.map(({ line }) => line)),
    [
      [1, 2, 3],
      [2, 3, 4],
      [2, 3, 5],
      [2, 3, 5],
      [2, 3, 4],
    ],
  );
});

t.test('each wrong row is named by line and field; nothing runs and nothing is reserved', async (t) => {
  const { accountId, bearer } = await keyWith(100);
  const wrong: [row: unknown, field: string | null, message: RegExp][] = [
    [{ ...ROW, options: ['A'] }, 'options', /at least 2/],
    [{ ...ROW, options: ['A', ' A'] }, 'options[1]', /unique/],
    [{ ...ROW, gold: 'C' }, 'gold', /one of the options/],
    [{ ...ROW, preset: 'free' }, 'preset', /must be one of/],
    [{ ...ROW, models: ['a', 'b', 'c'] }, 'models[0]', /no model "a"/],
    [{ ...ROW, panel: 'nothing' }, 'panel', /no saved panel/],
    [{ ...ROW, service_tier: 'standard' }, 'service_tier', /flex/],
    [{ ...ROW, webhook_url: 'http://10.0.0.1/' }, 'webhook_url', /./],
    [{ ...ROW, custom_id: 'x'.repeat(65) }, 'custom_id', /1 to 64/],
    [{ ...ROW, custom_id: 7 }, 'custom_id', /1 to 64/],
    [{ ...ROW, question: `${QUESTION}\u0000` }, 'question', /NUL/],
    [{ ...ROW, max_cost_usd: '1' }, 'max_cost_usd', /number/],
    [{ ...ROW, metadata: { a: 1 } }, 'metadata.a', /string/],
    [{ options: ['A', 'B'] }, 'question', /required/],
    [{ ...ROW, dry_run: true }, 'dry_run', /not known here/],
    [[], null, /object/],
    [null, null, /object/],
  ];
  const file = lines([ROW, ...wrong.map(([row]) => row)]);
  const answer = await post(file, jsonl(bearer));
  t.equal(answer.statusCode, 400);
  const { code, errors, error_count: count } = answer.json();
  t.match([code, count], ['batch_invalid', errors.length]);
  t.same(new Set(errors.map(({ line }: { line: number }) => line)).size, wrong.length);
  for (const [i, [, field, message]] of wrong.entries()) {
    const ofLine = errors.filter(({ line }: { line: number }) => line === i + 2);
    t.ok(
      ofLine.some(
        (each: { field: string | null; message: string }) => each.field === field && message.test(each.message),
      ),
      `${message}: ${JSON.stringify(ofLine)}`,
    );
  }
  t.match(answer.json().error, /^Line 2: .* There are \d+ errors\.$/);

  const latin = Buffer.concat([
    Buffer.from(lines([ROW])),
    Buffer.from([0xe9, 0x0a]),
    Buffer.from('{"question":\n'),
    Buffer.from(lines([ROW])),
  ]);
  t.match((await post(latin, jsonl(bearer))).json().errors, [
    { line: 2, field: null, message: /not UTF-8/ },
    { line: 3, message: /not JSON/ },
  ]);
  const twice = [
    { custom_id: 'a', ...ROW },
    { custom_id: 'b', ...ROW },
    { custom_id: 'a', ...ROW },
  ];
  t.match((await post(lines(twice), jsonl(bearer))).json(), {
    error_count: 1,
    errors: [{ line: 3, custom_id: 'a', field: 'custom_id', message: /line 1/ }],
  });

  const tables: [string, object][] = [
    [`question,gould\n${QUESTION},B`, { line: 1, message: /unknown column "gould"/ }],
    ['question,question\nx,y', { line: 1, message: /question twice/ }],
    [`custom_id,options\n1,A|B`, { line: 1, message: /no column question/ }],
    [`question\n${QUESTION}`, { line: 1, message: /column options/ }],
    [`question,option_1,option_2\n${QUESTION},A,B,C`, { line: 2, message: /4 cells, the header 3/ }],
    [`question,options,max_cost_usd\n"${QUESTION}\r\nmore",A|B,much`, { line: 2, field: 'max_cost_usd' }],
    [`question,options\n"${QUESTION}\r\nmore",A|B\n\n${QUESTION},A`, { line: 5, field: 'options' }],
    [`question,options\n"${QUESTION},A|B\n`, { line: 2, message: /not closed/ }],
    [`question,options\n"${QUESTION}" ,A|B\n`, { line: 2, message: /closing quote/ }],
    [`question,options\n${QUESTION},A|B\n"${'x'.repeat(70_000)}",A|B\n`, { line: 3, message: /longer than 65536/ }],
    ['', { line: 1, message: /no rows/ }],
  ];
  for (const [table, expected] of tables) {
    const refused = await post(table, csv(bearer));
    t.equal(refused.statusCode, 400, table.slice(0, 60));
    t.match(refused.json(), { code: 'batch_invalid', errors: [expected] }, table.slice(0, 60));
  }
  const problem = await post(file, { ...jsonl(bearer), accept: 'application/problem+json' });
  t.match(problem.json(), { status: 400, error_count: count, errors: [{ line: 2 }] });
  t.equal(await reservedOf(accountId), 0n);
  t.same(await gateway.asOwner(`select 1 from batches where account_id = '${accountId}' and status <> 'deleted'`), []);
});

t.test('skip_invalid leaves out what is wrong, and says so; it does not guess what a broken file means', async (t) => {
  const { bearer } = await keyWith(100);
  const some = lines([ROW, { ...ROW, options: [] }, ROW]);
  const kept = await post(some, jsonl(bearer), '?skip_invalid=true');
  t.match(kept.json(), { counts: { total: 2 }, skipped: { count: 1, first: [{ line: 2, field: 'options' }] } });
  t.equal(
    (await post(lines([{ ...ROW, options: [] }]), jsonl(bearer), '?skip_invalid=true')).json().code,
    'batch_invalid',
  );
  const unclean = ['a\0b', `${'a'.repeat(63)}\u{1F600}`].map((custom_id) => ({ ...ROW, custom_id }));
  t.match((await post(lines([ROW, ...unclean]), jsonl(bearer), '?skip_invalid=true')).json(), {
    skipped: { first: [{ custom_id: 'a\uFFFDb' }, { custom_id: `${'a'.repeat(63)}\uFFFD` }] },
  });
  const uneven = `question,options\n${QUESTION},A|B\n5" screen,A|B\n${QUESTION},A|B,C\n"a" b,A|B\n${QUESTION},A|B\n`;
  t.match((await post(uneven, csv(bearer), '?skip_invalid=true')).json(), {
    counts: { total: 2 },
    skipped: { count: 3, first: [{ line: 3, message: /a quote within/ }, { line: 4 }, { line: 5 }] },
  });
  const cut = `question,options\n${QUESTION},A|B\n"${QUESTION},A|B\n`;
  t.match((await post(cut, csv(bearer), '?skip_invalid=true')).json().errors, [{ line: 3, message: /not closed/ }]);
});

t.test('terms of the batch, limits and media types', async (t) => {
  const { accountId, bearer } = await keyWith(1);
  const many = Array.from({ length: 10 }, () => ({ ...ROW, max_cost_usd: 0.5 }));
  const unpaid = await post({ requests: many }, { ...bearer });
  t.equal(unpaid.statusCode, 402);
  const { required_usd: required, available_usd: available, error } = unpaid.json();
  t.match(
    [available, error],
    [1, /^This batch may cost up to .* USD; the available balance is 1\.00 USD\. With max_cost_usd of 1\.00 /],
  );
  t.ok(required > 1 && required <= 5, String(required));
  t.match((await post({ requests: many }, { ...bearer, accept: 'application/problem+json' })).json(), {
    required_usd: required,
  });
  const limited = await post({ requests: many, max_cost_usd: 0.75 }, { ...bearer });
  t.match(limited.json(), { max_cost_usd: 0.75, reserved_usd: 0.75, counts: { total: 10 } });
  t.equal(await reservedOf(accountId), 750_000n);

  // Which no binary number is: a product with a million is a little less than a whole number.
  const rich = await keyWith(100);
  for (const exact of [2.01, 2.03, 4.1]) {
    const answer = await post({ requests: many, max_cost_usd: exact }, { ...rich.bearer });
    t.equal(answer.json().max_cost_usd, exact);
  }

  for (const [query, code] of [
    ['?webhook_url=https://127.0.0.1/', 'validation_error'],
    ['?preset=free', 'invalid_preset'],
    ['?max_cost_usd=0', 'validation_error'],
    ['?max_cost_usd=much', 'validation_error'],
    ['?metadata=x', 'validation_error'],
    ['?skip_invalid=perhaps', 'validation_error'],
  ] as const)
    t.equal((await post(lines([ROW]), jsonl(bearer), query)).json().code, code, query);
  for (const payload of [{}, [], { requests: {} }, { requests: [ROW], max_cost_usd: 'x' }])
    t.equal((await post(payload, { ...bearer })).json().code, 'validation_error');
  t.match((await post({ requests: [ROW] }, { ...bearer }, '?preset=fast')).json().error, /^preset of a JSON body/);
  t.equal((await post({ requests: [] }, { ...bearer })).json().code, 'batch_invalid');
  t.equal((await post('x', { ...bearer, 'content-type': 'text/plain' })).statusCode, 415);
  t.equal((await post('{', { ...bearer, 'content-type': 'application/json' })).json().code, 'malformed_json');
  t.equal((await post('x', { ...bearer, 'content-type': 'multipart/form-data' })).statusCode, 400);
  t.equal((await post(lines([ROW]), jsonl({}))).statusCode, 401);
  const tooMany = await post({ requests: Array.from({ length: 10_001 }, () => 1) }, { ...bearer });
  t.match([tooMany.statusCode, tooMany.json().error], [413, /10000 rows/]);
  t.equal(
    (await post(`[${' '.repeat(8 * 1024 * 1024)}]`, { ...bearer, 'content-type': 'application/json' })).statusCode,
    413,
  );
});

t.test(
  'an upload that is broken off leaves nothing; its retry makes one batch, and so do retries after it',
  async (t) => {
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as { port: number };
    const { accountId, bearer } = await keyWith(100);
    const headers = { ...jsonl(bearer), 'idempotency-key': 'night-7' };
    const file = lines(Array.from({ length: 1_200 }, (_, i) => ({ custom_id: `r${i}`, ...ROW, max_cost_usd: 0.01 })));
    const loading = async () =>
      (await gateway.asOwner(
        `select status from batches where account_id = '${accountId}' and status <> 'deleted'`,
      )) as { status: string }[];
    const broken = send({
      port,
      method: 'POST',
      path: '/api/batches',
      headers: { ...headers, 'content-length': file.length },
    });
    broken.on('error', () => {});
    broken.write(file.slice(0, 100_000));
    await eventually('rows have arrived', async () => (await loading())[0]?.status === 'loading');
    broken.destroy();
    await eventually('nothing is left', async () => (await loading()).length === 0);
    t.equal(await reservedOf(accountId), 0n);

    const first = await post(file, headers);
    t.equal(first.statusCode, 202, first.body);
    const again = await post(file, headers);
    t.equal(again.json().batch_id, first.json().batch_id);
    t.equal(again.headers['idempotent-replayed'], 'true');
    t.match((await post(`${file}\n`, headers)).json(), { code: 'idempotency_key_reused' });
    t.match((await post(file, headers, '?preset=fast')).json(), { code: 'idempotency_key_reused' });
    await gateway.asOwner(
      `update batches set created_at = created_at - interval '2 days' where account_id = '${accountId}'`,
    );
    t.equal((await post(file, headers)).json().batch_id, first.json().batch_id, 'two days later');
    const other = await keyWith(100);
    t.not((await post(file, { ...headers, ...other.bearer })).json().batch_id, first.json().batch_id);
    t.same(await loading(), [{ status: 'running' }]);
  },
);

t.test('rows of a slow upload are stored after half a minute, before it counts as broken off', async (t) => {
  const { accountId } = await keyWith(10);
  const now = performance.now.bind(performance);
  let ahead = 0;
  t.intercept(performance, 'now', { value: () => now() + ahead });
  const arrived = () =>
    gateway.asOwner(
      `select line from batch_rows r join batches b on b.id = r.batch_id where b.account_id = '${accountId}' order by line`,
    );
  async function* rows() {
    yield { line: 1, value: ROW };
    ahead += 31_000;
    yield { line: 2, value: ROW };
    t.same(await arrived(), [{ line: 1 }, { line: 2 }]);
    yield { line: 3, value: ROW };
    ahead += 31_000;
    yield { line: 4, value: [] };
    t.same(await arrived(), [{ line: 1 }, { line: 2 }, { line: 3 }], 'also with a row that is not valid');
  }
  const upload = { accountId, terms: { skip_invalid: true }, rows: rows(), maxRows: 10 };
  await takeBatch(context, { ...upload, fingerprint: () => '', idempotencyKey: null });
});

t.test('an upload that paused until the sweep took it for a broken one is a 503, to be sent again', async (t) => {
  const { accountId } = await keyWith(10);
  async function* rows() {
    yield { line: 1, value: ROW };
    await gateway.asOwner(`update batches set status = 'deleted' where account_id = '${accountId}'`);
    yield { line: 2, value: ROW };
  }
  const upload = { accountId, terms: {}, rows: rows(), maxRows: 10, fingerprint: () => '', idempotencyKey: null };
  await t.rejects(takeBatch(context, upload), { code: 'service_unavailable' });
});

t.test('what ended while its batch was uploaded starts none: 401, and nothing is reserved or left', async (t) => {
  const { port } = app.server.address() as { port: number };
  const { accountId, bearer } = await keyWith(100);
  const session = await sessionFor(accountId);
  const newKey = async (): Promise<{ id: string; key: string }> =>
    (await app.inject({ method: 'POST', url: '/api/keys', headers: session, payload: {} })).json();
  const ending = async (by: object, end: () => Promise<{ statusCode: number }>) => {
    const answer = new Promise<{ status: number; body: string }>((resolve, reject) => {
      const upload = send({ port, method: 'POST', path: '/api/batches', headers: jsonl(by) }, (response) => {
        response.setEncoding('utf8');
        let body = '';
        response.on('data', (piece) => (body += piece));
        response.on('end', () => resolve({ status: response.statusCode!, body }));
      });
      upload.on('error', reject);
      upload.write(lines([ROW]));
      eventually('the upload has begun', async () => (await unended(accountId)).length === 1)
        .then(end)
        .then(({ statusCode }) => t.ok(statusCode < 400))
        .then(() => upload.end(lines([ROW])), reject);
    });
    const { status, body } = await answer;
    t.same(await unended(accountId), []);
    t.equal(await reservedOf(accountId), 0n);
    return [status, JSON.parse(body).code];
  };
  const [revoked, readsOnly, expired] = [await newKey(), await newKey(), await newKey()];
  const byKey = ({ key }: { key: string }) => ({ authorization: `Bearer ${key}` });
  const change = (id: string, payload: object) =>
    app.inject({ method: 'PATCH', url: `/api/keys/${id}`, headers: session, payload });
  t.same(
    await ending(byKey(revoked), () =>
      app.inject({ method: 'DELETE', url: `/api/keys/${revoked.id}`, headers: session }),
    ),
    [401, 'invalid_api_key'],
  );
  t.same(await ending(byKey(readsOnly), () => change(readsOnly.id, { read_only: true })), [403, 'read_only_key']);
  t.same(
    await ending(byKey(expired), async () => {
      await gateway.asOwner(`update api_keys set expires_at = now() where id = '${expired.id}'`);
      return { statusCode: 200 };
    }),
    [401, 'invalid_api_key'],
  );
  t.same(await ending(session, () => app.inject({ url: '/api/auth/logout', headers: session })), [
    401,
    'authentication_required',
  ]);
  t.equal((await post(lines([ROW]), jsonl(bearer))).statusCode, 202, 'another key goes on');
});

const unended = (accountId: string) =>
  gateway.asOwner(
    `select id from batches where account_id = '${accountId}' and status in ('loading', 'running')`,
  ) as Promise<{ id: string }[]>;

t.test('row 51,234 is wrong: it is found, and memory stays flat on the way', async (t) => {
  const { port } = app.server.address() as { port: number };
  const { accountId, bearer } = await keyWith(5_000);
  const COUNT = 52_000;
  const small = await post(lines(Array.from({ length: 2_000 }, () => ROW)), jsonl(bearer), '?max_cost_usd=1');
  t.equal(small.statusCode, 202);
  const inUse = (): number => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = inUse();
  let most = 0;
  const upload = (wrongAt: number | null) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const upstream = send(
        { port, method: 'POST', path: '/api/batches?max_cost_usd=100', headers: jsonl(bearer) },
        (answer) => {
          let body = '';
          answer
            .setEncoding('utf8')
            .on('data', (chunk) => (body += chunk))
            .on('end', () => resolve({ status: answer.statusCode!, body }));
        },
      );
      upstream.on('error', reject);
      void (async () => {
        for (let from = 1; from <= COUNT; from += 500) {
          if (from % 13_000 === 1) most = Math.max(most, inUse() - before);
          const chunk = Array.from({ length: 500 }, (_, i) => ({
            ...ROW,
            custom_id: `row-${from + i}`,
            ...(from + i === wrongAt && { options: ['A'] }),
          }));
          if (!upstream.write(lines(chunk))) await new Promise((drained) => upstream.once('drain', drained));
        }
        upstream.end();
      })();
    });
  const refused = await upload(51_234);
  t.equal(refused.status, 400);
  t.match(JSON.parse(refused.body), {
    error_count: 1,
    errors: [{ line: 51_234, custom_id: 'row-51234', field: 'options' }],
  });
  t.equal(await reservedOf(accountId), 1_000_000n);
  t.ok(most < 30e6, `${Math.round(most / 1e6)} MB more than before`);
});
