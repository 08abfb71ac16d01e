import type { Row } from './bench-row.ts';
import { accept } from './rows/accept.ts';
import { audited } from './rows/audits.ts';
import { batch } from './rows/batch.ts';
import { cold } from './rows/cold.ts';
import { decision } from './rows/decision.ts';
import { fair } from './rows/fair.ts';
import { life } from './rows/life.ts';
import { memory } from './rows/memory.ts';
import { peer } from './rows/peer.ts';
import { queue } from './rows/queue.ts';
import { relay } from './rows/relay.ts';
import { scaling } from './rows/scaling.ts';
import { shards } from './rows/shards.ts';
import { soak } from './rows/soak.ts';
import { status } from './rows/status.ts';
import { store } from './rows/store.ts';
import { streams } from './rows/streams.ts';
import { sync } from './rows/sync.ts';
import { wait } from './rows/wait.ts';
import { worker } from './rows/worker.ts';

/** In the order in which the targets are listed. */
export const ROWS: readonly Row[] = [
  sync,
  accept,
  status,
  wait,
  relay,
  streams,
  worker,
  life,
  queue,
  shards,
  store,
  memory,
  cold,
  decision,
  scaling,
  fair,
  audited,
  peer,
  batch,
  soak,
];
