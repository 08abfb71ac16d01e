import type { Metrics } from '@eloquentpoll/ops';
import type { Ask } from '../ports.ts';
import type { JobTraces } from './job-traces.ts';

// Asking models, with a span for each ballot, and with those counted whose answer nobody waited for. A span says which
// model, how often it was called and what went wrong; never what was asked or answered.

export function observedAsk(ask: Ask, metrics: Metrics, traces: JobTraces): Ask {
  return async (asking) => {
    const { pollId, spec, seat, signal } = asking;
    const model = spec.seats[seat]?.model_id ?? 'unknown';
    const span = traces.step(pollId, 'ballot', 'client', { model, seat });
    const ballot = await ask(asking);
    if (signal.aborted) metrics.counter('eloquentpoll_ballots_orphaned_total', model).n += 1;
    span?.end({ attempts: ballot.attempts, searched: ballot.searched, orphaned: signal.aborted }, ballot.error);
    return ballot;
  };
}
