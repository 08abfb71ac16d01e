import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { openLog, openMetrics } from '@eloquentpoll/ops';
import { claimDeliveries, createAccount, ensureAccountEndpoint, insertWebhookEndpoint } from '@eloquentpoll/storage';
import { messageSender, newWebhookSecret, openSecretBox, type SecretBox } from '@eloquentpoll/webhooks';
import { deliverWebhooks } from '@eloquentpoll/worker/deliver-webhooks';
import type { Stores } from '../fixture/stores.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import { percentile } from '../terminal/table.ts';
import {
  type HostileReceivers,
  type Misbehaviour,
  openReceivers,
  RECEIVER_KINDS,
  type ReceiverKind,
} from './receivers.ts';

// Webhooks to receivers most of which misbehave: two workers send, a third dies after it has claimed deliveries.

export interface HostilePlan extends Misbehaviour {
  webhooks: number;
  accounts: number;
  /** Deliveries that become due per second. */
  perSecond: number;
  /** How long a receiver may take to answer. */
  timeoutMs: number;
  /** The number of deliveries that the third worker claims and never ends. */
  lost: number;
  /** Missing messages count as lost when no receiver has accepted a new one for this long. */
  withinMs: number;
}

export interface HostileFigures {
  webhooks: number;
  seconds: number;
  healthy: { due: number; delivered: number; twice: number; p50Ms: number; p95Ms: number; maxMs: number };
  recovered: { due: number; delivered: number };
  byOutcome: Record<string, number>;
  goneDisabled: { due: number; disabled: number };
  /** Connections to the trap, names that were resolved to internal addresses, and other addresses that were tried. */
  trapped: number;
  ledInside: number;
  otherAddresses: string[];
}

/** Per account, which also has one receiver of every other kind. */
const HEALTHY_EACH = 4;
const OTHERS = RECEIVER_KINDS.filter((kind) => kind !== 'healthy');
const WORKERS = 2;

/** Each event goes to all endpoints of one account, every fifth event also to a `webhook_url`. */
export async function sendToHostile(
  stores: Pick<Stores, 'storage' | 'query'>,
  plan: HostilePlan,
  progress: Pick<ProgressLine, 'show'>,
): Promise<HostileFigures> {
  await using made = new AsyncDisposableStack();
  const receivers = made.use(await openReceivers(plan));
  const box = openSecretBox([randomBytes(32).toString('hex')]);
  const accounts = await Promise.all(
    Array.from({ length: plan.accounts }, (_, place) => openAccount(stores, receivers, box, place)),
  );
  const { timeoutMs } = plan;
  const send = messageSender({ ...receivers, timeoutMs });
  const metrics = openMetrics('worker');
  const log = openLog(metrics, 'warn');
  const parts = { storage: stores.storage, box, send, baseUrl: 'https://polls.example.com', metrics, log };
  const workers = Array.from({ length: WORKERS }, (_, worker) =>
    deliverWebhooks({ ...parts, workerId: `lab${worker}`, concurrency: 256 }),
  );
  made.defer(async () => void (await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()))));

  const began = performance.now();
  const perEvent = HEALTHY_EACH + OTHERS.length + 0.2;
  const events = Math.ceil(plan.webhooks / perEvent);
  const due: Record<'healthy' | 'recovering', number> = { healthy: 0, recovering: 0 };
  let lost = plan.lost;
  for (let event = 0; event < events; event++) {
    const accountId = accounts[event % plan.accounts]!;
    const kind = event % 5 === 0 ? RECEIVER_KINDS[(event / 5) % RECEIVER_KINDS.length]! : null;
    due.healthy += HEALTHY_EACH + (kind === 'healthy' ? 1 : 0);
    due.recovering += 1 + (kind === 'recovering' ? 1 : 0);
    await stores.query(
      `select note_webhook_event($1, 'poll.completed', jsonb_build_object('session_id', $2::text), $3)`,
      [accountId, `ps_${event}`, kind && receivers.urlOf(kind, 10_000 + (event % 50))],
    );
    if (lost > 0 && event > events / 4) lost -= await takeAndDie(stores, lost);
    progress.show(`webhooks: ${event + 1} of ${events} events, ${receivers.heard.size} messages heard`);
    await wait(Math.max(0, began + ((event + 1) * perEvent * 1_000) / plan.perSecond - performance.now()));
  }
  const isAllHeard = () =>
    countHeard(receivers, 'healthy') >= due.healthy && countHeard(receivers, 'recovering') >= due.recovering;
  for (let [heard, until] = [-1, 0]; !isAllHeard(); await wait(50)) {
    const isNew = receivers.heard.size > heard;
    if (isNew) [heard, until] = [receivers.heard.size, performance.now() + plan.withinMs];
    else if (performance.now() > until) break;
  }
  const seconds = (performance.now() - began) / 1_000;
  return {
    ...(await figuresOf(stores, receivers, due, plan.accounts)),
    webhooks: Math.round(events * perEvent),
    seconds,
  };
}

