import t from 'tap';
import { savedByStopping } from '../src/saved-by-stopping.ts';
import { specOf } from './fixtures/poll-spec.ts';

const seat = (call_typical_u: number) => ({
  model_id: 'sim/m',
  family: 'f',
  reserve_u: 10_000,
  call_max_u: 5_000,
  call_typical_u,
  failure_rate: 0,
  p90_ms: 900,
});

const spec = specOf([100, 200, 301, 400].map(seat), { price_ppm: 1_500_000 });
const votes = [{ seat: 0 }];

t.test('what was not asked counts at its usual price, rounded up seat by seat', async (t) => {
  for (const reason of ['mathematical_lock', 'confidence'] as const)
    t.equal(savedByStopping({ spec, reason, votes, aborted: [] }), 300 + 452 + 600);
  t.equal(savedByStopping({ spec, reason: 'confidence', votes, aborted: [{ seat: 3 }] }), 300 + 452, 'calls under way');
  t.equal(
    savedByStopping({ spec, reason: 'confidence', votes: [0, 1, 2, 3].map((seat) => ({ seat })), aborted: [] }),
    0,
  );
  const { price_ppm: _, ...atCost } = spec;
  t.equal(savedByStopping({ spec: atCost, reason: 'confidence', votes, aborted: [] }), 901);
});

t.test('a poll that was not decided early, or costs nothing, saved nothing', async (t) => {
  for (const reason of ['budget', 'roster_exhausted', null] as const)
    t.equal(savedByStopping({ spec, reason, votes, aborted: [] }), 0, String(reason));
  t.equal(savedByStopping({ spec: { ...spec, panel_name: 'free' }, reason: 'confidence', votes, aborted: [] }), 0);
});
