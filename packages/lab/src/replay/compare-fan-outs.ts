// What the fan-out costs and how long it takes: recorded votes with made-up latencies, run by the code that runs live
// polls. Cost counts calls that were started, whether or not they were aborted.
import type { PanelName, PollSpec, Vote } from '@eloquentpoll/contracts';
import { pollState } from '@eloquentpoll/polls';
import { virtualClock } from '@eloquentpoll/testkit/virtual-clock';
import { type Collecting, collectVotes } from '@eloquentpoll/worker/collect-votes';
import { priceOfCalls } from './compare-rules.ts';
import { makerOf } from './families.ts';
import { replayedLatencyMs } from './latencies.ts';
import type { RecordedPoll } from './recorded-poll.ts';

export interface FanOutFigures {
  readonly fanOut: string;
  /** Share of the calls of a full panel. */
  readonly cost: number;
  /** Share of the price of a full panel; null where no prices are known. */
  readonly dollars: number | null;
  readonly meanLatencyMs: number;
  /** Relative to asking every model and waiting for the last. */
  readonly relativeLatency: number;
}

interface Run {
  readonly calls: number;
  readonly price: number;
  readonly latencyMs: number;
}

interface FanOut {
  readonly name: string;
  readonly run: (recorded: RecordedPoll, threshold: number) => Promise<Run>;
}

const FULL: FanOut = {
  name: 'full, wait for all',
  run: async (recorded) => ({
    calls: recorded.models.length,
    price: priceOfCalls(recorded),
    latencyMs: Math.max(...recorded.models.map((model) => replayedLatencyMs(model, recorded.question.id))),
  }),
};

/** The last three are the presets strong (without its hedge), broad and fast. */
const FAN_OUTS: readonly FanOut[] = [
  FULL,
  { name: 'sequential', run: (recorded, threshold) => collect(recorded, threshold, 'strong', 1) },
  { name: 'need', run: (recorded, threshold) => collect(recorded, threshold, 'strong') },
  { name: 'need + 1', run: (recorded, threshold) => collect(recorded, threshold, 'broad') },
  { name: 'all, abort on stop', run: (recorded, threshold) => collect(recorded, threshold, 'fast') },
];

export async function compareFanOuts(
  polls: readonly RecordedPoll[],
  threshold: number,
  onPoll: () => void,
): Promise<FanOutFigures[]> {
  const totals = FAN_OUTS.map((fanOut) => ({ fanOut, calls: 0, price: 0, latencyMs: 0 }));
  for (const recorded of polls) {
    for (const total of totals) {
      const { calls, price, latencyMs } = await total.fanOut.run(recorded, threshold);
      total.calls += calls;
      total.price += price;
      total.latencyMs += latencyMs;
    }
    onPoll();
  }
  const full = totals.find((total) => total.fanOut === FULL)!;
  return totals.map((total) => ({
    fanOut: total.fanOut.name,
    cost: total.calls / full.calls,
    dollars: full.price > 0 ? total.price / full.price : null,
    meanLatencyMs: total.latencyMs / polls.length,
    relativeLatency: total.latencyMs / full.latencyMs,
  }));
}

/** If `concurrency` is below the size of the panel, calls wait for each other. One that never started costs nothing. */
async function collect(
  recorded: RecordedPoll,
  threshold: number,
  preset: PanelName,
  concurrency = recorded.models.length,
): Promise<Run> {
  const clock = virtualClock();
  const line = waitingLine(concurrency);
  let calls = 0;
  let price = 0;
  const ask: Collecting['ask'] = async (seat, _timeLeftMs, signal) => {
    await line.enter();
    calls += 1;
    price += recorded.prices?.[seat] ?? 0;
    await new Promise<void>((answered) => {
      const cancel = clock.after(replayedLatencyMs(recorded.models[seat]!, recorded.question.id), answered);
      signal.addEventListener('abort', cancel, { once: true });
    });
    // The next call starts only after this vote has been judged: it may be the one that ends the poll.
    clock.after(0, line.leave);
    return voteOf(recorded, seat);
  };
  const spec = specOf(recorded, threshold, preset);
  const collecting = collectVotes({
    spec,
    votes: [],
    state: pollState(spec),
    timeLeftMs: 3_600_000,
    clock,
    hedges: { earn: () => {}, spend: () => false },
    signal: new AbortController().signal,
    ask,
    onVote: () => {},
  });
  await clock.run(collecting);
  return { calls, price, latencyMs: clock.now() };
}

/** A semaphore with so many places; the others wait in order. */
function waitingLine(places: number): { enter(): Promise<void>; leave(): void } {
  let free = places;
  const waiting: (() => void)[] = [];
  return {
    async enter() {
      if (free > 0) free -= 1;
      else await new Promise<void>((turn) => waiting.push(turn));
    },
    leave() {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}

function specOf({ question, models }: RecordedPoll, threshold: number, preset: PanelName): PollSpec {
  return {
    question: question.id,
    options: Array.from({ length: question.optionCount }, (_, option) => `option ${option + 1}`),
    panel_name: preset,
    confidence_threshold: threshold,
    max_cost_u: 0,
    min_votes: 3,
    search: false,
    seed: question.id,
    seats: models.map((model) => ({
      model_id: model,
      family: makerOf(model),
      reserve_u: 0,
      failure_rate: 0,
      p90_ms: 0,
    })),
    simulated: true,
  };
}

function voteOf({ models, votes }: RecordedPoll, seat: number): Vote {
  const option = votes[seat] ?? null;
  return {
    seat,
    model_id: models[seat]!,
    option,
    error: option === null ? 'malformed' : null,
    latency_ms: 0,
    billed_u: 0,
    provider_cost_u: null,
    labels: [],
    calls: 1,
    searched: false,
  };
}
