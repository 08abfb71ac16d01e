import type { IncomingMessage } from 'node:http';
import { bury, checkLedger, claimPoll, findPoll, readFleetFigures } from '@eloquentpoll/storage';
import t, { type Test } from 'tap';
import { guard } from '../../src/operators/console/guard.ts';
import { openOps } from '../../src/operators/open-ops.ts';
import { build } from '../fixtures/build.ts';

// slow: 3 s

const TOKEN = 'a-token-of-operators';
const basic = (password: string) => ({ authorization: `Basic ${Buffer.from(`ops:${password}`).toString('base64')}` });
const BEARER = { authorization: `Bearer ${TOKEN}`, 'x-operator': 'ada' };
const JSON_PLEASE = { accept: 'application/json' };
const CANARY = 'canary-question-7c1';

async function operated(t: Test, adminToken: string | null = TOKEN) {
  const gateway = await build(t, { ops: { host: '127.0.0.1', port: 0 }, adminToken });
  const ops = await openOps(gateway.context, gateway.app);
  if (!ops) throw new Error('there is no ops port');
  t.teardown(() => ops[Symbol.asyncDispose]());
  const ask = (path: string, init: RequestInit = {}) => fetch(`${ops.url}${path}`, { redirect: 'manual', ...init });
  const act = async (verb: string, subject: string) => {
    const body = new URLSearchParams({ subject, reason: 'a test of it' });
    const answer = await ask(`/admin/${verb}`, { method: 'POST', headers: { ...BEARER, ...JSON_PLEASE }, body });
    return JSON.parse(await answer.text()).outcome;
  };
  const look = async () => JSON.parse(await (await ask('/admin', { headers: { ...BEARER, ...JSON_PLEASE } })).text());
  const { bearer, accountId } = await gateway.keyWith(5);
  async function accepted(): Promise<string> {
    const payload = { question: `Which, ${CANARY}?`, options: [`${CANARY} A`, 'B'], preset: 'fast' };
    const answer = await gateway.app.inject({ method: 'POST', url: '/api/polls', headers: bearer, payload });
    return answer.json().session_id;
  }
  async function buried(): Promise<string> {
    const id = await accepted();
    const claim = await claimPoll(gateway.context.storage, id, 'w_dies');
    await bury(gateway.context.storage, { id, epoch: claim!.epoch, reason: 'too_many_attempts' });
    return id;
  }
  return { ...gateway, ask, act, look, accepted, buried, accountId };
}

t.test('the console without ADMIN_TOKEN or with a wrong one is closed', async (t) => {
  const closed = await operated(t, null);
  t.equal((await closed.ask('/admin', { headers: BEARER })).status, 404);
  const { ask } = await operated(t);
  const unknown = await ask('/admin');
  t.equal(unknown.status, 401);
  t.match(unknown.headers.get('www-authenticate'), /^Basic /);
  t.equal((await ask('/admin', { headers: BEARER })).status, 200);
  t.equal((await ask('/admin', { headers: basic(TOKEN) })).status, 200);
  t.equal((await ask('/admin/retry', { method: 'POST' })).status, 401, 'nor may anybody act');
  for (let guess = 0; guess < 10; guess++) {
    t.equal((await ask('/admin', { headers: basic(`${TOKEN}${guess}`) })).status, 401);
  }
  t.equal((await ask('/admin', { headers: basic(`${TOKEN}x`) })).status, 429, 'guessing ends soon');
  t.equal((await ask('/admin', { headers: basic(TOKEN) })).status, 200, 'the right token is never locked out');
});

t.test('wrong tokens lock their own network, for a minute', (t) => {
  let now = 0;
  const { admit } = guard(TOKEN, () => now);
  const from = (remoteAddress: string, token = 'wrong') =>
    admit({ headers: { authorization: `Bearer ${token}` }, socket: { remoteAddress } } as IncomingMessage);
  for (let guess = 0; guess < 10; guess++) t.equal(from('10.0.0.1'), 'unauthenticated');
  t.equal(from('10.0.0.1'), 'rate_limited');
  t.equal(from('10.0.0.2'), 'unauthenticated', 'another network');
  t.equal(from('10.0.0.1', TOKEN), 'admitted');
  now = 60_000;
  t.equal(from('10.0.0.1'), 'unauthenticated', 'a minute later');
  t.end();
});

