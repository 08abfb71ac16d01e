import t from 'tap';
import { build } from '../fixtures/build.ts';
import { goodEnvironment, start } from '../fixtures/run-gateway.ts';

// slow: 9 s

const ROSTERS = 'openai,anthropic';
const POLL = { question: 'Which is larger?', options: ['A', 'B'] };

t.test('with keys of OpenAI and Anthropic alone the gateway serves everything but free polls', async (t) => {
  const run = start(t, { ...(await goodEnvironment(t)), MODELS_FILE: ROSTERS });
  const { port } = JSON.parse(await run.line(/"msg":"ready"/));
  const at = (path: string) => `http://127.0.0.1:${port}${path}`;
  for (const path of ['/', '/models', '/pricing', '/llms.txt', '/playground', '/api/openapi.json', '/?view=human'])
    t.equal((await fetch(at(path), { headers: { accept: 'text/html' } })).status, 200, path);
  const estimate = await (await fetch(at('/api/poll/estimate?preset=broad&options=3'))).json();
  t.match(estimate, { models: { roster_size: 6 } });
  for (const theme of ['free', 'free_search']) {
    const free = await fetch(at('/api/quick-poll'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...POLL, theme }),
    });
    t.equal(free.status, 503, theme);
    t.match(await free.text(), /no open-weight models and runs no free polls/, theme);
  }
});

/** Words of pages and documents of installations with free polls. */
const OFFER =
  /free,? (?:quick )?(?:poll|eloquentpoll)|free-(?:quick-)?poll|free(?: and)? without|free and needs|without an account|needs? no (?:account|key)|eloquentpoll\/free|"theme": "free|\/free<|>\$0<|\| \$0 \||try one|>Try it</i;

t.test('where no free polls run, no page and no document offers one', async (t) => {
  const { app, keyWith, sessionFor } = await build(t, { models: { file: ROSTERS } });
  const textOf = async (url: string, headers: Record<string, string> = {}) =>
    (await app.inject({ url, headers: { accept: 'text/html', ...headers } })).body;
  for (const path of [
    ...['/', '/?view=human', '/playground', '/playground?question=Which+is+it%3F', '/models', '/pricing', '/trust'],
    ...['/connect', '/guides/first-poll', '/guides/agents', '/surfaces', '/dashboard', '/api/auth/login', '/nowhere'],
    ...['/errors/rate_limited', '/llms.txt', '/llms-full.txt', '/auth.md', '/AGENTS.md', '/~/SKILLS.md'],
    ...['/.agents/skills/prevent-hallucinations-with-a-quick-poll/SKILL.md', '/.well-known/agent-skills/index.json'],
    ...['/.well-known/ai-plugin.json', '/api/routing-descriptions.json', '/api/surfaces', '/api/intents', '/v1/models'],
    ...['/api/examples/curl', '/api/examples/typescript', '/api/examples/python'],
  ]) {
    const text = await textOf(path);
    t.ok(text.length > 200, path);
    t.equal(OFFER.exec(text)?.[0], undefined, path);
  }
  t.match(await textOf('/', { accept: 'text/markdown' }), 'with an API key in `EP_KEY`');
  t.equal(OFFER.exec(await textOf('/', { accept: 'text/markdown' }))?.[0], undefined);
  t.notMatch(await textOf('/api/docs'), /Free quick polls|free without a key|eloquentpoll\/free",/);

  const home = await textOf('/');
  t.match(home, /<a class="button" href="\/dashboard">Sign in</);
  const [tool = ''] = /\/assets\/\w+\/web-mcp\.js/.exec(home) ?? [];
  const script = await app.inject({ url: tool });
  t.match(script.headers, { 'content-type': /^text\/javascript/, 'cache-control': 'no-store' });
  t.notMatch(script.body, 'registerTool');

  const sessionWith = async (usd: number) => sessionFor((await keyWith(usd)).accountId);
  const steps = await textOf('/dashboard', await sessionWith(0));
  t.match(steps, /class="card first-steps".*Add funds/s);
  t.notMatch(steps, 'data-free-step');
  t.notMatch(await textOf('/dashboard', await sessionWith(5)), 'first-steps', 'nothing is left to do');
});

t.test('where no free polls run, a quick poll is described as one that is paid for', async (t) => {
  const { app } = await build(t, { models: { file: ROSTERS } });
  const send = (url: string, payload: object) => app.inject({ method: 'POST', url, payload });
  const { routes } = (await app.inject({ url: '/api/routing-descriptions.json' })).json();
  const quick = routes.find(({ operationId }: { operationId: string }) => operationId === 'quickPoll');
  t.match(quick, { summary: 'Quick poll', 'x-agent-hints': { cost: { free: false } } });
  t.ok(quick['x-agent-hints'].cost.typical_usd > 0);
  const asked = await send('/api/intents/match', { text: 'Quick poll: Is a tomato a fruit? [Yes, No]' });
  t.match(asked.json().best_match, { intent_id: 'run_poll', parameters: { options: ['Yes', 'No'] } });
  const refused = await send('/api/poll', { ...POLL, preset: 'fast' });
  t.equal(refused.statusCode, 401);
  t.notMatch(refused.body, 'quick-poll');
});

t.test('where no free polls run, no chat model is free', async (t) => {
  const { app, keyWith } = await build(t, { models: { file: ROSTERS } });
  const { bearer } = await keyWith(1);
  const messages = [{ role: 'user', content: 'Which is larger? [A, B]' }];
  const complete = (headers: object, model: unknown) =>
    app.inject({ method: 'POST', url: '/v1/chat/completions', headers: { ...headers }, payload: { model, messages } });
  const unknown = [
    await app.inject({ url: '/v1/models/eloquentpoll%2Ffree' }),
    await app.inject({ url: '/v1/models/eloquentpoll/free' }),
    await complete({}, 'eloquentpoll/free'),
    await complete(bearer, 'eloquentpoll/free'),
    await complete(bearer, 'gpt-4o'),
  ];
  for (const { statusCode, body } of unknown) {
    t.match([statusCode, JSON.parse(body).error.code], [404, 'model_not_found']);
    t.match(body, 'eloquentpoll/broad');
    t.notMatch(body, 'eloquentpoll/free');
  }
  const wrong = await complete(bearer, 7);
  t.equal(wrong.statusCode, 400);
  t.match(wrong.body, 'eloquentpoll/broad');
  t.notMatch(wrong.body, 'eloquentpoll/free');
});
