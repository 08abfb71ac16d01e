import { holdOf } from '@eloquentpoll/polls';
import { type Chance, chance } from '../terminal/chance.ts';
import { drawScenario } from './scenario.ts';
import type { PlacedOrder } from './world/client.ts';
import { ACCOUNT, type Play } from './world/play-world.ts';
import { storm } from './world/weather.ts';

// Draws a simulated world from its seed: a few polls, a few workers, providers and faults.

const RICH_U = 10n ** 12n;

export function drawPlay(seed: string): Play {
  const draw = chance(`${seed}/play`);
  const weather = storm(seed);
  const orders = Array.from({ length: draw.whole(1, 3) }, (_, i) => drawOrder(draw, seed, i));
  const heldU = orders.reduce((sum, order) => sum + order.holdU, 0n);
  return {
    seed,
    weather,
    temper: { faulty: draw.pick([0, 0.1, 0.5, 1]), agreement: draw.share(), favourite: draw.whole(0, 1) },
    orders,
    // Sometimes the balance does not cover all of them.
    balanceU: draw.happens(0.15) ? BigInt(Math.floor(Number(heldU) * draw.share())) : RICH_U,
    workers: draw.whole(1, 3),
    // Enough for all polls: a poll that waits for a free slot has no guarantee to end by its deadline.
    concurrency: draw.pick([3, 10]),
    calmAtMs: weather.calmAtMs,
    rehireMs: weather.rehireMs,
    departuresMs: weather.departuresMs,
    flushesMs: weather.flushesMs,
  };
}

function drawOrder(draw: Chance, seed: string, i: number): PlacedOrder {
  const { spec } = drawScenario(`${seed}/${i}`);
  const deadlineMs = draw.happens(0.2) ? draw.whole(1, 2_000) : draw.whole(2_000, 45_000);
  return {
    key: String(i),
    atMs: draw.whole(0, 5_000),
    holdU: holdOf(spec),
    poll: { accountId: ACCOUNT, spec, deadlineMs, entryPoint: 'simulation' },
  };
}
