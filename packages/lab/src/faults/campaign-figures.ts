import { asSeconds, percentile } from '../terminal/table.ts';
import type { CampaignHistory } from './history.ts';
import { type JudgedWait, resumesOf, unclaimedMs, tookMs as waitOf, withStoresMs } from './resumes.ts';
import { awayMsOf, judgedWaits } from './rules/cluster-rules.ts';
import { acceptedAgainMs } from './rules/failover-rules.ts';
import { neighbourFigures } from './rules/neighbour-rules.ts';
import { STORED } from './rules/poll-rules.ts';

// What a campaign measures: times and maxima, which cannot be added up over campaigns.

export function figuresOfCampaign(history: CampaignHistory): Record<string, string> {
  const { polls, faults } = history;
  const resumes = resumesOf(history);
  const resumed = resumes.map(waitOf);
  const took = polls.flatMap(({ createdAt, finishedAt }) => (finishedAt === null ? [] : [finishedAt - createdAt]));
  return {
    'most claims of a poll': String(polls.reduce((most, { claims }) => Math.max(most, claims), 0)),
    'claimed again after its worker was killed, p50': asSeconds(percentile(resumed, 0.5)),
    'claimed again after its worker was killed, p99': asSeconds(percentile(resumed, 0.99)),
    'of it after its lease had ended, p50': asSeconds(percentile(resumes.map(unclaimedMs), 0.5)),
    'of it after its lease had ended, p99': asSeconds(percentile(resumes.map(unclaimedMs), 0.99)),
    'the same without the time in which a store was away, p99': asSeconds(
      percentile(
        resumes.map((resume) => withStoresMs(resume, faults)),
        0.99,
      ),
    ),
    ...causesOf(history),
    'accepted to end p50': asSeconds(percentile(took, 0.5)),
    'accepted to end p99': asSeconds(percentile(took, 0.99)),
    'accepted to end max': asSeconds(percentile(took, 1)),
    ...failoverOf(history),
    ...(history.neighbours && neighbourFigures(history)),
    ...(history.pooled && {
      'connections of processes, most': String(history.pooled.clients),
      'connections to Postgres, most': String(history.pooled.servers),
    }),
  };
}

function failoverOf(history: CampaignHistory): Record<string, string> {
  const promotedMs = history.faults.find(({ kind }) => kind === 'fail over')?.promotedMs;
  if (promotedMs === undefined) return {};
  const again = acceptedAgainMs(history);
  const unknown = history.operations.filter(
    ({ key, outcome, attempts }) =>
      key !== null && outcome === 'ok' && attempts.some(({ status }) => status === null || status >= 500),
  );
  return {
    'primary killed to standby promoted': asSeconds(promotedMs, 2),
    'primary killed to the first poll accepted after it': again === null ? 'never' : asSeconds(again, 2),
    'acknowledged and not on the promoted server': String(STORED.broken(history).length),
    'operations with an unknown answer, found again by their key': String(unknown.length),
  };
}

/** Only for a campaign on a cluster. */
function causesOf(history: CampaignHistory): Record<string, string> {
  const away = awayMsOf(history);
  if (away.length === 0) return {};
  const waits = judgedWaits(history);
  const besides = waits.filter(({ ms, wholeMs }) => ms < wholeMs);
  const shares = (ms: readonly number[]) =>
    `${ms.length}: p50 ${asSeconds(percentile(ms, 0.5))}, p99 ${asSeconds(percentile(ms, 0.99))}, most ${asSeconds(percentile(ms, 1))}`;
  const msOf = (one: JudgedWait['cause']) => waits.flatMap(({ cause, ms }) => (cause === one ? [ms] : []));
  return {
    'claimed again beside a worker, without the time of other faults': shares(msOf('worker')),
    'claimed again beside a master, without the time of other faults': shares(msOf('master')),
    'claimed again with other faults besides, in all': shares(besides.map(({ wholeMs }) => wholeMs)),
    'slots of a struck master served again': `p50 ${asSeconds(percentile(away, 0.5))}, p99 ${asSeconds(percentile(away, 0.99))}`,
  };
}
