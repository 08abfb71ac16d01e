import type { Vote } from '@eloquentpoll/contracts';
import type { Metrics } from '@eloquentpoll/ops';
import type { PollBus } from '../ports.ts';
import type { JobTraces } from './job-traces.ts';
import type { Progress } from './progress.ts';

// The bus, with what goes through it noted: jobs that begin and end, votes as they arrive, and writes that were refused
// because a newer worker has the poll.

export function observedBus(bus: PollBus, metrics: Metrics, progress: Progress, traces: JobTraces): PollBus {
  const { runs } = bus;
  const stale = metrics.counter('eloquentpoll_stale_epoch_total', 'progress');
  const heard = voteCounts(metrics);

  async function fenced(write: Promise<boolean>): Promise<boolean> {
    const ours = await write;
    if (!ours) stale.n += 1;
    return ours;
  }

  return {
    enqueuePoll: (...asked) => bus.enqueuePoll(...asked),
    consumePolls: ({ concurrency, run }) =>
      bus.consumePolls({
        concurrency,
        async run(pollId, signal) {
          let error: string | null = 'failed';
          progress.began();
          try {
            await run(pollId, signal);
            error = null;
          } finally {
            progress.ended();
            traces.end(pollId, error);
          }
        },
      }),
    runs: {
      open: (...asked) => fenced(runs.open(...asked)),
      vote(pollId, epoch, vote, snapshot) {
        heard(vote);
        return fenced(runs.vote(pollId, epoch, vote, snapshot));
      },
      end: (...asked) => fenced(runs.end(...asked)),
      async takeOver(...asked) {
        const votes = await runs.takeOver(...asked);
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
