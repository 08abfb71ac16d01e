import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { EXIT } from '../src/cli/exit-codes.ts';
import { rowsIn } from './commands.ts';
import { answered as json, refusedWith as refused, usedOffline as used } from './offline.ts';
import { batch, batchResult, isBackoff, jsonLines, RESULT, withoutWaiting } from './service.ts';

// Commands at a service that fails or says strange things, without a connection.

t.test('an answer of another program is no wrong input, and a redirect names the address to use', async (t) => {
  const html = await used(t, ['keys'], () => new Response('<h1>Log in to the network</h1>'));
  t.equal(html.exit, EXIT.unavailable);
  const twice = await used(t, ['keys'], () => refused(409, 'idempotency_conflict'));
  t.equal(twice.exit, EXIT.unavailable);
  const location = 'https://new.example/api/keys';
  const moved = await used(t, ['keys'], () => new Response(null, { status: 301, headers: { location } }));
  t.equal(moved.exit, EXIT.usage);
  t.match(moved.err, `redirects to ${location}.`);
  t.match(moved.err, '  The address is --url or EP_URL.\n');
});

t.test('a failure of the service has its request id and when to try again', async (t) => {
  withoutWaiting(t);
  const failing = () => refused(503, 'service_unavailable', { request_id: 'r1' }, { 'retry-after': '90' });
  const people = await used(t, ['keys'], failing);
  t.equal(
    people.err,
    'eloquentpoll: It says service_unavailable\n  Try again in 2 min.\n  Request id: r1\n',
    'the service asks for it in reports',
  );
  const programs = await used(t, ['keys', '--json'], failing);
  t.match(JSON.parse(programs.err), { code: 'service_unavailable', request_id: 'r1', retry_after_seconds: 90 });
  const busy = () => refused(429, 'rate_limited', { error: 'try again in 90 s.' }, { 'retry-after': '90' });
  t.equal((await used(t, ['keys'], busy)).err, 'eloquentpoll: try again in 90 s.\n', 'it is said once');
});

t.test('JSON holds no character that a terminal obeys or that ends a line, and means the same', async (t) => {
  const reason = 'a\u009b31mred\u0085b\u2028c\u202ed\u007fe';
  const result = { ...RESULT, votes: [{ ...RESULT.votes[0], reason }] };
  const { out } = await used(t, ['result', 'EP-1', '--json'], () => json(result));
  t.match(out, /^[\n\x20-\x7e]+$/);
  t.same(JSON.parse(out), result);
  const file = join(t.testdir(), 'results.jsonl');
  const row = batchResult(1, { custom_id: reason });
  const rows = await used(t, ['batch', 'pb_1', '--out', file], (path) =>
    path.endsWith('/results') ? new Response(jsonLines([row])) : json(batch(1, 1)),
  );
  t.equal(rows.exit, EXIT.winner, rows.err);
  t.match(readFileSync(file, 'utf8'), /^[\n\x20-\x7e]+$/, 'as the service writes them');
  t.same(JSON.parse(readFileSync(file, 'utf8')), row);
});

t.test('results that a proxy cut between two lines are not taken for all', async (t) => {
  const cut = (path: string) =>
    path.endsWith('/results') ? new Response(jsonLines([batchResult(1), batchResult(2)])) : json(batch(3, 3));
  for (const name of ['results.jsonl', 'results.csv', '-']) {
    const out = name === '-' ? '-' : join(t.testdir(), name);
    const { exit, err } = await used(t, ['batch', 'pb_1', '--out', out], cut);
    t.equal(exit, EXIT.unavailable, name);
    t.match(err, 'The results broke off: 2 of 3 lines have arrived. The same command reads them again.');
    t.notOk(name.endsWith('.csv') && existsSync(out), 'a table is written as a whole');
  }
});

