import { findPoll } from '@eloquentpoll/storage';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// Panels that a caller names: model by model, or by the name of one that the account saved. On every way to run a poll.

const gateway = await build(t);
const { app, context, keyWith, sessionFor } = gateway;
const { ran } = await standInWorker(t, context);
const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const [first, second, third, fourth] = context.panels.models().map(({ id }) => id) as [string, string, string, string];
const MODELS = [first, second, third];

type Headers = Record<string, string>;
const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, headers: Headers, payload?: object) =>
  app.inject({ method, url, headers, ...(payload && { payload }) });
const post = (url: string, headers: Headers, payload: object) => send('POST', url, headers, payload);
const votersOf = ({ votes }: { votes: { model_id: string }[] }) => votes.map(({ model_id }) => model_id).sort();
const ACCEPT = { accept: 'application/json, text/event-stream' };
const rpc = (params: object) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
const a2a = (data: object) => ({ message: { role: 'user', parts: [{ type: 'data', data }] } });

t.test('three models are a panel, on every way to run', async (t) => {
  const { bearer } = await keyWith(20);
  const chosen = { ...POLL, models: MODELS };
  const result = (await post('/api/poll', bearer, chosen)).json();
  t.match(result, { preset: 'custom', status: 'success', panel: { asked: 3, heard: 3 } });
  t.notOk('saved_panel' in result);
  t.same(votersOf(result), MODELS.toSorted());
  const spec = (await findPoll(context.storage, ran.at(-1)!))!.spec;
  t.match(spec, { panel_name: 'custom', min_votes: 3 });
  t.notOk('models' in spec, 'its seats say which');

  t.same(votersOf((await app.inject({ url: `/api/results/${result.poll_id}` })).json()), MODELS.toSorted());
  t.equal((await app.inject({ url: `/result/${result.poll_id}` })).statusCode, 200);
  const quick = (await post('/api/quick-poll', bearer, { q: POLL.question, o: POLL.options, models: MODELS })).json();
  t.match(quick, { panel: { asked: 3 } });
  t.match((await post('/api/poll', bearer, { poll: `${POLL.question} [A, B]`, models: MODELS })).json(), {
    preset: 'custom',
  });
  const search = await post('/api/quick-poll', bearer, { ...chosen, theme: 'search' });
  t.match(search.json(), { panel: { asked: 3 } });

  const { session_id } = (await post('/api/polls', bearer, chosen)).json();
  await send('GET', `/api/polls/${session_id}/status`, { ...bearer, prefer: 'wait=20' });
  t.same(votersOf((await send('GET', `/api/polls/${session_id}/result`, bearer)).json()), MODELS.toSorted());
  t.match(
    (await post('/api/poll/stream', { ...bearer, accept: 'text/event-stream' }, chosen)).body,
    /"preset":"custom"/,
  );
  const tool = await post('/api/mcp', { ...bearer, ...ACCEPT }, rpc({ name: 'poll_question', arguments: chosen }));
  t.match(tool.body, /"preset":"custom"/);
  t.match((await post('/api/a2a/tasks/send', bearer, a2a(chosen))).json(), {
    artifacts: [{ parts: [{ data: { preset: 'custom' } }] }],
  });

  const dry = (await post('/api/poll/dry-run', bearer, chosen)).json();
  t.match(dry, { valid: true, estimates: { preset: 'custom', total_models: 3, models: { roster_size: 3 } } });
  const estimate = (await app.inject({ url: `/api/poll/estimate?models=${MODELS.join()}` })).json();
  t.match(estimate, { preset: 'custom', models: { roster_size: 3, max_calls: 3 } });
  const limited = (await post('/api/poll/dry-run', bearer, { ...chosen, max_cost_usd: 0.000001 })).json();
  t.match(limited.estimates, { within_budget: false });
  t.ok(limited.estimates.cost_usd.max < (await broadly()).cost_usd.max, 'three cost less than nine');
});

const broadly = async () => (await app.inject({ url: '/api/poll/estimate' })).json();

t.test('what is wrong with a chosen panel is a 400 that names it, and nothing is charged', async (t) => {
  const { bearer } = await keyWith(5);
  const typo = `${second.slice(0, -1)}`;
  const wrong: [object, RegExp][] = [
    [
      { models: [first, typo, third] },
      new RegExp(`models\\[1\\]: there is no model "${typo}"; the closest is "${second}"`),
    ],
    [{ models: [first, 'x', third] }, /there is no model "x"; GET \/api\/panels lists them/],
    [{ models: [first, second] }, /models must contain at least 3 items/],
    [{ models: Array.from({ length: 16 }, (_, i) => `m${i}`) }, /models must contain at most 15 items/],
    [{ models: [first, first, third] }, /models must be unique/],
    [{ models: MODELS, preset: 'fast' }, /models and preset both name a panel; send one of them/],
    [{ models: MODELS, panel: 'mine' }, /panel and models both name a panel/],
    [{ panel: 'mine' }, /the account has no saved panel "mine"/],
  ];
  const before = ran.length;
  for (const [panel, message] of wrong) {
    const body = { ...POLL, ...panel };
    for (const url of ['/api/poll', '/api/polls', '/api/quick-poll', '/api/a2a/tasks/send']) {
      const answer = await post(url, bearer, url.includes('a2a') ? a2a(body) : body);
      t.match([answer.statusCode, answer.json().code], [400, 'validation_error'], url);
      t.match(answer.json().error, message);
    }
    const dry = (await post('/api/poll/dry-run', bearer, body)).json();
    t.match(dry, { valid: false, estimates: {} });
    t.match(dry.errors.join(), message);
  }
  for (const [query, message] of [
    [`models=${first},${second}`, /at least 3/],
    [`models=${first},${typo},${third}`, /the closest is/],
    [`preset=fast&models=${MODELS.join()}`, /both name a panel/],
    ['panel=mine', /belongs to an account; POST \/api\/poll\/dry-run/],
  ] as const) {
    const answer = await app.inject({ url: `/api/poll/estimate?${query}` });
    t.equal(answer.statusCode, 400);
    t.match(answer.json().error, message);
  }
  const free = await app.inject({ method: 'POST', url: '/api/quick-poll', payload: { ...POLL, models: MODELS } });
  t.match([free.statusCode, free.json().error], [400, /models needs an API key/]);
  const theme = await post('/api/quick-poll', bearer, { ...POLL, models: MODELS, theme: 'free' });
  t.match([theme.statusCode, theme.json().error], [400, /models and theme free say different things/]);
  t.equal(ran.length, before);
  t.equal((await send('GET', '/api/balance', await sessionFor((await keyWith(5)).accountId))).json().usage_cents, 0);
});

