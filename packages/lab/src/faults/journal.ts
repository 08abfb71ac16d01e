import type { Stores } from '../fixture/stores.ts';

// Every claim and every end of a poll, written down by Postgres itself in the transaction in which it happens: the
// account of what the workers did that no worker can forget or embellish.

export interface PollEvent {
  pollId: string;
  kind: 'claimed' | 'ended';
  epoch: number;
  /** Who claimed it; null for an end. */
  worker: string | null;
  /** By our clock, in milliseconds. */
  at: number;
}

export async function keepJournal({ query }: Stores): Promise<void> {
  await query(`
    create table lab_journal (
      n bigint generated always as identity, poll_id text not null, kind text not null, epoch integer not null,
      worker text, at timestamptz not null default clock_timestamp());
    create function lab_note() returns trigger language plpgsql as $$
    begin
      if new.status <> old.status then
        insert into lab_journal (poll_id, kind, epoch) values (new.id, 'ended', new.lease_epoch);
      elsif new.lease_epoch <> old.lease_epoch then
        insert into lab_journal (poll_id, kind, epoch, worker)
        values (new.id, 'claimed', new.lease_epoch, new.lease_owner);
      end if;
      return null;
    end $$;
    create trigger lab_note after update of status, lease_epoch on polls for each row execute function lab_note();`);
}

/** How far Postgres' clock is ahead of ours. */
export async function clockAheadMs({ query }: Stores): Promise<number> {
  let best = { tookMs: Number.POSITIVE_INFINITY, aheadMs: 0 };
  for (let i = 0; i < 5; i++) {
    const asked = Date.now();
    const [row] = await query<{ ms: string }>('select extract(epoch from clock_timestamp()) * 1000 as ms');
    const answered = Date.now();
    const tookMs = answered - asked;
    if (tookMs < best.tookMs) best = { tookMs, aheadMs: Number(row!.ms) - (asked + answered) / 2 };
  }
  return best.aheadMs;
}

export async function readJournal({ query }: Stores, aheadMs: number): Promise<PollEvent[]> {
  const rows = await query<{
    poll_id: string;
    kind: PollEvent['kind'];
    epoch: number;
    worker: string | null;
    ms: string;
  }>('select poll_id, kind, epoch, worker, extract(epoch from at) * 1000 as ms from lab_journal order by n');
  return rows.map(({ poll_id, kind, epoch, worker, ms }) => ({
    pollId: poll_id,
    kind,
    epoch,
    worker,
    at: Number(ms) - aheadMs,
  }));
}
