import type { BatchReport } from '@eloquentpoll/contracts';
import type { Generated, JSONColumnType } from 'kysely';

export interface BatchReportsTable {
  batch_id: string;
  /** Rows up to this line are counted; `counted` is their number. */
  line: number;
  counted: number;
  /** Null once the report is finished. */
  sums: JSONColumnType<object> | null;
  report: JSONColumnType<BatchReport> | null;
  counted_at: Generated<Date>;
}
