import t from 'tap';
import { openMetrics, openReadiness, watchLoop } from '../src/index.ts';

const well = { vital: true, ask: () => null };

t.test('ready: every vital part is well; optional parts are only reported', async (t) => {
  const broken = { ask: () => 'is broken' };
  const of = (checks: Parameters<typeof openReadiness>[1]) => openReadiness(openMetrics('worker'), checks).report();
  t.match(await of({ a: well }), { ready: true, checks: { a: null } });
  t.match(await of({ a: well, b: { ...broken, vital: true } }), { ready: false, checks: { b: 'is broken' } });
  t.match(await of({ a: well, b: { ...broken, vital: false } }), { ready: true, checks: { b: 'is broken' } });
});

t.test('a part that throws or never answers is not well, and its words stay inside', async (t) => {
  const readiness = openReadiness(openMetrics('worker'), {
    throws: { vital: true, ask: () => Promise.reject(new Error('connect ECONNREFUSED 10.1.2.3 as postgres')) },
    hangs: { vital: true, ask: () => new Promise(() => {}) },
  });
  const { ready, checks } = await readiness.report();
  t.equal(ready, false);
  t.match(checks, { throws: 'does not answer', hangs: /^no answer within/ });
});

t.test('however many ask, a store is asked once in a while', async (t) => {
  let asked = 0;
  let time = 0;
  const ask = () => {
    asked += 1;
    return null;
  };
  const readiness = openReadiness(openMetrics('worker'), { a: { vital: true, ask } }, () => time);
  await Promise.all(Array.from({ length: 100 }, () => readiness.report()));
  t.equal(asked, 1);
  time += 501;
  await readiness.report();
  t.equal(asked, 2);
});

t.test('draining is not ready, even within the cache time of the last answer', async (t) => {
  const metrics = openMetrics('worker');
  const readiness = openReadiness(metrics, { a: well });
  t.equal((await readiness.report()).ready, true);
  readiness.drain();
  t.equal((await readiness.report()).ready, false);
  const text = await metrics.text();
  t.match(text, /^eloquentpoll_ready 0$/m);
  t.match(text, /^eloquentpoll_ready_check\{check="draining"\} 0$/m);
  t.match(text, /^eloquentpoll_ready_check\{check="a"\} 1$/m);
});

t.test('an event loop that was blocked is not ready until it has turned for a while', async (t) => {
  let time = 0;
  using loop = watchLoop(() => time);
  t.equal(await loop.ask(), null);
  time += 8_000;
  t.match(await loop.ask(), /^the event loop was blocked for 7500 ms/);
  const turnFor = (ms: number) => {
    for (const end = time + ms; time < end; time += 500) loop.turn();
  };
  turnFor(9_000);
  t.match(await loop.ask(), /^the event loop was blocked for 7500 ms/, 'one good moment is not enough');
  turnFor(1_000);
  t.equal(await loop.ask(), null);
});
