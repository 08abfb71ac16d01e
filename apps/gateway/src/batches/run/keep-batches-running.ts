import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { repeat, withTimeout } from '@eloquentpoll/ops';
import { type ClaimedBatch, claimBatches, countUnattendedBatches } from '@eloquentpoll/storage';
import type { PollsContext } from '../../polls/context.ts';
import { finishReport } from '../report/finish-report.ts';
import { RUNNER_LEASE_MS, runClaimedBatch } from './run-claimed-batch.ts';

// Each gateway claims batches that no other runs, and runs them while it serves requests. The batches of a dead gateway
// are found when their lease lapses (RUNNER_LEASE_MS). If more batches are open than gateways can run, they take turns.

const LOOK_EVERY_MS = 1_500;
/** Per gateway; further batches wait for another gateway or for their turn. */
const MAX_BATCHES = 50;
/** How long a gateway keeps a batch before it hands it back in favour of a waiting one. */
const TURN_MS = 30_000;
/** Time limit for handing batches back at shutdown. */
const HAND_BACK_MS = 1_500;

export interface BatchRunner extends AsyncDisposable {
  /** Number of batches that this gateway runs. */
  readonly size: number;
}

interface Places {
  maxBatches?: number;
  turnMs?: number;
}

interface Turn {
  accountId: string;
  since: number;
  /** Aborting it hands the batch back. */
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
      // The batch's lease lapses, and a gateway claims it again.
      .catch((err: unknown) => context.log.warn({ ...named, err }, 'batch.run_failed'))
      .finally(() => {
        if (running.get(batch.id)?.run === run) running.delete(batch.id);
      });
    running.set(batch.id, { accountId: batch.accountId, since: performance.now(), over, run });
  }

  /** Hands back as many batches as wait for a gateway, among those that had their turn. The next look claims others. */
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

/** Turns begun before this time: those of accounts with the most batches here first, then the oldest. */
function inOrderOfHandingBack(turns: readonly Turn[], begunBefore: number): Turn[] {
  const ofAccount = Map.groupBy(turns, ({ accountId }) => accountId);
  return turns
    .filter(({ since }) => since <= begunBefore)
    .toSorted((a, b) => ofAccount.get(b.accountId)!.length - ofAccount.get(a.accountId)!.length || a.since - b.since);
}
