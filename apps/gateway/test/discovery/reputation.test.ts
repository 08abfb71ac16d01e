import { beat, type Storage, StorageUnavailable, storeFeedback } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { pollFigures } from '../../src/discovery/documents/poll-figures.ts';
import { reputations } from '../../src/discovery/reputations.ts';
import { directReads } from '../../src/http/lagging-reads.ts';
import { startHeartbeat } from '../../src/operators/heartbeat.ts';
import { modelsPage } from '../../src/pages/models-page.ts';
import { build } from '../fixtures/build.ts';
import { plantAudits } from '../fixtures/planted-audits.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

// Figures about the service: true, null where there is nothing, and taken once in five minutes.

const FIVE_MINUTES_MS = 300_000;

t.test(
  '[§4.7-reputation, §4.7-reputation-models, §1-support-reputation] of nothing, counts are 0 and rates are null',
  async (t) => {
    const { app } = await build(t);
    const answer = await app.inject({ url: '/api/reputation' });
    t.equal(answer.headers['cache-control'], 'public, max-age=300');
    const { window, generated_at, cache_expires_at, ...figures } = answer.json();
    t.same(figures, {
      service: 'EloquentPoll',
      uptime: { ratio: null, source: 'self' },
      polls: { total: 0, success: 0, partial: 0, failed: 0, success_rate: null },
      latency_ms: { average: null, p50: null, p95: null },
      cost_usd: { average: null, median: null },
      early_termination_rate: null,
      feedback: { total: 0, correct: 0, incorrect: 0, accounts: 0, accuracy_rate: null },
      simulated: true,
    });
    t.equal(Date.parse(cache_expires_at) - Date.parse(generated_at), FIVE_MINUTES_MS, '[§8-reputation-cache]');
    t.match(window, { days: 30 });
    t.equal(Date.parse(window.to) - Date.parse(window.from), 30 * 86_400_000);
    const models = (await app.inject({ url: '/api/reputation/models' })).json();
    t.match(models, { count: 0, models: { length: 0 }, generated_at, cache_expires_at, window }, 'one snapshot');
  },
);

t.test('the reputation counts polls, votes, feedback and minutes, and names no account and no question', async (t) => {
  const { app, context, keyWith, asOwner } = await build(t);
  // Of every poll the third seat fails and the others agree.
  await standInWorker(t, context, { opinion: (seat) => (seat === 2 ? null : 1) });
  const { accountId, bearer } = await keyWith(5);
  const question = 'Is this a secret question?';
  const ask = () =>
    app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload: { question, options: ['Hush', 'Shh'] } });
  const polls = await Promise.all([ask(), ask(), ask()]);
  const resultId: string = polls[0]!.json().poll_id;
  const opinion = { accountId, resultId, outcomeCorrect: true, confidence: 1, notes: 'a secret note' };
  await storeFeedback(context.storage, opinion);
  await beat(context.storage, 'gateway');
  await asOwner(`update heartbeats set minute = date_trunc('minute', now()) - interval '1 minute'`);

  const answer = await app.inject({ url: '/api/reputation' });
  t.match(answer.json(), {
    uptime: { ratio: Number },
    polls: { total: 3, success: 3, partial: 0, failed: 0, success_rate: 1 },
    latency_ms: { average: 2, p50: 2, p95: 2 },
    cost_usd: { average: Number, median: Number },
    early_termination_rate: 0,
    feedback: { total: 1, correct: 1, incorrect: 0, accounts: 1, accuracy_rate: 1 },
  });
  const { votes } = polls[0]!.json();
  t.equal(answer.json().cost_usd.median, ((votes.length - 1) * 100) / 1_000_000);

  const list = await app.inject({ url: '/api/reputation/models' });
  const { count, models } = list.json();
  t.equal(count, models.length);
  t.ok(
    votes.every((vote: { model_id: string }) =>
      models.some((one: { model_id: string }) => one.model_id === vote.model_id),
    ),
  );
  const good = models.find((one: { success_rate: number }) => one.success_rate === 1);
  t.match(good, {
    provider: context.panels.model(good.model_id)?.provider,
    average_latency_ms: 1,
    p95_latency_ms: 1,
    average_cost_usd: 0.0001,
    agreement_rate: null,
    judged: 0,
    last_vote_at: /^\d{4}-\d\d-\d\dT.*Z$/,
  });
  const silent = models.filter((one: { votes: number }) => one.votes === 0);
  for (const one of silent)
    t.match(one, { success_rate: 0, average_latency_ms: null, agreement_rate: null, last_vote_at: null });
  t.notMatch(answer.body + list.body, new RegExp(`secret|Hush|Shh|${accountId}|${resultId}|ps_`));

  const headers = { 'if-none-match': String(list.headers.etag) };
  t.equal((await app.inject({ url: '/api/reputation/models', headers })).statusCode, 304);
});