t.test('a profile gives way to the models; a retry with other models is another request', async (t) => {
  const { bearer } = await keyWith(5);
  const ask = (body: object) => post('/api/poll', { ...bearer, 'idempotency-key': 'once' }, { ...POLL, ...body });
  const result = (await ask({ models: MODELS, profile: 'quick' })).json();
  t.match(result, { preset: 'custom', confidence_threshold: 0.8 });
  t.equal((await ask({ models: MODELS, profile: 'quick' })).json().poll_id, result.poll_id);
  const other = await ask({ models: [first, second, fourth], profile: 'quick' });
  t.match([other.statusCode, other.json().code], [422, 'idempotency_key_reused']);
});

t.test('a saved panel: kept, asked by its name, replaced, removed, and of one account alone', async (t) => {
  const { bearer, accountId } = await keyWith(5);
  const cookie = await sessionFor(accountId);
  const saved = (await send('PUT', '/api/panels/night-checks', bearer, { models: MODELS })).json();
  t.match(saved, { name: 'night-checks', models: MODELS, unknown_models: { length: 0 }, updated_at: /^20/ });
  t.same((await send('GET', '/api/panels/night-checks', cookie)).json(), saved);
  const listing = (await send('GET', '/api/panels', bearer)).json();
  t.same(listing.panels, [saved]);
  t.same(
    listing.presets.map(({ name }: { name: string }) => name),
    ['broad', 'fast', 'strong'],
  );
  t.ok(listing.presets.every(({ why }: { why: string }) => why.length > 20));
  t.match(listing.models[0], { id: first, vendor: String });

  const named = { ...POLL, panel: 'night-checks' };
  const retry = { ...bearer, 'idempotency-key': 'named' };
  const result = (await post('/api/poll', retry, named)).json();
  t.match(result, { preset: 'custom', saved_panel: 'night-checks' });
  t.same(votersOf(result), MODELS.toSorted());
  const shared = await app.inject({ url: `/api/results/${result.poll_id}` });
  t.notMatch(shared.body, 'night-checks', 'the name is of the account');
  t.match((await post('/api/poll/dry-run', bearer, named)).json(), { valid: true, estimates: { total_models: 3 } });
  const { bearer: stranger } = await keyWith(5);
  t.equal((await post('/api/poll', stranger, named)).statusCode, 400);

  await send('PUT', '/api/panels/night-checks', bearer, { models: [first, second, fourth] });
  t.same(votersOf((await post('/api/poll', bearer, named)).json()), [first, second, fourth].toSorted());
  t.equal((await post('/api/poll', retry, named)).json().poll_id, result.poll_id, 'a retry gets the first result');

  // A model that leaves the roster file.
  await gateway.asOwner(`update saved_panels set models[2] = 'gone/model' where account_id = '${accountId}'`);
  t.match((await send('GET', '/api/panels/night-checks', bearer)).json(), { unknown_models: ['gone/model'] });
  const gone = await post('/api/poll', bearer, named);
  t.match([gone.statusCode, gone.json().error], [400, /panel night-checks: there is no model "gone\/model"/]);

  t.same((await send('DELETE', '/api/panels/night-checks', bearer)).json(), { removed: true });
  t.equal((await send('DELETE', '/api/panels/night-checks', bearer)).json().code, 'panel_not_found');
});

t.test('names, models and numbers of saved panels have limits, also for requests at once', async (t) => {
  const { bearer, accountId } = await keyWith(0);
  const put = (name: string, models: string[] = MODELS) => send('PUT', `/api/panels/${name}`, bearer, { models });
  for (const name of ['Upper', '-x', 'x-', 'a_b', 'x'.repeat(41), 'a%20b'])
    t.equal((await put(name)).statusCode, 400, name);
  t.match((await put('ok', ['nope', first, second])).json().error, /models\[0\]: there is no model "nope"/);
  t.equal((await put('ok', [first, second])).statusCode, 400);
  await gateway.asOwner(
    `insert into saved_panels select '${accountId}', 'p' || i, '{a,b,c}' from generate_series(1, 48) as i`,
  );
  const answers = await Promise.all(['q', 'r', 's', 't', 'u'].map((name) => put(name)));
  t.same(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 200, 409, 409, 409]);
  t.match(answers.find(({ statusCode }) => statusCode === 409)!.json(), { code: 'panel_limit_reached' });
  const kept = (await send('GET', '/api/panels', bearer)).json().panels[0].name;
  t.equal((await put(kept)).statusCode, 200, 'one that exists may be replaced');
});
