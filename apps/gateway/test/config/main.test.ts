import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { goodEnvironment, start } from '../fixtures/run-gateway.ts';

// slow: 4 s

t.test('the process says when it is ready, answers, and leaves on SIGTERM', async (t) => {
  const run = start(t, await goodEnvironment(t));
  const ready = JSON.parse(await run.line(/"msg":"ready"/));
  const health = async () => (await fetch(`http://127.0.0.1:${ready.port}/api/health`)).json();
  await eventually('it is well', async () => ((await health()) as { db: string }).db === 'ok');
  t.match(await health(), { status: 'ok' });
  run.child.kill('SIGTERM');
  t.same(await run.ended, { code: 0, signal: null });
  t.equal(run.err.join(''), '', 'nothing on stderr');
  for (const line of run.out) t.type(JSON.parse(line), 'object');
});

t.test('[§I2-setting-named] what keeps it from starting is said with the name of the setting', async (t) => {
  const good = await goodEnvironment(t);
  const cases: [Record<string, string>, RegExp][] = [
    [{ PORT: 'eighty' }, /^gateway: PORT: must be a whole number/],
    [{ REDIS_URL: 'redis://127.0.0.1:1' }, /^gateway: REDIS_URL: \w/],
    [{ MODELS_FILE: '/nowhere/models.json' }, /^gateway: MODELS_FILE: .*\/nowhere\/models\.json/],
    [{ PORT: new URL(good.REDIS_URL!).port }, /^gateway: PORT: \d+ is in use/],
  ];
  const runs = cases.map(([env, says]) => ({ env, says, run: start(t, { ...good, ...env }) }));
  for (const { env, says, run } of runs) {
    t.equal((await run.ended).code, 1, JSON.stringify(env));
    t.match(run.err.join(''), says);
    t.notMatch(run.err.join(''), /\n\s+at /, 'no stack');
  }
});
