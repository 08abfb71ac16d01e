import { rssBytes } from '../../fixture/rss-bytes.ts';
import type { Bench } from '../bench.ts';
import { info, type Line, type Row } from '../bench-row.ts';
import { paced } from '../paced-load.ts';
import { pollRequest } from '../polls.ts';
import { lowerQuartile, median } from '../windows.ts';

const PER_SECOND = 10;
const STEP_MS = 10_000;
/** In a large heap, uncollected garbage looks like a leak. In this small one, a real leak ends the process. */
const HEAP_MB = 72;

/** Constant load for minutes: which resources grow with the number of polls, and which do not. */
export const soak: Row = {
  id: 'soak',
  about: `memory, tables and queue while ${PER_SECOND} polls per second run for --minutes`,
  long: true,
  async measure(bench, plan) {
    await using gateway = await bench.gateway({ heapMb: HEAP_MB });
    await using worker = await bench.worker({ heapMb: HEAP_MB });
    const steps = Math.max(2, Math.round((plan.soakMinutes * 60_000) / STEP_MS));
    const samples: Sample[] = [];
    const statuses = new Map<number, number>();
    const took: number[] = [];
    for (let step = 0; step < steps; step++) {
      plan.onWindow(step, steps, 'soak');
      const next = () => pollRequest(bench, '/api/poll');
      const ms = plan.windowMs < 500 ? plan.windowMs : STEP_MS;
      const found = await paced({ ...gateway, perSecond: PER_SECOND, ms, signal: plan.signal, next });
      plan.signal.throwIfAborted();
      for (const [status, n] of found.statuses) statuses.set(status, (statuses.get(status) ?? 0) + n);
      took.push(median(found.took));
      samples.push(await look(bench, gateway.pid, worker.pid));
    }
    return report(samples, statuses, took);
  },
};

interface Sample {
  gateway: number;
  worker: number;
  redis: number;
  keys: number;
  jobs: number;
  database: number;
  polls: number;
}

async function look({ stores }: Bench, gateway: number, worker: number): Promise<Sample> {
  const { bus, query } = stores;
  const info = await bus.redis.info('memory');
  const { waiting, active } = await bus.queueCounts();
  const [row] = await query<{ database: string; polls: number }>(
    'select pg_database_size(current_database()) as database, (select count(*)::int from polls) as polls',
  );
  return {
    gateway: rssBytes(gateway) / 1e6,
    worker: rssBytes(worker) / 1e6,
    redis: Number(/^used_memory:(\d+)/m.exec(info)?.[1]) / 1e6,
    keys: await bus.redis.dbsize(),
    jobs: waiting + active,
    database: Number(row!.database) / 1e6,
    polls: row!.polls,
  };
}

/** The end is compared with the middle, when the warm-up is over: growth after that does not stop. */
function report(samples: readonly Sample[], statuses: ReadonlyMap<number, number>, took: readonly number[]): Line[] {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  const part = (from: number, name: keyof Sample) =>
    lowerQuartile(samples.slice(from, from + quarter).map((s) => s[name]));
  const [half, end] = [Math.floor(samples.length / 2), samples.length - quarter];
  const parts = (name: keyof Sample, unit: string) =>
    `${part(0, name).toFixed(0)} -> ${part(half, name).toFixed(0)} -> ${part(end, name).toFixed(0)}${unit}`;
  const [first, last] = [samples[0]!, samples.at(-1)!];
  const bad = [...statuses].filter(([status]) => status !== 200).reduce((sum, [, n]) => sum + n, 0);
  const perPoll = ((last.database - first.database) * 1e6) / Math.max(1, last.polls - first.polls);
  const growth = (name: 'gateway' | 'worker'): Line => ({
    quantity: `${name} RSS: beginning, middle, end`,
    ours: parts(name, ' MB'),
    baseline: '',
    value: part(end, name) / part(half, name),
    unit: ' x',
    better: 'lower',
    must: 1.1,
    stretch: 1,
  });
  return [
    info('polls in the soak', `${[...statuses.values()].reduce((sum, n) => sum + n, 0)}, ${bad} not answered well`),
    info('poll p50: beginning, end', `${took[0]!.toFixed(1)} -> ${took.at(-1)!.toFixed(1)} ms`),
    growth('gateway'),
    growth('worker'),
    info('Redis memory', parts('redis', ' MB')),
    info('Redis keys (a poll leaves after 15 min)', parts('keys', '')),
    info('jobs in the queue', parts('jobs', '')),
    info('database', parts('database', ' MB'), `${perPoll.toFixed(0)} bytes per poll`),
  ];
}
