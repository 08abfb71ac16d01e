import type { PollSpec } from '@eloquentpoll/contracts';
import { newPollId, newResultId } from '@eloquentpoll/polls';
import {
  acceptPoll,
  cancelPoll,
  closeAccount,
  createAccount,
  creditAccount,
  openStorage,
  readFleetFigures,
  WORKER_ROLE,
} from '@eloquentpoll/storage';
import { asOwner, roleUrl, testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { storedPolls } from '../src/stored-polls.ts';

// slow: 8 s
// Deleting what is over, as a worker does, where one account has more than a statement may take.

/** A crowded machine may take longer for a step than it usually does: the next round takes it again, in smaller steps. */
const emptied = (polls: ReturnType<typeof storedPolls>) =>
  eventually('nothing is left to delete', async () => (await polls.prune(5_000)) === 0, 90_000);

const EXPIRED_NONCE = `
  insert into nonces (nonce, address, purpose, message, expires_at)
  values ('n', decode(repeat('00', 20), 'hex'), 'login', 'm', now() - interval '3 hours')`;
const SPEC: PollSpec = {
  ...{
    question: 'Which?',
    options: ['A', 'B'],
    panel_name: 'broad',
    confidence_threshold: 0.95,
    max_cost_u: 1_000_000,
  },
  ...{ min_votes: 3, search: false, seed: 'seed', simulated: true },
  seats: [0, 1, 2].map((seat) => ({
    ...{ model_id: `sim/m${seat}`, family: `f${seat}`, reserve_u: 1_000, failure_rate: 0, p90_ms: 900 },
  })),
};

t.test('20,000 batches of a closed account keep nothing else waiting, and go in steps', async (t) => {
  const url = await testDatabase(t);
  const connectTimeoutMs = 30_000;
  await using storage = openStorage({ databaseUrl: url, connectTimeoutMs });
  await using worker = openStorage({
    databaseUrl: roleUrl(url, WORKER_ROLE),
    connectTimeoutMs,
    statementTimeoutMs: 300,
  });
  await using reading = openStorage({
    databaseUrl: roleUrl(url, WORKER_ROLE),
    connectTimeoutMs,
    statementTimeoutMs: 30_000,
  });
  const own = (text: string) => asOwner(url, text);
  const [many, other] = [await createAccount(storage), await createAccount(storage)];
  await creditAccount(storage, { accountId: other, amountU: 5_000_000n, source: 'operator', idem: 'test' });
  const [id, resultId] = [newPollId(), newResultId()];
  const poll = { id, resultId, accountId: other, spec: SPEC, deadlineMs: 60_000, entryPoint: 'rest' as const };
  await acceptPoll(storage, { poll, holdU: 1_000_000n });
  t.match(await cancelPoll(storage, other, id), { outcome: 'ended_now' });
  await own(`
    insert into batches (id, account_id, status, ended_at, loading_until)
    select 'eb_' || lpad(n::text, 24, '0'), '${many}', 'completed', now(), null from generate_series(1, 20000) n`);
  await own(EXPIRED_NONCE);
  for (const accountId of [many, other]) t.ok(await closeAccount(storage, accountId));
  await own(`update accounts set deleted_at = now() - interval '1 day' where id = '${many}'`);

  const { keptTooLong } = await readFleetFigures(reading);
  t.equal(keptTooLong.polls, null);
  t.ok(Date.now() - keptTooLong.accounts!.getTime() > 80_000_000);
  t.ok(Date.now() - keptTooLong.rows!.getTime() > 10_000_000);

  await emptied(storedPolls(worker));
  t.match(await own(`select account_id from polls where id = '${id}'`), [{ account_id: null }]);
  t.same(await own('select from nonces'), []);
  t.match(await own(`select emptied_at from accounts where id = '${other}'`), [{ emptied_at: Date }]);
  t.match(await own(`select emptied_at from accounts where id = '${many}'`), [{ emptied_at: Date }]);
  t.same(await own('select from batches'), []);
  t.same((await readFleetFigures(reading)).keptTooLong, { polls: null, accounts: null, rows: null });
});

t.test('a step that fails ends no other, and is heard of', async (t) => {
  const url = await testDatabase(t);
  await using storage = openStorage({ databaseUrl: url, connectTimeoutMs: 30_000 });
  const own = (text: string) => asOwner(url, text);
  await own(EXPIRED_NONCE);
  await own(`create function fail() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`);
  await own(
    'create trigger fails before update on accounts for each row when (new.emptied_at is not null) execute function fail()',
  );
  const accountId = await createAccount(storage);
  t.ok(await closeAccount(storage, accountId));
  await t.rejects(storedPolls(storage).prune(1_000), { name: 'StorageRefused' });
  t.same(await own('select from nonces'), []);
});

t.test('what takes longer than a statement may is deleted in smaller steps', async (t) => {
  const url = await testDatabase(t);
  await using worker = openStorage({
    databaseUrl: roleUrl(url, WORKER_ROLE),
    connectTimeoutMs: 30_000,
    statementTimeoutMs: 600,
  });
  const own = (text: string) => asOwner(url, text);
  await own(`create function take_time() returns trigger language plpgsql as $$
    begin perform pg_sleep(0.004); return coalesce(new, old); end $$`);
  await own('create trigger slow before update on polls for each row execute function take_time()');
  await own('create trigger slow before delete on nonces for each row execute function take_time()');
  await own(`
    insert into polls (id, result_id, tenant, status, spec, entry_point, lease_until, deadline_at, finished_at, expires_at)
    select month_ids(now()) || lpad(n::text, 22, '0'), 'EP-' || n, 't', 'completed', '{"question": "Which?"}', 'rest',
           now(), now(), now(), now() from generate_series(1, 300) n`);
  await own(`
    insert into nonces (nonce, address, purpose, message, expires_at)
    select n, decode(repeat('00', 20), 'hex'), 'login', 'm', now() from generate_series(1, 300) n`);

  const left = () =>
    own(`select (select count(*) from polls where expires_at is not null)::int as polls,
                (select count(*) from nonces)::int as nonces`);
  await emptied(storedPolls(worker));
  t.same(await left(), [{ polls: 0, nonces: 0 }]);
});
