import { asSeconds, percentile, tableLines } from '../terminal/table.ts';
import type { Campaign, CampaignSettings } from './campaign.ts';
import { PROCESS_KILLS } from './fault-kinds.ts';
import type { CampaignHistory } from './history.ts';
import { resumesOf, slowestLines, tookMs as waitOf, withStoresMs } from './resumes.ts';
import { openHolds } from './rules/money-rules.ts';
import { callsInTransit } from './rules/worker-rules.ts';
import { RULES_OF_ALL } from './rules.ts';

// The result of a campaign: figures, and the verdict of each rule.

export interface CampaignReport {
  title: string;
  seed: string;
  tookMs: number;
  figures: Record<string, number | string>;
  faults: Record<string, number>;
  skipped: Record<string, number>;
  warnings: Record<string, number>;
  /** The polls that waited longest for another worker, with the faults meanwhile. */
  slowest: string[];
  rules: { rule: string; violations: number; examples: string[] }[];
}

export function reportOf(
  { history, fleet, skipped, tookMs }: Campaign,
  { plan, seed }: CampaignSettings,
): CampaignReport {
  return {
    title: plan.title,
    seed,
    tookMs: Math.round(tookMs),
    figures: { ...figuresOf(history), 'process start p50': asSeconds(percentile(fleet.startsMs, 0.5), 2) },
    faults: counted(history.faults.map(({ kind }) => kind)),
    skipped: Object.fromEntries(skipped),
    warnings: Object.fromEntries([...fleet.warnings].sort()),
    slowest: slowestLines(resumesOf(history), history.faults, 3),
    rules: [...RULES_OF_ALL, ...plan.rules].map(({ name, broken }) => {
      const violations = broken(history);
      return { rule: name, violations: violations.length, examples: violations.slice(0, 5) };
    }),
  };
}

function figuresOf(history: CampaignHistory): CampaignReport['figures'] {
  const { operations, polls, journal, faults, votes, calls } = history;
  const attempts = operations.flatMap((operation) => operation.attempts);
  const answered = (status: number) => attempts.filter((attempt) => attempt.status === status).length;
  const kills = faults.filter(({ kind }) => PROCESS_KILLS.includes(kind)).length;
  const resumes = resumesOf(history);
  const resumed = resumes.map(waitOf);
  const took = polls.flatMap(({ createdAt, finishedAt }) => (finishedAt === null ? [] : [finishedAt - createdAt]));
  const streams = operations.filter(({ kind }) => kind === 'stream');
  return {
    'process kills': kills,
    faults: faults.length,
    operations: operations.length,
    requests: attempts.length,
    'requests without an answer': attempts.filter(({ status }) => status === null).length,
    'answers 503': answered(503),
    'answers 429': answered(429),
    streams: streams.length,
    'streams that were resumed': streams.filter((stream) => stream.attempts.length > 1).length,
    polls: polls.length,
    'polls lost': operations.filter(({ outcome, named }) => outcome === null && named.size > 0).length,
    success: polls.filter(({ resultStatus }) => resultStatus === 'success').length,
    partial: polls.filter(({ resultStatus }) => resultStatus === 'partial').length,
    'without a valid vote': polls.filter(({ resultStatus }) => resultStatus === 'failed').length,
    'given up': polls.filter(({ buried }) => buried).length,
    'claimed more than once': polls.filter(({ claims }) => claims > 1).length,
    'most claims of a poll': polls.reduce((most, { claims }) => Math.max(most, claims), 0),
    batches: history.batches.length,
    'polls of batches': polls.filter(({ row }) => row !== null).length,
    'votes billed': votes.filter(({ billedU }) => billedU > 0n).length,
    'calls of models': calls.length,
    'calls in transit when their worker was stopped': callsInTransit(history),
    'polls taken over from killed workers': resumes.length,
    'double captures': polls.filter(({ posts }) => posts > 1).length,
    'open holds': openHolds(history),
    'claimed again after its worker was killed, p50': asSeconds(percentile(resumed, 0.5)),
    'claimed again after its worker was killed, p99': asSeconds(percentile(resumed, 0.99)),
    'the same without the time in which a store was away, p99': asSeconds(
      percentile(
        resumes.map((resume) => withStoresMs(resume, faults)),
        0.99,
      ),
    ),
    'accepted to end p50': asSeconds(percentile(took, 0.5)),
    'accepted to end p99': asSeconds(percentile(took, 0.99)),
    'accepted to end max': asSeconds(percentile(took, 1)),
    'journal entries': journal.length,
  };
}

function counted(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

export const campaignHolds = ({ rules }: CampaignReport): boolean => rules.every(({ violations }) => violations === 0);

export function campaignLines(report: CampaignReport): string[] {
  const { title, seed, tookMs, figures, faults, skipped, warnings, slowest, rules } = report;
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
    ...pairs('figure', figures),
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
