import { percentile, seconds, table } from '../../terminal/table.ts';
import type { Siege, SiegeSettings } from './besiege.ts';
import { PROCESS_KILLS } from './blows.ts';
import type { SiegeHistory } from './history.ts';
import { resumesOf, slowestLines, tookMs as waitOf, withStoresMs } from './resumes.ts';
import { openHolds } from './rules/money-rules.ts';
import { SIEGE_RULES } from './rules.ts';

// What a siege amounts to: figures, the verdict of each rule, and how to see it again.

export interface SiegeReport {
  title: string;
  seed: string;
  tookMs: number;
  figures: Record<string, number | string>;
  blows: Record<string, number>;
  missed: Record<string, number>;
  complaints: Record<string, number>;
  /** The polls that waited longest for another worker, with what was struck meanwhile. */
  slowest: string[];
  rules: { rule: string; violations: number; examples: string[] }[];
}

export function reportOf({ history, fleet, missed, tookMs }: Siege, { plan, seed }: SiegeSettings): SiegeReport {
  const rules = SIEGE_RULES.map(({ name, broken }) => {
    const violations = broken(history);
    return { rule: name, violations: violations.length, examples: violations.slice(0, 5) };
  });
  if (plan.gentle) rules.push(...gentleRules(history));
  return {
    title: plan.title,
    seed,
    tookMs: Math.round(tookMs),
    figures: { ...figuresOf(history), 'process start p50': seconds(percentile(fleet.startsMs, 0.5), 2) },
    blows: counted(history.blows.map(({ kind }) => kind)),
    missed: Object.fromEntries(missed),
    complaints: Object.fromEntries([...fleet.complaints].sort()),
    slowest: slowestLines(resumesOf(history), history.blows, 3),
    rules,
  };
}

/** Where nobody is killed, nobody notices. */
function gentleRules({ operations, polls, blows }: SiegeHistory): SiegeReport['rules'] {
  const rule = (name: string, broken: string[]) => ({
    rule: name,
    violations: broken.length,
    examples: broken.slice(0, 5),
  });
  return [
    rule(
      'no answer from 500 on',
      operations.flatMap(({ n, kind, attempts }) =>
        attempts
          .filter(({ status }) => status !== null && status >= 500)
          .map(({ status, code }) => `operation ${n} (${kind}): ${status} ${code}`),
      ),
    ),
    rule(
      'no poll fails',
      polls.filter(({ status }) => status === 'failed').map(({ id }) => id),
    ),
    rule(
      'every process leaves with code 0',
      blows.filter(({ exit }) => exit !== 0).map(({ target, exit }) => `${target} left with ${exit}`),
    ),
  ];
}

function figuresOf(history: SiegeHistory): SiegeReport['figures'] {
  const { operations, polls, journal, blows, votes, calls } = history;
  const attempts = operations.flatMap((operation) => operation.attempts);
  const answered = (status: number) => attempts.filter((attempt) => attempt.status === status).length;
  const kills = blows.filter(({ kind }) => PROCESS_KILLS.includes(kind)).length;
  const resumes = resumesOf(history);
  const resumed = resumes.map(waitOf);
  const took = polls.flatMap(({ createdAt, finishedAt }) => (finishedAt === null ? [] : [finishedAt - createdAt]));
  const streams = operations.filter(({ kind }) => kind === 'stream');
  return {
    'process kills': kills,
    blows: blows.length,
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
    'votes billed': votes.filter(({ billedU }) => billedU > 0n).length,
    'calls of models': calls.length,
    'double captures': polls.filter(({ posts }) => posts > 1).length,
    'open holds': openHolds(history),
    'claimed again after its worker was killed, p50': seconds(percentile(resumed, 0.5)),
    'claimed again after its worker was killed, p99': seconds(percentile(resumed, 0.99)),
    'the same without the time in which a store was away, p99': seconds(
      percentile(
        resumes.map((resume) => withStoresMs(resume, blows)),
        0.99,
      ),
    ),
    'accepted to end p50': seconds(percentile(took, 0.5)),
    'accepted to end p99': seconds(percentile(took, 0.99)),
    'accepted to end max': seconds(percentile(took, 1)),
    'journal entries': journal.length,
  };
}

function counted(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

export const siegeHolds = ({ rules }: SiegeReport): boolean => rules.every(({ violations }) => violations === 0);

export function siegeLines(report: SiegeReport): string[] {
  const { title, seed, tookMs, figures, blows, missed, complaints, slowest, rules } = report;
  const pairs = (head: string, counts: Record<string, number | string>) => [
    ...table(
      [head, ''],
      Object.entries(counts).map(([name, value]) => [name, String(value)]),
    ),
    '',
  ];
  return [
    `${title}: seed ${seed}, ${seconds(tookMs, 0)}`,
    '',
    ...pairs('figure', figures),
    ...pairs('blow', blows),
    ...(Object.keys(missed).length > 0 ? pairs('blow that found nobody', missed) : []),
    ...table(
      ['what must hold', 'violations'],
      rules.map(({ rule, violations }) => [rule, violations === 0 ? '0' : `${violations}  <-- broken`]),
    ),
    ...rules.flatMap(({ examples }) => examples.map((example) => `  ${example}`)),
    '',
    ...(slowest.length > 0 ? ['waited longest for another worker:', ...slowest, ''] : []),
    ...(Object.keys(complaints).length > 0 ? pairs('processes logged', complaints) : []),
  ];
}
