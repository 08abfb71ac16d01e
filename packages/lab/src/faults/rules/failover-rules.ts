import type { CampaignHistory } from '../history.ts';
import type { Attempt } from '../operations.ts';
import { moneyRules } from './money-rules.ts';
import { STORED } from './poll-rules.ts';
import type { CampaignRule } from './rule.ts';

const SERVED_WITHIN_MS = 30_000;

/** Requests that are answered only after the poll is stored. */
const ACCEPTS = ['/api/poll', '/api/polls'];

/**
 * The time from the kill of the primary to the first poll asked for and accepted afterwards; null if there was none.
 * Retries with an older key do not count, because their poll may be stored already; reads do not either, because Redis
 * may answer.
 */
export function acceptedAgainMs({ faults, operations }: Pick<CampaignHistory, 'faults' | 'operations'>): number | null {
  const lost = faults.find(({ kind }) => kind === 'fail over')?.at;
  if (lost === undefined) return null;
  const accepted = operations
    .filter(({ key, attempts }) => key !== null && (attempts[0]?.asked ?? 0) > lost)
    .flatMap(({ attempts }) => attempts.find(isAcceptance)?.answered ?? []);
  return accepted.length === 0 ? null : Math.min(...accepted) - lost;
}

const isAcceptance = ({ method, path, status }: Attempt): boolean =>
  method === 'POST' && ACCEPTS.includes(path) && (status === 200 || status === 202);

export const failoverRules: readonly CampaignRule[] = [
  {
    name: 'the standby is promoted once, and polls are accepted within 30 s of the loss',
    broken(history) {
      const failovers = history.faults.filter(({ kind }) => kind === 'fail over').length;
      const ms = acceptedAgainMs(history);
      if (failovers !== 1) return [`${failovers} failovers`];
      return ms === null || ms > SERVED_WITHIN_MS ? [ms === null ? 'never again' : `after ${Math.round(ms)} ms`] : [];
    },
  },
];

/** A balance in an answer may be lost together with the poll it was about. */
const OF_ANSWERS = 'a balance in an answer was true between request and answer';

/**
 * If commits do not wait for the standby, the last acknowledged ones are lost. The checks must find that, and the rest
 * must be consistent.
 */
export const lossRules: readonly CampaignRule[] = [
  ...failoverRules,
  ...moneyRules.filter(({ name }) => name !== OF_ANSWERS),
  {
    name: 'what was acknowledged and lost is found',
    broken: (history) => (STORED.broken(history).length > 0 ? [] : ['nothing was lost, though the standby lagged']),
  },
];
