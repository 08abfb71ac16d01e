import type { ClaimedAudit } from '@eloquentpoll/storage';
import { askUnheard } from './audit-poll.ts';
import type { Context } from './context.ts';
import type { AuditStore } from './ports.ts';

// Audits polls after their answer was delivered, only while this worker is mostly idle and no standard poll waits. Audits never
// delay callers' polls: they use no slots of the queue.

const TICK_MS = 2_000;
/** Pause after the daily cap or the ceiling of provider spend is reached. */
const CAPPED_MS = 60_000;
/** Longer than any audit takes, so leases of audits are not renewed. */
const LEASE_MS = 120_000;
/** An audit that crashes its worker can crash at most one more. */
const MAX_ATTEMPTS = 2;
/** Rounds of learning per tick. Each round processes a bounded number of audits. */
const MAX_LESSONS = 5;

export interface Auditing {
  /** Stops the running audits and waits until each has been stored or given up. */
  stop(): Promise<void>;
}

export interface AuditPace {
  /** How many of callers' polls this worker runs at once. */
  concurrency: number;
  tickMs?: number;
}

export function keepAuditing(
  context: Context,
  audits: AuditStore,
  { concurrency, tickMs = TICK_MS }: AuditPace,
): Auditing {
  const { clock, log, random, leases, bus, workerId } = context;
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const lanes = Math.max(1, Math.floor(concurrency / 10));
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let ticking: Promise<void> | null = null;
  let cancel = clock.after(tickMs * random(), next);

  function next(): void {
    cancel();
    ticking = tick()
      .catch((err) => log.warn({ err }, 'audits.failed'))
      .finally(() => {
        ticking = null;
        if (!stopping.signal.aborted) cancel = clock.after(tickMs * (0.75 + random() / 2), next);
      });
  }

  /** Another audit may start, so look for one without waiting for the next tick. */
  function ended(audit: Promise<void>): void {
    running.delete(audit);
    if (ticking === null && !stopping.signal.aborted) next();
  }

  async function isIdle(): Promise<boolean> {
    return leases.size <= concurrency / 2 && (await bus.queueCounts()).waiting === 0;
  }

  async function tick(): Promise<void> {
    for (let lesson = 0; lesson < MAX_LESSONS && (await audits.learn()); lesson++);
    if (!audits.areMade || clock.now() < pausedUntil) return;
    while (!stopping.signal.aborted && running.size < lanes && (await isIdle())) {
      const claim = await audits.claim({ worker: workerId, leaseMs: LEASE_MS, maxAttempts: MAX_ATTEMPTS });
      if (claim.kind === 'none') return;
      if (claim.kind === 'capped') {
        pausedUntil = clock.now() + CAPPED_MS;
        return;
      }
      if (claim.kind !== 'claimed') continue;
      const audit = finish(claim).finally(() => ended(audit));
      running.add(audit);
    }
  }

  async function finish(claim: ClaimedAudit): Promise<void> {
    const { pollId, epoch } = claim;
    try {
      const finished = await askUnheard(context, claim, clock.now() + LEASE_MS, stopping.signal);
      const outcome = await audits.finish({ pollId, epoch, ...finished });
      log.info({ poll_id: pollId, roster_version: claim.rosterVersion, outcome }, 'audit.ended');
    } catch (err) {
      // Its lease runs out. Then another worker tries again or gives the audit up.
      log.warn({ poll_id: pollId, err }, 'audit.failed');
    }
  }

  return {
    async stop() {
      stopping.abort(new Error('the worker stops'));
      cancel();
      await ticking;
      await Promise.all(running);
    },
  };
}
