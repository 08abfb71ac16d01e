import { surelyGrew } from '../fixture/linear-fit.ts';
import { withCommas } from '../proof/figure.ts';
import type { AlarmsOfDay } from './alarms.ts';
import { HOURS } from './hours.ts';
import type { LivedDay } from './live-day.ts';
import type { DaySample, ProcessSample } from './timeline.ts';

// Checks each bound of the day, and says what was found.

export interface BoundOfDay {
  readonly says: string;
  readonly found: string;
  readonly holds: boolean;
}

/** For half of this time the service warms up, and everything still grows. */
const WARM_S = 600;
const BUSIEST = HOURS.reduce((most, one) => (one.load > most.load ? one : most)).name;
const [MAX_GROWTH, MAX_GROWTH_WHILE_WARMING] = [0.05, 0.25];
/** As a share of all votes; in a day of seconds, so few votes prove nothing. */
const [MAX_UNHEARD, FEW_UNHEARD] = [0.005, 3];
/** The threshold of the alarm ServerErrors: 99.9 % of all answers in a month; in a day of seconds, so few prove nothing. */
const [MAX_REFUSED, FEW_REFUSED] = [0.001, 3];
const MAX_OFF_LOAD = 0.1;
/** Share of the machine. With more, polls and batches queue up behind programs that are no part of the day. */
const MAX_OF_OTHERS = 0.1;
const MAX_OLDEST_S = 15;
const MAX_DATABASE_BYTES_PER_POLL = 24_000;
const [MAX_DEAD_SHARE, MAX_DEAD_ROWS] = [0.5, 5_000];
const MAX_REDIS_BYTES_PER_POLL = 16_000;
/** A run record expires fifteen minutes after its poll has ended. */
const KEPT_IN_REDIS_S = 16 * 60;
const MAX_LOG_BYTES_PER_REQUEST = 2_000;
const MAX_WARNINGS_PER_REQUEST = 0.002;
const MAX_FILES = 400;
const CONNECTIONS_PER_PROCESS = 12;
/** Rows of these tables stand for work in progress, so they must not accumulate. */
const TABLES_OF_WORK = ['audit_jobs', 'heartbeats'];
const MAX_ROWS_OF_WORK = 500;

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

export function boundsOfDay(day: LivedDay, alarms: AlarmsOfDay | null): BoundOfDay[] {
  return [
    ...answers(day),
    ...load(day),
    ...memory(day),
    ...stores(day),
    ...queue(day),
    ...logs(day),
    ...alarmsOf(alarms),
  ];
}

function answers({ diary, end }: LivedDay): BoundOfDay[] {
  const judged = [...diary.ways.values()].reduce((sum, way) => sum + way.judged, 0);
  const { webhooks, violations, deadlocks, running, openHolds } = end;
  const { votes, unheardCount, unheard } = diary;
  return [
    {
      says: 'every answer is right, and every account holds what its answers say',
      found: `${withCommas(diary.wrongCount)} wrong of ${withCommas(judged)} that were judged, ${withCommas(requestsOf({ diary }))} requests, ${withCommas(end.polls)} polls, ${end.accounts} accounts`,
      holds: diary.wrongCount === 0 && judged > 0,
    },
    {
      says: `models fail where their providers say so; besides, at most ${percent(MAX_UNHEARD)} of the votes time out or are not asked for`,
      found: `${withCommas(unheardCount)} of ${withCommas(votes)}${unheardCount > 0 ? `: ${unheard.slice(0, 3).join('; ')}` : ''}`,
      holds: votes > 0 && unheardCount <= Math.max(MAX_UNHEARD * votes, FEW_UNHEARD),
    },
    {
      says: `at most ${percent(MAX_REFUSED)} of all requests are refused for a moment, none for longer`,
      found: `${withCommas(diary.refusedCount)} of ${withCommas(requestsOf({ diary }))}${diary.refusedCount > 0 ? `: ${diary.refused.slice(0, 3).join('; ')}` : ''}`,
      holds: diary.refusedCount <= Math.max(MAX_REFUSED * requestsOf({ diary }), FEW_REFUSED),
    },
    {
      says: 'the ledger has no drift, and nothing is left running or held',
      found: `${violations.length} violations, ${running} running, ${openHolds} balances with money set aside${violations.length > 0 ? `: ${violations.slice(0, 5).join('; ')}` : ''}`,
      holds: violations.length === 0 && running === 0 && openHolds === 0,
    },
    {
      says: 'no transactions wait for each other in a circle',
      found: `${deadlocks} deadlocks`,
      holds: deadlocks === 0,
    },
    {
      says: 'every webhook arrives, signed',
      found: `${withCommas(webhooks.received)} received, ${webhooks.repeated} of them again, ${webhooks.missing.length} of ${withCommas(webhooks.expected)} missing`,
      holds: webhooks.missing.length === 0 && webhooks.expected > 0,
    },
  ];
}

