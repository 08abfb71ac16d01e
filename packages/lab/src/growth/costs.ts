/** What one poll of seven models takes, everything that it is stored and billed with included. */
export interface PollCosts {
  /** Microseconds of CPU. */
  gatewayUs: number;
  workerUs: number;
  postgresUs: number;
  redisUs: number;
  /** The part of redisUs that is the queue's, which one master carries. */
  queueUs: number;
  storedBytes: number;
  walBytes: number;
}

/** By `npm run bench -- --only life,shards,soak` on shared cores of an EPYC; infra/capacity.md says where each comes from,
 * docs/proof.md has every run. */
export const MEASURED: PollCosts = {
  gatewayUs: 530,
  workerUs: 940,
  postgresUs: 1_480,
  redisUs: 170,
  queueUs: 100,
  storedBytes: 8_000,
  walBytes: 14_000,
};

/** An idle gateway, and the streams that one is planned for. */
const [IDLE_GATEWAY_MB, STREAM_KB, STREAMS_PER_GATEWAY] = [141, 25.7, 5_000];

/** What does not depend on the machine's speed. */
export const MEMORY = {
  gatewayMb: IDLE_GATEWAY_MB + (STREAM_KB * STREAMS_PER_GATEWAY) / 1_000,
  workerMb: 85,
  workerMbPerPoll: 1.2,
  redisKbPerPoll: 20,
};

/** DATABASE_POOL as it is unless set; a worker checks the ledger on two more. */
export const CONNECTIONS = { gateway: 10, worker: 12 };

/** Calls per poll before a poll may stop, and the share of them that stopping early saves at a threshold of .95. */
export const CALLS = { asked: 7, saved: 0.3 };

/** List prices of the large clouds, rounded, in US dollars a month: for comparing plans, not for a budget. */
export const PRICES = { core: 25, memoryGb: 3.5, diskGb: 0.1, archiveGb: 0.023 };