t.test('a script that asked for JSON learns which batch goes on', async (t) => {
  const known = { code: 'invalid_api_key', batch_id: 'pb_1' };
  const lost = (_path: string, nth: number) =>
    nth === 1 ? json(batch(1, 3, { has_gold: true })) : refused(401, 'invalid_api_key');
  for (const name of ['batch', 'eval']) {
    const { exit, err } = await used(t, [name, 'pb_1', '--out', '-', '--json'], lost);
    t.equal(exit, EXIT.refused, err);
    t.match(JSON.parse(err), known, name);
  }
  const input = Readable.from(['{}\n']);
  const argv = ['batch', '-', '--format', 'jsonl', '--detach', '--json'];
  const { err } = await used(t, argv, lost, { input });
  t.match(JSON.parse(err), known, 'its rows were accepted');
});

t.test('a report that is not complete within a minute is no whole answer', async (t) => {
  withoutWaiting(t, (ms) => ms === 1_000);
  const counting = (complete: boolean) => (path: string) =>
    json(path.endsWith('/report') ? { complete } : batch(3, 3, { has_gold: true }));
  const argv = ['eval', 'pb_1', '--out', '-', '--json'];
  const partial = await used(t, argv, counting(false));
  t.match(partial, { exit: EXIT.partial, out: '{"complete":false}\n' });
  t.equal((await used(t, argv, counting(true))).exit, EXIT.winner);
});

t.test('an address with a password is refused and not shown', async (t) => {
  const url = 'https://me:secret@polls.example';
  const { exit, err } = await used(t, ['keys', '--url', url], () => json([]));
  t.equal(exit, EXIT.usage);
  t.match(err, 'without a password');
  t.notMatch(err, 'secret');
});

t.test('a poll whose answer a proxy replaced may have been made', async (t) => {
  withoutWaiting(t);
  const ask = ['ask', 'Which is larger? [The Sun, The Moon]'];
  for (const answer of [
    () => new Response('<h1>Gateway timeout</h1>', { status: 504 }),
    () => new Response('<h1>Log in to the network</h1>'),
  ]) {
    const { exit, err } = await used(t, ask, answer);
    t.equal(exit, EXIT.unavailable);
    t.match(err, /^The poll may have been created and charged\. .*\n {2}eloquentpoll polls\n/);
  }
  const none = await used(t, ask, () => refused(503, 'service_unavailable', { error: 'No poll was made' }));
  t.equal(none.err, 'eloquentpoll: No poll was made\n', 'the service itself knows');
});

t.test('rows and keys whose answer is lost may have been accepted, and what finds them is named', async (t) => {
  withoutWaiting(t);
  const lost = (): never => {
    throw new TypeError('fetch failed', { cause: new Error('other side closed') });
  };
  const batches = async (...more: string[]) => (await used(t, ['batch', rowsIn(t), ...more], lost)).err;
  t.match(
    await batches(),
    /^The rows may have been accepted, .* The same command joins that batch\..*\n {2}eloquentpoll batches\n/,
  );
  t.match(
    await batches('--again', '--out', '-'),
    /^The rows may have been accepted, .* Before you submit them again:\n/,
  );
  t.equal((await batches('--out', '-', '--json')).split('\n').length, 2, 'programs get one line');
  const keys = await used(t, ['keys', 'create', 'laptop'], lost);
  t.match(keys.err, /^A key may have been created .*\n {2}eloquentpoll keys\neloquentpoll: The connection to/);
  for (const [argv, says] of [
    [['batch', rowsIn(t, 'others.jsonl')], /^The rows may have been accepted/],
    [['keys', 'create', 'laptop'], /^A key may have been created/],
  ] as const) {
    const enough = new AbortController();
    const interrupted = () => {
      enough.abort();
      throw enough.signal.reason;
    };
    const { exit, err } = await used(t, [...argv], interrupted, { signal: enough.signal });
    t.equal(exit, EXIT.interrupted);
    t.match(err, says, 'an interruption says so, too');
  }
});

t.test('the balance that cannot be read for a moment is no wrong input, and is asked for again', async (t) => {
  withoutWaiting(t);
  const tool = (result: object) => json({ jsonrpc: '2.0', id: 1, result });
  const problem = { error: 'Away', code: 'service_unavailable', retryable: true };
  const away = () => tool({ isError: true, content: [{ type: 'text', text: JSON.stringify(problem) }] });
  const failed = await used(t, ['balance', '--json'], away);
  t.equal(failed.exit, EXIT.unavailable);
  t.match(JSON.parse(failed.err), { code: 'service_unavailable', retryable: true });
  t.equal(failed.sent.length, 3);
  const balance = { balance_cents: 5, balance: '$0.05', usage_cents: 0 };
  const found = await used(t, ['balance', '--json'], (_path, nth) =>
    nth === 1 ? away() : tool({ structuredContent: balance }),
  );
  t.same(JSON.parse(found.out), balance);
});

