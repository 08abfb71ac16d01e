import t from 'tap';
import { keptForecasts, MAX_FORECASTS, type PollForecast, UNUSED_MS } from '../../src/polls/order/kept-forecasts.ts';

const forecast = (calls: number): PollForecast => ({
  calls: { min: calls, expected: calls, max: calls },
  costU: { min: 0n, expected: 0n, max: 0n },
  wholeU: 0n,
  latencyMs: { min: 0, expected: 0, max: 0, p50: 0, p95: 0 },
  earlyTermination: { probability: 0, likelyReason: 'roster_exhausted' },
});

t.test('forecasts leave when nothing has asked for them for a minute; those in use stay', async (t) => {
  let nowMs = 0;
  const kept = keptForecasts(() => nowMs);
  kept.set('records of before', forecast(1));
  kept.set('asked again and again', forecast(2));
  nowMs = UNUSED_MS / 2;
  t.equal(kept.get('asked again and again')?.calls.min, 2);
  nowMs = UNUSED_MS;
  kept.set('records of now', forecast(3));
  t.equal(kept.get('records of before'), undefined);
  t.equal(kept.get('asked again and again')?.calls.min, 2);
  t.equal(kept.get('records of now')?.calls.min, 3);
  t.equal(kept.size(), 2);
});

t.test('beyond its bound the forecast that was used longest ago leaves first', async (t) => {
  const kept = keptForecasts(() => 0);
  for (let i = 0; i < MAX_FORECASTS; i++) kept.set(`${i}`, forecast(i));
  kept.get('0');
  kept.set('one more', forecast(7));
  t.equal(kept.size(), MAX_FORECASTS);
  t.ok(kept.get('0'), 'used a moment ago');
  t.equal(kept.get('1'), undefined);
});
