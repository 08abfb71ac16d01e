import t from 'tap';
import { acceptPoll, bury, type Claim, claimPoll, finishPoll, type Storage } from '../src/index.ts';
import { acceptance, finished, funded, open, together, USD } from './fixtures.ts';

// slow: 3 s

// A poll that kills its worker before any vote has arrived, among neighbours that do not: one life of a worker after
// the other, as long as anything runs. Whatever a worker holds when it dies lapses together.

const GIVEN_UP_AFTER = 10;

async function crowd(storage: Storage, size: number): Promise<string[]> {
  const accountId = await funded(storage, BigInt(size) * USD);
  const polls = Array.from({ length: size }, () => acceptance(accountId, { holdU: USD }));
  for (const poll of polls) await acceptPoll(storage, poll);
  return polls.map(({ poll }) => poll.id);
}

t.test('a poison poll is given up alone: none of its neighbours is, though one worker claims them all', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 10 });
  const ids = await crowd(storage, 20);
  const [poison] = ids;
  const deaths: number[] = [];
  const running = new Set(ids);
  for (let life = 0; running.size > 0 && life < 100; life++) {
    const claims = (
      await together(running.size, 10, (i) => claimPoll(storage, [...running][i]!, `worker ${life}`, 60_000))
    ).filter((claim): claim is Claim => claim !== null);
    const culprit = claims.find(({ id }) => id === poison);
    if (culprit && culprit.claims <= GIVEN_UP_AFTER) {
      deaths.push(claims.length);
      await query(`update polls set lease_until = now() - interval '1 second' where status = 'running'`);
      continue;
    }
    for (const claim of claims) {
      if (claim === culprit) await bury(storage, { ...claim, reason: 'too_many_attempts' });
      else await finishPoll(storage, finished(claim));
      running.delete(claim.id);
    }
  }
  t.same([...running], [], 'everything ended');
  t.same(await query('select poll_id from dead_letters'), [{ poll_id: poison }]);
  t.same(deaths.slice(0, 3), [20, 20, 20], 'at first they are claimed together');
  t.equal(deaths.length, GIVEN_UP_AFTER);
  for (const [i, most] of [16, 8, 4, 2, 1, 1, 1].entries())
    t.ok(deaths[3 + i]! <= most, `death ${4 + i} takes ${deaths[3 + i]! - 1} others along, at most ${most - 1}`);
});

t.test('each worker runs few suspects at a time, and any number of others beside them', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 10 });
  const ids = await crowd(storage, 42);
  await query('update polls set claims = 3 where id = any($1)', [ids.slice(0, 40)]);
  const claimedBy = async (worker: string) =>
    (await together(ids.length, 8, (i) => claimPoll(storage, ids[i]!, worker, 60_000))).filter(
      (claim) => claim !== null,
    );
  const suspects = (claims: Claim[]) => claims.filter(({ claims }) => claims > 3).length;
  const first = await claimedBy('one');
  t.equal(suspects(first), 16);
  t.equal(first.length, 18, 'and the two that are none');
  t.same(await claimedBy('one'), [], 'as long as they run');
  t.equal(suspects(await claimedBy('two')), 16);
  const [suspect] = first.filter(({ claims }) => claims > 3);
  await finishPoll(storage, finished(suspect!));
  t.equal(suspects(await claimedBy('one')), 1, 'when one has ended, the next');
});

t.test('a poll that lost one worker does not wait for suspects', async (t) => {
  const { storage, query } = await open(t);
  const ids = await crowd(storage, 16);
  await query('update polls set claims = 3');
  for (const id of ids) t.ok(await claimPoll(storage, id, 'one', 60_000));
  // Its second claim needs money set aside, so it is not like the first.
  const ceiling = { hourU: USD, dayU: USD };
  const lost = acceptance(await funded(storage, USD), { providerMaxU: 1_000, ceiling });
  await acceptPoll(storage, lost);
  const { id } = lost.poll;
  await claimPoll(storage, id, 'dead', 60_000, ceiling);
  await query(`update polls set lease_until = now() - interval '1 second' where id = $1`, [id]);
  t.match(await claimPoll(storage, id, 'one', 60_000, ceiling), { epoch: 2, claims: 2 });
});

t.test('a poll that lost more workers runs with fewer others', async (t) => {
  const { storage, query } = await open(t);
  const [pair, lone, ...others] = await crowd(storage, 6);
  const suspected = (id: string, deaths: number) => query('update polls set claims = $2 where id = $1', [id, deaths]);
  await suspected(pair!, 6);
  await suspected(lone!, 7);
  for (const id of others) await suspected(id, 3);
  const claim = async (id: string, worker = 'one') => (await claimPoll(storage, id, worker, 60_000)) !== null;
  t.ok(await claim(others[0]!));
  t.notOk(await claim(lone!), 'one that must be alone waits');
  t.ok(await claim(pair!), 'one that may be one of two does not');
  t.notOk(await claim(others[1]!), 'a third would be too many for it');
  t.ok(await claim(lone!, 'two'), 'elsewhere it is alone');
  t.notOk(await claim(others[1]!, 'two'), 'and stays alone');
  t.ok(await claim(others[1]!, 'three'));
  t.ok(await claim(others[2]!, 'three'));
});

t.test('a poll that was lost is claimed in one statement: nothing of it waits for its worker to commit', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 2n * USD);
  const ceiling = { hourU: USD, dayU: USD };
  const polls = [0, 1].map(() => acceptance(accountId, { providerMaxU: 1_000, ceiling }));
  for (const poll of polls) await acceptPoll(storage, poll);
  const claims = () => Promise.all(polls.map(({ poll }) => claimPoll(storage, poll.id, 'one', 60_000, ceiling)));
  await claims();
  await query(`update polls set lease_until = now() - interval '1 second'`);
  await query('update polls set claims = 3 where id = $1', [polls[1]!.poll.id]);
  const begun = t.capture(storage.db, 'transaction', storage.db.transaction);
  t.match(await claims(), [
    { epoch: 2, claims: 2 },
    { epoch: 2, claims: 4 },
  ]);
  t.match(await query('select sum(spend_again_u)::int as again from polls'), [{ again: 2_000 }]);
  t.same(begun(), []);
});
