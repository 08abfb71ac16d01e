import type { ModelReputation, ModelReputations, Reputation } from '@eloquentpoll/contracts';
import { MIN_VOTES_OF_A_MODEL } from '@eloquentpoll/evidence';
import {
  REPUTATION_DAYS,
  REPUTATION_POLLS,
  readReputation,
  type StoredReputation,
  uptime,
} from '@eloquentpoll/storage';
import { type Entry, type Lifetime, memoize } from '../http/cache.ts';
import type { DiscoveryContext } from './context.ts';
import { shareFigure } from './share-figure.ts';

// Reputation figures, read at most every five minutes. Both documents come from one read, so they cover the same polls.
// While the database does not answer, the last read is served.

const FRESH_MS = 300_000;
const STALE_MS = 3_600_000;
const DAY_MS = 86_400_000;

interface Snapshot {
  /** Response bodies. */
  service: string;
  models: string;
  /** The rows of `models`. */
  rows: readonly ModelReputation[];
  feedback: StoredReputation['feedback'];
  window: CountedWindow;
}

/** The counted period: all days, or only the latest polls if there are more than are counted. */
export interface CountedWindow {
  from: Date;
  days: number;
  isWhole: boolean;
}

type Parts = Pick<DiscoveryContext, 'storage' | 'lists' | 'panels'>;

export type Reputations = () => Promise<Entry<Snapshot>>;

export function reputations(parts: Parts, now: () => number = Date.now): Reputations {
  const snapshot = memoize<Snapshot>({ load: () => take(parts), freshMs: FRESH_MS, staleMs: STALE_MS, now });
  return () => snapshot('');
}

async function take({ storage, lists, panels }: Parts): Promise<(lifetime: Lifetime) => Snapshot> {
  const { simulated } = panels;
  const found = await lists.ofAll((queries) => readReputation(queries, { simulated }));
  const ratio = await uptime(storage, 'gateway', REPUTATION_DAYS);
  return ({ loadedAt, expiresAt }) => {
    const taken = { simulated, generated_at: loadedAt.toISOString(), cache_expires_at: expiresAt.toISOString() };
    const service: Reputation = { ...toReputation(found, ratio), ...taken };
    const rows = found.models.map((model) => toModel(model, panels.model(model.modelId)?.provider));
    const models: ModelReputations = {
      ...{ window: windowOf(found), agreement_basis: 'audits' as const },
      ...{ count: rows.length, models: rows, ...taken },
    };
    const { feedback, from, to } = found;
    const isWhole = to.getTime() - from.getTime() >= REPUTATION_DAYS * DAY_MS;
    const window: CountedWindow = { from, days: REPUTATION_DAYS, isWhole };
    return { service: JSON.stringify(service), models: JSON.stringify(models), rows, feedback, window };
  };
}

function toReputation(found: StoredReputation, ratio: number | null) {
  const { success, partial, failed } = found.polls;
  const { rightAccounts, ...feedback } = found.feedback;
  const total = success + partial + failed;
  const { latencyMs, costU } = found;
  return {
    service: 'EloquentPoll',
    window: windowOf(found),
    uptime: { ratio: ratio === null ? null : shareFigure(ratio, 6), source: 'self' as const },
    polls: { total, success, partial, failed, success_rate: rate(success, total) },
    latency_ms: {
      average: latencyMs && Math.round(latencyMs.average),
      p50: latencyMs && Math.round(latencyMs.p50),
      p95: latencyMs && Math.round(latencyMs.p95),
    },
    cost_usd: { average: costU && usd(costU.average), median: costU && usd(costU.median) },
    early_termination_rate: rate(found.earlyTerminated, success + partial),
    feedback: { ...feedback, accuracy_rate: rate(rightAccounts, feedback.accounts) },
  };
}

function toModel(model: StoredReputation['models'][number], provider: string | undefined): ModelReputation {
  const { averageLatencyMs, p95LatencyMs, averageCostU } = model;
  return {
    model_id: model.modelId,
    // For a model that left the panel, the provider is taken from its id.
    provider: provider ?? model.modelId.split('/')[0] ?? '',
    ballots: model.asked,
    votes: model.votes,
    success_rate: rate(model.votes, model.asked),
    average_latency_ms: averageLatencyMs === null ? null : Math.round(averageLatencyMs),
    p95_latency_ms: p95LatencyMs === null ? null : Math.round(p95LatencyMs),
    average_cost_usd: averageCostU === null ? null : usd(averageCostU),
    agreement_rate: model.judged < MIN_VOTES_OF_A_MODEL ? null : rate(model.agreed, model.judged),
    judged: model.judged,
    last_vote_at: model.lastVoteAt?.toISOString() ?? null,
  };
}

const windowOf = ({ from, to }: StoredReputation) => ({
  from: from.toISOString(),
  to: to.toISOString(),
  days: REPUTATION_DAYS,
  most_polls: REPUTATION_POLLS,
});

const rate = (part: number, whole: number): number | null => (whole === 0 ? null : shareFigure(part / whole));

const usd = (microUsd: number): number => digits(microUsd / 1_000_000, 6);

const digits = (value: number, places: number): number => Math.round(value * 10 ** places) / 10 ** places;
