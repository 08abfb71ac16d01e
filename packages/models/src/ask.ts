import type { PanelName, Vote } from '@eloquentpoll/contracts';
import type { Redis } from 'ioredis';
import { callCosts, type Spent } from './call-costs.ts';
import { type CallsMade, collectVote, type VoteOutcome } from './collect-vote.ts';
import { type Deadline, deadline } from './deadline.ts';
import { failureLimit } from './failure-limit.ts';
import { joinFleet } from './fleet.ts';
import { type Gate, gate } from './gate.ts';
import { type ModelWatch, modelWatch } from './model-watch.ts';
import type { Model, Provider, Timeouts } from './panel-types.ts';
import type { Panels } from './panels.ts';
import { addressOf, type ProviderSetting, providerKeyOf } from './provider-call.ts';
import { openProviderLine, type ProviderLine } from './provider-line.ts';
import { voteRecorder } from './record-votes.ts';
import { capabilityFor } from './rejected-field.ts';
import { type RetryBudget, retryBudget } from './retry-budget.ts';
import type { VoteRequest } from './vote-request.ts';

export type { Spent } from './call-costs.ts';
export type { VoteRequest } from './vote-request.ts';

// Asks one model for one vote. `ask` always ends, at the latest by the vote's deadline, and never throws: every problem
// becomes one of the vote errors. Of what a provider wrote, only the vote and a cleaned reason are returned.

export interface Asker extends AsyncDisposable {
  ask(request: VoteRequest, options?: AskOptions): Promise<Vote>;
}

export interface AskOptions {
  signal?: AbortSignal;
  /**
   * Awaited before each call to the provider, because the lease may have been lost. False: the vote ends as aborted.
   */
  beforeCall?: () => Promise<boolean>;
  /**
   * Checked immediately before the call: whether the result of `beforeCall` still holds. If false, `beforeCall` is
   * awaited again.
   */
  isCurrent?: () => boolean;
  /** Called at every change, so that the cost of a vote that is given up is known. */
  onSpent?: (spent: Spent) => void;
}

export interface AskerOptions {
  panels: Panels;
  /** Returns the value of a setting: a provider's key, or a part of its address. */
  setting?: ProviderSetting;
  /** Where workers share what they learn about their models. Without it, this process learns alone. */
  redis?: Pick<Redis, 'eval' | 'set' | 'del'>;
  /** Prefix of its keys. */
  prefix?: string;
  /** Called with faults in this package. They contain no secret and no question. */
  onError?: (error: unknown) => void;
  /** Called once per model and field, and once per provider and status. */
  onRejected?: (rejection: Rejection) => void;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
  /** Between 0 and 1. */
  random?: () => number;
}

/** A request that a provider rejects whatever the question, and what an operator must change. */
export interface Rejection {
  provider: string;
  modelId: string;
  status: number;
  /** The rejected field of the request. Null if the key or the account's credit is the cause. */
  field: string | null;
  change: string;
}

const DEFAULT_TIMEOUTS: Timeouts = { connect_ms: 3_000, first_byte_ms: 15_000, idle_ms: 10_000, total_ms: 45_000 };
/** Maximum number of votes that wait for one model. Further ones fail at once. */
const MAX_WAITING = 1_000;
/** How long this process does not ask a model after another process claimed the probe. */
const PROBE_ELSEWHERE_MS = 2_000;

interface Line {
  provider: Provider;
  line: ProviderLine;
  retries: RetryBudget;
}

interface Access {
  gate: Gate;
  watch: ModelWatch;
}

