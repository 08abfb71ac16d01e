import type { Ballot, BallotError, RosterName } from '@eloquentpoll/contracts';
import { composeBallot } from './ballot.ts';
import { type Gate, gate } from './gate.ts';
import { costOf } from './price.ts';
import type { BallotStyle } from './prompt.ts';
import { type CallFailure, openProviderLine, type ProviderLine } from './provider-line.ts';
import { answerBytes, readAnswer, readProviderCost, readUsage } from './read-answer.ts';
import { providerSeed, requestBody } from './request-body.ts';
import { type RetryBudget, retryBudget } from './retry-budget.ts';
import type { Model, Provider, Timeouts } from './roster-types.ts';
import type { Rosters } from './rosters.ts';

// Asks one model for one ballot. `ask` always ends, by the ballot's deadline at the latest, and never throws: whatever
// goes wrong is one of the ballot errors, and nothing a provider wrote but the vote itself comes out.

/** One ballot to be filled in. */
export interface Paper {
  pollId: string;
  modelId: string;
  question: string;
  options: readonly string[];
  /** Place of the model in the poll's order of asking. */
  seat: number;
  /** The poll's secret seed: labels, order and nonce follow from it. */
  seed: string;
  style: BallotStyle;
  search: boolean;
  /** Milliseconds this ballot may take from now, waits and retries included. */
  deadlineMs: number;
  /** The most that may be billed. */
  reserveU: number;
  /** Whose time limits apply on top of the provider's. */
  roster?: RosterName;
}

/** What came of it: a ballot without its seat. */
export type Answer = Omit<Ballot, 'seat'>;

export interface Asker extends AsyncDisposable {
  ask(paper: Paper, signal?: AbortSignal): Promise<Answer>;
}

export interface AskerOptions {
  rosters: Rosters;
  /** By provider name. */
  apiKeys?: Record<string, string | undefined>;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
  /** Between 0 and 1. */
  random?: () => number;
}

const DEFAULT_TIMEOUTS: Timeouts = { connect_ms: 3_000, first_byte_ms: 15_000, idle_ms: 10_000, total_ms: 45_000 };
/** Longest wait before a retry where the provider does not say how long. */
const BACKOFF_MS = 1_000;
/** Ballots of one model that may wait for a place before further ones fail at once. */
const MOST_WAITING = 1_000;

interface Line {
  provider: Provider;
  line: ProviderLine;
  retries: RetryBudget;
}

export function openAsker({
  rosters,
  apiKeys = {},
  now = () => performance.now(),
  random = Math.random,
}: AskerOptions): Asker {
  const lines = new Map<string, Line>();
  for (const provider of rosters.providers()) {
    const key = apiKeys[provider.name] ?? null;
    if (provider.apiKeyEnv !== null && key === null)
      throw new Error(`Provider ${provider.name} has no key: set ${provider.apiKeyEnv}`);
    const connectMs = provider.timeouts.connect_ms ?? DEFAULT_TIMEOUTS.connect_ms;
    lines.set(provider.name, { provider, line: openProviderLine(provider, key, connectMs), retries: retryBudget() });
  }
  const gates = new Map<string, Gate>(
    rosters.models().map((model) => [model.id, gate(model.concurrency, MOST_WAITING)]),
  );

  async function ask(paper: Paper, signal?: AbortSignal): Promise<Answer> {
    const started = now();
    const model = rosters.model(paper.modelId);
    const run: Run = { labels: [], attempts: 0, providerCostU: null, searched: false };
    const end = (error: BallotError | null, option: number | null, billedU: number): Answer => ({
      model_id: paper.modelId,
      option,
      error,
      latency_ms: Math.max(0, Math.round(now() - started)),
      billed_u: billedU,
      provider_cost_u: run.providerCostU,
      labels: run.labels,
      attempts: run.attempts,
      searched: option !== null && run.searched,
    });
    // A poll accepted under an older roster file may name a model that is gone.
    if (!model) return end('provider_error', null, 0);
    const timeouts = timeoutsOf(rosters, model, paper.roster);
    const limit = deadline(Math.min(paper.deadlineMs, timeouts.total_ms), signal);
    const place = gates.get(model.id)!;
    try {
      if (!(await place.enter(limit.signal))) return end(limit.error() ?? 'rate_limited', null, 0);
      try {
        const outcome = await vote(paper, model, timeouts, limit, started, run);
        if ('error' in outcome) return end(outcome.error, null, 0);
        return end(null, outcome.option, outcome.billedU);
      } finally {
        place.leave();
      }
    } finally {
      limit.clear();
    }
  }

  async function vote(
    paper: Paper,
    model: Model,
    timeouts: Timeouts,
    limit: Deadline,
    started: number,
    run: Run,
  ): Promise<Outcome> {
    const { provider, line, retries } = lines.get(model.provider)!;
    const ballot = composeBallot(paper);
    run.labels = ballot.labels;
    const search = paper.search && model.search !== null;
    run.searched = search;
    const seed = providerSeed(paper.seed, paper.seat);
    let repair = false;
    let retried = false;
    for (;;) {
      run.attempts += 1;
      retries.earn();
      const body = requestBody({ model, provider, ballot, style: paper.style, search, seed, repair });
      const trace = provider.traceHeaders
        ? { 'x-poll-id': paper.pollId, 'x-seat': String(paper.seat), 'x-attempt': String(run.attempts) }
        : {};
      const result = await line.complete(body, { timeouts, trace, signal: limit.signal });
      const stopped = limit.error();
      if (stopped) return { error: stopped };
      if ('failure' in result) {
        const waitMs = retried ? null : retryWaitMs(result.failure, random);
        const left = Math.min(paper.deadlineMs, timeouts.total_ms) - (now() - started);
        if (waitMs === null || waitMs >= left || !retries.spend()) return { error: errorOf(result.failure) };
        retried = true;
        await sleep(waitMs, limit.signal);
        const overslept = limit.error();
        if (overslept) return { error: overslept };
        continue;
      }
      const { reply } = result;
      const costU = readProviderCost(reply);
      if (costU !== null) run.providerCostU = (run.providerCostU ?? 0) + costU;
      const reading = readAnswer(model, reply, ballot.labels);
      if ('vote' in reading)
        return { option: reading.vote, billedU: billed(model, paper, reply, JSON.stringify(body), search) };
      if (!reading.repair || repair) return { error: reading.error };
      repair = true;
    }
  }

  return {
    ask,
    async [Symbol.asyncDispose]() {
      await Promise.all([...lines.values()].map(({ line }) => line.close()));
    },
  };
}

