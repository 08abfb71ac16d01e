import t from 'tap';
import { goodEnvironment, start } from '../fixtures/run-gateway.ts';

// slow: 6 s

t.test('with keys of OpenAI and Anthropic alone the gateway serves everything but free polls', async (t) => {
  const run = start(t, { ...(await goodEnvironment(t)), MODELS_FILE: 'openai,anthropic' });
  const { port } = JSON.parse(await run.line(/"msg":"ready"/));
  const at = (path: string) => `http://127.0.0.1:${port}${path}`;
  for (const path of ['/', '/models', '/pricing', '/llms.txt', '/playground', '/api/openapi.json', '/?view=human'])
    t.equal((await fetch(at(path), { headers: { accept: 'text/html' } })).status, 200, path);
  const estimate = await (await fetch(at('/api/poll/estimate?preset=broad&options=3'))).json();
  t.match(estimate, { models: { roster_size: 6 } });
  const free = await fetch(at('/api/quick-poll'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ question: 'Which is larger?', options: ['A', 'B'] }),
  });
  t.equal(free.status, 503);
  t.match(await free.text(), /no open-weight models and runs no free polls/);
});
