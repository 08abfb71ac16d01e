import type { FinishedPoll } from '@eloquentpoll/storage';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Stores } from '../../fixture/stores.ts';

// The end of a poll, stored without regard to speed: a transaction of five statements, built by Kysely and sent one
// after the other, into our tables or copies of them. It checks less than end_poll does.

const COPIES = ['results', 'votes', 'transfers'];

let db: Kysely<Record<string, Record<string, unknown>>> | null = null;

export async function makeTables({ query, databaseUrl }: Stores): Promise<void> {
  for (const name of COPIES) {
    await query(
      `create table if not exists bench_${name} (like ${name} including defaults including indexes including identity)`,
    );
  }
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 8, allowExitOnIdle: true });
  pool.on('error', () => {});
  db = new Kysely({ dialect: new PostgresDialect({ pool }) });
}

export async function storeStepByStep({ id, response, votes }: FinishedPoll): Promise<void> {
  const billed = votes.reduce((sum, vote) => sum + vote.billed_u, 0);
  await db!.transaction().execute(async (tx) => {
    await tx
      .updateTable('polls')
      .set({ status: 'completed', finished_at: new Date(), lease_owner: null })
      .where('id', '=', id)
      .where('status', '=', 'running')
      .execute();
    await tx
      .insertInto('bench_results')
      .values({
        poll_id: id,
        result_id: response.poll_id,
        status: response.status,
        panel_name: 'fast',
        entry_point: 'polls',
        simulated: true,
        is_tie: response.is_tie,
        early_terminated: response.early_terminated,
        termination_reason: response.termination_reason,
        models_requested: 7,
        models_succeeded: 7,
        models_failed: 0,
        models_skipped: 0,
        total_cost_u: billed,
        gather_ms: response.timing.gather_ms,
        total_ms: response.timing.total_ms,
        detail: JSON.stringify(response),
      })
      .execute();
    await tx
      .insertInto('bench_votes')
      .values(votes.map((vote) => ({ ...vote, poll_id: id })))
      .execute();
    await tx
      .updateTable('balances')
      .set((is) => ({ posted_u: is('posted_u', '-', billed), used_u: is('used_u', '+', billed) }))
      .where('account_id', '=', tx.selectFrom('polls').select('account_id').where('id', '=', id))
      .execute();
    await tx
      .insertInto('bench_transfers')
      .values({
        idem: `post:${id}`,
        kind: 'post',
        debit: '00000000-0000-4000-8000-000000000001',
        credit: '00000000-0000-4000-8000-000000000002',
        amount_u: billed,
        poll_id: id,
      })
      .execute();
  });
}
