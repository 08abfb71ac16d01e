import { cpus } from 'node:os';
import { tableLines } from '../terminal/table.ts';
import type { LivedDay } from './live-day.ts';
import { type BoundOfDay, requestsOf } from './verdict.ts';

// Writes docs/day.md: what the newest full run was, what it found, and how to repeat it.

export interface DayPage {
  day: Pick<LivedDay, 'plan' | 'startedAt' | 'end' | 'diary'>;
  bounds: readonly BoundOfDay[];
  command: string;
  revision: string | null;
  versions: string;
}

export function dayPage({ day, bounds, command, revision, versions }: DayPage): string {
  const { plan, startedAt, end } = day;
  const machine = `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown'}`;
  return `# A normal day

Simulated users do everything that users can do, for ${plan.minutes} minutes that stand for a day (night, morning, rush, noon, afternoon, a batch in
the evening), at ${Math.round(100 * plan.load)} % of the machine, users and models included. What each simulated model answers to each question is drawn before
the run, so each answer of the product is compared with one that was computed without it. Why it is done this way:
[0057](decisions/0057-a-normal-day.md). This page is printed by \`npm run day -- --docs\`; do not edit it.

- ${startedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC, revision ${revision ?? 'not committed'}, ${machine}, Node ${process.versions.node}, ${versions}
- ${requestsOf(day).toLocaleString('en-US')} requests, ${end.polls.toLocaleString('en-US')} polls, ${end.batches} batches, ${end.audits} audits, ${end.webhooks.received} webhooks, ${end.accounts} accounts
- Command: \`${command}\`

![The board's picture of the day](day.svg)

A Prometheus scraped the four processes and evaluated the alarms of \`infra/monitoring/prometheus-rule.yaml\`. The picture shows the panels of
\`infra/monitoring/board.json\`, drawn from their own queries without Grafana. Its first section is from samples that the run took itself.

## Bounds

| | bound | found |
|---|---|---|
${bounds.map(({ says, found, holds }) => `| ${holds ? 'held' : '**broken**'} | ${cell(says)} | ${cell(found)} |`).join('\n')}

## Calls that stops aborted

Their share of all that providers charged. The shares of standard polls are what \`ABORTED_SHARES\` has to cover.

\`\`\`
${stoppedLines(day).join('\n')}
\`\`\`

## What users waited

Milliseconds from request to answer (p50, p95, p99), on a machine that also ran users and models. Models take .2 to 1.2 s, some of them much
longer. *judged* are the answers that were compared; *answers* counts them by HTTP status.

\`\`\`
${wayLines(day).join('\n')}
\`\`\`
`;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

export function stoppedLines({ end }: Pick<LivedDay, 'end'>): string[] {
  const rows = end.stopped.map(({ panel, lane, polls, costU, stoppedU }) => [
    ...[panel, lane, `${polls}`, `${(costU / 1e6).toFixed(4)}`, `${(stoppedU / 1e6).toFixed(4)}`],
    `${((100 * stoppedU) / Math.max(1, costU)).toFixed(1)} %`,
  ]);
  return tableLines(['panel', 'lane', 'polls', 'charged, USD', 'of it aborted', 'share'], rows, [0, 1]);
}

export function wayLines({ diary }: Pick<LivedDay, 'diary'>): string[] {
  const rows = [...diary.ways]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { times, judged, statuses }]) => [
      name,
      ...[`${times.total}`, `${judged}`, ...[0.5, 0.95, 0.99].map((q) => `${Math.round(times.quantile(q) ?? 0)}`)],
      [...statuses]
        .toSorted(([a], [b]) => a - b)
        .map(([status, n]) => `${status}: ${n}`)
        .join(', '),
    ]);
  return tableLines(['way', 'requests', 'judged', 'p50', 'p95', 'p99', 'answers'], rows, [0, 6]);
}
