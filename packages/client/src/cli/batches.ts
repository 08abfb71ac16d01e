import type { Batch, BatchListQuery } from '../eloquentpoll.ts';
import { endedRows } from './batch-progress.ts';
import { EXIT, type Exit } from './exit-codes.ts';
import { costText } from './figures.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { pad, plain } from './plain-text.ts';
import { print, programOf } from './terminal.ts';

/** Lists batches of the account, newest first. */
export async function batchesCommand({ polls, terminal, json }: Invocation, query: BatchListQuery): Promise<Exit> {
  const { out, err, signal } = terminal;
  const page = await polls.batches(query, { signal });
  if (json) {
    print(out, jsonText(page));
    return EXIT.winner;
  }
  if (page.batches.length === 0) print(out, 'No batches.');
  print(out, ...page.batches.map(lineOf));
  const chosen = query.status === undefined ? '' : ` --status ${query.status}`;
  if (page.after !== null)
    print(err, `Older batches: ${programOf(terminal)} batches${chosen} --after ${plain(page.after)}`);
  return EXIT.winner;
}

const lineOf = (batch: Batch): string =>
  plain(
    [
      batch.created_at.slice(0, 16).replace('T', ' '),
      batch.batch_id,
      pad(batch.status, 9),
      pad(`${endedRows(batch)}/${batch.counts.total}`, 13),
      pad(costText(batch.cost_usd), 9),
      Object.entries(batch.metadata)
        .map(([key, value]) => `${key}=${value}`)
        .join(' '),
    ].join('  '),
  );
