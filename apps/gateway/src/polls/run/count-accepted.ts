import type { PollsContext } from '../context.ts';
import type { PreparedPoll } from './prepare-poll.ts';

type Counted = Pick<PreparedPoll, 'spec' | 'auditVersion'>;

export function countAccepted({ metrics }: Pick<PollsContext, 'metrics'>, { spec, auditVersion }: Counted): void {
  metrics.counter('eloquentpoll_polls_accepted_total', spec.panel_name).n += 1;
  if (auditVersion !== undefined) metrics.counter('eloquentpoll_audits_drawn_total', spec.panel_name).n += 1;
}
