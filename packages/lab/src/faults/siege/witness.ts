import type { Stores } from '../../fixture/stores.ts';

// What Postgres itself writes down, in the transaction in which it happens: every state of a balance, and every change
// of what should never change again.

export interface BalanceState {
  account: string;
  availableU: bigint;
  /** By our clock, in milliseconds: after the state before was committed, and before this one was. */
  at: number;
}

export interface Rewrite {
  pollId: string;
  what: string;
}

export async function watchMoneyAndEnds({ query }: Stores): Promise<void> {
  await query(`
    create table lab_balances (
      n bigint generated always as identity, account_id uuid not null, available_u bigint not null,
      at timestamptz not null default clock_timestamp());
    create function lab_balance() returns trigger language plpgsql as $$
    begin
      insert into lab_balances (account_id, available_u) values (new.account_id, new.posted_u - new.held_u);
      return null;
    end $$;
    create trigger lab_balance after insert or update on balances for each row execute function lab_balance();

    create table lab_rewrites (n bigint generated always as identity, poll_id text not null, what text not null);
    create function lab_rewrite() returns trigger language plpgsql as $$
    begin
      insert into lab_rewrites (poll_id, what) values (old.poll_id, tg_op || ' of ' || tg_table_name);
      return null;
    end $$;
    create trigger lab_rewrite after update or delete on results for each row execute function lab_rewrite();
    create trigger lab_rewrite after update or delete on votes for each row execute function lab_rewrite();
    create function lab_afterlife() returns trigger language plpgsql as $$
    begin
      insert into lab_rewrites (poll_id, what) values (old.id, 'update of an ended poll');
      return null;
    end $$;
    create trigger lab_afterlife after update on polls for each row when (old.status <> 'running')
      execute function lab_afterlife();`);
}

export async function readBalances({ query }: Stores, aheadMs: number): Promise<BalanceState[]> {
  const rows = await query<{ account_id: string; available_u: string; ms: string }>(
    'select account_id, available_u, extract(epoch from at) * 1000 as ms from lab_balances order by n',
  );
  return rows.map(({ account_id, available_u, ms }) => ({
    account: account_id,
    availableU: BigInt(available_u),
    at: Number(ms) - aheadMs,
  }));
}

export async function readRewrites({ query }: Stores): Promise<Rewrite[]> {
  const rows = await query<{ poll_id: string; what: string }>('select poll_id, what from lab_rewrites order by n');
  return rows.map(({ poll_id, what }) => ({ pollId: poll_id, what }));
}
