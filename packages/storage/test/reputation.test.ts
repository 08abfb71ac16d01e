import type { PollResponse, Vote } from '@eloquentpoll/contracts';
import t from 'tap';
import { acceptPoll, bury, claimPoll, finishPoll, readReputation, type Storage, storeFeedback } from '../src/index.ts';
import { readModelAgreement } from '../src/model-agreement.ts';
import { acceptance, type Fixture, finished, funded, newPoll, open, response, spec, USD, vote } from './fixtures.ts';

// Figures about polls, checked against polls whose figures are known.

interface Ended {
  accountId: string;
  votes?: Vote[];
  response?: Partial<PollResponse>;
  simulated?: boolean;
  panel?: typeof spec.panel_name;
}

const timing = (total_ms: number) => ({ gather_ms: 1, total_ms });

async function claimed(storage: Storage, { accountId, simulated = true, panel = 'broad' }: Ended) {
  const poll = newPoll(accountId, { spec: { ...spec, simulated, panel_name: panel } });
  await acceptPoll(storage, acceptance(accountId, { poll }));
  return { ...poll, epoch: (await claimPoll(storage, poll.id, 'worker'))!.epoch };
}

async function ended(storage: Storage, end: Ended) {
  const poll = await claimed(storage, end);
  const plain = finished(poll);
  await finishPoll(storage, { ...plain, votes: end.votes ?? plain.votes, response: response(end.response) });
  return poll;
}

t.test('of nothing, counts are 0 and figures are null', async (t) => {
  const { storage } = await open(t);
  const { from, to, ...found } = await readReputation(storage, { simulated: true });
  t.equal(to.getTime() - from.getTime(), 30 * 86_400_000);
  t.same(found, {
    polls: { success: 0, partial: 0, failed: 0 },
    latencyMs: null,
    costU: null,
    earlyTerminated: 0,
    feedback: { total: 0, correct: 0, incorrect: 0, accounts: 0, rightAccounts: 0 },
    models: [],
  });
});

t.test('every poll and vote counts once, for what it was', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, 99n * USD);
  await ended(storage, { accountId, response: { timing: timing(100) } });
  await ended(storage, { accountId, response: { status: 'partial', timing: timing(300), early_terminated: true } });
  const tied = [vote(0), vote(1, { option: 1 }), vote(2, { option: null, error: 'aborted', billed_u: 0 })];
  await ended(storage, {
    accountId,
    votes: tied,
    response: { timing: timing(200), winning_option: null, is_tie: true },
  });
  await ended(storage, { accountId, panel: 'free', response: { timing: timing(200) } });
  const failedVotes = [0, 1, 2].map((seat) => vote(seat, { option: null, error: 'timeout', billed_u: 0 }));
  await ended(storage, {
    accountId,
    votes: failedVotes,
    response: { status: 'failed', winning_option: null, timing: timing(9_000) },
  });
  await ended(storage, { accountId, simulated: false, response: { timing: timing(77_777) } });
  await bury(storage, { ...(await claimed(storage, { accountId })), reason: 'test' });
  await claimed(storage, { accountId });

  const found = await readReputation(storage, { simulated: true });
  t.same(found.polls, { success: 3, partial: 1, failed: 2 }, 'one given up, none of those that run');
  t.same(found.latencyMs, { average: 200, p50: 200, p95: 285 });
  t.same(found.costU, { average: 801, median: 801 });
  t.equal(found.earlyTerminated, 1);
  const [steady, other, silent] = found.models;
  t.match(steady, { modelId: 'sim/m0', asked: 5, votes: 4, averageCostU: 400 });
  t.match(other, {
    modelId: 'sim/m1',
    asked: 5,
    votes: 4,
    p95LatencyMs: 700,
    lastVoteAt: Date,
  });
  t.match(silent, { modelId: 'sim/m2', asked: 4, votes: 0, judged: 0, averageLatencyMs: null, lastVoteAt: null });
  t.match((await readReputation(storage, { simulated: false })).polls, { success: 1, partial: 0, failed: 0 });
});

/** A panel of sim/m0 (the cheapest) and so on, and how its audits are planted: seats and votes as they were heard. */
async function audited({ query }: Fixture, version: string, models: number, order = 'cheapest') {
  const names = Array.from({ length: models }, (_, i) => `sim/m${i}`);
  await query(
    `insert into roster_versions (version, panel_name, asking_order, search, simulated, models, families)
     values ($1, 'broad', $2, false, true, $3, $3)`,
    [version, order, names],
  );
  return (
    count: number,
    seats: number[],
    votes: (number | null)[],
    more: { winner?: number | null; poll?: string } = {},
  ) =>
    query(
      `insert into audits (poll_id, roster_version, asked_order, threshold, option_count, seats, votes, said, stopped_at, winner)
       select coalesce($6, $1 || random() || i), $1, $2, .95, 2, $3, $4, '{}', 0, $5 from generate_series(1, $7::integer) i`,
      [version, order, seats, votes, more.winner === undefined ? 0 : more.winner, more.poll ?? null, count],
    );
}

const agreementOf = async (storage: Storage) =>
  Object.fromEntries(
    (await readModelAgreement(storage, { simulated: true, days: 30 })).map(({ modelId, judged, agreed }) => [
      modelId,
      [judged, agreed],
    ]),
  );

