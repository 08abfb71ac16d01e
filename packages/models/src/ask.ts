import type { Ballot, BallotError, RosterName } from '@eloquentpoll/contracts';
import { Redis } from 'ioredis';
import { composeBallot } from './ballot.ts';
import { billedU } from './billing.ts';
import { type Breaker, type BreakerChange, breaker } from './breaker.ts';
import { ballotErrorOf, retryWaitMs } from './call-failure.ts';
import { type Deadline, deadline, sleep } from './deadline.ts';
import { joinFleet } from './fleet.ts';
import { type Gate, gate } from './gate.ts';
import type { BallotStyle } from './prompt.ts';
import { openProviderLine, type ProviderLine } from './provider-line.ts';
import { readAnswer, readProviderCost } from './read-answer.ts';
import { requestBody } from './request-body.ts';
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
  /** Where workers share what they learn of their models; left out, this process learns alone. */
  redis?: Redis | string | undefined;
  /** Of the Redis keys. */
  prefix?: string;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
  /** Between 0 and 1. */
  random?: () => number;
}

const DEFAULT_TIMEOUTS: Timeouts = { connect_ms: 3_000, first_byte_ms: 15_000, idle_ms: 10_000, total_ms: 45_000 };
/** Ballots of one model that may wait for a place before further ones fail at once. */
const MOST_WAITING = 1_000;
/** How long a process leaves a model alone after another one claimed the probe. */
const PROBE_ELSEWHERE_MS = 2_000;

interface Line {
  provider: Provider;
  line: ProviderLine;
  retries: RetryBudget;
}

interface Access {
  gate: Gate;
  breaker: Breaker;
}

/** What happened to one ballot so far. */
interface Run {
  labels: string[];
  attempts: number;
  providerCostU: number | null;
  searched: boolean;
}

type Outcome = { option: number; billedU: number; callMs: number } | { error: BallotError; blameless?: boolean };

