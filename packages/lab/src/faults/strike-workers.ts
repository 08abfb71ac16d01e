import { loadPanels } from '@eloquentpoll/models/panels';
import { checkLedger } from '@eloquentpoll/storage';
import type { Experiment } from '../fixture/experiment.ts';
import { startSimulator } from '../fixture/simulators.ts';
import type { Stores } from '../fixture/stores.ts';
import type { Progress } from '../terminal/progress.ts';
import { percentile, seconds, table } from '../terminal/table.ts';
import { hireCrew } from './crew.ts';
import type { History, Settlement, StoredVote } from './history.ts';
import { clockAheadMs, keepJournal, readJournal } from './journal.ts';
import { RULES } from './judge-history.ts';
import { startLoad } from './load.ts';
import { expectedMs, handsFor, type Strike, strike } from './nemesis.ts';
import { type Figures, figuresOf } from './strike-figures.ts';

// Workers are killed and stopped under load; afterwards the history is judged.

export interface StrikeSettings {
  seed: string;
  kills: number;
  stops: number;
  /** At least so many; the load goes on while there is something to strike. */
  polls: number;
  inFlight: number;
  workers: number;
}

const DEADLINE_MS = 120_000;
const LATENCY_SCALE = 1;
const SPARE_MS = 300_000;

export interface StrikeReport {
  settings: StrikeSettings;
  tookMs: number;
  figures: Figures;
  complaints: Record<string, number>;
  rules: { rule: string; violations: number; examples: string[] }[];
}

export async function strikeWorkers(
  bench: Experiment,
  settings: StrikeSettings,
  progress: Progress,
): Promise<StrikeReport> {
  const { stores, group } = bench;
  const { seed } = settings;
  const begun = performance.now();
  const hands = handsFor(settings.workers);
  const bound = AbortSignal.timeout(expectedMs(settings.kills, settings.stops, hands) * 2 + SPARE_MS);
  const signal = AbortSignal.any([bench.signal, bound]);
  const aheadMs = await clockAheadMs(stores);
  await keepJournal(stores);
  const simulator = await startSimulator(group, {
    seed,
    latency_scale: LATENCY_SCALE,
    call_log_size: 1_000_000,
  });
  const crew = await hireCrew(group, settings.workers, {
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    REDIS_PREFIX: stores.redisPrefix,
    MODELS_FILE: 'simulator',
    MODELS_BASE_URL: simulator.modelsUrl,
    WORKER_CONCURRENCY: '50',
  });
  const load = await startLoad({
    stores,
    panels: loadPanels({ file: 'simulator' }),
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
        await strike({ stores, crew, seed, kills, stops, hands, signal, onStrike: (one) => strikes.push(one) });
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
  const votes = await stores.query<{ poll_id: string; seat: number; voted: boolean; billed_u: string }>(
    'select poll_id, seat, option is not null as voted, billed_u from votes',
  );
  const settlements = await stores.query<{ poll_id: string; posts: number; voids: number; posted_u: string }>(`
    select poll_id, (count(*) filter (where kind = 'post'))::integer as posts,
           (count(*) filter (where kind = 'void'))::integer as voids,
           coalesce(sum(amount_u) filter (where kind = 'post'), 0)::text as posted_u
      from transfers where poll_id is not null group by poll_id`);
  return {
    ...seen,
    journal: await readJournal(stores, aheadMs),
    votes: votes.map(
      ({ poll_id, seat, voted, billed_u }): StoredVote => ({
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

const startsOf = (startsMs: readonly number[]) => ({
  'worker start p50': seconds(percentile(startsMs, 0.5)),
  'worker start p99': seconds(percentile(startsMs, 0.99)),
});

export const strikesHold = (report: StrikeReport): boolean => report.rules.every((rule) => rule.violations === 0);

export function strikeLines(report: StrikeReport): string[] {
  const { settings, figures, complaints, rules, tookMs } = report;
  const logged = Object.entries(complaints);
  return [
    `Workers killed and stopped under load: seed ${settings.seed}, ${settings.workers} workers, ` +
      `${settings.inFlight} polls at once, ${seconds(tookMs, 0)}`,
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