export function openAsker(options: AskerOptions): Asker {
  const { panels, setting = () => undefined, prefix = 'ep', onError = () => {} } = options;
  const { now = () => performance.now(), random = Math.random } = options;
  const lines = openLines(panels, setting, now);
  const access = new Map<string, Access>();
  const fleet = joinFleet({
    redis: options.redis ?? null,
    prefix,
    modelIds: panels.models().map(({ id }) => id),
    onBreaker: (id, change) => access.get(id)?.watch.adopt(change),
  });
  const blames = failureLimit(now);
  for (const { id: modelId, concurrency } of panels.models()) {
    const watch = modelWatch({
      now,
      random,
      mayBlame: (accountId) => blames({ accountId, modelId }),
      onBreaker: (change) => fleet.breakerChanged(modelId, change),
    });
    access.set(modelId, { gate: gate(concurrency, MAX_WAITING), watch });
  }
  const record = voteRecorder(fleet, now);
  const asking = new Set<Deadline>();
  const rejected = new Set<string>();
  let closed = false;

  async function ask(request: VoteRequest, options: AskOptions = {}): Promise<Vote> {
    const started = now();
    const costs = callCosts(request.call, options.onSpent);
    const made: CallsMade = { labels: [], searched: false, costs };
    const model = panels.model(request.modelId);
    // A poll accepted under an older roster file may name a model that no longer exists.
    const outcome: VoteOutcome = model
      ? await admit(request, model, options, made).catch(unexpected)
      : { error: 'provider_error', blameless: true };
    const voted = 'option' in outcome;
    if (voted || !outcome.blameless) record(request, outcome);
    const billedU = voted ? outcome.billedU : 0;
    const tokens = costs.tokens();
    return {
      seat: request.seat,
      model_id: request.modelId,
      option: voted ? outcome.option : null,
      error: voted ? null : outcome.error,
      latency_ms: Math.max(0, Math.round(now() - started)),
      billed_u: billedU,
      provider_cost_u: costs.providerCostU,
      // If a provider charges more than its price list, the customer still pays no more than the reserve.
      cost: { ...costs.cost, fault_u: Math.min(costs.cost.fault_u, request.reserveU - billedU) },
      labels: made.labels,
      calls: costs.calls,
      searched: voted && made.searched,
      ...(tokens && { tokens: { prompt: tokens.inputTokens, completion: tokens.outputTokens } }),
      ...(voted && outcome.reason !== undefined && { reason: outcome.reason }),
    };
  }

  /** A fault in our code must not fail the poll's other votes. */
  function unexpected(error: unknown): VoteOutcome {
    onError(error);
    return { error: 'provider_error', blameless: true };
  }

  /** Reported once, because every further vote would be rejected for the same reason. */
  function noteRejected({ id, provider: name }: Model, status: number, field: string | null): void {
    const key = field === null ? `${name} ${status}` : `${id} ${field}`;
    if (rejected.has(key)) return;
    rejected.add(key);
    const provider = panels.provider(name);
    const change = field === null ? accessOf(provider, status) : capabilityFor(field, provider.takes);
    options.onRejected?.({ provider: name, modelId: id, status, field, change });
  }

  /** Asks the model, if its breakers and the gate admit the vote before its deadline. */
  async function admit(
    request: VoteRequest,
    model: Model,
    { signal, beforeCall, isCurrent }: AskOptions,
    made: CallsMade,
  ): Promise<VoteOutcome> {
    if (closed || signal?.aborted) return { error: 'aborted', blameless: true };
    const { gate, ...asked } = access.get(model.id)!;
    const watch = asked.watch.admit(request.accountId);
    if (watch === null) return { error: 'provider_error', blameless: true };
    const timeouts = timeoutsOf(panels, model, request.panel);
    const limit = deadline(Math.min(request.deadlineMs, timeouts.total_ms), signal);
    let claimed = false;
    asking.add(limit);
    try {
      if (watch.probesForAll) {
        claimed = await fleet.claimProbe(model.id, timeouts.total_ms);
        if (!claimed) {
          watch.postpone(now() + PROBE_ELSEWHERE_MS);
          return { error: 'provider_error', blameless: true };
        }
      }
      if (!(await gate.enter(limit.signal))) return { error: limit.error() ?? 'rate_limited', blameless: true };
      try {
        const onRejected = (status: number, field: string | null): void => noteRejected(model, status, field);
        const access = { ...lines.get(model.provider)!, watch, timeouts, limit };
        const listeners = { beforeCall, isCurrent, onRejected };
        return await collectVote({ request, model, ...access, ...listeners, now, random }, made);
      } finally {
        gate.leave();
      }
    } finally {
      watch.ended();
      if (claimed) fleet.releaseProbe(model.id);
      asking.delete(limit);
      limit.clear();
    }
  }

  return {
    ask,
    async [Symbol.asyncDispose]() {
      closed = true;
      for (const limit of asking) limit.stop();
      await Promise.all([...lines.values()].map(({ line }) => line.close()));
      await fleet.close();
    },
  };
}

const accessOf = ({ apiKeyEnv }: Provider, status: number): string =>
  status === 402
    ? 'the credit or the limit of the account'
    : `the key in ${apiKeyEnv ?? '"api_key_env" of the provider'}`;

function openLines(panels: Panels, setting: ProviderSetting, now: () => number): Map<string, Line> {
  const lines = new Map<string, Line>();
  for (const provider of panels.providers()) {
    const connectMs = provider.timeouts.connect_ms ?? DEFAULT_TIMEOUTS.connect_ms;
    const key = providerKeyOf(provider, setting);
    const line = openProviderLine(provider, addressOf(provider, setting), key, connectMs, now);
    lines.set(provider.name, { provider, line, retries: retryBudget() });
  }
  return lines;
}

/**
 * The preset's limits take precedence over the provider's, and these over ours. The connect limit is only the
 * provider's, because connections are shared.
 */
function timeoutsOf(panels: Panels, model: Model, panel: PanelName | undefined): Timeouts {
  const preset = panel === undefined ? {} : panels.panelOf({ panel_name: panel }).timeouts;
  return { ...DEFAULT_TIMEOUTS, ...panels.provider(model.provider).timeouts, ...preset };
}