t.test('a strong model that is asked only after the cheap ones disagreed is not below a weak one', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, 99n * USD);
  // Cheapest first: of four polls, three are obvious and end before the dear one is asked.
  const [weak, fair, dear] = [0, 1, 2];
  for (let i = 0; i < 3; i++) await ended(storage, { accountId, votes: [vote(weak), vote(fair)] });
  await ended(storage, { accountId, votes: [vote(weak), vote(fair, { option: 1 }), vote(dear, { option: 1 })] });
  await ended(storage, { accountId, votes: [vote(weak), vote(fair), vote(dear, { option: 1 })] });
  const plain = (await readReputation(storage, { simulated: true })).models;
  t.same(
    plain.map(({ judged }) => judged),
    [0, 0, 0],
    'votes of polls that were not audited do not count',
  );
  // Audits of such polls: of the obvious ones, too, the dear model was asked afterwards.
  const audit = await audited(fixture, 'three', 3);
  await audit(75, [weak, fair, dear], [0, 0, 0]);
  await audit(25, [weak, fair, dear], [0, 1, 1], { winner: 1 });
  const { models } = await readReputation(storage, { simulated: true });
  t.same(
    models.map(({ modelId, judged, agreed }) => [modelId, judged, agreed]),
    [
      ['sim/m0', 100, 75],
      ['sim/m1', 100, 100],
      ['sim/m2', 100, 100],
    ],
  );
  await query(`update audits set created_at = now() - interval '31 days'`);
  t.same(await agreementOf(storage), {});
});

t.test('where locks end audits early, only the votes that every audit has are compared', async (t) => {
  const fixture = await open(t);
  const audit = await audited(fixture, 'five', 5);
  await audit(98, [0, 1, 2], [0, 0, 0]);
  await audit(2, [0, 1, 2, 3, 4], [0, 1, 0, 1, 0]);
  t.same(await agreementOf(fixture.storage), { 'sim/m0': [100, 100], 'sim/m1': [100, 98], 'sim/m2': [100, 100] });
});

t.test('one audit in a hundred may have ended early; a tie and a failed vote agree with nothing', async (t) => {
  const fixture = await open(t);
  const audit = await audited(fixture, 'two', 3);
  await audit(1, [0, 1], [0, 0]);
  await audit(99, [0, 1, 2], [0, null, 1]);
  await audit(7, [0, 1, 2], [0, null, 1], { winner: null });
  t.same(await agreementOf(fixture.storage), { 'sim/m0': [100, 100], 'sim/m1': [1, 1], 'sim/m2': [99, 0] });
});

t.test('no account alone decides how a model looks', async (t) => {
  const fixture = await open(t);
  const audit = await audited(fixture, 'two', 2, 'shuffled');
  await audit(450, [0, 1], [0, 1]);
  const poll = await ended(fixture.storage, { accountId: await funded(fixture.storage, USD) });
  await fixture.query(`update polls set tenant = 'another' where id = $1`, [poll.id]);
  await audit(1, [0, 1], [0, 1], { poll: poll.id });
  t.same(await agreementOf(fixture.storage), { 'sim/m0': [401, 401], 'sim/m1': [401, 0] });
});

t.test('the newest polls count, up to the bound, and not those of another month', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 99n * USD);
  const polls = [];
  for (let age = 0; age < 6; age++) {
    const poll = await ended(storage, { accountId });
    polls.push(poll);
    await query(`update results set created_at = now() - $2 * interval '10 days' where poll_id = $1`, [poll.id, age]);
  }
  const old = await claimed(storage, { accountId });
  await bury(storage, { ...old, reason: 'test' });
  await query(`update dead_letters set created_at = now() - interval '11 days'`);
  const count = async (mostPolls?: number) => {
    const { polls, from, to, models } = await readReputation(storage, {
      simulated: true,
      ...(mostPolls && { mostPolls }),
    });
    const days = Math.round((to.getTime() - from.getTime()) / 86_400_000);
    return [polls.success, polls.failed, days, models[0]!.asked];
  };
  t.same(await count(), [3, 1, 30, 3]);
  t.same(await count(2), [2, 0, 10, 2], 'the window begins with the oldest that is counted');
});

t.test('free polls make up a part of the window, however many there are', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, 99n * USD);
  const lost = { status: 'failed', winning_option: null } as const;
  for (let i = 0; i < 5; i++) await ended(storage, { accountId });
  for (let i = 0; i < 8; i++) await ended(storage, { accountId, panel: 'free', response: lost });
  const found = await readReputation(storage, { simulated: true, mostPolls: 5 });
  t.same(found.polls, { success: 5, partial: 0, failed: 1 });
  const all = await readReputation(storage, { simulated: true, mostPolls: 10 });
  t.same(all.polls, { success: 5, partial: 0, failed: 2 });
});

t.test('opinions count of accounts about polls that they paid for, at most twenty of each', async (t) => {
  const { storage } = await open(t);
  const [busy, other, stranger] = [
    await funded(storage, 99n * USD),
    await funded(storage, 9n * USD),
    await funded(storage, 9n * USD),
  ];
  const say = (accountId: string, resultId: string, outcomeCorrect: boolean | null) =>
    storeFeedback(storage, { accountId, resultId, outcomeCorrect, confidence: null, notes: null });
  for (let i = 0; i < 25; i++) {
    const { resultId } = await ended(storage, { accountId: busy });
    await say(busy, resultId, true);
    await say(stranger, resultId, false);
  }
  const own = [];
  for (let i = 0; i < 3; i++) own.push((await ended(storage, { accountId: other })).resultId);
  for (const [i, outcomeCorrect] of [true, false, null].entries()) await say(other, own[i]!, outcomeCorrect);
  await say(stranger, (await ended(storage, { accountId: stranger, panel: 'free' })).resultId, false);
  t.same((await readReputation(storage, { simulated: true })).feedback, {
    ...{ total: 23, correct: 21, incorrect: 1 },
    ...{ accounts: 2, rightAccounts: 1.5 },
  });
});
