import t from 'tap';
import { acceptPoll, bury, type Claim, claimPoll, finishPoll, type Storage } from '../src/index.ts';
import { acceptance, finished, funded, open, together, USD } from './fixtures.ts';

// A poll that kills its worker before any ballot has arrived, among neighbours that do not: one life of a worker after
// the other, as long as anything runs. Whatever a worker holds when it dies lapses together.

const GIVEN_UP_AFTER = 8;

async function crowd(storage: Storage, size: number): Promise<string[]> {
  const accountId = await funded(storage, BigInt(size) * USD);
  const polls = Array.from({ length: size }, () => acceptance(accountId, { holdU: USD }));
  for (const poll of polls) await acceptPoll(storage, poll);
  return polls.map(({ poll }) => poll.id);
}

t.test('a poison poll is given up alone: none of its neighbours is, though one worker claims them all', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 10 });
  const ids = await crowd(storage, 12);
  const [poison] = ids;
  const deaths: number[] = [];
  const running = new Set(ids);
  for (let life = 0; running.size > 0 && life < 100; life++) {
    const claims = (
      await together(running.size, 10, (i) => claimPoll(storage, [...running][i]!, `worker ${life}`, 60_000))
    ).filter((claim): claim is Claim => claim !== null);
    const culprit = claims.find(({ id }) => id === poison);
    if (culprit && culprit.attempts <= GIVEN_UP_AFTER) {
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
  t.same(deaths.slice(0, 3), [12, 12, 12], 'at first they are claimed together');
  t.same(deaths.slice(3), [1, 1, 1, 1, 1], 'then whoever kills a worker does it alone');
});

t.test('each worker runs one suspect at a time, and any number of others beside it', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 10 });
  const ids = await crowd(storage, 6);
  await query('update polls set attempts = 3 where id = any($1)', [ids.slice(0, 4)]);
  const claimedBy = async (worker: string) =>
    (await together(ids.length, 6, (i) => claimPoll(storage, ids[i]!, worker, 60_000))).filter(
      (claim) => claim !== null,
    );
  const suspects = (claims: Claim[]) => claims.filter(({ attempts }) => attempts > 3).length;
  const first = await claimedBy('one');
  t.equal(suspects(first), 1);
  t.equal(first.length, 3, 'and the two that are none');
  t.same(await claimedBy('one'), [], 'as long as it runs');
  t.equal(suspects(await claimedBy('two')), 1);
  const [suspect] = first.filter(({ attempts }) => attempts > 3);
  await finishPoll(storage, finished(suspect!));
  t.equal(suspects(await claimedBy('one')), 1, 'when it has ended, the next');
});
