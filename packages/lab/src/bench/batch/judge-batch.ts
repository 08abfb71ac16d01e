import type { Stores } from '../../fixture/stores.ts';
import { wholeLedgerViolations } from '../../fixture/whole-ledger.ts';
import type { BatchClient } from './batch-client.ts';

// Checks the outcome of every row, as its caller reads it and as Postgres has it.

export interface BatchVerdict {
  /** Rows without an answer (success or partial), and result lines that repeat a custom id. */
  lost: number;
  /** Polls beyond the first of a row, plus the difference between the number of polls and of rows. */
  runTwice: number;
  /** Holds that were captured more than once, and votes that were stored more than once. */
  billedTwice: number;
  /** Polls that were claimed more than once. */
  takenOver: number;
  ledger: string[];
}

export async function judgeBatch({ query, storage }: Stores, client: BatchClient, id: string): Promise<BatchVerdict> {
  const [{ lines, ids, outcomes }, { counts }] = await Promise.all([client.results(id), client.read(id)]);
  const answered = (outcomes.get('success') ?? 0) + (outcomes.get('partial') ?? 0);
  const [row] = await query<
    Record<'polls' | 'rows' | 'posted' | 'captures' | 'votes' | 'seats' | 'taken_over', number>
  >(
    `select count(distinct p.id)::int as polls, count(distinct p.batch_line)::int as rows,
            count(*) filter (where p.claims > 1)::int as taken_over,
            (select count(*)::int from transfers t join polls q on q.id = t.poll_id
              where q.batch_id = $1 and t.kind = 'post') as captures,
            (select count(distinct t.poll_id)::int from transfers t join polls q on q.id = t.poll_id
              where q.batch_id = $1 and t.kind = 'post') as posted,
            (select count(*)::int from votes v join polls q on q.id = v.poll_id where q.batch_id = $1) as votes,
            (select count(distinct (v.poll_id, v.seat))::int from votes v join polls q on q.id = v.poll_id
              where q.batch_id = $1) as seats
       from polls p where p.batch_id = $1`,
    [id],
  );
  const { polls, rows, captures, posted, votes, seats, taken_over } = row!;
  const violations = await wholeLedgerViolations(storage);
  return {
    lost: counts.total - Math.min(ids, answered) + Math.abs(lines - ids),
    runTwice: polls - rows + Math.abs(polls - counts.total),
    billedTwice: captures - posted + (votes - seats),
    takenOver: taken_over,
    ledger: violations.map(({ rule, subject, found }) => `${rule} ${subject}: ${found}`),
  };
}
