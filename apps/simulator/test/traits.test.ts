import t from 'tap';
import { latencyMs } from '../src/latency.ts';
import { modelOf } from '../src/traits.ts';

// What a model is like follows from its id, and how long it takes from the seed.

t.test('latencies follow the distribution that was set, and the seed', async (t) => {
  const latency = { p50_ms: 800, sigma: 0.4, straggler_rate: 0, straggler_factor: 6 };
  const sample = (seed: string, shape: typeof latency) =>
    Array.from({ length: 4000 }, (_, n) => latencyMs(seed, 'sim/oak', shape, n));
  const at = (values: number[], share: number) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)]!;
  const values = sample('s', latency);
  t.equal(sample('s', latency).join(), values.join());
  t.not(sample('other', latency).join(), values.join());
  t.ok(Math.abs(at(values, 0.5) / 800 - 1) < 0.05, `median ${at(values, 0.5)}`);
  t.ok(Math.abs(at(values, 0.9) / (800 * Math.exp(1.2816 * 0.4)) - 1) < 0.08, `p90 ${at(values, 0.9)}`);
  const straggling = sample('s', { ...latency, straggler_rate: 0.1, straggler_factor: 20 });
  const stragglers = straggling.filter((value) => value > 5000).length;
  t.ok(stragglers > 300 && stragglers < 500, `${stragglers} stragglers of 4000`);
});

t.test('traits follow from the id', async (t) => {
  t.same(modelOf('sim/oak-mini', []), modelOf('sim/oak-mini', []));
  const [mini, large] = [modelOf('sim/oak-mini', []), modelOf('sim/oak-large', [])];
  t.equal(mini.family, large.family);
  t.ok(mini.latency.p50_ms < large.latency.p50_ms && mini.price.prompt_usd_per_mtok < large.price.prompt_usd_per_mtok);
});
