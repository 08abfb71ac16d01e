import { asSeconds, percentile, tableLines } from '../terminal/table.ts';
import type { Campaign, CampaignSettings } from './campaign.ts';
import { killsOf } from './campaign-end.ts';
import type { CampaignHistory } from './history.ts';
import { sharedPolls } from './releases/upgrade-history.ts';
import {
  type JudgedWait,
  type Resume,
  resumesOf,
  slowestLines,
  unclaimedMs,
  tookMs as waitOf,
  withStoresMs,
} from './resumes.ts';
import { auditCounts } from './rules/audit-rules.ts';
import { rowsOfBatches } from './rules/batch-rules.ts';
import { judgedWaits } from './rules/cluster-rules.ts';
import { broughtBack, publicReadCounts } from './rules/deletion-rules.ts';
import { acceptedAgainMs } from './rules/failover-rules.ts';
import { limitCounts } from './rules/limit-rules.ts';
import { listCounts } from './rules/list-rules.ts';
import { openHolds } from './rules/money-rules.ts';
import { neighbourCounts, neighbourFigures } from './rules/neighbour-rules.ts';
import { endsByWorkers, lostPolls, STORED } from './rules/poll-rules.ts';
import { countBy, sum } from './rules/rule.ts';
import { wasCut } from './rules/stream-rules.ts';
import { callsInTransit, callsMadeAgain, RESUME_WITHIN_MS, votesSeen, votesTakenOver } from './rules/worker-rules.ts';
import { RULES_OF_ALL } from './rules.ts';

// The result of a campaign: figures, and a verdict for each rule.

export interface CampaignReport {
  title: string;
  seed: string;
  tookMs: number;
  /** Counts that can be added up over campaigns. */
  counts: Record<string, number>;
  figures: Record<string, string>;
  faults: Record<string, number>;
  skipped: Record<string, number>;
  warnings: Record<string, number>;
  /** The polls that waited longest for another worker, with the faults during the wait. */
  slowest: string[];
  rules: { rule: string; violations: number; examples: string[] }[];
}

const MAX_NOTE_CHARS = 1_000;

export function reportOf(
  { history, fleet, skipped, tookMs }: Campaign,
  { plan, seed }: CampaignSettings,
): CampaignReport {
  const rules = [...(plan.losesAnswers ? [] : RULES_OF_ALL), ...plan.rules].map(({ name, broken }) => {
    const violations = broken(history);
    return { rule: name, violations: violations.length, examples: violations.slice(0, 5) };
  });
  return {
    title: plan.title,
    seed,
    tookMs: Math.round(tookMs),
    counts: { ...countsOf(history), violations: sum(rules.map(({ violations }) => violations)) },
    figures: { ...figuresOf(history), 'process start p50': asSeconds(percentile(fleet.startsMs, 0.5), 2) },
    faults: Object.fromEntries(countBy(history.faults, ({ kind }) => kind)),
    skipped: Object.fromEntries(skipped),
    warnings: Object.fromEntries([...fleet.warnings].sort()),
    slowest: slowestLines(resumesOf(history), history.faults, 3),
    rules,
  };
}

function countsOf(history: CampaignHistory): CampaignReport['counts'] {
  const { operations, polls, journal, faults, votes, calls } = history;
  const attempts = operations.flatMap((operation) => operation.attempts);
  const answered = (status: number) => attempts.filter((attempt) => attempt.status === status).length;
  const resumes = resumesOf(history);
  const streams = operations.filter(({ kind }) => kind === 'stream');
  const batchRows = rowsOfBatches(history);
  return {
    'process kills': killsOf(faults),
    faults: faults.length,
    operations: operations.length,
    keys: operations.filter(({ kind }) => kind === 'herd').length,
    requests: attempts.length,
    'requests without an answer': attempts.filter(({ status }) => status === null).length,
    'of these by timeout': attempts.filter(({ status, code }) => status === null && code === 'timeout').length,
    'answers 503': answered(503),
    'answers 429': answered(429),
    streams: streams.length,
    'streams that were resumed': streams.filter((stream) => stream.attempts.length > 1).length,
    'streams that were cut': attempts.filter(wasCut).length,
    polls: polls.length,
    'polls lost': lostPolls(history),
    success: polls.filter(({ resultStatus }) => resultStatus === 'success').length,
    partial: polls.filter(({ resultStatus }) => resultStatus === 'partial').length,
    'without a valid vote': polls.filter(({ resultStatus }) => resultStatus === 'failed').length,
    'given up': polls.filter(({ buried }) => buried).length,
    'claimed more than once': polls.filter(({ claims }) => claims > 1).length,
    batches: history.batches.length,
    'polls of batches': polls.filter(({ row }) => row !== null).length,
    rows: batchRows.accepted,
    'rows lost, run twice or billed twice': batchRows.wrong,
    'votes billed': votes.filter(({ billedU }) => billedU > 0n).length,
    'votes held against what their model answered': votes.filter(({ option }) => option !== null).length,
    'elections worked out again': polls.filter(({ election }) => election !== null).length,
    'elections that were answered in short or by row': sum(operations.map(({ answers }) => answers.size)),
    'calls of models': calls.length,
    'calls in transit when their worker was stopped': callsInTransit(history),
    'calls made again': callsMadeAgain(history).length,
    'votes seen to arrive': votesSeen(history),
    'votes that had arrived when their poll was claimed again': votesTakenOver(history),
    'ends held against the worker that wrote them': endsByWorkers(history).length,
    'polls taken over from killed workers': resumes.length,
    'claimed again after more than 15 s': resumes.filter((resume) => waitOf(resume) > RESUME_WITHIN_MS).length,
    ...killsOfResumes(resumes),
    ...judgedOf(history),
    ...upgradeOf(history),
    'double captures': polls.filter(({ posts }) => posts > 1).length,
    'open holds': openHolds(history),
    ...(history.promised && {
      'receipts verified with their result': history.promised.receipts.length,
      'deleted texts that a failover brought back': broughtBack(history),
      'keys on servers that have lost their slot': history.promised.unservedKeys,
      ...publicReadCounts(history),
      ...listCounts(history),
      ...triedOf(history),
    }),
    ...(history.audits && auditCounts(history.audits)),
    ...(history.neighbours && neighbourCounts(history)),
    'journal entries': journal.length,
  };
}

