import { newBatchId } from '@eloquentpoll/polls';
import t from 'tap';
import { closeRowsQuery } from '../src/batch-rows.ts';
import { readCloseRows } from '../src/index.ts';
import { funded, open, spec } from './fixtures.ts';
import { executedNodes, rowsRead } from './query-plan.ts';

const MINUTE_MS = 60_000;

t.test('the close calls of a batch are read without those that its account has had since', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 0n);
  const now = Date.now();
  const batch = {
    ...{ id: newBatchId(), accountId },
    createdAt: new Date(now - 120 * MINUTE_MS),
    endedAt: new Date(now - 60 * MINUTE_MS),
  };
  /** Close polls from this time on, one each millisecond. */
  const plant = (count: number, from: Date, batchId: string | null) =>
    query(
      `insert into polls (id, result_id, account_id, tenant, status, spec, entry_point, lease_until, deadline_at,
                          finished_at, created_at, is_close, batch_id, batch_line)
       select month_ids(at) || left(md5($2::text || i), 22), 'EP-' || left(md5($2::text || i), 22), $1::uuid, $1::text,
              'completed', $4::jsonb, 'rest', at, at, at, at, true, $3, case when $3::text is null then null else i end
         from generate_series(1, $5::integer) i, lateral (select $2::timestamptz + i * interval '1 ms' as at) a`,
      [accountId, from.toISOString(), batchId, JSON.stringify(spec), count],
    );
  await plant(5, new Date(batch.createdAt.getTime() + MINUTE_MS), batch.id);
  await plant(20_000, new Date(now - 30 * MINUTE_MS), null);
  await query(
    `insert into batch_rows (batch_id, line, custom_id, poll_id, outcome)
     select batch_id, batch_line, batch_line, id, 'success' from polls where batch_id = $1`,
    [batch.id],
  );
  await query('vacuum analyze polls, batch_rows');

  t.same(
    (await readCloseRows(storage, batch, 3)).map(({ line }) => line),
    [5, 4, 3],
    'the newest',
  );
  const running = { ...batch, endedAt: null };
  t.equal((await readCloseRows(storage, running, 9)).length, 5);
  const read = (await executedNodes(storage, closeRowsQuery(batch, 25))).map(rowsRead);
  t.ok(Math.max(...read) <= 100, `${read}`);
});
