import { PRESETS } from '@eloquentpoll/contracts';
import { openAsker } from '@eloquentpoll/models/ask';
import { loadPanels, promptStyle, seatsFor } from '@eloquentpoll/models/panels';
import { buildSimulator } from '@eloquentpoll/simulator/app';
import t from 'tap';
import { usualModels } from '../src/fixture/usual-models.ts';

// A call that is stopped is entered at its estimate, one that answers at what it cost. Where the simulator's answers are
// shorter than estimated, stopped calls look dearer than whole ones.

const MAX_OFF = 0.1;

for (const preset of PRESETS)
  t.test(`a usual call of each model of ${preset} costs what is estimated`, async (t) => {
    const simulator = buildSimulator({ latencyScale: 0, models: usualModels() });
    t.teardown(() => simulator.close());
    const address = await simulator.listen({ host: '127.0.0.1', port: 0 });
    const panels = loadPanels({ file: 'simulator', baseUrl: `${address}/v1` });
    await using asker = openAsker({ panels });
    const text = { question: 'Which is the largest planet of these?', options: ['Mars', 'Earth', 'Venus', 'Saturn'] };
    const style = promptStyle({ panel_name: preset });
    const seats = seatsFor(panels.panelOf({ panel_name: preset }), { ...text, style, search: false });
    for (const [seat, { model_id: modelId, reserve_u: reserveU, ...call }] of seats.entries()) {
      const { call_max_u: maxU, call_typical_u: typicalU } = call;
      const price = { reserveU, call: { maxU: maxU!, typicalU: typicalU! }, pricePpm: 1_000_000 };
      const asked = { ...text, pollId: `poll of ${preset}`, modelId, seat, seed: 'seed', style, search: false };
      const vote = await asker.ask({ ...asked, ...price, deadlineMs: 10_000, panel: preset });
      const off = vote.provider_cost_u! / typicalU! - 1;
      t.ok(Math.abs(off) <= MAX_OFF, `${modelId}: ${vote.provider_cost_u} of ${typicalU} micro-USD estimated`);
    }
  });
