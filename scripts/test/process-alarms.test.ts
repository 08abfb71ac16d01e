import t from 'tap';
import { fires, over, quiet, target } from './infra/alarm-timeline.ts';

// slow: 3 s

// Alarms about single processes and about what they log, as Prometheus evaluates them while time passes.

const worker = target('worker', 'worker-1');

t.test('a process that starts again and again is a ticket; a restart or a release is none', async (t) => {
  const started = (values: string, isOurs = true) => ({
    [`process_start_time_seconds{${worker}}`]: values,
    ...(isOurs && { [`eloquentpoll_build_info{${worker},service="worker",version="2.0.0",commit="x"}`]: '1x400' }),
  });
  const often = '0x40 600x40 1200x40 1800x280';
  const labels = { job: 'worker', pod: 'worker-1' };
  await over(
    t,
    'three times in half an hour',
    started(often),
    quiet('25m', 'ProcessRestarts'),
    fires('31m', 'ProcessRestarts', labels),
    quiet('75m', 'ProcessRestarts'),
  );
  await over(t, 'once', started('0x40 600x360'), quiet('15m', 'ProcessRestarts'), quiet('31m', 'ProcessRestarts'));
  await over(t, 'a process of others', started(often, false), quiet('31m', 'ProcessRestarts'));
  const pods = Object.fromEntries(
    ['a', 'b', 'c', 'd', 'e'].flatMap((pod, i) => {
      const its = target('worker', pod);
      const gone = i === 4 ? '' : ' stale';
      return [
        [`process_start_time_seconds{${its}}`, `_x${20 * i} ${300 * i}x20${gone}`],
        [`eloquentpoll_build_info{${its},service="worker",version="2.0.0",commit="${i}"}`, `_x${20 * i} 1x20${gone}`],
      ];
    }),
  );
  await over(t, 'releases make new pods', pods, quiet('24m', 'ProcessRestarts'));
});

t.test('a process that is not ready while others are is a ticket; one that ends is none', async (t) => {
  const ready = (pod: string, values: string) => ({ [`eloquentpoll_ready{${target('worker', pod)}}`]: values });
  await over(
    t,
    'one of two',
    { ...ready('a', '1x100'), ...ready('b', '0x100') },
    quiet('14m', 'ProcessNotReady'),
    fires('20m', 'ProcessNotReady', { job: 'worker', pod: 'b' }),
  );
  await over(t, 'both', { ...ready('a', '0x100'), ...ready('b', '0x100') }, quiet('20m', 'ProcessNotReady'));
  await over(
    t,
    'one that drains for the longest time that is allowed',
    { ...ready('a', '1x100'), ...ready('b', '1x20 0x24 stale') },
    quiet('10m', 'ProcessNotReady'),
    quiet('20m', 'ProcessNotReady'),
  );
});

t.test('errors of workers that go on are a ticket; many at one moment are none', async (t) => {
  const lines = (job: string, values: string, level = 'error') => ({
    [`eloquentpoll_log_lines_total{${target(job, `${job}-1`)},level="${level}"}`]: values,
  });
  await over(t, 'one a minute', lines('worker', '0+0.25x400'), fires('45m', 'WorkerErrors'));
  await over(
    t,
    'webhooks under way while Postgres fails over',
    lines('worker', '0x20 256x400'),
    ...['10m', '20m', '25m', '40m', '60m'].map((at) => quiet(at, 'WorkerErrors')),
  );
  await over(t, 'a few', lines('worker', '0+0.0625x400'), quiet('45m', 'WorkerErrors'), quiet('90m', 'WorkerErrors'));
  await over(t, 'warnings', lines('worker', '0+1x400', 'warn'), quiet('45m', 'WorkerErrors'));
  await over(t, 'of gateways', lines('gateway', '0+1x400'), quiet('45m', 'WorkerErrors'));
});

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
