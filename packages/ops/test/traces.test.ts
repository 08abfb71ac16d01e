import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { openMetrics, openTracing, traceSettings as settingsOf } from '../src/index.ts';
import { type Environment, readSettings, SHARED_SETTINGS } from '../src/settings/index.ts';

const REQUIRED = { DATABASE_URL: 'postgres://host/db', REDIS_URL: 'redis://host' };
const traceSettings = (env: Environment, service: string, version: string) =>
  settingsOf(readSettings(SHARED_SETTINGS, { ...REQUIRED, ...env }), service, version);

t.test("OpenTelemetry's variables say where traces go", (t) => {
  t.equal(traceSettings({}, 'gateway', '1.0.0'), null, 'without an endpoint there are none');
  t.match(traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }, 'gateway', '1.0.0'), {
    url: 'http://collector:4318/v1/traces',
    share: 1,
    resource: { 'service.name': 'eloquentpoll-gateway', 'service.version': '1.0.0' },
  });
  const all = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://elsewhere',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/traces',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x, tenant=7',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=prod',
    OTEL_SERVICE_NAME: 'polls',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  };
  t.match(traceSettings(all, 'worker', '1.0.0'), {
    url: 'https://collector/traces',
    headers: { authorization: 'Bearer x', tenant: '7' },
    share: 0.25,
    resource: { 'service.name': 'polls', 'deployment.environment': 'prod' },
  });
  for (const [name, value] of [
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'nothing'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
  ] as const) {
    t.throws(() => traceSettings({ ...all, [name]: value }, 'worker', '1'), { message: new RegExp(`^${name}: `) });
  }
  t.end();
});

t.test('spans reach the collector in batches; what it refuses is counted, and nothing piles up', async (t) => {
  let refuses = false;
  let taken = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const [{ scopeSpans }] = JSON.parse(Buffer.concat(chunks).toString()).resourceSpans;
      if (!refuses) taken += scopeSpans[0].spans.length;
      response.writeHead(refuses ? 503 : 200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, 'worker', '1');

  const metrics = openMetrics('worker');
  const tracer = (await openTracing(metrics, settings))!;
  for (let i = 0; i < 1_200; i++) tracer.start('step', 'internal').end();
  await tracer[Symbol.asyncDispose]();
  t.equal(taken, 1_200, 'closing hands in what waits');

  refuses = true;
  const other = openMetrics('worker');
  const unheard = (await openTracing(other, settings))!;
  for (let i = 0; i < 5_000; i++) unheard.start('step', 'internal').end();
  await unheard[Symbol.asyncDispose]();
  t.equal(other.counter('eloquentpoll_spans_dropped_total').n, 5_000);
});
