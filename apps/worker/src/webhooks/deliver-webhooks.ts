import { setTimeout as wait } from 'node:timers/promises';
import { WEBHOOK_ERRORS } from '@eloquentpoll/contracts';
import type { Metrics } from '@eloquentpoll/ops';
import { withTimeout } from '@eloquentpoll/ops/with-timeout';
import {
  type AttemptOutcome,
  type ClaimedDelivery,
  claimDeliveries,
  endAttempt,
  type Storage,
  spreadWebhookEvents,
} from '@eloquentpoll/storage';
import { SEND_TIMEOUT_MS } from '@eloquentpoll/webhooks';
import { type SendingParts, sendDelivery } from './send-delivery.ts';

// Sends webhooks while this worker runs polls. It looks for new events and due deliveries twice a second, and at once
// while there are more. When a worker dies, others take its deliveries after the leases lapse.

const LOOK_EVERY_MS = 500;
const LOOK_AGAIN_MS = 20;
const EVENTS_AT_ONCE = 200;
const LEASE_MS = 2 * SEND_TIMEOUT_MS;
const PER_RECEIVER = 8;
/** The maximum share of attempts to slow receivers, so that the others are not blocked. */
const SLOW_SHARE = 0.5;
const DRAIN_MS = 3_000;

export interface Delivering extends SendingParts {
  storage: Storage;
  workerId: string;
  /** Maximum number of concurrent attempts. */
  concurrency: number;
  metrics: Pick<Metrics, 'counter' | 'histogram' | 'reading'>;
  log: Record<'warn' | 'error', (fields: object, event: string) => void>;
  /** How long running attempts may take at shutdown. The rest is left to other workers. */
  drainMs?: number;
}

export function deliverWebhooks(parts: Delivering): AsyncDisposable {
  const { storage, workerId, concurrency, metrics, log, drainMs = DRAIN_MS } = parts;
  const ending = new AbortController();
  const cut = new AbortController();
  const underWay = new Map<Promise<void>, ClaimedDelivery>();
  let wake = () => {};
  const observed = observe(metrics, () => underWay.size);

  async function look(): Promise<boolean> {
    const events = await spreadWebhookEvents(storage, EVENTS_AT_ONCE);
    const limit = concurrency - underWay.size;
    if (limit <= 0) return events === EVENTS_AT_ONCE;
    const slow = [...underWay.values()].filter(({ isQuick }) => !isQuick).length;
    const claimed = await claimDeliveries(storage, {
      worker: workerId,
      limit,
      slow: Math.max(0, Math.ceil(concurrency * SLOW_SHARE) - slow),
      leaseMs: LEASE_MS,
      perReceiver: PER_RECEIVER,
      perAccount: Math.ceil(concurrency / 4),
    });
    for (const delivery of claimed) begin(delivery);
    return claimed.length > 0 || events === EVENTS_AT_ONCE;
  }

  function begin(delivery: ClaimedDelivery): void {
    const attempt = deliver(delivery).finally(() => {
      underWay.delete(attempt);
      wake();
    });
    underWay.set(attempt, delivery);
  }

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    try {
      const outcome = await sendDelivery(parts, delivery, cut.signal);
      const isEnded = await endAttempt(storage, delivery, workerId, outcome);
      if (isEnded) observed.ended(delivery, outcome);
    } catch (err) {
      // Its lease lapses, and another worker sends it.
      log.error({ err, delivery_id: delivery.id }, 'webhook.attempt_lost');
    }
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      let isBusy = false;
      try {
        isBusy = await look();
      } catch (err) {
        log.warn({ err }, 'webhook.look_failed');
      }
      await pause(isBusy);
    }
  }

  /** Waits until it is time to look again, or until an attempt has ended and there may be more to do. */
  async function pause(isBusy: boolean): Promise<void> {
    await sleep(LOOK_AGAIN_MS);
    if (isBusy && underWay.size < concurrency) return;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    await Promise.race([woken, sleep(LOOK_EVERY_MS * (0.75 + Math.random() / 2))]);
  }

  const sleep = (ms: number) => wait(ms, undefined, { signal: ending.signal, ref: false }).catch(() => {});

  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
      await withTimeout(Promise.all(underWay.keys()), drainMs).catch(() => {});
      cut.abort();
      await withTimeout(Promise.all(underWay.keys()), DRAIN_MS).catch(() => {});
    },
  };
}

const OUTCOMES = ['delivered', 'status', 'gone', ...WEBHOOK_ERRORS] as const;

function observe(metrics: Delivering['metrics'], underWay: () => number) {
  for (const outcome of OUTCOMES) metrics.counter('eloquentpoll_webhook_attempts_total', outcome);
  const failed = metrics.counter('eloquentpoll_webhooks_failed_total');
  const delay = metrics.histogram('eloquentpoll_webhook_delay_seconds');
  metrics.reading('eloquentpoll_webhooks_under_way', underWay);
  return {
    ended({ attempt, happenedAt }: ClaimedDelivery, outcome: AttemptOutcome): void {
      if (outcome.kind === 'released') return;
      const kind = outcome.kind === 'delivered' || outcome.kind === 'gone' ? outcome.kind : null;
      metrics.counter('eloquentpoll_webhook_attempts_total', kind ?? outcome.entry.error ?? 'status').n += 1;
      if (outcome.kind === 'failed' || outcome.kind === 'gone') failed.n += 1;
      // Only first attempts: the delay of later ones depends on the receiver.
      if (attempt === 1 && outcome.kind === 'delivered')
        delay.observe(Math.max(0, Date.now() - happenedAt.getTime()) / 1_000);
    },
  };
}
