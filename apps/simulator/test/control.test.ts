import t from 'tap';
import { choice, start } from './start.ts';

// The control API refuses wrong settings: nothing is guessed or coerced.

t.test('a behaviour that makes no sense is refused with its place', async (t) => {
  const running = await start(t);
  for (const [behaviour, place] of [
    [{ unknown: 1 }, /unknown/],
    [{ agreement: 1.5 }, /agreement/],
    [{ agreement: '0.5' }, /agreement/],
    [{ voter: 'drunk' }, /voter/],
    [{ failures: [{ kind: 'explode', rate: 1 }] }, /failures\/0\/kind/],
    [{ failures: [{ kind: 'reset' }] }, /failures\/0\/rate/],
    [
      {
        failures: [
          { kind: 'reset', rate: 0.6 },
          { kind: 'html', rate: 0.6 },
        ],
      },
      /rates add up/,
    ],
    [{ steps: ['sleep'] }, /steps\/0/],
    [{ steps: [{ kind: 'status', status: 200 }] }, /steps\/0/],
    [{ latency: { p50_ms: -1 } }, /latency\/p50_ms/],
    [{ price: { prompt_usd_per_mtok: 'free' } }, /price/],
    [[], /body/],
  ] as const) {
    const { status, body } = await running.control('POST', 'models/sim/oak-1', behaviour);
    t.equal(status, 400, JSON.stringify(behaviour));
    t.match(body, { error: { message: place } });
  }
  t.same((await running.control('GET', 'models')).body, { behaviours: {} }, 'nothing was set');
  t.ok(await choice(running, 'sim/oak-1'));
});

t.test('other bad requests are refused too', async (t) => {
  const running = await start(t);
  for (const [method, path, body] of [
    ['POST', 'settings', {}],
    ['POST', 'settings', { latency_scale: -1 }],
    ['POST', 'settings', { seed: 7 }],
    ['POST', 'registry', { variants: 'many' }],
    ['POST', 'registry', { failures: [{ kind: 'reset', rate: 2 }] }],
    ['POST', 'registry', { failures: [{ kind: 'refusal', rate: 1 }] }],
    ['GET', 'calls?limit=-1', undefined],
    ['GET', 'calls?colour=red', undefined],
  ] as const)
    t.equal((await running.control(method, path, body)).status, 400, `${method} ${path} ${JSON.stringify(body)}`);
  t.equal((await running.control('DELETE', 'models/sim/oak-1')).status, 404);
  t.equal((await running.control('GET', 'models/gpt-x')).status, 404);
  t.equal((await running.control('GET', 'nothing')).status, 404);
  const text = await fetch(`${running.url}/_control/settings`, {
    method: 'POST',
    body: '{',
    headers: { 'content-type': 'application/json' },
  });
  t.equal(text.status, 400);
});

t.test('a model shows what it is; settings are shown and reset', async (t) => {
  const running = await start(t, { models: { 'sim/oak-1': { agreement: 0.9 } } });
  const { body } = await running.control('GET', 'models/sim/oak-1');
  t.match(body, { id: 'sim/oak-1', family: 'oak', agreement: 0.9, latency: { p50_ms: Number }, price: Object });
  t.same((await running.control('GET', 'models/sim%2Foak-1')).body, body, 'the slash may be encoded');
  await running.behave('sim/oak-1', { agreement: 0.1 });
  await running.control('POST', 'settings', { latency_scale: 0, seed: 'x' });
  t.same((await running.control('GET', 'settings')).body, { seed: 'x', latency_scale: 0 });
  await running.control('POST', 'reset');
  t.match((await running.control('GET', 'models/sim/oak-1')).body, { agreement: 0.9 });
  t.match((await running.control('GET', 'settings')).body, { seed: 'eloquent' });
  t.equal((await fetch(`${running.url}/health`)).status, 200);
});
