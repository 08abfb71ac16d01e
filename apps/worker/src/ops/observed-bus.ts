import type { Ballot } from '@eloquentpoll/contracts';
import type { Metrics } from '@eloquentpoll/ops';
import type { PollBus } from '../ports.ts';
import type { JobTraces } from './job-traces.ts';
import type { Progress } from './progress.ts';

// The bus, with what goes through it noted: jobs that begin and end, ballots as they arrive, and writes that were refused
// because a newer worker has the poll.

export function observedBus(bus: PollBus, metrics: Metrics, progress: Progress, traces: JobTraces): PollBus {
  const { runs } = bus;
  const stale = metrics.counter('eloquentpoll_stale_epoch_total', 'progress');
  const heard = ballotCounts(metrics);

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
      ballot(pollId, epoch, ballot, snapshot) {
        heard(ballot);
        return fenced(runs.ballot(pollId, epoch, ballot, snapshot));
      },
      end: (...asked) => fenced(runs.end(...asked)),
      async takeOver(...asked) {
        const ballots = await runs.takeOver(...asked);
        if (ballots === null) stale.n += 1;
        return ballots;
      },
    },
  };
}

function ballotCounts(metrics: Metrics): (ballot: Ballot) => void {
  return ({ model_id: model, error, latency_ms, attempts }) => {
    metrics.counter('eloquentpoll_ballots_total', model, error ?? 'vote').n += 1;
    metrics.counter('eloquentpoll_ballot_calls_total', model).n += attempts;
    metrics.histogram('eloquentpoll_ballot_duration_seconds', model).observe(latency_ms / 1_000);
  };
}
