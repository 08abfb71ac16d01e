import t from 'tap';
import { fires, over, quiet, target } from './infra/alarm-timeline.ts';

// slow: 5 s

// Alarms about single processes and about what they log, as Prometheus evaluates them while time passes.

const worker = target('worker', 'worker-1');

t.test('waits for Postgres page when they last; those of a failover do not', async (t) => {
  /** Queries so far, and those of them that waited for less than half a second. */
  const waits = (all: string, short: string) =>
    Object.fromEntries(
      [
        ...['0.005', '0.25', '0.5'].map((le) => [le, short] as const),
        ...['5', '+Inf'].map((le) => [le, all] as const),
      ].map(([le, values]) => [`eloquentpoll_postgres_pool_wait_seconds_bucket{${worker},le="${le}"}`, values]),
    );
  const after = ['6m', '7m', '8m', '9m', '10m'].map((at) => quiet(at, 'PostgresSlowOrAway'));
  await over(t, 'a failover of some seconds', waits('0+400x80', '0+400x20 8280+400x60'), ...after);
  await over(t, 'one wait in a quiet night', waits('0+4x80', '0+4x20 83+4x60'), ...after);
  await over(
    t,
    'slow for good',
    waits('0+400x80', '0+400x20 8280+280x60'),
    quiet('5m', 'PostgresSlowOrAway'),
    fires('9m', 'PostgresSlowOrAway', { job: 'worker' }),
  );
});
