import type { Queries } from './open-storage.ts';

/** What operators have stopped. Polls that are already running always end. */
export interface Controls {
  pollsStopped: boolean;
  freePollsStopped: boolean;
}

export async function readControls({ db }: Queries): Promise<Controls> {
  const row = await db.selectFrom('controls').select(['polls_stopped', 'free_polls_stopped']).executeTakeFirstOrThrow();
  return { pollsStopped: row.polls_stopped, freePollsStopped: row.free_polls_stopped };
}

/** False if the control was in this state already. */
export async function setControl({ db }: Queries, control: keyof Controls, isStopped: boolean): Promise<boolean> {
  const column = control === 'pollsStopped' ? 'polls_stopped' : 'free_polls_stopped';
  const { numUpdatedRows } = await db
    .updateTable('controls')
    .set({ [column]: isStopped })
    .where(column, '<>', isStopped)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
