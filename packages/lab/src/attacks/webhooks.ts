import type { ProgressLine } from '../terminal/progress.ts';
import { sendToHostile } from '../webhooks/send-to-hostile.ts';
import type { AttackOutcome } from './attack-outcome.ts';
import type { AttackTarget } from './attack-target.ts';

// Bad receivers must not delay healthy ones, another worker must send what a dead worker had claimed, and nothing may
// be sent to internal addresses.
const MAX_P95_MS = 5_000;

const PLAN = { accounts: 20, perSecond: 160, timeoutMs: 15_000, slowMs: 4_000, downMs: 20_000, withinMs: 90_000 };

export async function hostileWebhooks(
  { stores }: AttackTarget,
  { webhooks }: { webhooks: number },
  progress: ProgressLine,
): Promise<AttackOutcome> {
  const lost = Math.min(20, Math.ceil(webhooks / 500));
  const figures = await sendToHostile(stores, { ...PLAN, webhooks, lost }, progress);
  const { healthy, recovered, goneDisabled, trapped, ledInside, otherAddresses, seconds, byOutcome } = figures;
  return {
    figures,
    counts: {
      webhooks: healthy.due,
      'healthy ones lost': healthy.due - healthy.delivered,
      'healthy ones sent twice': healthy.twice,
      'names that led inside': ledInside,
      'connections inside': trapped + otherAddresses.length,
    },
    holds:
      healthy.delivered === healthy.due &&
      healthy.p95Ms <= MAX_P95_MS &&
      // The dead worker had sent nothing of what it had claimed, and healthy receivers answer.
      healthy.twice === 0 &&
      recovered.delivered === recovered.due &&
      goneDisabled.disabled === goneDisabled.due &&
      trapped === 0 &&
      otherAddresses.length === 0 &&
      ledInside > 0,
    lines: [
      `${figures.webhooks} webhooks in ${seconds.toFixed(0)} s: ${healthy.delivered} of ${healthy.due} to healthy receivers came, after ${healthy.p50Ms} ms (median), p95 ${healthy.p95Ms}, at most ${healthy.maxMs}; ${healthy.twice} twice`,
      `${recovered.delivered} of ${recovered.due} to receivers that were down for ${PLAN.downMs / 1_000} s came; ${goneDisabled.disabled} of ${goneDisabled.due} that answered 410 are disabled`,
      `${ledInside} times a name led inside: ${trapped} connections there; tried besides the good address: ${otherAddresses.join(', ') || 'none'}`,
      `${Object.entries(byOutcome)
        .map(([outcome, count]) => `${outcome} ${count}`)
        .join(', ')}`,
    ],
  };
}
