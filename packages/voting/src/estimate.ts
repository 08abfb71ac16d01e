// Estimates a poll's cost and duration from the urn and the models' statistics. No model is called.

import { affordableSeats } from './budget.ts';
import { type ForecastEnding, forecast } from './forecast.ts';
import { newPoll, type PollState, type Rules, received, type VotingSeat } from './poll.ts';
import type { TerminationReason } from './stop-rules.ts';

export interface EstimateSeat extends VotingSeat {
  /** The typical cost of a vote of this model, in micro-USD. At most its reserve. */
  readonly typicalCostU: bigint;
  readonly p50Ms: number;
  readonly p90Ms: number;
}

export interface Range<T> {
  readonly min: T;
  readonly expected: T;
  readonly max: T;
}

export interface PollEstimate {
  /** Votes that end. Calls that a stop aborts are neither billed nor counted. */
  readonly calls: Range<number>;
  /** Micro-USD. The maximum is the worst case; the others use typical prices. */
  readonly costU: Range<bigint>;
  /** Micro-USD: the sum of the typical prices of all votes of the panel, whatever its limit. */
  readonly wholeU: bigint;
  /** Minimum and maximum are the means of the shortest and the longest course. The quantiles are over all courses. */
  readonly latencyMs: Range<number> & { readonly p50: number; readonly p95: number };
  readonly earlyTermination: {
    readonly probability: number;
    /** The most likely reason to end early. `roster_exhausted` if that is impossible. */
    readonly likelyReason: TerminationReason;
  };
}

/**
 * For a shuffled panel, averages over its models are used, because each poll draws its own order. For cheapest first,
 * `seats` are in asking order, and each model is weighted by the probability that it is asked.
 */
export function estimate(rules: Rules, seats: readonly EstimateSeat[]): PollEstimate {
  const affordable = seatsWithinBudget(rules, seats);
  const endings = forecast(rules, seats.length, affordable.length, mean(seats.map((seat) => seat.failureRate)));
  const calls = rangeOf(endings, (ending) => ending.calls);
  return {
    calls,
    costU: costOf(rules, affordable, endings, calls),
    wholeU: wholeU(sum(seats.map(billedOf))),
    latencyMs: latencyOf(
      endings,
      isCheapestFirst(rules) ? callMsByOrder(affordable, endings) : mean(seats.map(meanCallMs)),
    ),
    earlyTermination: earlyTermination(endings),
  };
}

/** The seats that fit into the budget, in order, if each costs its typical price. */
function seatsWithinBudget(rules: Rules, seats: readonly EstimateSeat[]): EstimateSeat[] {
  const within: EstimateSeat[] = [];
  let poll: PollState = newPoll(rules, seats);
  for (let [next] = affordableSeats(poll, 1); next !== undefined; [next] = affordableSeats(poll, 1)) {
    const seat = seats[next]!;
    within.push(seat);
    poll = received(poll, { seat: next, option: null, billedU: seat.typicalCostU });
  }
  return within;
}

const billedOf = ({ typicalCostU, failureRate }: EstimateSeat): number => Number(typicalCostU) * (1 - failureRate);

/** Failed votes are not billed, so the expected cost can be lower than that of the fewest votes. */
function costOf(
  rules: Rules,
  seats: readonly EstimateSeat[],
  endings: readonly ForecastEnding[],
  calls: Range<number>,
): Range<bigint> {
  const prices = seats.map((seat) => Number(seat.typicalCostU));
  const billed = seats.map(billedOf);
  const expected = isCheapestFirst(rules)
    ? expectation(endings, (ending) => sum(billed.slice(0, ending.calls)))
    : calls.expected * mean(billed);
  const cheapest = sum(prices.toSorted((a, b) => a - b).slice(0, calls.min));
  const dearest = sum(seats.map((seat) => Number(seat.reserveU)));
  return {
    min: wholeU(Math.min(cheapest, expected)),
    expected: wholeU(expected),
    max: wholeU(Math.min(dearest, Number(rules.maxCostU))),
  };
}

/** The mean duration of a call, with each model weighted by the probability that it is asked. 0 if none is. */
function callMsByOrder(seats: readonly EstimateSeat[], endings: readonly ForecastEnding[]): number {
  const asked = seats.map((_, i) => expectation(endings, (ending) => Number(ending.calls > i)));
  return sum(seats.map((seat, i) => asked[i]! * meanCallMs(seat))) / Math.max(Number.MIN_VALUE, sum(asked));
}

function latencyOf(endings: readonly ForecastEnding[], callMs: number): PollEstimate['latencyMs'] {
  const { min, expected, max } = rangeOf(endings, (ending) => ending.time.mean * callMs);
  const square = expectation(endings, (ending) => ending.time.square) * callMs * callMs;
  // Durations are positive and skewed, so use the log-normal distribution with these two moments.
  const spread = expected > 0 ? Math.log(square / expected ** 2) : 0;
  const p50 = expected * Math.exp(-spread / 2);
  return { min, expected, max, p50, p95: p50 * Math.exp(Z95 * Math.sqrt(spread)) };
}

function earlyTermination(endings: readonly ForecastEnding[]): PollEstimate['earlyTermination'] {
  const probabilityOf = (reason: TerminationReason) =>
    sum(endings.filter((ending) => ending.reason === reason).map((ending) => ending.probability));
  const early = (['mathematical_lock', 'confidence', 'budget'] as const)
    .map((reason) => ({ reason, probability: probabilityOf(reason) }))
    .toSorted((a, b) => b.probability - a.probability);
  const [likeliest] = early;
  const probability = Math.min(1, sum(early.map((end) => end.probability)));
  return { probability, likelyReason: likeliest && probability > 0 ? likeliest.reason : 'roster_exhausted' };
}

const isCheapestFirst = ({ order }: Rules): boolean => order === 'cheapest';

/** The mean of the log-normal distribution with this median and this 90th percentile. */
function meanCallMs({ p50Ms, p90Ms }: EstimateSeat): number {
  const sigma = Math.log(Math.max(p90Ms / p50Ms, 1)) / Z90;
  return p50Ms * Math.exp(sigma ** 2 / 2);
}

/** Quantiles of the standard normal distribution. */
const Z90 = 1.2815515655446004;
const Z95 = 1.6448536269514722;

function rangeOf(endings: readonly ForecastEnding[], of: (ending: ForecastEnding) => number): Range<number> {
  const values = endings.map(of);
  return { min: Math.min(...values), expected: expectation(endings, of), max: Math.max(...values) };
}

const expectation = (endings: readonly ForecastEnding[], of: (ending: ForecastEnding) => number): number =>
  sum(endings.map((ending) => ending.probability * of(ending)));

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => (values.length === 0 ? 0 : sum(values) / values.length);
const wholeU = (amount: number): bigint => BigInt(Math.round(amount));