interface Run {
  labels: string[];
  attempts: number;
  providerCostU: number | null;
  searched: boolean;
}

type Outcome = { option: number; billedU: number } | { error: BallotError };

/**
 * The customer pays the list price of the call that brought the vote, never more than was reserved. Where the provider
 * does not count tokens, four bytes are taken for one, a customary average that is below what most tokenizers give.
 */
function billed(model: Model, paper: Paper, reply: unknown, request: string, search: boolean): number {
  const usage = readUsage(reply) ?? {
    inputTokens: Math.ceil(Buffer.byteLength(request) / 4),
    outputTokens: Math.min(model.maxOutputTokens, Math.ceil(answerBytes(reply) / 4)),
  };
  const fee = search && model.search ? model.search.feeU : 0n;
  const costU = costOf(model.price, usage.inputTokens, usage.outputTokens) + fee;
  return Math.min(Number(costU), paper.reserveU);
}

function errorOf(failure: CallFailure): BallotError {
  switch (failure.kind) {
    case 'aborted':
      return 'aborted';
    case 'timeout':
      return 'timeout';
    case 'connect':
      return failure.timedOut ? 'timeout' : 'provider_error';
    case 'broken':
      return 'provider_error';
    case 'status':
      return failure.status === 429
        ? 'rate_limited'
        : failure.status === 408 || failure.status === 504
          ? 'timeout'
          : 'provider_error';
  }
}

/** How long to wait before the one retry; null where a retry is of no use or could cost twice. */
function retryWaitMs(failure: CallFailure, random: () => number): number | null {
  const jitter = random() * BACKOFF_MS;
  if (failure.kind === 'connect') return jitter;
  if (failure.kind !== 'status') return null;
  if (failure.status !== 429 && failure.status < 500) return null;
  return failure.retryAfterMs === null ? jitter : failure.retryAfterMs + jitter / 4;
}

function timeoutsOf(rosters: Rosters, model: Model, roster: RosterName | undefined): Timeouts {
  return {
    ...DEFAULT_TIMEOUTS,
    ...rosters.provider(model.provider).timeouts,
    ...(roster === undefined ? {} : rosters.roster(roster).timeouts),
  };
}

interface Deadline {
  signal: AbortSignal;
  /** Why the signal is aborted, if it is. */
  error(): BallotError | null;
  clear(): void;
}

function deadline(ms: number, outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let error: BallotError | null = null;
  const stop = (why: BallotError): void => {
    error ??= why;
    controller.abort();
  };
  const abort = (): void => stop('aborted');
  const timer = setTimeout(() => stop('timeout'), Math.max(0, ms));
  if (outer?.aborted) abort();
  else outer?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    error: () => error,
    clear() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done, { once: true });
  });
}
