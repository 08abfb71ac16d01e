import t from 'tap';
import { clockFigure, openMetrics } from '../src/index.ts';

t.test('a clock differs by what the round trip cannot explain', async (t) => {
  for (const [other, ahead] of [
    [1_000, 0],
    [1_040, 0],
    [1_080, 0],
    [400, 0.6],
    [1_580, -0.5],
  ] as const) {
    const metrics = openMetrics('worker');
    const looks = [1_000, 1_080];
    clockFigure(
      metrics,
      async () => other,
      () => looks.shift()!,
    );
    t.match(await metrics.text(), new RegExp(`^eloquentpoll_clock_ahead_seconds ${ahead}$`, 'm'), `${other}`);
  }
});

t.test('without an answer there is no figure', async (t) => {
  const metrics = openMetrics('gateway');
  clockFigure(metrics, async () => {
    throw new Error('away');
  });
  t.notMatch(await metrics.text(), /^eloquentpoll_clock_ahead_seconds /m);
});