t.test('a list cuts its texts between characters', async (t) => {
  const listed = {
    ...{ session_id: 'ps_1', status: 'completed', result_id: 'EP-1', question: `${'a'.repeat(59)}\u{1f600}b` },
    ...{ preset: 'broad', service_tier: 'standard', metadata: {}, key_id: null, winning_option: 'A', is_tie: false },
    ...{ is_close: false, cost_usd: null, created_at: '2026-11-20T10:00:00Z', ended_at: null, expires_at: null },
  };
  const { out } = await used(t, ['polls'], () => json({ polls: [listed], has_more: false, after: null, before: null }));
  t.match(out, /a…\n$/);
  t.ok(out.isWellFormed());
});

t.test('several polls are followed through a restart of the service', async (t) => {
  withoutWaiting(t, (ms) => ms === 800 || (isBackoff(ms) && ms < 31_000));
  const looks = (status: string) =>
    json({ polls: ['ps_1', 'ps_2'].map((session_id) => ({ session_id, status, result_id: null })), not_found: [] });
  let nthLook = 0;
  const { exit, out, err } = await used(t, ['watch', 'ps_1', 'ps_2'], (path) => {
    if (path.endsWith('/result')) return json(RESULT);
    if (path.endsWith('/status')) return json({ session_id: 'ps_1', status: 'completed', result_id: RESULT.poll_id });
    nthLook++;
    if (nthLook > 1 && nthLook < 12) return refused(503, 'service_unavailable', { retryable: true });
    return looks(nthLook === 1 ? 'running' : 'completed');
  });
  t.equal(exit, EXIT.winner, err);
  t.match(out, /^(EP-.*\n){2}$/);
  const gone = await used(t, ['watch', 'ps_1', 'ps_2'], () => refused(503, 'service_unavailable', { retryable: true }));
  t.equal(gone.exit, EXIT.unavailable, 'but not for a service that was never there');
});

t.test('a partial winner does not look like another where the service sends no verdict', async (t) => {
  const { verdict: _none, ...rest } = RESULT;
  const partial = await used(t, ['result', 'EP-1'], () => json({ ...rest, status: 'partial' }));
  t.match(partial, { exit: EXIT.partial, out: /^The Sun leads, but missing votes could have changed it\n/ });
  const quick = { question: 'Q', options: [], answer: 'The Sun', reasoning: 'r', cost: 0, status: 'partial' };
  const free = await used(t, ['ask', 'Which is larger? [The Sun, The Moon]', '--free'], () => json(quick));
  t.match(free, { exit: EXIT.partial, out: /^The Sun leads, but missing votes could have changed it\.\n/ });
});

t.test('the next page of a list shows the same kind', async (t) => {
  const after = 'ps_9';
  const argv = ['polls', '--status', 'failed', '--close', '--limit', '5', '--metadata', "who=Ada's"];
  const polls = await used(t, argv, () => json({ polls: [], has_more: true, after, before: null }));
  t.equal(
    polls.err,
    `Older polls: eloquentpoll polls --limit 5 --status failed --close --metadata 'who=Ada'\\''s' --after ps_9\n`,
  );
  const batches = await used(t, ['batches', '--status', 'expired'], () =>
    json({ batches: [], has_more: true, after: 'pb_9', before: null }),
  );
  t.equal(batches.err, 'Older batches: eloquentpoll batches --status expired --after pb_9\n');
});

t.test('a closed standard error does not turn an exit code into a defect', async (t) => {
  const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
  const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: t.testdir() };
  const child = spawn(process.execPath, [main, 'keys'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.destroy();
  const [code] = await once(child, 'close');
  t.equal(code, EXIT.refused);
});
