import type { UsageFigures, UsageGroup } from '../eloquentpoll.ts';
import { EXIT, type Exit } from './exit-codes.ts';
import { costText, elapsedText } from './figures.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { fit, plain } from './plain-text.ts';
import type { UsageCommand } from './read-usage-terms.ts';
import { table } from './table.ts';
import { columnsOf, print } from './terminal.ts';

/** Prints polls and charges by group, with their total and that of the period before. */
export async function usageCommand(invocation: Invocation, { query }: UsageCommand): Promise<Exit> {
  const { polls, terminal, json } = invocation;
  const { out, signal } = terminal;
  const usage = await polls.usage(query, { signal });
  if (json) {
    print(out, jsonText(usage));
    return EXIT.winner;
  }
  const { from, to, group_by, groups, total, previous } = usage;
  const rows = groups.map((group) => rowOf(nameOf(group), group));
  const columns = terminal.out.isTTY ? columnsOf(terminal) : Number.POSITIVE_INFINITY;
  print(
    out,
    plain(`${from} to ${to}`),
    ...table([plain(group_by), ...HEAD], [...rows, rowOf('total', total)], columns),
  );
  const before = `Before (${previous.from} to ${previous.to})`;
  print(out, plain(`${before}: ${costText(previous.cost_usd)} for ${previous.polls} polls`));
  return EXIT.winner;
}

const HEAD = ['polls', 'failed', 'split', 'cost', 'saved', 'median', 'median cost'];

const nameOf = ({ group, label }: UsageGroup): string =>
  fit(plain(label ? `${label} (${group.slice(0, 8)})` : group), 40);

const rowOf = (name: string, figures: UsageFigures): string[] => [
  name,
  String(figures.polls),
  String(figures.failed),
  String(figures.split_or_partial),
  costText(figures.cost_usd),
  costText(figures.saved_usd),
  figures.median_ms === null ? '-' : elapsedText(figures.median_ms),
  figures.median_cost_usd === null ? '-' : costText(figures.median_cost_usd),
];
