import type { Metrics } from '@eloquentpoll/ops';
import { UNMADE_AUDITS } from '@eloquentpoll/storage';
import type { AuditStore } from '../ports.ts';

const ENDS = ['stored', 'dropped', 'fenced', ...UNMADE_AUDITS] as const;

/** Metrics of audits: outcomes, cost, and how often the cap or ceiling allowed none. */
export function observedAudits(audits: AuditStore, metrics: Metrics): AuditStore {
  const ended = (outcome: (typeof ENDS)[number]) => metrics.counter('eloquentpoll_audits_total', outcome);
  for (const outcome of ENDS) ended(outcome);
  const capped = metrics.counter('eloquentpoll_audits_capped_total');
  const cost = metrics.counter('eloquentpoll_audit_cost_usd_total');
  return {
    ...audits,
    async claim(lease) {
      const claim = await audits.claim(lease);
      if (claim.kind === 'capped') capped.n += 1;
      else if (claim.kind !== 'claimed' && claim.kind !== 'none') ended(claim.kind).n += 1;
      return claim;
    },
    async finish(audit) {
      const outcome = await audits.finish(audit);
      ended(outcome).n += 1;
      if (outcome !== 'fenced') cost.n += audit.costU / 1_000_000;
      return outcome;
    },
  };
}
