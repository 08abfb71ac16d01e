import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { openMetrics } from '@eloquentpoll/ops';
import { appProgram } from '@eloquentpoll/services/app-program';
import { bareEnvironment } from '@eloquentpoll/services/bare-environment';
import {
  createAccount,
  ensureAccountEndpoint,
  insertWebhookEndpoint,
  listDeliveries,
  openStorage,
  resendDelivery,
  rotateWebhookSecret,
  type Storage,
  type StoredDelivery,
} from '@eloquentpoll/storage';
import { asOwner, testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { loopbackServer } from '@eloquentpoll/testkit/fakes/loopback-server';
import { testRedis } from '@eloquentpoll/testkit/redis';
import { messageSender, newWebhookSecret, openSecretBox, receiverRules } from '@eloquentpoll/webhooks';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { deliverWebhooks } from '../src/webhooks/deliver-webhooks.ts';

// slow: 6 s

// Webhooks from the event to the receiver, and what happens when either end fails.

const SEALING_KEY = 'a sealing key of at least 32 characters';
const BASE_URL = 'https://polls.example.com';
const box = openSecretBox([SEALING_KEY]);
const rules = receiverRules({ toLoopback: true });

interface Message {
  headers: Record<string, string>;
  body: string;
}

/** A receiver that answers what it is asked to, one status after the other; the last one for good. */
async function receiver(t: Test, ...statuses: number[]) {
  const messages: Message[] = [];
  const url = await loopbackServer(t, ({ request, body, response }) => {
    messages.push({ headers: request.headers as Record<string, string>, body });
    response.writeHead(statuses.length > 1 ? statuses.shift()! : (statuses[0] ?? 200)).end();
  });
  return { url: `${url}/hooks`, messages };
}

async function world(t: Test) {
  const databaseUrl = await testDatabase(t);
  const storage = openStorage({ databaseUrl, statementTimeoutMs: 30_000 });
  t.teardown(() => storage[Symbol.asyncDispose]());
  const accountId = await createAccount(storage);
  const sql = (statement: string) => asOwner(databaseUrl, statement);
  const note = (type: string, data: object, url: string | null = null) =>
    sql(
      `select note_webhook_event('${accountId}', '${type}', '${JSON.stringify(data)}', ${url ? `'${url}'` : 'null'})`,
    );
  return { databaseUrl, storage, accountId, sql, note };
}

const sealed = () => {
  const id = `we_${randomBytes(16).toString('hex')}`;
  const secret = newWebhookSecret();
  return { id, secret, sealed: box.seal(secret, id) };
};

async function endpoint(storage: Storage, accountId: string, url: string) {
  const made = sealed();
  const eventTypes = ['poll.completed', 'poll.failed', 'batch.completed', 'endpoint.disabled'] as const;
  await insertWebhookEndpoint(storage, accountId, {
    id: made.id,
    url,
    description: '',
    eventTypes,
    secret: made.sealed,
  });
  return made;
}

function worker(t: Test, storage: Storage, workerId = 'w1') {
  const problems: string[] = [];
  const log = {
    warn: (_: object, event: string) => void problems.push(event),
    error: (_: object, event: string) => void problems.push(event),
  };
  const metrics = openMetrics('worker');
  const send = messageSender({ rules, timeoutMs: 3_000 });
  const running = deliverWebhooks({
    storage,
    workerId,
    box,
    send,
    baseUrl: BASE_URL,
    concurrency: 16,
    metrics,
    log,
    drainMs: 50,
  });
  t.teardown(() => running[Symbol.asyncDispose]());
  return { running, metrics, problems };
}

const POLL = { session_id: 'ps_1', poll_id: 'EP-1', status: 'success', metadata: { customer: 'acme' } };

t.test('an event is sent within seconds, signed, to every endpoint and to its own webhook_url', async (t) => {
  const { storage, accountId, note } = await world(t);
  const [registered, once] = [await receiver(t), await receiver(t)];
  const { secret } = await endpoint(storage, accountId, registered.url);
  const own = sealed();
  await ensureAccountEndpoint(storage, accountId, { id: own.id, secret: own.sealed });
  const { metrics, problems } = worker(t, storage);
  await note('poll.completed', POLL, once.url);
  await eventually('both messages', () => registered.messages.length + once.messages.length === 2);
  for (const [{ headers, body }, key] of [
    [registered.messages[0]!, secret],
    [once.messages[0]!, own.secret],
  ] as const) {
    t.match(new Webhook(key).verify(body, headers), {
      type: 'poll.completed',
      timestamp: /^\d{4}-.*Z$/,
      data: {
        ...POLL,
        status_url: `${BASE_URL}/api/polls/ps_1/status`,
        result_url: `${BASE_URL}/api/polls/ps_1/result`,
      },
    });
    t.match(headers['webhook-id'], /^msg_[0-9a-f]{32}$/);
  }
  t.equal(registered.messages[0]!.headers['webhook-id'], once.messages[0]!.headers['webhook-id'], 'one event, one id');
  t.throws(() => new Webhook(own.secret).verify(registered.messages[0]!.body, registered.messages[0]!.headers));
  await eventually(
    'both are counted',
    () => metrics.counter('eloquentpoll_webhook_attempts_total', 'delivered').n === 2,
  );
  t.same(problems, []);
});

t.test('while a secret is replaced both verify; afterwards only the new one does', async (t) => {
  const { storage, accountId, note } = await world(t);
  const { url, messages } = await receiver(t);
  const { id, secret } = await endpoint(storage, accountId, url);
  worker(t, storage);
  const newer = newWebhookSecret();
  const rotated = { id, secret: box.seal(newer, id) };
  await rotateWebhookSecret(storage, accountId, { ...rotated, overlapS: 3_600 });
  await note('poll.completed', POLL);
  const [first] = await eventually('a message', () => messages.length === 1 && messages);
  for (const key of [secret, newer]) t.ok(new Webhook(key).verify(first!.body, first!.headers));
  await rotateWebhookSecret(storage, accountId, { ...rotated, overlapS: 0 });
  await note('poll.failed', POLL);
  const [, second] = await eventually('another', () => messages.length === 2 && messages);
  t.ok(new Webhook(newer).verify(second!.body, second!.headers));
  t.throws(() => new Webhook(secret).verify(second!.body, second!.headers));
});

t.test(
  '500 is tried again with the same id and a new time; the log says what came; a delivery can be resent',
  async (t) => {
    const { storage, accountId, note, sql } = await world(t);
    const { url, messages } = await receiver(t, 500, 200);
    const { id, secret } = await endpoint(storage, accountId, url);
    worker(t, storage);
    await note('poll.completed', POLL);
    const newest = async (): Promise<StoredDelivery | undefined> =>
      (await listDeliveries(storage, accountId, id, { limit: 1 })).deliveries[0];
    const waiting = await eventually('the failure is logged', async () => {
      const delivery = await newest();
      return delivery?.log.length === 1 && delivery;
    });
    t.match(waiting, { status: 'pending', attempts: 1, log: [{ http_status: 500, error: null }] });
    const inMs = waiting.nextAttemptAt!.getTime() - Date.now();
    t.ok(inMs > 0 && inMs < 6_000, `${inMs} ms`);
    await sql('update webhook_deliveries set due_at = now(); update webhook_receivers set next_due_at = now()');
    await eventually('it came', async () => (await newest())?.status === 'delivered');
    t.match(await newest(), { attempts: 2, log: [{ http_status: 500 }, { http_status: 200 }] });
    t.equal(await resendDelivery(storage, accountId, id, waiting.id), 'resent');
    await eventually('it came again', () => messages.length === 3);
    t.equal(new Set(messages.map(({ headers }) => headers['webhook-id'])).size, 1);
    for (const { headers, body } of messages) t.ok(new Webhook(secret).verify(body, headers));
  },
);

t.test('410 disables the endpoint, and the others hear of it', async (t) => {
  const { storage, accountId, note } = await world(t);
  const [gone, other] = [await receiver(t, 410), await receiver(t)];
  const { id } = await endpoint(storage, accountId, gone.url);
  await endpoint(storage, accountId, other.url);
  worker(t, storage);
  await note('poll.completed', POLL);
  const heard = await eventually('the other endpoint hears', () =>
    other.messages.map(({ body }) => JSON.parse(body)).find(({ type }) => type === 'endpoint.disabled'),
  );
  t.match(heard.data, { endpoint_id: id, reason: 'gone', endpoint_url: `${BASE_URL}/dashboard/webhooks/${id}` });
  await note('poll.completed', POLL);
  await eventually('only the other one', () => other.messages.length === 3);
  t.equal(gone.messages.length, 1);
});

t.test('a worker that leaves gives back what it did not send', async (t) => {
  const { storage, accountId, note } = await world(t);
  let asked = 0;
  const url = await loopbackServer(t, ({ response }) => {
    asked += 1;
    if (asked > 1) response.end();
  });
  const { id } = await endpoint(storage, accountId, `${url}/`);
  const leaving = worker(t, storage);
  await note('poll.completed', POLL);
  await eventually('it is being sent', () => asked === 1);
  await leaving.running[Symbol.asyncDispose]();
  worker(t, storage, 'w2');
  await eventually('another sends it', async () => {
    const {
      deliveries: [delivery],
    } = await listDeliveries(storage, accountId, id, { limit: 1 });
    return delivery?.status === 'delivered';
  });
});

const MAIN = appProgram('worker');

t.test('a worker is killed while it sends: the next one does, once the lease is over', async (t) => {
  const { storage, accountId, note, sql, databaseUrl } = await world(t);
  const redis = testRedis(t);
  let [asked, answers] = [0, false];
  const url = await loopbackServer(t, ({ response }) => {
    asked += 1;
    if (answers) response.end();
  });
  const { id } = await endpoint(storage, accountId, `${url}/`);
  const start = (): ChildProcess => {
    const env = {
      ...bareEnvironment(MAIN),
      DATABASE_URL: databaseUrl,
      REDIS_URL: redis.url,
      REDIS_PREFIX: redis.prefix,
      MODELS_FILE: 'simulator',
      BASE_URL,
      WEBHOOK_SEALING_KEYS: SEALING_KEY,
      WEBHOOKS_TO_LOOPBACK: 'on',
    };
    const child = spawn(process.execPath, [MAIN], { env, stdio: 'ignore' });
    t.teardown(() => child.kill('SIGKILL'));
    return child;
  };
  const first = start();
  await note('poll.completed', POLL);
  await eventually('it is being sent', () => asked === 1);
  first.kill('SIGKILL');
  answers = true;
  await sql('update webhook_deliveries set due_at = now(); update webhook_receivers set next_due_at = now()');
  start();
  await eventually('another sends it', async () => {
    const {
      deliveries: [delivery],
    } = await listDeliveries(storage, accountId, id, { limit: 1 });
    return delivery?.status === 'delivered' && delivery;
  });
  t.equal(asked, 2);
});