t.test(
  'how often models agree is said from 50 audited votes on, with its basis; before, that there are too few',
  async (t) => {
    const gateway = await build(t);
    const { app, context, keyWith } = gateway;
    await standInWorker(t, context, { opinion: () => 1 });
    const { bearer } = await keyWith(5);
    const payload = { question: 'Which is larger?', options: ['The Sun', 'The Moon'] };
    const poll = await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload });
    t.equal(poll.json().status, 'success');
    await plantAudits(gateway, { polls: 49, wrongEvery: 7 });
    const read = async () => (await reputations(context)()).value;
    const first = await read();
    t.match(JSON.parse(first.models), { agreement_basis: 'audits' });
    t.ok(first.rows.length > 2 && first.rows.every((row) => row.agreement_rate === null && row.judged === 49));
    const { body } = await app.inject({ url: `/models/${encodeURIComponent(first.rows[0]!.model_id)}` });
    t.match(body, 'not enough audited polls yet, n = 49');
    t.notMatch(body, '<svg');
    await plantAudits(gateway, { polls: 51, wrongEvery: 51, panel: 'broad', search: true });
    const second = await read();
    t.ok(second.rows.every((row) => row.agreement_rate === 0.92 && row.judged === 100));
    const facts = { ...context, baseUrl: context.config.baseUrl, figures: await pollFigures(context) };
    t.match(modelsPage(facts, second, new Map(), {}), /92%<br><span class="muted small">8\d% to 9\d%<br>n.=.100</);
  },
);

t.test('[§4.7-reputation-cache] one snapshot in five minutes, however many ask', async (t) => {
  const { context } = await build(t);
  let queries = 0;
  const { storage, panels } = context;
  const counting: Storage = {
    ...storage,
    get db() {
      queries++;
      return storage.db;
    },
  };
  let now = Date.now();
  const snapshot = reputations({ lists: directReads(counting), storage: counting, panels }, () => now);
  const [first] = await Promise.all(Array.from({ length: 1_000 }, () => snapshot()));
  const once = queries;
  t.ok(once > 0 && once < 10);
  now += FIVE_MINUTES_MS - 1;
  t.equal((await snapshot()).value, first!.value);
  t.equal(queries, once);
  now += 1;
  t.not((await snapshot()).value, first!.value);
  t.equal(queries, 2 * once);
});

t.test('while the database is away the last snapshot serves, for an hour', async (t) => {
  const { context } = await build(t);
  const { storage, panels } = context;
  let away = false;
  const shaky: Storage = {
    ...storage,
    get db() {
      if (away) throw new StorageUnavailable('away');
      return storage.db;
    },
  };
  let now = Date.now();
  const snapshot = reputations({ lists: directReads(shaky), storage: shaky, panels }, () => now);
  const first = await snapshot();
  away = true;
  now += FIVE_MINUTES_MS;
  t.equal((await snapshot()).value, first.value);
  now += 3_600_000;
  await t.rejects(snapshot(), StorageUnavailable);
});

t.test('a gateway that runs notes its minutes, and goes on after a failure', async (t) => {
  const { context } = await build(t);
  const { storage, log } = context;
  let fails = 2;
  const shaky: Storage = {
    ...storage,
    get db() {
      if (fails-- > 0) throw new StorageUnavailable('away');
      return storage.db;
    },
  };
  await using _heartbeat = startHeartbeat({ storage: shaky, log }, 1);
  const minutes = () => storage.db.selectFrom('heartbeats').select(['service', 'minute']).execute();
  await eventually('a minute is recorded', async () => (await minutes()).length > 0);
  t.match((await minutes())[0], { service: 'gateway' });
  t.ok(fails < 0);
});
