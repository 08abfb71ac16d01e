/** The cost of one poll of seven models, including storing and billing. */
export interface PollCosts {
  /** Microseconds of CPU. */
  gatewayUs: number;
  workerUs: number;
  postgresUs: number;
  redisUs: number;
  /** The queue's part of redisUs, which falls on a single master. */
  queueUs: number;
  storedBytes: number;
  walBytes: number;
}

/**
 * Measured by `npm run bench -- --only life,shards,soak` on shared cores of an EPYC. infra/capacity.md says where each
 * figure comes from; docs/proof.md has every run.
 */
export const MEASURED: PollCosts = {
  gatewayUs: 530,
  workerUs: 940,
  postgresUs: 1_480,
  redisUs: 170,
  queueUs: 100,
  storedBytes: 8_000,
  walBytes: 14_000,
};

/** Memory of an idle gateway and of a stream, and the number of streams planned per gateway. */
const [IDLE_GATEWAY_MB, STREAM_KB, STREAMS_PER_GATEWAY] = [141, 25.7, 5_000];

/** Figures that do not depend on the speed of the machine. */
export const MEMORY = {
  gatewayMb: IDLE_GATEWAY_MB + (STREAM_KB * STREAMS_PER_GATEWAY) / 1_000,
  workerMb: 85,
  workerMbPerPoll: 1.2,
  redisKbPerPoll: 20,
};

/** The default DATABASE_POOL; a worker uses two more connections to check the ledger. */
export const CONNECTIONS = { gateway: 10, worker: 12 };

/** Calls of a poll that asks all models, and the share that early stopping saves at a threshold of .95. */
export const CALLS = { asked: 7, saved: 0.3 };

/** List prices of the large clouds, rounded, in US dollars a month: for comparing plans, not for a budget. */
export const PRICES = { core: 25, memoryGb: 3.5, diskGb: 0.1, archiveGb: 0.023 };