/** How often what is promised beyond polls was put to the test. */
function triedOf(history: CampaignHistory): CampaignReport['counts'] {
  const { taken, refused, keysOfBoth } = limitCounts(history);
  return {
    'webhooks received': history.promised?.messages.length ?? 0,
    'cancellations that callers heard to be over': history.operations.filter(
      ({ canceledAt }) => canceledAt !== undefined,
    ).length,
    'polls with a limited key': taken,
    'polls refused at the limit of a key': refused,
    'keys that took polls and refused others': keysOfBoth,
  };
}

/** All polls of a killed worker wait together, so that kills are the trials that chance draws one by one. */
function killsOfResumes(resumes: readonly Resume[]): CampaignReport['counts'] {
  const kills = [...Map.groupBy(resumes, ({ killedAt }) => killedAt).values()];
  return {
    'kills of workers that had polls': kills.length,
    'kills after which a poll was claimed later than after 15 s': kills.filter((each) =>
      each.some((resume) => waitOf(resume) > RESUME_WITHIN_MS),
    ).length,
  };
}

function figuresOf(history: CampaignHistory): CampaignReport['figures'] {
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

function failoverOf(history: CampaignHistory): CampaignReport['figures'] {
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

/** Only if two releases ran. */
function upgradeOf(history: CampaignHistory): CampaignReport['counts'] {
  const { upgrade } = history;
  if (!upgrade) return {};
  const { acceptedByOldRunByNew, acceptedByNewRunByOld, takenOver } = sharedPolls(history);
  return {
    'polls accepted by the older and run by the newer release': acceptedByOldRunByNew,
    'polls accepted by the newer and run by the older release': acceptedByNewRunByOld,
    'polls taken over from one release by the other': takenOver,
    'calls of their clients': sum(Object.values(upgrade.clientCalls)),
    'answers of a declared shape': upgrade.answersJudged,
  };
}

const awayMsOf = ({ faults }: CampaignHistory): number[] =>
  faults.flatMap(({ awayMs }) => (awayMs === undefined ? [] : [awayMs]));

/** Only for a campaign on a cluster. */
function judgedOf(history: CampaignHistory): CampaignReport['counts'] {
  if (awayMsOf(history).length === 0) return {};
  const waits = judgedWaits(history);
  return {
    'waits for another worker': waits.length,
    'of these with other faults besides': waits.filter(({ ms, wholeMs }) => ms < wholeMs).length,
    'later than 15 s or 30 s, without the time of other faults': waits.filter(({ ms, withinMs }) => ms > withinMs)
      .length,
    'later than 15 s or 30 s, with that time': waits.filter(({ wholeMs, withinMs }) => wholeMs > withinMs).length,
  };
}

/** Only for a campaign on a cluster. */
function causesOf(history: CampaignHistory): CampaignReport['figures'] {
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

/** For each violated rule, how often it was violated. */
export const brokenRules = ({ rules }: Pick<CampaignReport, 'rules'>): Record<string, number> =>
  Object.fromEntries(rules.flatMap(({ rule, violations }) => (violations > 0 ? [[rule, violations]] : [])));

/** For the file of runs, which is kept longer than the output of a campaign. */
export const brokenText = ({ rules }: Pick<CampaignReport, 'rules'>): string =>
  rules
    .filter(({ violations }) => violations > 0)
    .map(({ rule, violations, examples }) => `${violations} x ${rule}: ${examples[0] ?? ''}`)
    .join('; ')
    .slice(0, MAX_NOTE_CHARS);

export const campaignHolds = ({ rules }: CampaignReport): boolean => rules.every(({ violations }) => violations === 0);

export function campaignLines(report: CampaignReport): string[] {
  const { title, seed, tookMs, counts, figures, faults, skipped, warnings, slowest, rules } = report;
  const pairs = (head: string, counts: Record<string, number | string>) => [
    ...tableLines(
      [head, ''],
      Object.entries(counts).map(([name, value]) => [name, String(value)]),
    ),
    '',
  ];
  return [
    `${title}: seed ${seed}, ${asSeconds(tookMs, 0)}`,
    '',
    ...pairs('figure', { ...counts, ...figures }),
    ...pairs('fault', faults),
    ...(Object.keys(skipped).length > 0 ? pairs('fault that could not be injected', skipped) : []),
    ...tableLines(
      ['what must hold', 'violations'],
      rules.map(({ rule, violations }) => [rule, violations === 0 ? '0' : `${violations}  <-- broken`]),
    ),
    ...rules.flatMap(({ examples }) => examples.map((example) => `  ${example}`)),
    '',
    ...(slowest.length > 0 ? ['waited longest for another worker:', ...slowest, ''] : []),
    ...(Object.keys(warnings).length > 0 ? pairs('processes logged', warnings) : []),
  ];
}
