import { loadRosters } from '@eloquentpoll/models/rosters';
import { checkLedger } from '@eloquentpoll/storage';
import type { Progress } from '../terminal/progress.ts';
import { percentile, seconds, table } from '../terminal/table.ts';
import { hireCrew } from './crew.ts';
import type { Bench } from './experiment.ts';
import type { AcceptedPoll, History, Settlement, StoredBallot } from './history.ts';
import { clockAheadMs, keepJournal, type PollEvent, readJournal } from './journal.ts';
import { callsAfterTheEnd, RULES, repeatedCalls, resumes } from './judge-history.ts';
import { startLoad } from './load.ts';
import { expectedMs, type Strike, strike } from './nemesis.ts';
import { startSimulator } from './simulators.ts';
import type { Stores } from './throw-away.ts';

// Workers are killed and stopped under load; afterwards the history is judged.

export interface StrikeSettings {
  seed: string;
  kills: number;
  stops: number;
  /** At least so many; the load goes on while there is something to strike. */
  polls: number;
  inFlight: number;
}

const WORKERS = 3;
const DEADLINE_MS = 120_000;
const LATENCY_SCALE = 1;
const SPARE_MS = 300_000;

export interface StrikeReport {
  settings: StrikeSettings;
  tookMs: number;
  figures: Record<string, number | string | null>;
  complaints: Record<string, number>;
  rules: { rule: string; violations: number; examples: string[] }[];
}

