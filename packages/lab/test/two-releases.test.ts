import { checkLedger, claimPoll } from '@eloquentpoll/storage';
import { asOwner } from '@eloquentpoll/testkit/database';
import t from 'tap';
import { otherRelease, recorded, withMore } from './other-release.ts';
import { wholeService } from './whole-service.ts';

// slow: 3 s

// Gateways and workers of two releases side by side, as in every deploy: whatever one of another release has begun or
// stored is read, gone on with and ended here. The other one is older (it wrote what was recorded) or newer (it says more,
// anywhere).

const service = await wholeService(t, { 1: 'AABBC' });
const { app, headers, gateway, simulator } = service;
const get = (url: string, more: object = headers) => app.inject({ url, headers: { ...more } });
const session = async (id: string, what = 'status') => (await get(`/api/polls/${id}/${what}`)).json();
const asked = async (poll: string): Promise<number[]> =>
  (await simulator.inject(`/_control/calls?poll=${poll}`)).json().calls.map(({ seat }: { seat: number }) => seat);

for (const [age, change] of [
  ['an older', <T>(value: T): T => value],
  ['a newer', withMore],
] as const) {
  t.test(`a poll that ${age} release began goes on here`, async (t) => {
    const other = otherRelease(service, change);
    const { pollId } = other;
    await other.accept();
    t.match(await session(pollId), { session_id: pollId, status: 'running', result_id: null });
    await other.begin();
    t.match(await session(pollId), { progress: { received: 3, succeeded: 3, failed: 0, total: 5 } });
    const reading = app.inject({
      method: 'POST',
      url: '/api/poll/stream',
      headers: { ...headers, 'last-event-id': `${pollId}:0` },
      payload: { question: 'Recorded question #1', options: ['A', 'B', 'C'] },
    });
    for (const snapshot of recorded.published) await other.publish(snapshot);

    await other.die();
    await gateway.bus.enqueuePoll(pollId, { round: 1 });
    const ended = await get(`/api/polls/${pollId}/status`, { ...headers, prefer: 'wait=30' });
    t.match(ended.json(), { status: 'completed', result_id: other.resultId });
    t.same((await asked(pollId)).sort(), [3, 4], 'a model that has voted is not asked again');
    const result = await session(pollId, 'result');
    t.match(result, { poll_id: other.resultId, models_skipped: 0, tally: { A: 2, B: 2, C: 1 }, is_tie: true });
    t.equal(result.votes.length, 5);
    const stream = (await reading).body;
    t.match(stream, /event: complete/);
    t.match(stream, other.resultId);
    t.same(await checkLedger(gateway.storage), []);
  });

  t.test(`a poll that ${age} release ends is read here`, async (t) => {
    const other = otherRelease(service, change);
    const { pollId, resultId } = other;
    await other.accept();
    await other.begin();
    const waiting = get(`/api/polls/${pollId}/status`, { ...headers, prefer: 'wait=30' });
    await other.finish();
    await other.announceEnd();
    t.match((await waiting).json(), { status: 'completed', result_id: resultId });
    t.match(await session(pollId, 'result'), { poll_id: resultId, outcome: 'tie', tally: { A: 2, B: 2, C: 1 } });
    const shared = (await get(`/api/results/${resultId}`, {})).json();
    t.match(shared, { status: 'success', question: 'Recorded question #1', models_succeeded: 5 });
    t.notMatch(JSON.stringify(shared), /of_a_later_release/, 'what is not known to be public is not shown');
    const page = await get(`/result/${resultId}`, { accept: 'text/html' });
    t.equal(page.statusCode, 200);
    t.match(page.body, /Recorded question #1/);
    t.equal((await get(`/result/${resultId}/card.png`, {})).statusCode, 200);
    t.match((await get(`/api/graph/mermaid/${resultId}`, {})).body, /sim\/fjord-small|fjord/);
    t.same(await checkLedger(gateway.storage), []);
  });
}

t.test('a result that says for a reason what is no reason here is shown without one', async (t) => {
  const other = otherRelease(service, (value) =>
    JSON.parse(JSON.stringify(value).replaceAll('roster_exhausted', 'a_reason_of_later')),
  );
  await other.accept();
  await other.begin();
  await other.finish();
  const page = await get(`/result/${other.resultId}`, { accept: 'text/html' });
  t.equal(page.statusCode, 200);
  t.equal((await get(`/api/results/${other.resultId}`, {})).statusCode, 200);
});

t.test('a poll of a kind that is not known here is left to who knows it, and ends all the same', async (t) => {
  const other = otherRelease(service, withMore);
  const { pollId } = other;
  await other.accept();
  const { DATABASE_URL: url } = service.settings;
  await asOwner(url, `update polls set schema_version = 2 where id = '${pollId}'`);
  t.equal(await claimPoll(gateway.storage, pollId, 'worker'), null);
  t.match(await session(pollId), { status: 'running' });
  await asOwner(url, `update polls set deadline_at = now() - interval '1 minute' where id = '${pollId}'`);
  await gateway.bus.enqueuePoll(pollId, { round: 1 });
  const ended = await get(`/api/polls/${pollId}/status`, { ...headers, prefer: 'wait=30' });
  t.match(ended.json(), { status: 'failed' });
  t.same(await asked(pollId), []);
  t.same(await checkLedger(gateway.storage), []);
});

t.test('what is written here says all that an older release reads', async (t) => {
  const { bus, storage } = gateway;
  const payload = {
    question: 'Recorded question #1',
    options: ['A', 'B', 'C'],
    preset: 'fast',
    confidence_threshold: 1,
  };
  const { runs } = service.worker.bus;
  const { vote, end } = runs;
  const writes: Promise<boolean>[] = [];
  let record: Record<string, string> = {};
  t.intercept(runs, 'vote', {
    value: (...args: Parameters<typeof vote>) => {
      writes.push(vote(...args));
      return writes.at(-1);
    },
  });
  t.intercept(runs, 'end', {
    value: async (...args: Parameters<typeof end>) => {
      await Promise.all(writes);
      record = await bus.redis.hgetall(`${bus.prefix}:{${args[0]}}:run`);
      return end(...args);
    },
  });
  const answer = (await app.inject({ method: 'POST', url: '/api/poll', headers, payload })).json();
  const poll = await storage.db
    .selectFrom('polls')
    .selectAll()
    .where('result_id', '=', answer.poll_id)
    .executeTakeFirstOrThrow();
  const { run, accept, finish } = recorded;
  t.same(missing(accept.spec, poll.spec), []);
  t.same(missing(finish.response, answer), []);
  t.same(missing(run.snapshot, JSON.parse(record.snapshot ?? 'null')), []);
  t.same(missing(run.votes[0], JSON.parse(record['vote:0'] ?? 'null')), []);
  t.match(record.brief, /^\S+ \d+ running - \{\S+\}$/);
  t.equal(record.epoch, '1');
});

/** Where the second says nothing, or another kind of thing, in the place of what the first says. */
function missing(before: unknown, now: unknown, at = ''): string[] {
  if (before === null || now === null) return [];
  if (typeof before !== typeof now || Array.isArray(before) !== Array.isArray(now)) return [at];
  if (Array.isArray(before)) return missing(before[0] ?? null, (now as unknown[])[0] ?? null, `${at}[]`);
  if (typeof before !== 'object') return [];
  return Object.entries(before as object).flatMap(([name, member]) =>
    missing(member, (now as Record<string, unknown>)[name], `${at}.${name}`),
  );
}
