import type { Metrics } from '@eloquentpoll/ops';
import type { Ask } from '../ports.ts';
import type { JobTraces } from './job-traces.ts';

// A span for each vote, and a count of votes that arrived after their poll had stopped. Spans contain the model, the
// number of calls and the error, never the question or the answer.

export function observedAsk(ask: Ask, metrics: Metrics, traces: JobTraces): Ask {
  return async (request, options) => {
    const { pollId, modelId: model, seat } = request;
    const { signal } = options;
    const span = traces.step(pollId, 'vote', 'client', { model, seat });
    const vote = await ask(request, options);
    if (signal.aborted) metrics.counter('eloquentpoll_votes_orphaned_total', model).n += 1;
    span?.end({ calls: vote.calls, searched: vote.searched, orphaned: signal.aborted }, vote.error);
    return vote;
  };
}
