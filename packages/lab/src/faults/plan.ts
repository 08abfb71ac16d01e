import type { Commits } from './failover.ts';
import type { Fault } from './fault-kinds.ts';
import type { Injector } from './inject-faults.ts';
import type { Kind } from './operations.ts';
import type { CampaignRule } from './rules/rule.ts';

// What a campaign is made of: its callers, its faults, and the rules that apply in addition to the common ones.

export interface Plan {
  readonly title: string;
  /** Relative frequencies. */
  readonly callers: Partial<Record<Kind, number>>;
  /** Number of simultaneous callers. */
  readonly atOnce: number;
  /**
   * `restarts`: every process is restarted gracefully, again and again. `releases`: each time with the other release.
   */
  readonly faults: readonly Injector[] | 'restarts' | 'releases';
  readonly rules: readonly CampaignRule[];
  /** Error codes that the plan provokes on purpose. */
  readonly mayRefuse?: readonly string[];
  /** Only the plan's own rules apply: it shows that acknowledged answers are lost, which the common rules forbid. */
  readonly losesAnswers?: boolean;
  readonly workers: number;
  /** Workers that no fault kills, so that the time until a takeover can be measured. */
  readonly spares?: number;
  readonly minutes: number;
  /** Processes reach Postgres through a pooler with so many connections each. */
  readonly pooled?: number;
  readonly flexShare?: number;
  /** Redis is a cluster of three masters and three replicas. */
  readonly isOnCluster?: boolean;
  /** Postgres has a standby; commits wait for it or not. */
  readonly standby?: Commits;
  /** Gateways read lists and exports from a replica of Postgres. */
  readonly hasReplica?: boolean;
  /** Webhooks, receipts, key limits and deletions are checked. */
  readonly promises?: boolean;
  /** Audits are made, waited for and checked. */
  readonly audits?: boolean;
  /**
   * The callers are one account, which floods in one phase of each round. So many quiet accounts ask polls in both. The
   * campaign ends after the rounds.
   */
  readonly beside?: { readonly quiet: number; readonly rounds: number };
  /** How much longer models take than usual. */
  readonly latencyScale?: number;
  /** Environment of gateways and workers. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the plan's own faults were injected; the campaign continues until then. */
  readonly isShown?: (faults: readonly Fault[]) => boolean;
  /** The campaign ends early after so many operations, if every injector is done. */
  readonly minOperations?: number;
}

export interface Sizes {
  readonly minutes: number;
  readonly kills: number;
  readonly stops: number;
  readonly polls: number;
  readonly workers: number;
}
