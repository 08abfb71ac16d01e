import type { PanelName, PollSpec, VoteError } from '@eloquentpoll/contracts';
import { unanswered } from '@eloquentpoll/worker/collect-votes';
import { type Chance, chance } from '../terminal/chance.ts';
import type { ModelAnswer } from './model-call.ts';

// One poll of a simulated world, drawn from its seed: the order, the behaviour of its models, and when its workers die.
// The ranges are wider than in reality: free and ruinous prices, budgets for no model and for all, models that never
// answer, deadlines of milliseconds.

export interface Scenario {
  seed: string;
  spec: PollSpec;
  deadlineMs: number;
  /** By seat: what its model does on every call. */
  answers: readonly ModelAnswer[];
  /** How long each worker lives, except the last. */
  lives: readonly number[];
  /** The time from a worker's death to the next claim. */
  resumeMs: readonly number[];
  /** By life and seat: whether the worker died after receiving the vote and before logging it. */
  unlogged: readonly (readonly boolean[])[];
  hedges: { perCall: number; burst: number };
}

const PANELS: readonly PanelName[] = ['broad', 'broad', 'broad', 'strong', 'strong', 'fast', 'free', 'free_search'];
const THRESHOLDS = [0, 0.5, 0.8, 0.9, 0.95, 0.95, 0.95, 0.99, 1];
const FAILURES: readonly VoteError[] = [
  'timeout',
  'refusal',
  'invalid_choice',
  'malformed',
  'rate_limited',
  'provider_error',
];
const MAX_COST_U = 25_000_000;

export function drawScenario(seed: string): Scenario {
  const draw = chance(seed);
  const seats = draw.happens(0.9) ? draw.whole(1, 9) : draw.whole(10, 14);
  const options = draw.happens(0.9) ? draw.whole(2, 5) : draw.whole(6, 10);
  const reserves = drawReserves(draw, seats);
  const deadlineMs = draw.happens(0.05) ? draw.whole(0, 500) : draw.whole(500, 120_000);
  const deaths = draw.happens(0.3) ? draw.whole(1, 3) : 0;
  const spec: PollSpec = {
    question: 'Which of these is it?',
    options: Array.from({ length: options }, (_, i) => `option ${i + 1}`),
    panel_name: draw.pick(PANELS),
    confidence_threshold: draw.happens(0.8) ? draw.pick(THRESHOLDS) : draw.share(),
    max_cost_u: drawBudget(draw, reserves),
    min_votes: draw.pick([1, 2, 3, 3, 3, 5]),
    search: false,
    seed,
    seats: reserves.map((reserve_u, i) => ({
      model_id: `sim/model-${i}`,
      family: `family-${draw.whole(0, 5)}`,
      reserve_u,
      failure_rate: draw.happens(0.5) ? 0 : draw.share() / 2,
      p90_ms: draw.happens(0.2) ? 0 : draw.whole(20, 5_000),
    })),
    simulated: true,
  };
  return {
    seed,
    deadlineMs,
    spec,
    answers: drawAnswers(draw, spec),
    lives: Array.from({ length: deaths }, () => Math.round((deadlineMs / 2) * draw.share() ** 3)),
    resumeMs: Array.from({ length: deaths }, () => draw.whole(0, 12_000)),
    unlogged: drawLosses(draw, deaths, seats),
    hedges: { perCall: draw.pick([0, 0.1, 1]), burst: draw.whole(0, 5) },
  };
}

function drawLosses(draw: Chance, deaths: number, seats: number): boolean[][] {
  const rate = draw.pick([0, 0, 0.05, 0.5]);
  return Array.from({ length: deaths }, () => Array.from({ length: seats }, () => draw.happens(rate)));
}

function drawReserves(draw: Chance, seats: number): number[] {
  const scale = 10 ** draw.between(0, 6);
  const free = draw.happens(0.05);
  const equal = draw.happens(0.2);
  return Array.from({ length: seats }, () => (free ? 0 : Math.round(equal ? scale : scale * (0.2 + 3 * draw.share()))));
}

function drawBudget(draw: Chance, reserves: readonly number[]): number {
  const whole = reserves.reduce((sum, reserve) => sum + reserve, 0);
  const tight = whole * draw.share();
  const odd = draw.pick([Math.min(...reserves) - 1, Math.max(...reserves) + 1, draw.whole(0, 1_000)]);
  const budget = draw.pick([MAX_COST_U, whole, whole, whole, tight, tight, tight, odd]);
  return Math.max(0, Math.min(MAX_COST_U, Math.floor(budget)));
}

function drawAnswers(draw: Chance, spec: PollSpec): ModelAnswer[] {
  const failing = draw.pick([0, 0, 0.05, 0.05, 0.2, 0.2, 0.5, 1]);
  const agreement = draw.share();
  const favourite = draw.whole(0, spec.options.length - 1);
  const medianMs = 10 ** draw.between(1, 4.5);
  const sigma = draw.between(0, 1.2);
  return spec.seats.map(({ reserve_u }, seat) => {
    const fails = draw.happens(failing);
    const option = draw.happens(agreement) ? favourite : draw.whole(0, spec.options.length - 1);
    const straggles = draw.happens(0.05) ? 6 : 1;
    const afterMs = draw.happens(0.03) ? Number.POSITIVE_INFINITY : draw.latency(medianMs, sigma) * straggles;
    const error = fails ? draw.pick(FAILURES) : null;
    const billed_u = fails ? 0 : draw.happens(0.2) ? reserve_u : Math.floor(reserve_u * draw.share());
    return {
      vote: { ...unanswered(spec, seat, 'timeout', afterMs), option: fails ? null : option, error, billed_u },
      afterMs,
      ignoresTime: draw.happens(0.05),
      ignoresAbort: false,
    };
  });
}
