import { FREE_PRESETS, type PollResponse, PRESETS } from '@eloquentpoll/contracts';
import type { Counter, Histogram, Metrics } from '@eloquentpoll/ops';
import { isFree, laneOf } from '@eloquentpoll/polls';
import type { Claim, Finished, FinishedPoll } from '@eloquentpoll/storage';
import type { PollStore } from '../ports.ts';
import type { JobTraces } from './job-traces.ts';

// Metrics at the store: claims, ends, money, and fenced writes. Money is counted when it is stored, so once per poll.

/** `models`: their counters of money start at zero, so that the first increase in a new process is visible. */
export function observedPolls(
  polls: PollStore,
  models: readonly string[],
  metrics: Metrics,
  traces: JobTraces,
): PollStore {
  const claims = metrics.counter('eloquentpoll_polls_claimed_total');
  const handedOver = metrics.counter('eloquentpoll_polls_handed_over_total');
  const buried = metrics.counter('eloquentpoll_polls_buried_total');
  const found = metrics.counter('eloquentpoll_polls_found_total');
  const staleLease = metrics.counter('eloquentpoll_stale_epoch_total', 'lease');
  const staleStore = metrics.counter('eloquentpoll_stale_epoch_total', 'store');
  const money = moneyMetrics(metrics, models);

  function claimed(claim: Claim | null): Claim | null {
    if (!claim) return null;
    claims.n += 1;
    if (claim.epoch === 1) waitsOf(metrics, claim).observe(claim.ageMs / 1_000);
    traces.begin(claim);
    return claim;
  }

  return {
    ...polls,
    claim: async (...args) => claimed(await polls.claim(...args)),
    claimOverdue: async (...args) => claimed(await polls.claimOverdue(...args)),
    async renew(worker, leases) {
      const ours = await polls.renew(worker, leases);
      staleLease.n += leases.length - ours.length;
      return ours;
    },
    async release(lease) {
      const released = await polls.release(lease);
      if (released) handedOver.n += 1;
      return released;
    },
    async finish(poll) {
      const span = traces.step(poll.id, 'store result', 'internal', { status: poll.response.status });
      try {
        const finish = await polls.finish(poll);
        if (finish.outcome === 'stored') {
          money.enter(poll, finish);
          const { preset, timing } = finish.response;
          const durations = metrics.histogram('eloquentpoll_poll_duration_seconds', preset);
          durations.observe((poll.lane === 'flex' ? timing.gather_ms : timing.total_ms) / 1_000);
        } else staleStore.n += 1;
        span?.end({ outcome: finish.outcome }, finish.outcome === 'fenced' ? 'fenced' : null);
        return finish;
      } catch (error) {
        span?.end({}, 'failed');
        throw error;
      }
    },
    async bury(poll) {
      const finish = await polls.bury(poll);
      if (finish === 'stored') buried.n += 1;
      return finish;
    },
    async findLapsed(limit, skip) {
      return count(found, await polls.findLapsed(limit, skip));
    },
    async findOverdue(limit, graceMs) {
      return count(found, await polls.findOverdue(limit, graceMs));
    },
  };
}

/** Shows whether some callers wait while others do not. */
function waitsOf(metrics: Metrics, { accountId, spec, isAwaited }: Claim): Histogram {
  const ofAccount = isFree(spec.panel_name) ? 'free_account' : 'account';
  const ofStandard = accountId === null ? 'anonymous' : ofAccount;
  const of = laneOf(spec) === 'flex' ? 'flex' : ofStandard;
  return metrics.histogram('eloquentpoll_poll_queue_wait_seconds', of, isAwaited ? 'yes' : 'no');
}

function count<T>(counter: Counter, list: T[]): T[] {
  counter.n += list.length;
  return list;
}

const USD = 1_000_000;
const PAYERS = ['account', 'free_pool'] as const;
type Payer = (typeof PAYERS)[number];
type Stored = Extract<Finished, { outcome: 'stored' }>;

/** Polls canceled before any vote have a reason of their own, so that alarms can leave them out. */
export const countedReasonOf = ({
  code,
  termination_reason,
}: Pick<PollResponse, 'code' | 'termination_reason'>): string =>
  code === 'poll_canceled' ? 'canceled' : (termination_reason ?? 'deadline');

function moneyMetrics(metrics: Metrics, models: readonly string[]) {
  const margin = { account: 0, free_pool: 0 };
  metrics.reading('eloquentpoll_margin_usd', () => PAYERS.map((payer) => [[payer], margin[payer]] as const));
  for (const panel of [...PRESETS, ...FREE_PRESETS]) {
    metrics.counter('eloquentpoll_polls_ended_total', panel, 'success', 'mathematical_lock');
    for (const payer of PAYERS) {
      metrics.counter('eloquentpoll_aborted_calls_total', panel, payer);
      metrics.counter('eloquentpoll_aborted_cost_usd_total', panel, payer);
    }
  }
  for (const model of models)
    for (const payer of PAYERS) {
      metrics.counter('eloquentpoll_billed_usd_total', model, payer);
      metrics.counter('eloquentpoll_provider_cost_usd_total', model, payer);
    }
  metrics.counter('eloquentpoll_billed_usd_total', 'none', 'free_pool');
  return {
    enter({ aborted = [], payer: account }: FinishedPoll, { votes, response, unvotedU }: Stored): void {
      const panel = response.preset;
      const payer = account === undefined ? 'free_pool' : 'account';
      const reason = countedReasonOf(response);
      metrics.counter('eloquentpoll_polls_ended_total', panel, response.status, reason).n += 1;
      metrics.counter('eloquentpoll_votes_skipped_total', panel).n += response.models_skipped;
      for (const { model_id: model, billed_u, provider_cost_u, cost, calls } of votes) {
        billed(model, payer, billed_u);
        charged(model, payer, cost?.estimated_u ?? provider_cost_u ?? 0);
        if (provider_cost_u === null && calls > 0)
          metrics.counter('eloquentpoll_votes_cost_unknown_total', model).n += 1;
      }
      for (const { model_id: model, calls, estimated_u } of aborted) {
        charged(model, payer, estimated_u);
        metrics.counter('eloquentpoll_aborted_calls_total', panel, payer).n += calls;
        metrics.counter('eloquentpoll_aborted_cost_usd_total', panel, payer).n += estimated_u / USD;
      }
      if (unvotedU > 0) billed('none', payer, unvotedU);
    },
  };

  function billed(model: string, payer: Payer, amountU: number): void {
    metrics.counter('eloquentpoll_billed_usd_total', model, payer).n += amountU / USD;
    margin[payer] += amountU / USD;
  }

  function charged(model: string, payer: Payer, amountU: number): void {
    metrics.counter('eloquentpoll_provider_cost_usd_total', model, payer).n += amountU / USD;
    margin[payer] -= amountU / USD;
  }
}
