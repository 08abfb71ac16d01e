import { loadPanels, type Model } from '@eloquentpoll/models/panels';
import { pollState, withVote } from '@eloquentpoll/polls';
import { decide, launched, shuffled } from '@eloquentpoll/voting';
import t from 'tap';
import { fixtureSpec } from '../src/fixture/polls.ts';
import { type PresetName, priceFactor } from '../src/fixture/voting-panel.ts';
import { chance } from '../src/terminal/chance.ts';

// A call that a stop aborts counts with its maximum at the ceiling of provider spend, and its caller pays nothing for it.
// So an account uses more of the ceiling than it pays, most of all with questions that all models answer alike.

const POLLS = 1_000;
/** As in the worker. */
const HEDGES_PER_CALL = 0.1;
/** The 90th percentile of the normal distribution. */
const NORMAL_P90 = 1.2816;
const panels = loadPanels({ file: 'openrouter' });
const CHEAP = [
  'meta-llama/llama-3.3-70b-instruct',
  'google/gemini-3.1-flash-lite',
  'mistralai/mistral-small-2603',
  'meta-llama/llama-4-maverick',
];
const DEAR = ['openai/gpt-5.6-sol', 'anthropic/claude-opus-5', 'moonshotai/kimi-k3'];

interface Asked {
  panel: PresetName | 'custom';
  models: readonly Model[];
}

/** Dollars of the ceiling per dollar paid, over many polls without failures. */
function ceilingPerDollar({ panel, models }: Asked, seed: string): number {
  const { latency, whole } = chance(seed);
  const latencyMs = ({ p50Ms, p90Ms }: Model): number => latency(p50Ms, Math.log(p90Ms / p50Ms) / NORMAL_P90);
  const factor = priceFactor(panel, 'standard');
  let paidU = 0;
  let usedU = 0;
  let hedges = 0;

  for (let poll = 0; poll < POLLS; poll += 1) {
    const asked = shuffled(models, (bound) => whole(0, bound - 1));
    const spec = fixtureSpec(panels, {
      ...{ question: 'Which is larger?', options: ['Sun', 'Moon'], panel, models: asked },
      ...{ confidenceThreshold: 0.5, maxCostU: 100_000_000, seed: `${seed} ${poll}` },
    });
    let state = pollState(spec);
    const calls = new Set<number>();
    const hedged = new Set<number>();
    const events: { at: number; seat: number; slow: boolean }[] = [];
    let now = 0;
    for (;;) {
      const decision = decide(state, { slow: hedged.size > 0 });
      if (decision.kind === 'stop') break;
      state = launched(state, decision.launch);
      for (const seat of decision.launch) {
        calls.add(seat);
        hedges = Math.min(5, hedges + HEDGES_PER_CALL);
        events.push({ at: now + latencyMs(asked[seat]!), seat, slow: false });
        events.push({ at: now + spec.seats[seat]!.p90_ms, seat, slow: true });
      }
      events.sort((a, b) => a.at - b.at);
      const { at, seat, slow } = events.shift()!;
      now = at;
      if (!calls.has(seat)) continue;
      if (slow && hedges >= 1) {
        hedges -= 1;
        hedged.add(seat);
      }
      if (slow) continue;
      calls.delete(seat);
      hedged.delete(seat);
      const costU = spec.seats[seat]!.call_typical_u!;
      usedU += costU;
      paidU += costU * factor;
      state = withVote(state, { seat, option: 0, billed_u: costU });
    }
    for (const seat of calls) usedU += spec.seats[seat]!.call_max_u!;
  }
  return usedU / paidU;
}

const byId = (ids: readonly string[]): Model[] => ids.map((id) => panels.model(id)!);

const CASES: [string, Asked, number][] = [
  ...(['broad', 'strong', 'fast'] as const).map((panel): [string, Asked, number] => [
    panel,
    { panel, models: panels.panel(panel).models },
    { broad: 4.5, strong: 2.5, fast: 8 }[panel],
  ]),
  ...[2, 3, 4].flatMap((cheap) =>
    [1, 2, 3].map((dear): [string, Asked, number] => [
      `${cheap} cheap models and ${dear} dear ones`,
      { panel: 'custom', models: byId([...CHEAP.slice(0, cheap), ...DEAR.slice(0, dear)]) },
      3.5,
    ]),
  ),
];

for (const [name, asked, atMost] of CASES)
  t.test(`unanimous polls of ${name} use at most ${atMost} dollars of the ceiling per dollar paid`, (t) => {
    const found = ceilingPerDollar(asked, name);
    t.comment(`${name}: ${found.toFixed(2)}`);
    t.ok(found > 0.5 && found <= atMost, found.toFixed(2));
    t.end();
  });
