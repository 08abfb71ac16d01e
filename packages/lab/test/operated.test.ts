import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { METRICS, openLog } from '@eloquentpoll/ops';
import { checkLedgerInTurn } from '@eloquentpoll/storage';
import { asOwner } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { readConfig } from '@eloquentpoll/worker/config';
import { openOps } from '@eloquentpoll/worker/open-ops';
import { openWebhookDelivery } from '@eloquentpoll/worker/open-webhook-delivery';
import t, { type Test } from 'tap';
import { wholeService } from './whole-service.ts';

// slow: 3 s

// What operators see of a poll that went through the whole service: its trace, and the worker's figures.

const RECORDED = { 1: 'AAABA', 2: 'AB-AB' };
const POLL = { question: 'Question 1?', options: ['A thing', 'Another'], preset: 'fast', confidence_threshold: 1 };

interface WireSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status?: { code: number; message: string };
  service: unknown;
}

/** A collector on loopback: what it was sent, by service. */
async function collector(t: Test) {
  const spans: WireSpan[] = [];
  const bodies: string[] = [];
  const hear = (body: string): void => {
    bodies.push(body);
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
      const service = resource.attributes.find(({ key }: { key: string }) => key === 'service.name').value.stringValue;
      for (const scope of scopeSpans) for (const span of scope.spans) spans.push({ ...span, service });
    }
  };
  const server = createServer((request, response) => {
    textOf(request).then(
      (body) => {
        hear(body);
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      },
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, bodies };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

t.test('one poll is one connected trace, from the request through the job to every vote', async (t) => {
  const { url, spans, bodies } = await collector(t);
  const { app, headers } = await wholeService(t, RECORDED, {}, { OTEL_EXPORTER_OTLP_ENDPOINT: url });
  const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const answer = await app.inject({
    method: 'POST',
    url: '/api/poll',
    headers: { ...headers, traceparent: parent, 'x-request-id': 'req_traced_1' },
    payload: POLL,
  });
  t.equal(answer.statusCode, 200, answer.body);
  const { votes } = answer.json();
  const named = (name: string) => spans.filter((span) => span.name === name);
  await eventually('both spans are exported', () => named('createPoll').length === 1 && named('job').length === 1);

  const [request] = named('createPoll');
  const [accept] = named('accept poll');
  const [job] = named('job');
  const [store] = named('store result');
  t.match(request, { parentSpanId: 'b7ad6b7169203331', kind: 2, service: 'eloquentpoll-gateway' });
  t.match(accept, { parentSpanId: request!.spanId, service: 'eloquentpoll-gateway' });
  t.match(job, { parentSpanId: accept!.spanId, kind: 5, service: 'eloquentpoll-worker' });
  t.match(store, { parentSpanId: job!.spanId });
  t.ok(named('vote').length >= votes.length);
  for (const vote of named('vote')) {
    t.match(vote, { parentSpanId: job!.spanId, kind: 3 });
    t.ok(BigInt(vote.endTimeUnixNano) >= BigInt(vote.startTimeUnixNano));
  }
  for (const span of spans) t.equal(span.traceId, '0af7651916cd43dd8448eb211c80319c', span.name);
  const asked = named('vote').map(({ attributes }) => attributes.find(({ key }) => key === 'model')?.value.stringValue);
  for (const { model_id } of votes) t.ok(asked.includes(model_id), model_id);
  t.ok(bodies.join('').includes('req_traced_1'));
  for (const secret of [POLL.question, ...POLL.options, headers.authorization])
    t.notOk(bodies.join('').includes(secret), 'nothing of what was asked, or by whom');
});

t.test('a caller that does not want to be traced is not, and nothing is lost without a collector', async (t) => {
  const { url, spans } = await collector(t);
  const { app, headers, gateway } = await wholeService(t, RECORDED, {}, { OTEL_EXPORTER_OTLP_ENDPOINT: url });
  const refused = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
  const post = (more: object) =>
    app.inject({ method: 'POST', url: '/api/poll', headers: { ...headers, ...more }, payload: POLL });
  t.equal((await post({ traceparent: refused })).statusCode, 200);
  t.equal((await post({})).statusCode, 200);
  await eventually('the span of the job is exported', () => spans.some(({ name }) => name === 'job'));
  t.notOk(spans.some(({ traceId }) => traceId === '0af7651916cd43dd8448eb211c80319c'));
  t.ok(gateway.tracer);

  const silent = await wholeService(t, RECORDED, {}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
  const answer = await silent.app.inject({ method: 'POST', url: '/api/poll', headers: silent.headers, payload: POLL });
  t.equal(answer.statusCode, 200, 'a collector that is away costs no answer');
  await silent.gateway.tracer?.[Symbol.asyncDispose]();
  t.match(await silent.gateway.metrics.text(), /^eloquentpoll_spans_dropped_total [1-9]/m);
});

t.test('a worker shows every metric of the table that it has', async (t) => {
  const sealing = { WEBHOOK_SEALING_KEYS: 'a sealing key of at least 32 characters' };
  const { app, headers, worker, settings } = await wholeService(t, RECORDED, {}, sealing);
  const { metrics, storage } = worker.resources;
  const config = readConfig({ ...settings, OPS_PORT: '0' });
  const ops = await openOps(config, worker);
  t.teardown(() => ops?.[Symbol.asyncDispose]());
  ops?.began({ flexAllowed: 5 });
  const delivery = openWebhookDelivery(config, worker);
  t.teardown(() => delivery?.[Symbol.asyncDispose]());
  openLog(metrics, 'silent');
  await checkLedgerInTurn(storage, 60_000);
  t.match(
    await metrics.text(),
    /^eloquentpoll_billed_usd_total\{model="sim\/acorn-mini",payer="account"\} 0$/m,
    'money begins at zero, so that an increase over an hour misses none',
  );
  t.match(await metrics.text(), /^eloquentpoll_billed_usd_total\{model="none",payer="free_pool"\} 0$/m);
  const answer = await app.inject({ method: 'POST', url: '/api/poll', headers, payload: POLL });
  t.equal(answer.statusCode, 200);
  const { votes, costs } = answer.json();

  const shown = async () => (await fetch(`${ops?.url}/metrics`)).text();
  let text = await shown();
  const sum = (name: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`))
      .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
  t.equal(sum('eloquentpoll_polls_ended_total'), 1);
  t.equal(sum('eloquentpoll_votes_total'), votes.length);
  t.equal(sum('eloquentpoll_billed_usd_total').toFixed(6), Number(costs.total_estimated_cost).toFixed(6));
  t.match(text, /^eloquentpoll_polls_claimed_total 1$/m);
  await eventually('it is ready', async () => /^eloquentpoll_ready 1$/m.test(await shown()));
  t.match(text, /^eloquentpoll_ledger_violations 0$/m);
  t.match(text, /^eloquentpoll_breaker_open\{model="sim\/acorn-mini"\} 0$/m);

  // What only happens when something goes wrong is counted all the same.
  metrics.counter('eloquentpoll_votes_orphaned_total', 'sim/acorn-mini');
  metrics.counter('eloquentpoll_votes_cost_unknown_total', 'sim/acorn-mini');
  metrics.counter('eloquentpoll_provider_cost_usd_total', 'sim/acorn-mini', 'account');
  metrics.counter('eloquentpoll_canaries_total', 'sim/acorn-mini', 'known', 'failed');
  metrics.counter('eloquentpoll_provider_access_refused_total', 'openai', 'sim/acorn-mini');
  metrics.counter('eloquentpoll_provider_fields_rejected_total', 'sim/acorn-mini', 'seed');
  t.same(metrics.unused(), []);
  text = await shown();
  for (const [name, { on, type }] of Object.entries(METRICS))
    if (on.some((process) => process === 'worker')) t.ok(text.includes(`# TYPE ${name} ${type}\n`), name);
});

t.test('a worker shows batches that stand still, and one that sends no webhooks how late they are', async (t) => {
  const { worker, settings, accountId } = await wholeService(t, RECORDED);
  const config = readConfig({ ...settings, OPS_PORT: '0' });
  t.equal(openWebhookDelivery(config, worker), null);
  const ops = await openOps(config, worker);
  t.teardown(() => ops?.[Symbol.asyncDispose]());
  await asOwner(
    settings.DATABASE_URL,
    `insert into webhook_events (account_id, type, data, url, created_at)
     values ('${accountId}', 'poll.completed', '{}', 'https://receiver.example', now() - interval '90 seconds')`,
  );
  await asOwner(
    settings.DATABASE_URL,
    `insert into batches (id, account_id, status, total, moved_at) values ('pb_idle', '${accountId}', 'running', 1, now() - interval '10 minutes')`,
  );
  const text = await (await fetch(`${ops?.url}/metrics`)).text();
  t.match(text, /^eloquentpoll_batch_idle_seconds\{waits_for="gateway"\} 6\d\d(\.\d+)?$/m);
  t.match(text, /^eloquentpoll_batch_idle_seconds\{waits_for="worker"\} 0$/m);
  t.match(text, /^eloquentpoll_webhooks_late_seconds (9|1\d)\d(\.\d+)?$/m);
  t.match(text, /^eloquentpoll_webhooks_pending 0$/m);
});
