import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { repeat, withTimeout } from '@eloquentpoll/ops';
import { type ClaimedBatch, claimBatches, countUnattendedBatches } from '@eloquentpoll/storage';
import type { PollsContext } from '../../polls/context.ts';
import { finishReport } from '../report/finish-report.ts';
import { RUNNER_LEASE_MS, runClaimedBatch } from './run-claimed-batch.ts';

// Each gateway takes batches that no other has, and runs them beside its requests. A gateway that is gone is noticed by
// its lease, within RUNNER_LEASE_MS and one look. Where more batches are open than gateways run at once, they take turns.

const LOOK_EVERY_MS = 1_500;
/** Of one gateway; further ones wait for another gateway, or for their turn. */
const MAX_BATCHES = 50;
/** A batch is kept so long before it is handed back for one that no gateway runs. */
const TURN_MS = 30_000;
/** Batches are handed back within this when the gateway leaves. */
const HAND_BACK_MS = 1_500;

export interface BatchRunner extends AsyncDisposable {
  /** Batches that this gateway runs. */
  readonly size: number;
}

interface Places {
  maxBatches?: number;
  turnMs?: number;
}

interface Turn {
  accountId: string;
  since: number;
  /** Hands it back. */
  over: AbortController;
  run: Promise<void>;
}

export function keepBatchesRunning(
  context: PollsContext,
  everyMs = LOOK_EVERY_MS,
  { maxBatches = MAX_BATCHES, turnMs = TURN_MS }: Places = {},
): BatchRunner {
  const owner = `gateway-${randomBytes(6).toString('hex')}`;
  const stop = new AbortController();
  const running = new Map<string, Turn>();
  context.metrics.reading('eloquentpoll_batches_running', () => running.size);

  function start(batch: ClaimedBatch): void {
    const named = { batch_id: batch.id, epoch: batch.epoch };
    context.log.info(named, 'batch.claimed');
    const over = new AbortController();
    if (stop.signal.aborted) over.abort();
    const { signal } = over;
    const pause = (ms: number) => wait(ms, undefined, { signal, ref: false }).catch(() => {});
    const run = runClaimedBatch(context, batch, { pause, signal })
      .then(async (outcome) => {
        context.log.info(named, `batch.${outcome}`);
        if (outcome === 'ended') await finishReport(context.storage, batch, stop.signal);
      })
      // Its lease runs out, and it is claimed again.
      .catch((err: unknown) => context.log.warn({ ...named, err }, 'batch.run_failed'))
      .finally(() => {
        if (running.get(batch.id)?.run === run) running.delete(batch.id);
      });
    running.set(batch.id, { accountId: batch.accountId, since: performance.now(), over, run });
  }

  /** As many as wait for a gateway, of those that had their turn. They are free for the next look. */
  async function handBack(): Promise<void> {
    const turns = [...running.values()].filter(({ over }) => !over.signal.aborted);
    const had = inOrderOfHandingBack(turns, performance.now() - turnMs);
    if (had.length === 0) return;
    const waiting = await countUnattendedBatches(context.storage, running.size);
    const leaving = running.size - turns.length;
    for (const { over } of had.slice(0, Math.max(0, waiting - leaving))) over.abort();
  }

  const looking = repeat(
    async () => {
      const free = maxBatches - running.size;
      if (free <= 0) return handBack();
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
      for (const { over } of running.values()) over.abort();
      await looking[Symbol.asyncDispose]();
      await withTimeout(Promise.all([...running.values()].map(({ run }) => run)), HAND_BACK_MS).catch(() => {});
    },
  };
}

/** Those begun before: first of the accounts that have the most here, then the oldest. */
function inOrderOfHandingBack(turns: readonly Turn[], begunBefore: number): Turn[] {
  const ofAccount = Map.groupBy(turns, ({ accountId }) => accountId);
  return turns
    .filter(({ since }) => since <= begunBefore)
    .toSorted((a, b) => ofAccount.get(b.accountId)!.length - ofAccount.get(a.accountId)!.length || a.since - b.since);
}
