import { setTimeout as sleep } from 'node:timers/promises';
import { openBus } from '@eloquentpoll/bus';
import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import pg from 'pg';
import { marginProblems } from '../fixture/voting-panel.ts';
import { chance } from '../terminal/chance.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import { openPersonInBrowser } from './activities/browser.ts';
import { signUpByLogin, signUpByWallet } from './activities/money.ts';
import { caller } from './call.ts';
import type { DayUser } from './day-user.ts';
import { Diary } from './diary.ts';
import { closeDay, type EndOfDay } from './end-of-day.ts';
import { followRecord, openProviderRecord } from './provider-record.ts';
import { openReceiver } from './receiver.ts';
import { recordQuestions } from './recorded-questions.ts';
import { runHours } from './run-hours.ts';
import { type DayServers, type DayService, startDayService } from './service.ts';
import { type DaySample, openTimeline, type Query } from './timeline.ts';
import type { DayWorld } from './world.ts';

// A day of the whole service, compressed into minutes: users come and go by the hour, every answer is checked, and
// everything that may grow is sampled.

export interface DayPlan {
  readonly minutes: number;
  /** Target share of the machine's CPU, averaged over the day. */
  readonly load: number;
  readonly seed: string;
  readonly people: { byWallet: number; byLogin: number };
  readonly instances: number;
  readonly sampleEveryMs: number;
  /** 0: no Prometheus and no alarms. */
  readonly scrapeEveryS: number;
  /** 0: no browser. */
  readonly browserEveryMs: number;
}

export interface LivedDay {
  readonly plan: DayPlan;
  readonly diary: Diary;
  readonly samples: readonly DaySample[];
  readonly end: EndOfDay;
  readonly service: DayService;
  readonly startedAt: Date;
  readonly endedAt: Date;
}

export interface DaySurroundings {
  group: ProcessGroup;
  servers: DayServers;
  signal: AbortSignal;
  progress: ProgressLine;
  /** Called at the end of the day, while the service still runs. */
  atEnd?: (day: LivedDay) => Promise<void>;
}

const QUESTIONS = 4_000;
const ENDS_WITHIN_MS = 180_000;
const RECORD_WITHIN_MS = 60_000;
const HTML = { accept: 'text/html' };

export async function liveDay(
  plan: DayPlan,
  { group, servers, signal, progress, atEnd }: DaySurroundings,
): Promise<LivedDay> {
  await using made = new AsyncDisposableStack();
  const questions = recordQuestions(plan.seed, QUESTIONS);
  const { instances, seed, scrapeEveryS } = plan;
  const service = made.use(await startDayService({ group, servers, questions, seed, scrapeEveryS, instances }));
  const diary = new Diary(progress.note);
  const receiver = made.use(await openReceiver(diary));
  const call = caller(service.gateways, diary);
  const arriving = { call, diary, receiver };
  diary.judge('page', marginProblems((await call({ way: 'page', path: '/pricing', headers: HTML })).text));
  const people = await everyone(plan, arriving);
  if (people.length === 0) throw new Error(`no account could be opened: ${diary.wrong.join('; ')}`);
  const { query, bus } = await openStores(service, made);
  const { simulatorUrl } = service;
  const record = openProviderRecord({ simulatorUrl, diary, pollIdsOf: (resultIds) => pollIdsOf(query, resultIds) });
  const world: DayWorld = {
    ...arriving,
    record,
    questions,
    chance: chance(`${seed}|users`),
    people,
    baseUrl: service.gateways[0]!,
    signal,
  };

  const timeline = openTimeline({ service, query, bus, diary });
  const startedAt = new Date();
  const open = new Set<Promise<void>>();
  const begin = (activity: (world: DayWorld) => Promise<void>) => {
    const one = activity(world)
      .catch((error: unknown) =>
        diary.note(`a user's program: ${error instanceof Error ? error.stack : String(error)}`),
      )
      .finally(() => open.delete(one));
    open.add(one);
  };
  const browser = plan.browserEveryMs === 0 ? null : made.use(await openPersonInBrowser());
  const over = new AbortController();
  const followed = followRecord(record, diary, over.signal);
  made.defer(() => over.abort());
  await runHours(plan, { signal, open, begin, visit: browser?.visit ?? null, timeline, diary, progress });

  const late = sleep(ENDS_WITHIN_MS, 'late' as const, { ref: false });
  if ((await Promise.race([Promise.all(open), late])) === 'late')
    diary.note(`${open.size} users had no answer at the end`);
  await timeline.look({ atS: secondsSince(startedAt), hours: 'over', wanted: 0, busy: 0, machine: 0, perSecond: 0 });
  over.abort();
  await followed;
  await record.settle(RECORD_WITHIN_MS);
  const end = await closeDay({ service, query, people, receiver, diary, call });
  const day = { plan, diary, samples: timeline.samples, end, service, startedAt, endedAt: new Date() };
  await atEnd?.(day);
  return day;
}

async function everyone({ people }: DayPlan, arriving: Parameters<typeof signUpByWallet>[0]): Promise<DayUser[]> {
  const found: (DayUser | null)[] = [];
  for (let i = 0; i < people.byWallet; i++) found.push(await signUpByWallet(arriving, `wallet-${i}`));
  for (let i = 0; i < people.byLogin; i++) found.push(await signUpByLogin(arriving, `login-${i}`));
  return found.filter((person) => person !== null);
}

async function openStores(service: DayService, made: AsyncDisposableStack) {
  const bus = made.use(
    await openBus({ redisUrl: service.redisUrl, prefix: service.redisPrefix, commandTimeoutMs: 30_000 }),
  );
  const pool = new pg.Pool({ connectionString: service.databaseUrl, max: 2 });
  pool.on('error', () => {});
  made.defer(() => pool.end());
  const query: Query = async <Row extends object>(sql: string) => (await pool.query<Row>(sql)).rows;
  return { query, bus };
}

/** The poll ids that providers see, by the result ids that callers know. */
async function pollIdsOf(query: Query, resultIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const known = resultIds.filter((id) => RESULT_ID.test(id)).map((id) => `'${id}'`);
  if (known.length === 0) return new Map();
  const sql = `select id, result_id as "resultId" from polls where result_id in (${known.join(', ')})`;
  const rows = await query<{ id: string; resultId: string }>(sql);
  return new Map(rows.map(({ id, resultId }) => [resultId, id]));
}

const RESULT_ID = /^EP-[\w-]+$/;

const secondsSince = (start: Date): number => (Date.now() - start.getTime()) / 1_000;
