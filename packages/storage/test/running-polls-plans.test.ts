import { sql } from 'kysely';
import t from 'tap';
import {
  claimOverdue,
  claimPoll,
  freeLease,
  pollAccepter,
  pollClaimer,
  pollFinisher,
  releaseLease,
  renewLeases,
} from '../src/index.ts';
import { acceptance, finished, funded, newPoll, open } from './fixtures.ts';

const OTHERS = 400;

t.test('a poll costs the same however many polls of others run, also by the statistics of a quiet hour', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 1 });
  const accountId = await funded(storage, 1_000_000_000n);
  const accept = pollAccepter(storage, (_, call) => call());
  const claim = pollClaimer(storage);
  const finish = pollFinisher(storage);
  /** Most of them accepted, claimed and ended together, the first ones alone. */
  async function run() {
    const polls = Array.from({ length: 6 }, () => newPoll(accountId, { tenant: accountId }));
    const limits = { running: 20 };
    await Promise.all(polls.map((poll) => accept(acceptance(accountId, { poll, holdU: 10_000n, limits }))));
    const claims = await Promise.all(polls.map(({ id }) => claim(id, 'a worker')));
    await Promise.all(claims.map((mine) => finish(finished(mine!, { payer: accountId }))));
  }
  const plant = (count: number, name: string, ended: 'null' | 'now()') =>
    query(`
      insert into polls (id, result_id, tenant, status, finished_at, spec, entry_point, lease_until, deadline_at)
      select month_ids(now()) || '${name}' || n, '${name}' || n, 'other ' || n % 7,
             case when ${ended} is null then 'running' else 'completed' end, ${ended}, '{}', 'polls', now() + interval '1 day', now()
        from generate_series(1, ${count}) n`);
  await plant(1_000, 'E', 'now()');
  await run();
  await query('vacuum analyze');
  await plant(OTHERS, 'R', 'null');

  /** Entries of the indexes that hold running polls, and rows of scans, that the connection of the storage has read so far. */
  async function entriesRead() {
    await sql`select pg_stat_force_next_flush()`.execute(storage.db);
    const [row] = await query<{ entries: number }>(`
      select (select sum(idx_tup_read) from pg_stat_user_indexes where indexrelname ~ '^polls_(pkey|running)')::int
           + (select sum(seq_tup_read) from pg_stat_user_tables where relname ~ '^polls(_first|_[0-9]+)*$')::int as entries`);
    return row!.entries;
  }
  const before = await entriesRead();
  await run();
  const read = (await entriesRead()) - before;
  t.ok(read > 0 && read < OTHERS, `${read} entries for six polls`);

  const polls = Array.from({ length: 6 }, () => newPoll(accountId, { tenant: accountId }));
  for (const poll of polls) await accept(acceptance(accountId, { poll, holdU: 10_000n }));
  const [suspect, ...leases] = await Promise.all(polls.map(async ({ id }) => (await claim(id, 'a worker'))!));
  const beforeRenewal = await entriesRead();
  t.equal((await renewLeases(storage, 'a worker', leases)).length, leases.length);
  t.equal(await claimPoll(storage, suspect!.id, 'another'), null);
  t.ok(await releaseLease(storage, leases[0]!));
  t.ok(await freeLease(storage, leases[1]!.id));
  t.equal(await claimOverdue(storage, leases[2]!.id, 'another'), null);
  const renewed = (await entriesRead()) - beforeRenewal;
  t.ok(renewed > 0 && renewed < OTHERS, `${renewed} entries for the leases of five polls`);
});
