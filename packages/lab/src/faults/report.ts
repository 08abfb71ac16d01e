import { asSeconds, percentile, tableLines } from '../terminal/table.ts';
import type { Campaign, CampaignSettings } from './campaign.ts';
import { countsOfCampaign } from './campaign-counts.ts';
import { figuresOfCampaign } from './campaign-figures.ts';
import { resumesOf, slowestLines } from './resumes.ts';
import { countBy, sum } from './rules/rule.ts';
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
    counts: { ...countsOfCampaign(history), violations: sum(rules.map(({ violations }) => violations)) },
    figures: { ...figuresOfCampaign(history), 'process start p50': asSeconds(percentile(fleet.startsMs, 0.5), 2) },
    faults: Object.fromEntries(countBy(history.faults, ({ kind }) => kind)),
    skipped: Object.fromEntries(skipped),
    warnings: Object.fromEntries([...fleet.warnings].sort()),
    slowest: slowestLines(resumesOf(history), history.faults, 3),
    rules,
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