t.test('the console shows queue, running and buried polls, without questions, options or accounts', async (t) => {
  const { context, ask, look, accepted, buried, accountId } = await operated(t);
  const [running, dead] = [await accepted(), await buried()];
  await claimPoll(context.storage, running, 'w_runs');
  const shown = await look();
  t.match(shown, {
    queue: { waiting: 2, active: 0 },
    flexQueue: { waiting: 0, active: 0, oldestSeconds: null },
    fleet: { held: 1, buried: 1 },
    running: [{ pollId: running, worker: 'w_runs', claims: 1 }],
    buried: [{ pollId: dead, reason: 'too_many_attempts' }],
    failed: { length: 0 },
  });
  const page = await ask('/admin', { headers: basic(TOKEN) });
  const html = await page.text();
  t.ok(html.includes(running) && html.includes(dead));
  t.match(page.headers.get('content-security-policy'), /default-src 'none'/);
  for (const text of [html, JSON.stringify(shown)]) {
    t.notOk(text.includes(CANARY));
    t.notOk(text.includes(accountId));
    t.notOk(text.includes(TOKEN));
  }
});

t.test('an action from another page or without the form token is a 403', async (t) => {
  const { context, ask, buried } = await operated(t);
  await buried();
  const html = await (await ask('/admin', { headers: basic(TOKEN) })).text();
  const [, path = '', form = ''] =
    /action="(\/admin\/seen)"><input type="hidden" name="form" value="([^"]+)"/.exec(html) ?? [];
  const [, letter = ''] = /\/admin\/seen.*?name="subject" value="(\d+)"/.exec(html) ?? [];
  const sent = `form=${form}&subject=${letter}&reason=dealt+with`;
  t.ok(path);
  const post = (headers: Record<string, string>, body: string) =>
    ask(path, {
      method: 'POST',
      headers: { ...basic(TOKEN), 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body,
    });
  t.equal((await post({}, '')).status, 403, 'the password alone is sent by any page');
  t.equal((await post({ 'sec-fetch-site': 'cross-site' }, sent)).status, 403);
  t.equal((await post({}, `${sent}&${'x'.repeat(9_000)}`)).status, 403, 'no form of ours is that large');
  t.equal((await readFleetFigures(context.storage)).buried, 1, 'nothing happened');
  const done = await post({ 'sec-fetch-site': 'same-origin' }, sent);
  t.equal(done.status, 303);
  t.equal(done.headers.get('location'), '/admin?done=seen');
  const longest = `form=${form}&subject=${letter}&reason=${encodeURIComponent('因'.repeat(500))}`;
  t.equal((await post({}, longest)).status, 303, 'the longest reason, in any script');
  t.equal((await readFleetFigures(context.storage)).buried, 0);
});

t.test('release ends the lease of a running poll and enqueues it again', async (t) => {
  const { context, act, accepted, log } = await operated(t);
  const id = await accepted();
  await claimPoll(context.storage, id, 'w_hangs');
  t.equal(await claimPoll(context.storage, id, 'w_fresh'), null);
  t.equal(await act('release', id), 'released');
  t.equal((await claimPoll(context.storage, id, 'w_fresh'))?.epoch, 2);
  t.equal((await context.bus.queueCounts()).waiting, 2);
  t.equal(await act('release', 'ps_unknown'), 'gone');
  t.ok(
    log.some((line) => line.includes('console.action_performed') && line.includes(id)),
    'the action is logged',
  );
});

t.test('retry of a dead letter starts one free poll, and the ledger balances', async (t) => {
  const { context, act, look, buried, accountId } = await operated(t);
  const { storage } = context;
  const dead = await buried();
  const [{ letterId }] = (await look()).buried;
  const outcomes = await Promise.all([act('retry', letterId), act('retry', letterId)]);
  t.ok(outcomes.includes('retried'));
  t.equal(await act('retry', letterId), 'gone', 'it is not in the list any more');
  const { running } = await look();
  t.equal(running.length, 1, 'one poll, however often the button was pressed');
  const again = await findPoll(storage, running[0].pollId);
  t.match(again, { accountId, entryPoint: 'operator', status: 'running' });
  t.same(again?.spec, (await findPoll(storage, dead))?.spec);
  t.equal((await findPoll(storage, dead))?.status, 'failed', 'what has ended stays ended');
  t.ok((await readFleetFigures(storage)).freePoolU! < context.config.freeDailyCapU, 'the pool holds the money');
  t.same(await checkLedger(storage), []);
});
