import t from 'tap';
import { openMetrics, openOpsPort, openReadiness } from '../src/index.ts';

t.test('a page that fails is a 500, and its reason is handed on', async (t) => {
  const metrics = openMetrics('worker');
  const failed: unknown[] = [];
  const broken = new Error('the store is away');
  const port = await openOpsPort({
    ...{ host: '127.0.0.1', port: 0, metrics, readiness: openReadiness(metrics, {}) },
    handler: async () => {
      throw broken;
    },
    onFailure: (error, path) => failed.push([error, path]),
  });
  t.teardown(() => port[Symbol.asyncDispose]());
  const answer = await fetch(`${port.url}/admin?done=frozen`);
  t.equal(answer.status, 500);
  t.match(await answer.text(), /the log says why/);
  t.same(failed, [[broken, '/admin']]);
});
