import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import t, { type Test } from 'tap';
import { openBus } from '../src/index.ts';
import { snapshot as snapshotAt, vote as voteOf } from './fixtures.ts';

// What is in Redis may be damaged, or written by something else. None of it reaches a vote or a reader.

const POLL = 'ps_a';
const snapshot = snapshotAt(1);
const vote = voteOf(0);

async function open(t: Test) {
  const { url, prefix } = testRedis(t);
  const refused: string[] = [];
  const bus = await openBus({
    redisUrl: url,
    prefix,
    commandTimeoutMs: 5_000,
    onRefused: (kind) => void refused.push(kind),
  });
  t.teardown(() => bus[Symbol.asyncDispose]());
  const set = (field: string, value: string) => bus.redis.hset(`${prefix}:{${POLL}}:run`, field, value);
  return { bus, prefix, refused, set };
}

t.test('a damaged vote is left out, and its model is asked again', async (t) => {
  const { bus, refused, set } = await open(t);
  await bus.runs.vote(POLL, 1, vote, snapshot);
  const damaged = [
    '',
    '{',
    'null',
    '[]',
    JSON.stringify({ ...vote, seat: 1, billed_u: -1 }),
    JSON.stringify({ ...vote, seat: 1, option: '0' }),
    JSON.stringify({ ...vote, seat: 1, option: undefined }),
    JSON.stringify(vote),
  ];
  for (const text of damaged) {
    await set('vote:1', text);
    t.same(await bus.runs.votes(POLL), [vote], text);
  }
  t.same(await bus.runs.takeOver(POLL, 2), [vote]);
  t.same(refused, Array(damaged.length + 1).fill('vote'));
});

t.test('a damaged snapshot is no snapshot, for readers of the record and of messages', async (t) => {
  const { bus, prefix, refused, set } = await open(t);
  await bus.runs.open(POLL, 1, 'account', snapshot);
  const heard: unknown[] = [];
  await bus.watchPoll(POLL, (news) => void heard.push(news));
  for (const text of [
    'x',
    '7',
    JSON.stringify({ ...snapshot, tally: { A: 1 } }),
    JSON.stringify({ ...snapshot, seq: 1.5 }),
  ]) {
    await set('snapshot', text);
    t.equal(await bus.runs.read(POLL), null, text);
    await bus.redis.publish(`${prefix}:{${POLL}}`, text);
  }
  await bus.redis.publish(`${prefix}:{${POLL}}`, JSON.stringify({ ...snapshot, of_a_later_release: 1 }));
  await eventually('five messages are heard', () => heard.length === 5);
  t.same(heard, [null, null, null, null, { ...snapshot, of_a_later_release: 1 }], 'a watcher reads the state again');
  t.same(refused, Array(8).fill('snapshot'));
});

t.test('a damaged brief is no brief', async (t) => {
  const { bus, set, refused } = await open(t);
  const brief = async () => (await bus.runs.briefs([POLL]))[0];
  const progress = '{"received":1,"succeeded":1,"failed":0,"total":3}';
  await set('brief', `account 1 running - ${progress}`);
  t.match(await brief(), { owner: 'account', seq: 1, progress });
  const damaged = [
    '',
    'account',
    `account x running - ${progress}`,
    `account 1 paused - ${progress}`,
    'account 1 running - {"received":1',
    'account 1 running - {"received":"1","succeeded":1,"failed":0,"total":3}',
    'account 1 running - 7',
  ];
  for (const text of damaged) {
    await set('brief', text);
    t.equal(await brief(), null, text);
  }
  t.same(refused, Array(damaged.length).fill('brief'));
  t.same(await bus.runs.briefs(['ps_unknown']), [null]);
  t.equal(refused.length, damaged.length, 'what is not there was not refused');
});