function load({ samples, plan }: LivedDay): BoundOfDay[] {
  const mean = (of: (sample: DaySample) => number) => meanOf(during(samples).map(of));
  const [busy, wanted, machine] = [
    mean(({ busy }) => busy),
    mean(({ wanted }) => wanted),
    mean(({ machine }) => machine),
  ];
  const others = Math.max(0, machine - busy);
  return [
    {
      says: `${percent(plan.load)} of the machine is used`,
      found: `${percent(busy)} of ${percent(wanted)} wanted; with everything else on it ${percent(machine)}`,
      holds: Math.abs(busy - wanted) <= MAX_OFF_LOAD * wanted,
    },
    ...(spanS(samples) > 3 * WARM_S
      ? [
          {
            says: `other programs use at most ${percent(MAX_OF_OTHERS)} of the machine`,
            found: percent(others),
            holds: others <= MAX_OF_OTHERS,
          },
        ]
      : []),
  ];
}

function memory({ samples, service }: LivedDay): BoundOfDay[] {
  const span = spanS(samples);
  const allowed = span > 3 * WARM_S ? MAX_GROWTH : MAX_GROWTH_WHILE_WARMING;
  const warm = span > 3 * WARM_S ? WARM_S : span / 3;
  // A process keeps the memory of its busiest hour, and V8 the code it compiled then; after that, neither may grow.
  const peaked = span > 3 * WARM_S ? (samples.findLast(({ hours }) => hours === BUSIEST)?.atS ?? warm) : warm;
  const afterRush = peaked > warm ? ' after the rush hour' : '';
  const bound = (name: string, what: 'heapBytes' | 'codeBytes' | 'rssBytes', says: string) => {
    const of = ({ processes }: DaySample) => processes.find((one: ProcessSample) => one.name === name)![what];
    const from = what === 'heapBytes' ? warm : peaked;
    const points = lowestOfParts(
      during(samples).filter(({ atS }) => atS >= from),
      of,
    );
    const growth = surelyGrew(points);
    const [first, last] = [points[0]?.[1] ?? 0, points.at(-1)?.[1] ?? 0];
    return {
      says: `${says} of ${name} is flat: grows by at most ${percent(allowed)}`,
      found: `${mb(first)} -> ${mb(last)}, surely by ${percent(growth)}`,
      holds: growth <= allowed && points.length > 0,
    };
  };
  const files = Math.max(...samples.flatMap(({ processes }) => processes.map((one) => one.files)));
  const most = Math.max(...samples.map(({ connections }) => connections));
  return [
    ...service.processes.flatMap(({ name }) => [
      bound(name, 'heapBytes', 'heap after collection'),
      bound(name, 'codeBytes', `compiled code${afterRush}`),
      bound(name, 'rssBytes', `resident memory${afterRush}`),
    ]),
    { says: `a process has at most ${MAX_FILES} open files`, found: `${files}`, holds: files <= MAX_FILES },
    {
      says: `Postgres has at most ${CONNECTIONS_PER_PROCESS} connections for each process`,
      found: `${most}`,
      holds: most <= CONNECTIONS_PER_PROCESS * service.processes.length + 3,
    },
  ];
}

function stores({ samples }: LivedDay): BoundOfDay[] {
  const [first, last] = [samples[0]!, samples.at(-1)!];
  const polls = Math.max(1, last.polls - first.polls);
  const perPoll = (last.databaseBytes - first.databaseBytes) / polls;
  const dead = last.tables.filter(({ rows, deadRows }) => deadRows > MAX_DEAD_SHARE * rows + MAX_DEAD_ROWS);
  const work = last.tables.filter(({ name, rows }) => TABLES_OF_WORK.includes(name) && rows > MAX_ROWS_OF_WORK);
  const redis = Math.max(
    ...samples.map(({ redis, atS, polls }) => {
      const before = samples.findLast((one) => one.atS <= atS - KEPT_IN_REDIS_S) ?? first;
      return (redis.bytes - first.redis.bytes) / Math.max(200, polls - before.polls);
    }),
  );
  const largest = last.tables.toSorted((a, b) => b.bytes + b.indexBytes - a.bytes - a.indexBytes).slice(0, 5);
  return [
    {
      says: `the database grows by at most ${withCommas(MAX_DATABASE_BYTES_PER_POLL)} bytes for each poll`,
      found: `${withCommas(Math.round(perPoll))}; ${mb(last.databaseBytes)}, the most in ${largest.map(({ name, bytes, indexBytes }) => `${name} ${mb(bytes + indexBytes)}`).join(', ')}`,
      holds: perPoll <= MAX_DATABASE_BYTES_PER_POLL,
    },
    {
      says: `a table has at most ${withCommas(MAX_DEAD_ROWS)} dead rows more than half of its live ones`,
      found:
        dead.length === 0
          ? 'all tables'
          : dead.map(({ name, rows, deadRows }) => `${name} ${deadRows} of ${rows}`).join(', '),
      holds: dead.length === 0,
    },
    {
      says: `tables of work under way have at most ${MAX_ROWS_OF_WORK} rows at the end`,
      found: work.length === 0 ? 'all of them' : work.map(({ name, rows }) => `${name} has ${rows}`).join(', '),
      holds: work.length === 0,
    },
    {
      says: `Redis holds at most ${withCommas(MAX_REDIS_BYTES_PER_POLL)} bytes for each poll of the last quarter of an hour`,
      found: `${withCommas(Math.round(redis))}; ${mb(last.redis.bytes)} and ${withCommas(last.redis.keys)} keys at the end`,
      holds: redis <= MAX_REDIS_BYTES_PER_POLL,
    },
  ];
}

