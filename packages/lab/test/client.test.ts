import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { EloquentPoll, type Progress } from '@eloquentpoll/client/eloquentpoll.ts';
import t from 'tap';
import { wholeService } from './whole-service.ts';

// slow: 3 s

// The client and its command line against the whole product, over HTTP.

const RECORDED = { 1: 'AAAAA', 2: 'AABBC', 5: 'AABB-' };
const question = (id: number) => ({
  question: `Recorded question #${id}`,
  options: ['A', 'B', 'C'],
  preset: 'fast' as const,
});

t.test('one service for all of these', async (t) => {
  const { app, headers } = await wholeService(t, RECORDED);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const baseUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const apiKey = headers.authorization.slice('Bearer '.length);
  const polls = new EloquentPoll({ baseUrl, apiKey });
  const stranger = new EloquentPoll({ baseUrl });

  await t.test('[§1-way-sync] ask', async (t) => {
    const result = await polls.ask({ ...question(1), confidence_threshold: 1 }, { idempotencyKey: 'once' });
    t.match(result, { status: 'success', outcome: 'A', tally: { A: 3, B: 0, C: 0 }, simulated: true });
    const again = await polls.ask({ ...question(1), confidence_threshold: 1 }, { idempotencyKey: 'once' });
    t.equal(again.poll_id, result.poll_id);
    t.match(await stranger.result(result.poll_id), { winning_option: 'A', models_requested: 3 });
    t.match(await polls.feedback({ poll_id: result.poll_id, outcome_correct: true }), { recorded: true });
  });

  await t.test('[§1-way-async] begin, and follow to the end', async (t) => {
    const session = await polls.begin(question(2));
    const heard: Progress[] = [];
    const result = await session.wait({ onProgress: (progress) => heard.push(progress) });
    t.match(result, { outcome: 'tie', is_tie: true });
    const counts = heard.map(({ received }) => received);
    t.same(
      counts,
      [...new Set(counts)].sort((a, b) => a - b),
      'only news, in its order',
    );
    t.same(await polls.session(session.id).result(), result);
    t.match(await session.status(), { status: 'completed', result_id: result.poll_id });
  });

  await t.test('[§1-way-stream] stream', async (t) => {
    const kinds: string[] = [];
    for await (const { event, data } of polls.stream(question(5))) {
      kinds.push(event);
      t.equal(Object.keys(data.tally).join(), 'A,B,C');
      if (event === 'complete') t.match(data, { status: 'partial', outcome: 'tie' });
    }
    t.equal(kinds[0], 'started');
    t.same(kinds.filter((kind) => kind === 'complete').length, 1);
  });

  await t.test('[§1-way-quick, §1-way-quick-free] in short', async (t) => {
    t.match(await polls.quick('Recorded question #1 [A, B, C]'), { options: ['A', 'B', 'C'] });
    const free = await stranger.free('Is this a free question? [Yes, No]');
    t.match(free, { cost: 0, theme: 'free', poll_id: /^EP-/ });
  });

  await t.test('what it takes, before it is asked', async (t) => {
    t.match(await stranger.estimate({ preset: 'fast', options: 3 }), { preset: 'fast', options: 3, currency: 'USD' });
    t.match(await polls.dryRun(question(1)), { valid: true, errors: { length: 0 } });
    t.match(await polls.dryRun({ options: ['A'] }), { valid: false });
    t.match(await stranger.profiles(), { default: 'balanced' });
  });

  await t.test('keys', async (t) => {
    const { key, id } = await polls.createKey('laptop');
    const other = new EloquentPoll({ baseUrl, apiKey: key });
    t.ok((await other.keys()).some((one) => one.id === id && one.label === 'laptop' && one.revoked_at === null));
    t.same(await polls.revokeKey(id), { revoked: true });
    await t.rejects(other.keys(), { code: 'invalid_api_key', status: 401 });
  });

  await t.test('the balance, by the tool that takes a key', async (t) => {
    t.match(await polls.balance(), { balance: /^\$\d+\.\d\d$/, usage_cents: Number });
    await t.rejects(new EloquentPoll({ baseUrl, apiKey: 'ep_k_none' }).balance(), { code: 'invalid_api_key' });
    await t.rejects(stranger.balance(), { code: 'authentication_required' });
  });

  await t.test('errors are typed and say what to do', async (t) => {
    await t.rejects(stranger.ask(question(1)), {
      code: 'authentication_required',
      status: 401,
      recovery: [{ action: 'use_free_poll' }, { action: 're_authenticate' }],
    });
    const twice = { ...question(1), options: ['A', 'A'] };
    await t.rejects(polls.ask(twice), { code: 'validation_error', issues: [{ pointer: '#/options' }] });
    await t.rejects(polls.result('EP-2026-01-01-0000000000000000'), { code: 'result_not_found', retryable: false });
    await t.rejects(polls.history(), { code: 'authentication_required' }, 'no key opens what is for a login');
    await t.rejects(polls.stream({ ...question(1), options: [] }).next(), { code: 'validation_error', status: 400 });
  });

  await t.test('the command line', async (t) => {
    const main = fileURLToPath(new URL('../../client/src/cli/main.ts', import.meta.url));
    const eloquentpoll = async (...argv: string[]) => {
      const env = { ...process.env, EP_URL: baseUrl, EP_KEY: apiKey };
      const child = spawn(process.execPath, [main, ...argv], { env, stdio: ['ignore', 'pipe', 'pipe'] });
      const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      return { out, err, code };
    };
    const [won, tied, free, dry] = await Promise.all([
      eloquentpoll('Recorded question #1 [A, B, C]', '--preset', 'fast', '--json'),
      eloquentpoll('ask', 'Recorded question #2 [A, B, C]', '--preset', 'fast'),
      eloquentpoll('Is this a free question? [Yes, No]', '--free', '--json'),
      eloquentpoll('ask', 'Recorded question #1 [A, B, C]', '--dry-run'),
    ]);
    t.equal(won.code, 0, won.err);
    t.match(JSON.parse(won.out), { outcome: 'A' });
    t.equal(tied.code, 1, tied.err);
    t.match(tied.out, /^A tie: A and B, 2 votes each\nAll 5 voted\./);
    t.match(tied.err, /^5\/5 {2}sim\//m, 'a line per vote');
    t.match(JSON.parse(free.out), { theme: 'free', cost: 0 });
    t.match(dry, { code: 0, out: /at most/ });
    const [balance, keys, poor, watched] = await Promise.all([
      eloquentpoll('balance'),
      eloquentpoll('keys', '--json'),
      eloquentpoll('Recorded question #1 [A, B, C]', '--max-cost', '0.000001'),
      eloquentpoll('watch', JSON.parse(won.out).poll_id),
    ]);
    t.match(balance, { code: 0, out: /^\$\d+\.\d\d to spend/ });
    t.ok(JSON.parse(keys.out).length > 0);
    t.match(poor, {
      code: 2,
      err: /\$0\.000001 does not pay for one vote; the cheapest costs up to \$(0\.\d+)\.\n {2}Try --max-cost \1\n/,
    });
    t.match(watched, { code: 0, out: /^A: 3 of 3\n[\s\S]*\/result\/EP-/ });
  });
});
