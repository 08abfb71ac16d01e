import type { ServiceTier, Vote } from '@eloquentpoll/contracts';
import type { Metrics } from '@eloquentpoll/ops';
import type { PollBus } from '../ports.ts';
import type { JobTraces } from './job-traces.ts';
import type { JobActivity } from './liveness.ts';

// Metrics at the bus: started and ended jobs, received votes, and fenced writes.

export function observedBus(
  bus: PollBus,
  metrics: Metrics,
  activity: Record<ServiceTier, JobActivity>,
  traces: JobTraces,
): PollBus {
  const { runs } = bus;
  const stale = metrics.counter('eloquentpoll_stale_epoch_total', 'progress');
  const countVote = voteCounts(metrics);
  /** Failed writes are repeated with the same vote, which must be counted once. */
  const counted = new WeakSet<Vote>();

  async function fenced(write: Promise<boolean>): Promise<boolean> {
    const ours = await write;
    if (!ours) stale.n += 1;
    return ours;
  }

  return {
    enqueuePoll: (...args) => bus.enqueuePoll(...args),
    queueCounts: (...args) => bus.queueCounts(...args),
    queueWaiting: (...args) => bus.queueWaiting(...args),
    consumePolls: ({ run, lane = 'standard', ...slots }) =>
      bus.consumePolls({
        ...slots,
        lane,
        async run(pollId, signal) {
          let error: string | null = 'failed';
          activity[lane].began();
          try {
            await run(pollId, signal);
            error = null;
          } finally {
            activity[lane].ended();
            traces.end(pollId, error);
          }
        },
      }),
    runs: {
      open: (...args) => fenced(runs.open(...args)),
      vote(pollId, epoch, vote, ...rest) {
        if (!counted.has(vote)) countVote(vote);
        counted.add(vote);
        return fenced(runs.vote(pollId, epoch, vote, ...rest));
      },
      end: (...args) => fenced(runs.end(...args)),
      async takeOver(...args) {
        const votes = await runs.takeOver(...args);
        if (votes === null) stale.n += 1;
        return votes;
      },
    },
  };
}

function voteCounts(metrics: Metrics): (vote: Vote) => void {
  return ({ model_id: model, error, latency_ms, calls }) => {
    metrics.counter('eloquentpoll_votes_total', model, error ?? 'vote').n += 1;
    metrics.counter('eloquentpoll_vote_calls_total', model).n += calls;
    metrics.histogram('eloquentpoll_vote_duration_seconds', model).observe(latency_ms / 1_000);
  };
}
