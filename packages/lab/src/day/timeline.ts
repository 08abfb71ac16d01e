import type { Bus } from '@eloquentpoll/bus';
import type { CollectedMemory } from '../fixture/collected-memory.ts';
import { cpuUs } from '../fixture/process-cpu.ts';
import { rssBytes } from '../fixture/rss-bytes.ts';
import { percentile } from '../terminal/table.ts';
import type { Diary } from './diary.ts';
import type { DayService } from './service.ts';
import type { WatchedProcess } from './watched-process.ts';

// Samples everything that may grow, every few seconds.

export interface ProcessSample extends CollectedMemory {
  name: string;
  /** CPU cores used since the last sample. */
  cores: number;
  logBytes: number;
}

export interface TableSample {
  name: string;
  rows: number;
  deadRows: number;
  bytes: number;
  indexBytes: number;
}

export interface DaySample {
  /** Seconds since the start of the day. */
  atS: number;
  hours: string;
  /** Shares of the machine's CPU: the target, what this run and its processes used, and what all processes used. */
  wanted: number;
  busy: number;
  machine: number;
  perSecond: number;
  processes: ProcessSample[];
  /** Partitions of a table are added up. */
  tables: TableSample[];
  databaseBytes: number;
  connections: number;
  redis: { bytes: number; keys: number; clients: number };
  queue: { standard: number; flex: number; oldestS: number };
  polls: number;
  /** In milliseconds, over the answers since the last sample. */
  times: Record<string, { n: number; p50: number; p95: number; p99: number }>;
}

export interface Timeline {
  readonly samples: readonly DaySample[];
  look(now: Pick<DaySample, 'atS' | 'hours' | 'wanted' | 'busy' | 'machine' | 'perSecond'>): Promise<DaySample>;
}

export type Query = <Row extends object>(sql: string) => Promise<Row[]>;

const TABLES = `
  with sizes as (
    select coalesce(parent.relname, c.relname) as name, coalesce(s.n_live_tup, 0) as live, coalesce(s.n_dead_tup, 0) as dead,
      pg_table_size(c.oid) as bytes, pg_indexes_size(c.oid) as indexes
    from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
      left join pg_inherits i on i.inhrelid = c.oid left join pg_class parent on parent.oid = i.inhparent
      left join pg_stat_user_tables s on s.relid = c.oid
    where c.relkind = 'r')
  select name, sum(live)::float8 as rows, sum(dead)::float8 as dead, sum(bytes)::float8 as bytes,
    sum(indexes)::float8 as indexes from sizes group by name order by name`;
const SERVER = `
  select pg_database_size(current_database())::float8 as bytes,
    (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
    (select coalesce(sum(n_tup_ins), 0)::float8 from pg_stat_user_tables where relname like 'polls%') as polls`;

export interface TimelineOptions {
  service: DayService;
  query: Query;
  bus: Bus;
  diary: Diary;
}

export function openTimeline({ service, query, bus, diary }: TimelineOptions): Timeline {
  const samples: DaySample[] = [];
  const cpuBefore = new Map<string, { us: number; at: number }>();

  /** 0 for a process that has ended. */
  function coresOf(name: string, us: number): number {
    const now = { us: us || 0, at: performance.now() };
    const before = cpuBefore.get(name) ?? now;
    cpuBefore.set(name, now);
    return now.at === before.at ? 0 : (now.us - before.us) / 1_000 / (now.at - before.at);
  }

  async function ofProcess(one: WatchedProcess): Promise<ProcessSample> {
    const cores = coresOf(one.name, cpuUs(one.app.pid));
    const rss = rssBytes(one.app.pid);
    const memory = await one.collectedMemory();
    return { name: one.name, ...memory, rssBytes: rss, cores, logBytes: one.log.bytes };
  }

  return {
    samples,
    async look(now) {
      const [tables, [server], redis, standard, flex] = await Promise.all([
        query<{ name: string; rows: number; dead: number; bytes: number; indexes: number }>(TABLES),
        query<{ bytes: number; connections: number; polls: number }>(SERVER),
        bus.redis.info(),
        bus.queueCounts('standard'),
        bus.queueCounts('flex'),
      ]);
      const figure = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(redis)?.[1] ?? 0);
      const processes: ProcessSample[] = [];
      // One after the other, because a garbage collection stops its process.
      for (const one of service.processes) processes.push(await ofProcess(one));
      const sample: DaySample = {
        ...now,
        processes,
        tables: tables.map(({ dead, indexes, ...one }) => ({ ...one, deadRows: dead, indexBytes: indexes })),
        databaseBytes: server!.bytes,
        connections: server!.connections,
        redis: { bytes: figure('used_memory'), keys: await bus.redis.dbsize(), clients: figure('connected_clients') },
        queue: {
          standard: standard.waiting,
          flex: flex.waiting,
          oldestS: standard.oldestAt === null ? 0 : Math.max(0, (Date.now() - standard.oldestAt) / 1_000),
        },
        polls: server!.polls,
        times: timesOf(diary),
      };
      samples.push(sample);
      return sample;
    },
  };
}

function timesOf(diary: Diary): DaySample['times'] {
  const quantiles = (times: readonly number[]) => {
    const at = (q: number) => Math.round(percentile(times, q) ?? 0);
    return { n: times.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) };
  };
  return Object.fromEntries([...diary.takeRecent()].map(([way, times]) => [way, quantiles(times)]));
}
