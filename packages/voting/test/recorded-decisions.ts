// Seeded polls and what the machine decides in each of their states, as text that can be compared byte by byte.
import { conclude } from '../src/conclude.ts';
import { decide } from '../src/decide.ts';
import { type EstimateSeat, estimate } from '../src/estimate.ts';
import { panelOrder } from '../src/panel-order.ts';
import { type Hedge, launched, newPoll, type Rules, received } from '../src/poll.ts';
import { seededRandom } from '../src/seeded-random.ts';
import { standing } from '../src/standing.ts';

const pick = <T>(items: readonly T[], draw: (bound: number) => number): T => items[draw(items.length)]!;

/** One line per state: tally, confidence to the last bit, decision. */
export function recordedPoll(seed: string): string[] {
  const draw = seededRandom(seed);
  const optionCount = 2 + draw(9);
  const rules: Rules = {
    optionCount,
    threshold: pick([0.8, 0.9, 0.95, 0.99, 1], draw),
    minVotes: 1 + draw(3),
    maxCostU: pick([10_000n, 10_000n, 120n], draw),
    hedge: pick<Hedge>(['all', 'one', 'when_slow'], draw),
  };
  const unordered: EstimateSeat[] = Array.from({ length: 1 + draw(14) }, () => ({
    family: pick(['ant', 'bee', 'cat', 'dog', 'elk'], draw),
    reserveU: BigInt(5 + draw(40)),
    failureRate: draw(4) === 0 ? draw(30) / 100 : 0,
    typicalCostU: BigInt(1 + draw(5)),
    p50Ms: 500 + draw(4_000),
    p90Ms: 2_000 + draw(9_000),
  }));
  const order = panelOrder(unordered, seed);
  const seats = order.map((seat) => unordered[seat]!);
  const lines = [`order ${order.join()}`, JSON.stringify(estimate(rules, unordered), plainBigInt)];
  let poll = newPoll(rules, seats);
  for (;;) {
    const decision = decide(poll, { slow: draw(3) === 0 });
    const { tally, confidence } = standing(poll);
    const what = decision.kind === 'stop' ? decision.reason : `ask ${decision.launch.join()}`;
    lines.push(`${tally.join()} ${confidence} ${what}`);
    if (decision.kind === 'stop') {
      // The odds and what a track record knew came after the recording; without a record there is nothing it knew.
      const { chances: _, recordUsed, ...concluded } = conclude(poll, { reason: decision.reason });
      lines.push(JSON.stringify({ ...concluded, ...(recordUsed && { recordUsed }) }));
      return lines;
    }
    poll = launched(poll, decision.launch);
    const flying = [...poll.states.keys()].filter((seat) => poll.states[seat]!.kind === 'in_flight');
    const option = draw(12) === 0 ? null : draw(10) < 6 ? 0 : draw(optionCount);
    poll = received(poll, { seat: pick(flying, draw), option, billedU: option === null ? 0n : 3n });
  }
}

const plainBigInt = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value);