export function openAsker(options: AskerOptions): Asker {
  const { rosters, apiKeys = {}, prefix = 'ep', now = () => performance.now(), random = Math.random } = options;
  const lines = openLines(rosters, apiKeys);
  const access = new Map<string, Access>();
  for (const model of rosters.models())
    access.set(model.id, { gate: gate(model.concurrency, MOST_WAITING), breaker: breaker(random) });
  const ownRedis = typeof options.redis === 'string' ? connect(options.redis) : null;
  const fleet = joinFleet({
    redis: ownRedis ?? (options.redis instanceof Redis ? options.redis : null),
    prefix,
    modelIds: [...access.keys()],
    onBreaker: (id, change) => access.get(id)?.breaker.adopt(change, now()),
  });
  const asking = new Set<Deadline>();
  let closed = false;

  async function ask(paper: Paper, signal?: AbortSignal): Promise<Answer> {
    const started = now();
    const run: Run = { labels: [], attempts: 0, providerCostU: null, searched: false };
    const model = rosters.model(paper.modelId);
    // A poll accepted under an older roster file may name a model that is gone.
    const outcome: Outcome = model
      ? await admit(paper, model, signal, run)
      : { error: 'provider_error', blameless: true };
    const voted = 'option' in outcome;
    if (voted) fleet.ballot(paper.modelId, outcome.callMs);
    else if (!outcome.blameless) fleet.ballot(paper.modelId, null);
    return {
      model_id: paper.modelId,
      option: voted ? outcome.option : null,
      error: voted ? null : outcome.error,
      latency_ms: Math.max(0, Math.round(now() - started)),
      billed_u: voted ? outcome.billedU : 0,
      provider_cost_u: run.providerCostU,
      labels: run.labels,
      attempts: run.attempts,
      searched: voted && run.searched,
    };
  }

  /** Past the breaker and the gate, under the ballot's deadline. */
  async function admit(paper: Paper, model: Model, signal: AbortSignal | undefined, run: Run): Promise<Outcome> {
    if (closed || signal?.aborted) return { error: 'aborted', blameless: true };
    const { gate, breaker } = access.get(model.id)!;
    const admission = breaker.admit(now());
    if (admission === 'no') return { error: 'provider_error', blameless: true };
    const probe = admission === 'probe';
    const timeouts = timeoutsOf(rosters, model, paper.roster);
    const limit = deadline(Math.min(paper.deadlineMs, timeouts.total_ms), signal);
    asking.add(limit);
    try {
      if (probe && !(await fleet.claimProbe(model.id, timeouts.total_ms))) {
        breaker.postpone(now() + PROBE_ELSEWHERE_MS);
        return { error: 'provider_error', blameless: true };
      }
      if (!(await gate.enter(limit.signal))) return { error: limit.error() ?? 'rate_limited', blameless: true };
      try {
        return await vote(paper, model, { timeouts, limit, probe, breaker, run });
      } finally {
        gate.leave();
      }
    } finally {
      if (probe) {
        breaker.ended(true);
        fleet.releaseProbe(model.id);
      }
      asking.delete(limit);
      limit.clear();
    }
  }

  interface Conduct {
    timeouts: Timeouts;
    limit: Deadline;
    probe: boolean;
    breaker: Breaker;
    run: Run;
  }

  /** Calls the model until there is a vote: once, with at most one retry and one repair. */
  async function vote(paper: Paper, model: Model, { timeouts, limit, probe, breaker, run }: Conduct): Promise<Outcome> {
    const { provider, line, retries } = lines.get(model.provider)!;
    const ballot = composeBallot(paper);
    const search = paper.search && model.search !== null;
    run.labels = ballot.labels;
    run.searched = search;
    let mayRetry = !probe;
    let repair = false;
    for (;;) {
      const body = requestBody({ model, provider, ballot, style: paper.style, search, repair });
      run.attempts += 1;
      retries.earn();
      const called = now();
      const result = await line.complete(body, {
        timeouts,
        trace: traceOf(provider, paper, run.attempts),
        signal: limit.signal,
      });
      const callMs = now() - called;
      if ('reply' in result) {
        share(model.id, breaker.succeeded(now()));
        const { reply } = result;
        const costU = readProviderCost(reply);
        if (costU !== null) run.providerCostU = (run.providerCostU ?? 0) + costU;
        const reading = readAnswer(model, reply, ballot.labels);
        if ('vote' in reading)
          return {
            option: reading.vote,
            callMs,
            billedU: billedU(model, reply, () => JSON.stringify(body), search, paper.reserveU),
          };
        const stopped = limit.error();
        if (stopped) return { error: stopped, blameless: true };
        if (repair || !reading.repair) return { error: reading.error };
        repair = true;
        continue;
      }
      const { failure } = result;
      const stopped = limit.error();
      const blameless = stopped !== null && callMs < patienceMs(model, stopped);
      if (failure.kind === 'refusal') share(model.id, breaker.succeeded(now()));
      else if (blameless) breaker.ended(probe);
      else share(model.id, breaker.failed(now(), probe));
      if (stopped) return { error: stopped, blameless };
      const waitMs = mayRetry ? retryWaitMs(failure, random) : null;
      if (waitMs === null || waitMs >= limit.leftMs() || !retries.spend()) return { error: ballotErrorOf(failure) };
      mayRetry = false;
      await sleep(waitMs, limit.signal);
      const woken = limit.error();
      if (woken) return { error: woken === 'aborted' ? woken : ballotErrorOf(failure), blameless: woken === 'aborted' };
    }
  }

  function share(modelId: string, change: BreakerChange | null): void {
    if (change) fleet.breakerChanged(modelId, change);
  }

  return {
    ask,
    async [Symbol.asyncDispose]() {
      closed = true;
      for (const limit of asking) limit.stop();
      await Promise.all([...lines.values()].map(({ line }) => line.close()));
      await fleet.close();
      ownRedis?.disconnect();
    },
  };
}

function openLines(rosters: Rosters, apiKeys: Record<string, string | undefined>): Map<string, Line> {
  const lines = new Map<string, Line>();
  for (const provider of rosters.providers()) {
    const key = apiKeys[provider.name] ?? null;
    if (provider.keyRequired && key === null)
      throw new Error(`Provider ${provider.name} has no key: set ${provider.apiKeyEnv}`);
    const connectMs = provider.timeouts.connect_ms ?? DEFAULT_TIMEOUTS.connect_ms;
    lines.set(provider.name, { provider, line: openProviderLine(provider, key, connectMs), retries: retryBudget() });
  }
  return lines;
}

function connect(url: string): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    connectTimeout: 2_000,
    commandTimeout: 1_000,
  });
  // Redis being away is no event here: the process goes by its own record until it is back.
  redis.on('error', () => {});
  return redis;
}

/**
 * How long a call must have hung before being stopped speaks against the model: a deadline nearer than its usual time
 * does not, nor does a poll that was decided without it, unless the model was long overdue.
 */
function patienceMs(model: Model, stopped: 'timeout' | 'aborted'): number {
  return stopped === 'timeout' ? model.p90Ms : 2 * model.p90Ms;
}

function traceOf(provider: Provider, paper: Paper, attempt: number): Record<string, string> {
  if (!provider.traceHeaders) return {};
  return { 'x-poll-id': paper.pollId, 'x-seat': String(paper.seat), 'x-attempt': String(attempt) };
}

/** The preset's limits before the provider's before ours. Connecting is the provider's alone: connections are shared. */
function timeoutsOf(rosters: Rosters, model: Model, roster: RosterName | undefined): Timeouts {
  const preset = roster === undefined ? {} : rosters.roster(roster).timeouts;
  return { ...DEFAULT_TIMEOUTS, ...rosters.provider(model.provider).timeouts, ...preset };
}