async function openAccount(
  { storage }: Pick<Stores, 'storage'>,
  receivers: HostileReceivers,
  box: SecretBox,
  place: number,
): Promise<string> {
  const accountId = await createAccount(storage);
  const sealed = () => {
    const id = `we_${randomBytes(16).toString('hex')}`;
    return { id, secret: box.seal(newWebhookSecret(), id) };
  };
  await ensureAccountEndpoint(storage, accountId, sealed());
  const kinds: ReceiverKind[] = [...OTHERS, ...Array.from({ length: HEALTHY_EACH }, () => 'healthy' as const)];
  for (const [each, kind] of kinds.entries()) {
    const url = receivers.urlOf(kind, place * 100 + each);
    const endpoint = { ...sealed(), url, description: kind, eventTypes: ['poll.completed'] as const };
    await insertWebhookEndpoint(storage, accountId, endpoint);
  }
  return accountId;
}

/** Claims deliveries for a worker that does nothing with them. Returns how many. */
async function takeAndDie({ storage }: Pick<Stores, 'storage'>, limit: number): Promise<number> {
  const terms = { worker: 'dead', limit, slow: limit, leaseMs: 30_000, perReceiver: 8, perAccount: 64 };
  return (await claimDeliveries(storage, terms)).length;
}

const heardOf = ({ heard }: HostileReceivers, kind: ReceiverKind) =>
  [...heard].filter(([id]) => id.split(' ')[1]?.startsWith(kind)).map(([, message]) => message);
const countHeard = (receivers: HostileReceivers, kind: ReceiverKind): number => heardOf(receivers, kind).length;

async function figuresOf(
  { query }: Pick<Stores, 'query'>,
  receivers: HostileReceivers,
  due: Record<'healthy' | 'recovering', number>,
  accounts: number,
): Promise<Omit<HostileFigures, 'webhooks' | 'seconds'>> {
  const healthy = heardOf(receivers, 'healthy');
  const delays = healthy.map(({ atMs, happenedAtMs }) => atMs - happenedAtMs).sort((a, b) => a - b);
  const at = (share: number) => Math.round(percentile(delays, share) ?? Number.NaN);
  const outcomes = await query<{ outcome: string; deliveries: number }>(`
    select substring(coalesce(e.url, d.url) from '^https://([a-z]+)') || ' ' || d.status as outcome, count(*)::integer as deliveries
      from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id group by 1 order by 1`);
  const [gone] = await query<{ disabled: number }>(
    `select count(*)::integer as disabled from webhook_endpoints where disabled_why = 'gone' and description = 'gone'`,
  );
  return {
    healthy: {
      due: due.healthy,
      delivered: healthy.length,
      twice: healthy.filter(({ times }) => times > 1).length,
      p50Ms: at(0.5),
      p95Ms: at(0.95),
      maxMs: Math.round(delays.at(-1) ?? Number.NaN),
    },
    recovered: { due: due.recovering, delivered: countHeard(receivers, 'recovering') },
    byOutcome: Object.fromEntries(outcomes.map(({ outcome, deliveries }) => [outcome, deliveries])),
    goneDisabled: { due: accounts, disabled: gone!.disabled },
    trapped: receivers.trapped(),
    ledInside: receivers.ledInside(),
    otherAddresses: [...receivers.addresses].filter((address) => address !== '127.0.0.1'),
  };
}
