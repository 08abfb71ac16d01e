import type { Metrics } from '@eloquentpoll/ops';
import type { Ask } from '../ports.ts';
import type { JobTraces } from './job-traces.ts';

// Asking models, with a span for each vote, and with those counted whose answer nobody waited for. A span says which
// model, how often it was called and what went wrong; never what was asked or answered.

export function observedAsk(ask: Ask, metrics: Metrics, traces: JobTraces): Ask {
  return async (asking) => {
    const { pollId, spec, seat, signal } = asking;
    const model = spec.seats[seat]?.model_id ?? 'unknown';
    const span = traces.step(pollId, 'vote', 'client', { model, seat });
    const vote = await ask(asking);
    if (signal.aborted) metrics.counter('eloquentpoll_votes_orphaned_total', model).n += 1;
    span?.end({ calls: vote.calls, searched: vote.searched, orphaned: signal.aborted }, vote.error);
    return vote;
  };
}
