import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { findPromtool, type RuleTimeline } from '@eloquentpoll/services/promtool';
import type { Test } from 'tap';
import { parse } from 'yaml';

// What the deployed alarms say of made-up series, as Prometheus itself evaluates them.

interface Rule {
  record?: string;
  alert?: string;
  labels?: object;
  annotations?: object;
}

const file: { spec: { groups: { rules: Rule[] }[] } } = parse(
  readFileSync(join(root, 'infra/monitoring/prometheus-rule.yaml'), 'utf8'),
);
/** All figures, and these alarms without their texts, which contain what is not compared here. */
const rulesFor = (alarms: ReadonlySet<string>) => ({
  groups: file.spec.groups.map(({ rules, ...group }) => ({
    ...group,
    rules: rules
      .filter(({ alert }) => alert === undefined || alarms.has(alert))
      .map(({ labels: _labels, annotations: _annotations, ...rule }) => rule),
  })),
});
const promtool = await findPromtool();

export type ExpectedAlarm = RuleTimeline['expected'][number];
const NS = { namespace: 'ep' };
export const fires = (at: string, alarm: string, labels: Record<string, string> = {}): ExpectedAlarm => ({
  at,
  alarm,
  fires: [{ ...NS, ...labels }],
});
export const quiet = (at: string, alarm: string): ExpectedAlarm => ({ at, alarm, fires: [] });

/** Null if every expectation holds. A scrape every 15 s: 4 values are a minute. */
export const checkTimeline = (series: Record<string, string>, expected: ExpectedAlarm[]): Promise<string | null> =>
  promtool.check(rulesFor(new Set(expected.map(({ alarm }) => alarm))), { interval: '15s', series, expected });

export async function over(
  t: Test,
  what: string,
  series: Record<string, string>,
  ...expected: ExpectedAlarm[]
): Promise<void> {
  t.equal(await checkTimeline(series, expected), null, what);
}

/** What a scrape puts on each series of a process. */
export const target = (job: string, pod: string): string =>
  `namespace="ep",job="${job}",pod="${pod}",instance="${pod}:9464"`;