export async function strikeWorkers(bench: Bench, settings: StrikeSettings, progress: Progress): Promise<StrikeReport> {
  const { stores, home, folder, seed } = { ...bench, seed: settings.seed };
  const begun = performance.now();
  const bound = AbortSignal.timeout(expectedMs(settings.kills, settings.stops) * 2 + SPARE_MS);
  const signal = AbortSignal.any([bench.signal, bound]);
  const aheadMs = await clockAheadMs(stores);
  await keepJournal(stores);
  const simulator = await startSimulator(home, folder, {
    seed,
    latency_scale: LATENCY_SCALE,
    call_log_size: 1_000_000,
  });
  const crew = await hireCrew(home, WORKERS, {
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    REDIS_PREFIX: stores.redisPrefix,
    MODELS_FILE: 'simulator',
    MODELS_BASE_URL: simulator.modelsUrl,
    WORKER_CONCURRENCY: '50',
  });
  const load = await startLoad({
    stores,
    rosters: loadRosters({ file: 'simulator' }),
    seed,
    inFlight: settings.inFlight,
    deadlineMs: DEADLINE_MS,
    signal,
  });
  const strikes: Strike[] = [];
  const count = (kind: Strike['kind']) => strikes.filter((one) => one.kind === kind).length;
  const shown = setInterval(() => {
    progress.show(
      `${seconds(performance.now() - begun, 0)}: ${count('kill')}/${settings.kills} kills, ` +
        `${count('stop')}/${settings.stops} stops, ${load.accepted.length} polls accepted, ${load.running} running, ` +
        `${crew.running} workers`,
    );
  }, 250);
  try {
    await Promise.race([
      crew.broken,
      load.broken,
      (async () => {
        const { kills, stops } = settings;
        await strike({ stores, crew, seed, kills, stops, signal, onStrike: (one) => strikes.push(one) });
        while (load.accepted.length < settings.polls) {
          signal.throwIfAborted();
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        await load.finish(DEADLINE_MS + 30_000);
        await crew.settled();
      })(),
    ]);
  } finally {
    clearInterval(shown);
    progress.end();
  }
  signal.throwIfAborted();
  const history = await readHistory(stores, aheadMs, {
    accepted: load.accepted,
    arrivals: load.arrivals,
    strikes,
    calls: await simulator.calls(),
  });
  const tookMs = performance.now() - begun;
  return {
    settings,
    tookMs: Math.round(tookMs),
    figures: { ...(await figuresOf(stores, history)), ...startsOf(crew.startsMs) },
    complaints: Object.fromEntries([...crew.complaints].sort()),
    rules: RULES.map(({ name, broken }) => {
      const violations = broken(history);
      return { rule: name, violations: violations.length, examples: violations.slice(0, 5) };
    }),
  };
}

async function readHistory(
  stores: Stores,
  aheadMs: number,
  seen: Pick<History, 'accepted' | 'arrivals' | 'strikes' | 'calls'>,
): Promise<History> {
  const ballots = await stores.query<{ poll_id: string; seat: number; voted: boolean; billed_u: string }>(
    'select poll_id, seat, option is not null as voted, billed_u from ballots',
  );
  const settlements = await stores.query<{ poll_id: string; posts: number; voids: number; posted_u: string }>(`
    select poll_id, (count(*) filter (where kind = 'post'))::integer as posts,
           (count(*) filter (where kind = 'void'))::integer as voids,
           coalesce(sum(amount_u) filter (where kind = 'post'), 0)::text as posted_u
      from transfers where poll_id is not null group by poll_id`);
  return {
    ...seen,
    journal: await readJournal(stores, aheadMs),
    ballots: ballots.map(
      ({ poll_id, seat, voted, billed_u }): StoredBallot => ({
        pollId: poll_id,
        seat,
        voted,
        billedU: BigInt(billed_u),
      }),
    ),
    settlements: settlements.map(
      ({ poll_id, posts, voids, posted_u }): Settlement => ({
        pollId: poll_id,
        posts,
        voids,
        postedU: BigInt(posted_u),
      }),
    ),
    ledger: await checkLedger(stores.storage),
  };
}

async function figuresOf({ query }: Stores, history: History): Promise<StrikeReport['figures']> {
  const { accepted, journal, strikes, calls, ballots } = history;
  const [kinds] = await query<Record<string, number>>(`
    select (count(*) filter (where status = 'completed'))::integer as completed,
           (count(*) filter (where status = 'failed'))::integer as failed,
           (count(*) filter (where attempts > 1))::integer as resumed, max(attempts) as most_attempts,
           (select count(*)::integer from dead_letters) as buried,
           (select count(*)::integer from results where status = 'partial') as partial
      from polls`);
  const held = (kind: Strike['kind']) =>
    strikes.filter((one) => one.kind === kind).reduce((sum, one) => sum + one.held.length, 0);
  const arrived = strikes.reduce((sum, one) => sum + one.held.reduce((n, poll) => n + poll.arrived.length, 0), 0);
  const [afterKill, afterStop] = [resumes(history, 'kill'), resumes(history, 'stop')];
  const toEnd = waits(accepted, journal, 'ended');
  const toClaim = waits(accepted, journal, 'claimed');
  return {
    kills: strikes.filter((one) => one.kind === 'kill').length,
    stops: strikes.filter((one) => one.kind === 'stop').length,
    polls: accepted.length,
    completed: kinds!.completed!,
    failed: kinds!.failed!,
    partial: kinds!.partial!,
    'given up after five claims': kinds!.buried!,
    'claimed more than once': kinds!.resumed!,
    'most claims of a poll': kinds!.most_attempts!,
    'polls held by killed workers': held('kill'),
    'polls held by stopped workers': held('stop'),
    'of these claimed by another meanwhile': afterStop.length,
    'ballots that had arrived for them': arrived,
    'ballots stored': ballots.length,
    'votes billed': ballots.filter((ballot) => ballot.billedU > 0n).length,
    calls: calls.length,
    'calls repeated after a strike': repeatedCalls(history),
    'calls after the end of their poll': callsAfterTheEnd(history),
    'resume after kill p50': seconds(percentile(afterKill, 0.5)),
    'resume after kill p99': seconds(percentile(afterKill, 0.99)),
    'resume after kill max': seconds(percentile(afterKill, 1)),
    'resume after stop p50': seconds(percentile(afterStop, 0.5)),
    'resume after stop p99': seconds(percentile(afterStop, 0.99)),
    'accepted to first claim p50': seconds(percentile(toClaim, 0.5), 2),
    'accepted to first claim p99': seconds(percentile(toClaim, 0.99)),
    'accepted to first claim max': seconds(percentile(toClaim, 1)),
    'accepted to end p50': seconds(percentile(toEnd, 0.5)),
    'accepted to end p99': seconds(percentile(toEnd, 0.99)),
    'accepted to end max': seconds(percentile(toEnd, 1)),
  };
}

const startsOf = (startsMs: readonly number[]) => ({
  'worker start p50': seconds(percentile(startsMs, 0.5)),
  'worker start p99': seconds(percentile(startsMs, 0.99)),
});

/** From accept to the first event of this kind. */
function waits(accepted: readonly AcceptedPoll[], journal: readonly PollEvent[], kind: PollEvent['kind']): number[] {
  const first = new Map<string, number>();
  for (const event of journal) if (event.kind === kind && !first.has(event.pollId)) first.set(event.pollId, event.at);
  return accepted.flatMap(({ pollId, at }) => (first.has(pollId) ? [Math.max(0, first.get(pollId)! - at)] : []));
}

export const strikesHold = (report: StrikeReport): boolean => report.rules.every((rule) => rule.violations === 0);

export function strikeLines(report: StrikeReport): string[] {
  const { settings, figures, complaints, rules, tookMs } = report;
  const logged = Object.entries(complaints);
  return [
    `Workers killed and stopped under load: seed ${settings.seed}, ${WORKERS} workers, ${settings.inFlight} polls at ` +
      `once, ${seconds(tookMs, 0)}`,
    '',
    ...table(
      ['figure', 'value'],
      Object.entries(figures).map(([name, value]) => [name, String(value)]),
    ),
    '',
    ...table(
      ['what must hold', 'violations'],
      rules.map(({ rule, violations }) => [rule, violations === 0 ? '0' : `${violations}  <-- broken`]),
    ),
    ...rules.flatMap(({ examples }) => examples.map((example) => `  ${example}`)),
    '',
    ...(logged.length === 0
      ? ['the workers logged no warning']
      : table(
          ['workers logged', 'times'],
          logged.map(([text, times]) => [text, String(times)]),
        )),
  ];
}
