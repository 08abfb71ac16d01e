import { readRedisAddress } from '@eloquentpoll/ops/redis-address';
import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';
import { Redis } from 'ioredis';
import type { Stores } from '../fixture/stores.ts';
import { aheadMs, type ClockLook } from './clock-ahead.ts';

// Records changes with triggers in the transaction that makes them: every claim and end of a poll, every balance, every
// change of data that must not change. Also records what Redis publishes. A crash of a process under test loses none of
// it.

export interface PollEvent {
  pollId: string;
  kind: 'claimed' | 'ended';
  epoch: number;
  /** Null for an end. */
  worker: string | null;
  /** The connection to Postgres that wrote it: who ends a poll is read from the claims that came over the same one. */
  connection: string;
  /** For a repeated claim: when the previous lease ended. */
  freeAt?: number | null;
  /** By our clock, in milliseconds, like all times here. */
  at: number;
}

export interface BalanceState {
  account: string;
  availableU: bigint;
  /** Between the commit of the previous state and the commit of this one. */
  at: number;
}

export interface Rewrite {
  pollId: string;
  what: string;
}

/** A vote that was in the run record by this time. Not observed in a cluster, whose shard channels have no patterns. */
export interface Arrival {
  pollId: string;
  modelId: string;
  at: number;
}

export interface Observer extends AsyncDisposable {
  readonly arrivals: readonly Arrival[];
  read(): Promise<{ journal: PollEvent[]; balances: BalanceState[]; rewrites: Rewrite[] }>;
  /** Converts milliseconds of Postgres' clock to ours. */
  ours(ms: number): number;
}

/** `security definer`: processes may have roles that cannot write to these tables. */
const TRIGGERS = `
  create table lab_journal (
    n bigint generated always as identity, poll_id text not null, kind text not null, epoch integer not null,
    worker text, free_at timestamptz, connection text not null, at timestamptz not null default clock_timestamp());
  create function lab_connection() returns text language plpgsql as $$
  begin
    if coalesce(current_setting('lab.connection', true), '') = '' then
      perform set_config('lab.connection', gen_random_uuid()::text, false);
    end if;
    return current_setting('lab.connection');
  end $$;
  create function lab_note() returns trigger language plpgsql security definer as $$
  begin
    if new.status <> old.status then
      insert into lab_journal (poll_id, kind, epoch, connection)
      values (new.id, 'ended', new.lease_epoch, lab_connection());
    elsif new.lease_epoch <> old.lease_epoch then
      insert into lab_journal (poll_id, kind, epoch, worker, free_at, connection)
      values (new.id, 'claimed', new.lease_epoch, new.lease_owner, old.lease_until, lab_connection());
    end if;
    return null;
  end $$;
  create trigger lab_note after update of status, lease_epoch on polls for each row execute function lab_note();

  create table lab_balances (
    n bigint generated always as identity, account_id uuid not null, available_u bigint not null,
    xact xid8 not null default pg_current_xact_id(), at timestamptz not null default clock_timestamp());
  create function lab_balance() returns trigger language plpgsql security definer as $$
  begin
    insert into lab_balances (account_id, available_u) values (new.account_id, new.posted_u - new.held_u - new.reserved_u);
    return null;
  end $$;
  create trigger lab_balance after insert or update on balances for each row execute function lab_balance();

  create table lab_rewrites (n bigint generated always as identity, poll_id text not null, what text not null);
  create function lab_rewrite() returns trigger language plpgsql security definer as $$
  begin
    insert into lab_rewrites (poll_id, what) values (old.poll_id, tg_op || ' of ' || tg_table_name);
    return null;
  end $$;
  create trigger lab_rewrite after update or delete on results for each row execute function lab_rewrite();
  create trigger lab_rewrite after update or delete on votes for each row execute function lab_rewrite();
  create function lab_afterlife() returns trigger language plpgsql security definer as $$
  begin
    insert into lab_rewrites (poll_id, what) values (old.id, 'update of an ended poll');
    return null;
  end $$;
  create trigger lab_afterlife after update on polls for each row when (old.status <> 'running')
    execute function lab_afterlife();`;

const Published = Type.Object({
  poll_id: Type.String(),
  vote: Type.Union([Type.Object({ model_id: Type.String() }), Type.Null()]),
});

export async function observe({ query, redisUrl, bus }: Stores): Promise<Observer> {
  const ahead = await clockAheadMs(query);
  await query(TRIGGERS);
  const arrivals: Arrival[] = [];
  const redis = readRedisAddress(redisUrl)?.kind === 'cluster' ? null : new Redis(redisUrl);
  redis?.on('error', () => {});
  redis?.on('pmessage', (_pattern: string, _channel: string, message: string) => {
    const { poll_id: pollId, vote } = readJson(Published, message);
    if (vote) arrivals.push({ pollId, modelId: vote.model_id, at: Date.now() });
  });
  await redis?.psubscribe(`${bus.prefix}:{*}`);
  const ours = (ms: number) => ms - ahead;
  const at = 'extract(epoch from at) * 1000 as ms';
  return {
    arrivals,
    ours,
    async read() {
      const journal = await query<{
        poll_id: string;
        kind: PollEvent['kind'];
        epoch: number;
        worker: string | null;
        connection: string;
        free_ms: string | null;
        ms: string;
      }>(
        `select poll_id, kind, epoch, worker, connection, extract(epoch from free_at) * 1000 as free_ms, ${at}
           from lab_journal order by n`,
      );
      const balances = await query<{ account_id: string; available_u: string; ms: string }>(
        // Only the last state of a row in a transaction is visible to others.
        `select account_id, available_u, ${at} from (
           select distinct on (account_id, xact) * from lab_balances order by account_id, xact, n desc) seen
          order by n`,
      );
      const rewrites = await query<{ poll_id: string; what: string }>(
        'select poll_id, what from lab_rewrites order by n',
      );
      return {
        journal: journal.map(({ poll_id, ms, free_ms, ...event }) => ({
          ...event,
          pollId: poll_id,
          freeAt: free_ms === null ? null : ours(Number(free_ms)),
          at: ours(Number(ms)),
        })),
        balances: balances.map(({ account_id, available_u, ms }) => ({
          account: account_id,
          availableU: BigInt(available_u),
          at: ours(Number(ms)),
        })),
        rewrites: rewrites.map(({ poll_id, what }) => ({ pollId: poll_id, what })),
      };
    },
    [Symbol.asyncDispose]: async () => redis?.disconnect(),
  };
}

async function clockAheadMs(query: Stores['query']): Promise<number> {
  const looks: ClockLook[] = [];
  for (let i = 0; i < 5; i++) {
    const asked = Date.now();
    const [row] = await query<{ ms: string }>('select extract(epoch from clock_timestamp()) * 1000 as ms');
    looks.push({ asked, other: Number(row!.ms), answered: Date.now() });
  }
  return aheadMs(looks);
}