function queue({ samples }: LivedDay): BoundOfDay[] {
  const oldest = Math.max(...samples.map(({ queue }) => queue.oldestS));
  const most = Math.max(...samples.map(({ queue }) => queue.standard));
  const { standard, flex } = samples.at(-1)!.queue;
  return [
    {
      says: `no poll waits for ${MAX_OLDEST_S} s, and the queues are empty at the end`,
      found: `at most ${oldest.toFixed(1)} s and ${most} polls; ${standard} and ${flex} at the end`,
      holds: oldest <= MAX_OLDEST_S && standard === 0 && flex === 0,
    },
  ];
}

function logs({ service, diary }: LivedDay): BoundOfDay[] {
  const requests = Math.max(1, requestsOf({ diary }));
  const bytes = service.processes.reduce((sum, { log }) => sum + log.bytes, 0);
  const texts = (of: 'warnings' | 'errors') => service.processes.flatMap(({ log }) => [...log[of]]);
  const count = (lines: readonly [string, number][]) => lines.reduce((sum, [, n]) => sum + n, 0);
  const [warnings, errors] = [texts('warnings'), texts('errors')];
  const shown = (lines: readonly [string, number][]) =>
    lines
      .slice(0, 4)
      .map(([text, n]) => `${n} x ${text}`)
      .join('; ');
  return [
    {
      says: `logs grow by at most ${withCommas(MAX_LOG_BYTES_PER_REQUEST)} bytes for each request`,
      found: `${Math.round(bytes / requests)}; ${mb(bytes)}`,
      holds: bytes / requests <= MAX_LOG_BYTES_PER_REQUEST,
    },
    {
      says: `no error is logged, and a warning for at most ${percent(MAX_WARNINGS_PER_REQUEST)} of all requests`,
      found: `${count(errors)} errors, ${count(warnings)} warnings${errors.length + warnings.length > 0 ? `: ${shown([...errors, ...warnings])}` : ''}`,
      holds: errors.length === 0 && count(warnings) <= Math.max(5, MAX_WARNINGS_PER_REQUEST * requests),
    },
  ];
}

function alarmsOf(alarms: AlarmsOfDay | null): BoundOfDay[] {
  if (alarms === null) return [];
  const { fired, pending, rules, failing } = alarms;
  return [
    {
      says: `none of ${rules} alarms fires, and each can be evaluated`,
      found: `${fired.length} fired${fired.length > 0 ? ` (${fired.join(', ')})` : ''}, ${pending.length} were pending${pending.length > 0 ? ` (${pending.join(', ')})` : ''}, ${failing.length} failed`,
      holds: rules > 0 && fired.length === 0 && failing.length === 0,
    },
  ];
}

/** Without the sample taken at the end, when nothing runs any more. */
const during = (samples: readonly DaySample[]) => samples.filter(({ hours }) => hours !== 'over');

export const requestsOf = ({ diary }: Pick<LivedDay, 'diary'>): number =>
  [...diary.ways.values()].reduce((sum, { times }) => sum + times.total, 0);

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

const spanS = (samples: readonly DaySample[]): number => (samples.at(-1)?.atS ?? 0) - (samples[0]?.atS ?? 0);

const PARTS = 20;

/** Memory for running work varies over the day. A leak also raises the minimum of each part of the day. */
function lowestOfParts(samples: readonly DaySample[], of: (sample: DaySample) => number): [number, number][] {
  const size = Math.max(1, Math.ceil(samples.length / PARTS));
  const parts = Map.groupBy(
    samples.map((sample, i) => ({ sample, part: Math.floor(i / size) })),
    ({ part }) => part,
  );
  return [...parts.values()].map((part) => {
    const lowest = part.map(({ sample }) => sample).reduce((low, sample) => (of(sample) < of(low) ? sample : low));
    return [lowest.atS, of(lowest)];
  });
}
