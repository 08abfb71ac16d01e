import t from 'tap';
import { firing, type SampleSeries, seriesBetween } from '../src/attacks/alarm-expression.ts';

// Alarms whose expressions are easily wrong, over what two scrapes found.

t.test(
  'the alarm about the free pool fires where polls are refused for it, and not for a pool that is held or closed',
  async (t) => {
    const refused = (reason: string, polls: number): SampleSeries => {
      const labels = { reason, namespace: 'a' };
      return { name: 'eloquentpoll_polls_refused_total', labels, before: 7, after: 7 + polls };
    };
    const calm = ['free_held', 'free_closed', 'insufficient'].map((reason) => refused(reason, 100));
    t.same(firing('FreePoolEmpty', [...calm, refused('free_spent', 0)]), []);
    t.match(firing('FreePoolEmpty', [...calm, refused('free_spent', 1)]), [{ labels: { namespace: 'a' }, value: 1 }]);
  },
);

t.test('an installation without a ready process pages by its namespace, also when nothing of it is left', async (t) => {
  for (const [alarm, job] of [
    ['NoGatewayReady', 'gateway'],
    ['NoWorkerReady', 'worker'],
  ] as const) {
    const ready = (namespace: string, pod: string, before: number, after: number | null): SampleSeries => {
      return { name: 'eloquentpoll_ready', labels: { job, namespace, pod }, before, after };
    };
    const lost = (series: SampleSeries[]) => firing(alarm, series).map(({ labels }) => labels.namespace);
    const sound = [ready('a', '1', 1, 1), ready('a', '2', 1, 0)];
    t.same(lost(sound), [], 'one of two is ready');
    t.same(lost([...sound, ready('b', '1', 1, 1)]), []);
    t.same(lost([...sound, ready('b', '1', 1, 0), ready('b', '2', 1, null)]), ['b'], 'none is ready');
    t.same(lost([...sound, ready('b', '1', 1, null), ready('b', '2', 0, null)]), ['b'], 'none is left');
    t.same(lost([ready('a', '1', 1, null)]), ['a'], 'of one installation');
    t.equal(firing(alarm, []).length, 1, 'nothing was ever seen');
    const other = { ...ready('a', '1', 1, 1), labels: { job: 'another', namespace: 'a', pod: '1' } };
    t.equal(firing(alarm, [other]).length, 1, 'nor by another process');
  }
});

t.test('a ledger that is violated pages by its namespace', async (t) => {
  const violated = (namespace: string, after: number): SampleSeries => {
    return { name: 'eloquentpoll_ledger_violations', labels: { namespace, pod: '1' }, before: 0, after };
  };
  t.match(firing('LedgerViolated', [violated('a', 0), violated('b', 2)]), [{ labels: { namespace: 'b' }, value: 2 }]);
});

t.test('a counter that was not there at the first scrape has no increase, as in Prometheus', async (t) => {
  const lines = (refused: number) => `eloquentpoll_polls_refused_total{namespace="a",reason="free_spent"} ${refused}\n`;
  t.same(firing('FreePoolEmpty', seriesBetween('', lines(3))), []);
  t.match(firing('FreePoolEmpty', seriesBetween(lines(2), lines(3))), [{ labels: { namespace: 'a' }, value: 1 }]);
});
