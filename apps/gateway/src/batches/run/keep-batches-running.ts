import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { repeat, withTimeout } from '@eloquentpoll/ops';
import { type ClaimedBatch, claimBatches } from '@eloquentpoll/storage';
import type { PollsContext } from '../../polls/context.ts';
import { finishReport } from '../report/finish-report.ts';
import { RUNNER_LEASE_MS, runClaimedBatch } from './run-claimed-batch.ts';

// Each gateway takes batches that no other has, and runs them beside its requests. A gateway that is gone is noticed by
// its lease, within RUNNER_LEASE_MS and one look.

const LOOK_EVERY_MS = 1_500;
/** Of one gateway; further ones wait for another gateway, or for one of these to end. */
const MAX_BATCHES = 50;
/** Batches are handed back within this when the gateway leaves. */
const HAND_BACK_MS = 1_500;

export interface BatchRunner extends AsyncDisposable {
  /** Batches that this gateway runs. */
  readonly size: number;
}

export function keepBatchesRunning(context: PollsContext, everyMs = LOOK_EVERY_MS): BatchRunner {
  const owner = `gateway-${randomBytes(6).toString('hex')}`;
  const stop = new AbortController();
  const running = new Map<string, Promise<void>>();
  const pause = (ms: number) => wait(ms, undefined, { signal: stop.signal, ref: false }).catch(() => {});
  context.metrics.reading('eloquentpoll_batches_running', () => running.size);

  function start(batch: ClaimedBatch): void {
    const named = { batch_id: batch.id, epoch: batch.epoch };
    context.log.info(named, 'batch.claimed');
    const run = runClaimedBatch(context, batch, { pause, signal: stop.signal })
      .then(async (outcome) => {
        context.log.info(named, `batch.${outcome}`);
        if (outcome === 'ended') await finishReport(context.storage, batch, stop.signal);
      })
      // Its lease runs out, and it is claimed again.
      .catch((err: unknown) => context.log.warn({ ...named, err }, 'batch.run_failed'))
      .finally(() => {
        if (running.get(batch.id) === run) running.delete(batch.id);
      });
    running.set(batch.id, run);
  }

  const looking = repeat(
    async () => {
      const free = MAX_BATCHES - running.size;
      if (free <= 0) return;
      for (const batch of await claimBatches(context.storage, owner, RUNNER_LEASE_MS, free)) start(batch);
    },
    { everyMs, firstMs: 0, onError: (err) => context.log.warn({ err }, 'batches.look_failed') },
  );
  return {
    get size() {
      return running.size;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await looking[Symbol.asyncDispose]();
      await withTimeout(Promise.all(running.values()), HAND_BACK_MS).catch(() => {});
    },
  };
}
