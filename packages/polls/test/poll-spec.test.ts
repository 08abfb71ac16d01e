import { FREE_PRESETS, type PanelName, PRESETS } from '@eloquentpoll/contracts';
import t from 'tap';
import {
  deadlineMsOf,
  hedgeOf,
  holdOf,
  isFree,
  laneOf,
  maxCostUsdOf,
  minVotesOf,
  runLimitMsOf,
  specOf,
} from '../src/index.ts';
import { SPEC, seat } from './make-spec.ts';

const { seats: _, seed: __, simulated: ___, ...ORDER } = SPEC;
const SEATS = ['a/1', 'a/2', 'a/3', 'b/1', 'c/1'].map((id) => seat(id, id[0]));

t.test('a spec is the order, its seats with families in turn, and a seed that decides their order', async (t) => {
  const spec = specOf(ORDER, { seats: SEATS, simulated: false, seed: 'one' });
  t.match(spec, { ...ORDER, seed: 'one', simulated: false });
  t.same(new Set(spec.seats), new Set(SEATS), 'every seat, as it was given');
  t.equal(new Set(spec.seats.slice(0, 3).map(({ family }) => family)).size, 3, 'three families come first');
  t.same(specOf(ORDER, { seats: SEATS, simulated: false, seed: 'one' }), spec);
});

t.test('a seed that is not given is 16 random bytes, another one each time', async (t) => {
  const seeds = Array.from({ length: 100 }, () => specOf(ORDER, { seats: SEATS, simulated: true }).seed);
  t.equal(new Set(seeds).size, 100);
  for (const seed of seeds) t.match(seed, /^[0-9a-f]{32}$/);
});

t.test('the hold is the sum of all reserves, or the maximum cost where that is less', async (t) => {
  t.equal(holdOf({ seats: SEATS, max_cost_u: 1_000_000 }), 5_000n);
  t.equal(holdOf({ seats: SEATS, max_cost_u: 5_001 }), 5_000n);
  t.equal(holdOf({ seats: SEATS, max_cost_u: 4_999 }), 4_999n);
  t.equal(holdOf({ seats: SEATS, max_cost_u: Number.POSITIVE_INFINITY }), 5_000n);
});

t.test('the maximum cost is shown as it was written, else from micro-USD', async (t) => {
  t.equal(maxCostUsdOf({ max_cost_u: 250_000 }), 0.25);
  t.equal(maxCostUsdOf({ max_cost_u: 250_000, max_cost_usd: 0.2500004 }), 0.2500004);
});

t.test('what each panel is allowed', async (t) => {
  const rules = (panel_name: PanelName) => [
    isFree(panel_name),
    deadlineMsOf({ panel_name }),
    minVotesOf(panel_name),
    hedgeOf({ panel_name }),
  ];
  t.same(Object.fromEntries([...PRESETS, ...FREE_PRESETS].map((panel) => [panel, rules(panel)])), {
    broad: [false, 120_000, 3, 'one'],
    fast: [false, 45_000, 3, 'all'],
    strong: [false, 120_000, 3, 'when_slow'],
    free: [true, 45_000, 1, 'one'],
    free_search: [true, 120_000, 1, 'one'],
  });
  const flex = { panel_name: 'fast', service_tier: 'flex' } as const;
  t.same(
    [deadlineMsOf(flex), runLimitMsOf(flex), hedgeOf(flex), laneOf(flex)],
    [86_400_000, 45_000, 'none', 'flex'],
    'a flex poll has a day to start, and the time of its panel once it runs',
  );
  t.same([runLimitMsOf({ panel_name: 'fast' }), laneOf({})], [undefined, 'standard']);
});
