import { chance } from '../terminal/chance.ts';
import { CALLS, CONNECTIONS, MEMORY, type PollCosts, PRICES } from './costs.ts';
import { waitForSlots } from './wait-for-slots.ts';

// Plans for a rate of polls: processes, databases, cells, provider calls and dollars, and which part is exhausted
// first.

export interface PlanTerms {
  costs: PollCosts;
  perSecond: number;
  /** Median time of a poll. */
  pollMs: number;
  /** Number of polls that one worker runs at once. */
  slots: number;
  /** Maximum load of a core, chosen so that the loss of a third is tolerable. */
  busy: number;
  /** Cores of the largest Postgres that the operator wants to run. */
  postgresCores: number;
  redisMasters: number;
  /** Limit per minute for one model and one provider account. */
  callsPerMinute: number;
  /** How many days results are kept. */
  keptDays: number;
  seed: string;
}

export interface LoadedPart {
  name: string;
  /** Used share of the part's capacity, in each cell. */
  used: number;
}

export interface GrowthPlan {
  cells: number;
  perCell: {
    perSecond: number;
    gateways: number;
    workers: number;
    redisMasters: number;
    postgresCores: number;
    connections: number;
  };
  /** The parts of a cell, most loaded first. */
  parts: LoadedPart[];
  /** 99 % of polls wait for a slot for less than this, even with one worker of the cell down. */
  waitMs: number;
  modelCallsPerSecond: number;
  providerAccounts: number;
  storedGbPerDay: number;
  dollarsPerMonth: number;
}

const US = 1_000_000;
const MAX_WAIT_MS = 100;
const DAY_S = 86_400;
const CORES_PER_GATEWAY = 1;
/** Megabytes of log per second that a primary can write without delaying commits. */
const WAL_MB_PER_S = 150;

export function planFor(terms: PlanTerms): GrowthPlan {
  const { costs, perSecond, busy, redisMasters, postgresCores } = terms;
  const most = {
    'Postgres CPU': (postgresCores * busy * US) / costs.postgresUs,
    'Postgres log': (WAL_MB_PER_S * 1e6) / costs.walBytes,
    'queue, on one Redis master': (busy * US) / (costs.queueUs + (costs.redisUs - costs.queueUs) / redisMasters),
    'Redis, all masters': (busy * US * redisMasters) / costs.redisUs,
  };
  const cells = Math.max(1, Math.ceil(perSecond / Math.min(...Object.values(most))));
  const inCell = perSecond / cells;
  const workers = workersFor(terms, inCell);
  const gateways = Math.max(2, Math.ceil((inCell * costs.gatewayUs) / US / (CORES_PER_GATEWAY * busy)));
  const cores = (us: number) => (inCell * us) / US / busy;
  const running = (inCell * terms.pollMs) / 1_000;
  const parts = [
    ...Object.entries(most).map(([name, limit]) => ({ name, used: inCell / limit })),
    { name: 'worker slots', used: running / (workers * terms.slots) },
    { name: 'worker CPU', used: cores(costs.workerUs) / workers },
    { name: 'gateway CPU', used: cores(costs.gatewayUs) / gateways },
  ].toSorted((a, b) => b.used - a.used);
  const storedGbPerDay = (perSecond * DAY_S * costs.storedBytes) / 1e9;
  const modelCallsPerSecond = perSecond * CALLS.asked * (1 - CALLS.saved);
  return {
    cells,
    perCell: {
      perSecond: inCell,
      gateways,
      workers,
      redisMasters: inCell * costs.redisUs > busy * US ? redisMasters : 1,
      postgresCores: Math.max(2, Math.ceil(cores(costs.postgresUs))),
      connections: gateways * CONNECTIONS.gateway + workers * CONNECTIONS.worker,
    },
    parts,
    waitMs: waitOf(terms, inCell, workers),
    modelCallsPerSecond,
    // All models of a panel are asked equally often.
    providerAccounts: Math.ceil((modelCallsPerSecond * 60) / CALLS.asked / terms.callsPerMinute),
    storedGbPerDay,
    dollarsPerMonth:
      cells * dollarsOfCell(terms, { inCell, gateways, workers }) + storageDollars(terms, storedGbPerDay),
  };
}

/** Enough for CPU and slots, and so that almost no poll waits with one worker down. */
function workersFor(terms: PlanTerms, inCell: number): number {
  const byCpu = (inCell * terms.costs.workerUs) / US / terms.busy;
  const bySlots = (inCell * terms.pollMs) / 1_000 / (0.7 * terms.slots);
  let workers = Math.max(2, Math.ceil(byCpu), Math.ceil(bySlots));
  while (waitOf(terms, inCell, workers) > MAX_WAIT_MS) workers += 1;
  return workers;
}

const waitOf = ({ pollMs, slots, seed }: PlanTerms, perSecond: number, workers: number): number =>
  waitForSlots({ perSecond, pollMs, slots: Math.max(1, workers - 1) * slots }, chance(seed));

function dollarsOfCell(
  { costs, busy, slots, pollMs }: PlanTerms,
  { inCell, gateways, workers }: { inCell: number; gateways: number; workers: number },
): number {
  const running = (inCell * pollMs) / 1_000;
  const postgresCores = Math.max(2, (inCell * costs.postgresUs) / US / busy);
  const redisCores = Math.max(1, (inCell * costs.redisUs) / US / busy);
  const redisGb = Math.max(0.25, (running * MEMORY.redisKbPerPoll) / 1e6);
  // Databases count twice, because each has a replica.
  const cores = gateways * CORES_PER_GATEWAY + workers + 2 * (postgresCores + redisCores);
  const workerGb = (MEMORY.workerMb + Math.min(slots, running / workers) * MEMORY.workerMbPerPoll) / 1_000;
  const gb = (gateways * MEMORY.gatewayMb) / 1_000 + workers * workerGb + 2 * (4 * postgresCores + redisGb);
  return cores * PRICES.core + gb * PRICES.memoryGb;
}

/** A month of data on two disks, older data archived, and a week of log for point-in-time recovery. */
function storageDollars({ perSecond, costs, keptDays }: PlanTerms, storedGbPerDay: number): number {
  const onDisk = Math.min(keptDays, 30) * storedGbPerDay;
  const archived = Math.max(0, keptDays - 30) * storedGbPerDay + (7 * perSecond * DAY_S * costs.walBytes) / 1e9;
  return 2 * onDisk * PRICES.diskGb + archived * PRICES.archiveGb;
}
