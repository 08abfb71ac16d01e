import t from 'tap';
import { METRICS, openMetrics } from '../src/index.ts';

t.test('what is counted is shown in the text format of Prometheus', async (t) => {
  const metrics = openMetrics('gateway');
  metrics.counter('eloquentpoll_http_requests_total', 'createPoll', '200').n += 2;
  metrics.counter('eloquentpoll_http_requests_total', 'createPoll', '200').n += 1;
  const durations = metrics.histogram('eloquentpoll_http_request_duration_seconds', 'a "b"\\\n');
  for (const seconds of [0.001, 0.002, 7, 1_000]) durations.observe(seconds);
  metrics.reading('eloquentpoll_sse_streams', () => 5);
  const text = await metrics.text();
  const lines = text.split('\n');
  for (const line of [
    'eloquentpoll_http_requests_total{operation="createPoll",status="200"} 3',
    'eloquentpoll_http_request_duration_seconds_bucket{operation="a \\"b\\"\\\\\\n",le="0.001"} 1',
    'eloquentpoll_http_request_duration_seconds_bucket{operation="a \\"b\\"\\\\\\n",le="0.0025"} 2',
    'eloquentpoll_http_request_duration_seconds_bucket{operation="a \\"b\\"\\\\\\n",le="10"} 3',
    'eloquentpoll_http_request_duration_seconds_bucket{operation="a \\"b\\"\\\\\\n",le="+Inf"} 4',
    'eloquentpoll_http_request_duration_seconds_count{operation="a \\"b\\"\\\\\\n"} 4',
    '# TYPE eloquentpoll_sse_streams gauge',
    'eloquentpoll_sse_streams 5',
    'eloquentpoll_polls_not_queued_total 0',
  ])
    t.ok(lines.includes(line), line);
  const shape = /^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="([^"\\]|\\.)*"(,\w+="([^"\\]|\\.)*")*\})? [\d.e+-]+)?$/;
  for (const line of lines) t.match(line, shape);
});

t.test('a name or process that the table does not have is a mistake that shows at once', (t) => {
  t.throws(() => openMetrics('gateway').counter('eloquentpoll_polls_claimed_total'), /not a metric of the gateway/);
  t.throws(() => openMetrics('worker').reading('eloquentpoll_sse_streams', () => 1), /not a metric of the worker/);
  t.end();
});

t.test('labels that never end share one place', async (t) => {
  const metrics = openMetrics('gateway');
  for (let i = 0; i < 5_000; i++) metrics.counter('eloquentpoll_http_errors_total', `code ${i}`).n += 1;
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('eloquentpoll_http_errors_total{'));
  t.ok(lines.length <= 2_001, `${lines.length} lines`);
  t.ok(lines.includes('eloquentpoll_http_errors_total{code="other"} 3000'));
});

t.test('a figure that cannot be read is left out, and the others are shown', async (t) => {
  const metrics = openMetrics('gateway');
  metrics.reading('eloquentpoll_sse_streams', () => {
    throw new Error('in the middle');
  });
  metrics.reading('eloquentpoll_fleet_buried', () => Promise.reject(new Error('away')));
  metrics.reading('eloquentpoll_ready', () => new Promise(() => {}));
  metrics.reading('eloquentpoll_polls_watched', () => 3);
  const text = await metrics.text();
  t.match(text, /^eloquentpoll_polls_watched 3$/m);
  t.notMatch(text, /^eloquentpoll_(sse_streams|fleet_buried|ready) /m);
});

t.test('every metric is named and labelled as Prometheus expects', (t) => {
  for (const [name, metric] of Object.entries(METRICS)) {
    t.match(name, /^(eloquentpoll|nodejs|process)_[a-z0-9_]+$/);
    t.equal(name.endsWith('_total'), metric.type === 'counter', `${name}: counters and only they end in _total`);
    t.equal('buckets' in metric, metric.type === 'histogram', name);
    for (const label of metric.labels) t.notMatch(label, /^(id|key|account|user|address|le)$/, `${name} by ${label}`);
  }
  t.end();
});
