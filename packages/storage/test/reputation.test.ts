import type { PollResponse, Vote } from '@eloquentpoll/contracts';
import t from 'tap';
import {
  acceptPoll,
  bury,
  capture,
  claimPoll,
  finishPoll,
  hold,
  readReputation,
  type Storage,
  storeFeedback,
} from '../src/index.ts';
import { acceptance, finished, funded, newPoll, open, response, spec, USD, unique, vote } from './fixtures.ts';

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

/** An account that has paid for something. */
async function paying(storage: Storage): Promise<string> {
  const accountId = await funded(storage, USD);
  const idem = unique('hold:');
  await hold(storage, { accountId, amountU: 1n, idem });
  await capture(storage, idem, 1n);
  return accountId;
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
    feedback: { total: 0, correct: 0, incorrect: 0 },
    models: [],
  });
});

t.test('every poll and vote counts once, for what it was', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, 99n * USD);
  const first = await ended(storage, { accountId, response: { timing: timing(100) } });
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
  const opinion = { resultId: first.resultId, confidence: null, notes: null };
  for (const outcomeCorrect of [true, true, false, null])
    await storeFeedback(storage, { ...opinion, accountId: await paying(storage), outcomeCorrect });

  const found = await readReputation(storage, { simulated: true });
  t.same(found.polls, { success: 3, partial: 1, failed: 2 }, 'one given up, none of those that run');
  t.same(found.latencyMs, { average: 200, p50: 200, p95: 285 });
  t.same(found.costU, { average: 801, median: 801 });
  t.equal(found.earlyTerminated, 1);
  t.same(found.feedback, { total: 4, correct: 2, incorrect: 1 });
  const [steady, other, silent] = found.models;
  t.match(steady, { modelId: 'sim/m0', asked: 5, votes: 4, judged: 3, agreed: 3, averageCostU: 400 });
  t.match(other, {
    modelId: 'sim/m1',
    asked: 5,
    votes: 4,
    judged: 3,
    agreed: 3,
    p95LatencyMs: 700,
    lastVoteAt: Date,
  });
  t.match(silent, { modelId: 'sim/m2', asked: 4, votes: 0, judged: 0, averageLatencyMs: null, lastVoteAt: null });
  t.match((await readReputation(storage, { simulated: false })).polls, { success: 1, partial: 0, failed: 0 });
});

t.test('agreement is with the option that won', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, 9n * USD);
  await ended(storage, { accountId, votes: [vote(0, { option: 1 }), vote(1, { option: 1 }), vote(2)] });
  const { models } = await readReputation(storage, { simulated: true });
  t.same(
    models.map(({ judged, agreed }) => [judged, agreed]),
    [
      [1, 1],
      [1, 1],
      [1, 0],
    ],
  );
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

t.test('opinions count of accounts that paid, at most twenty of each', async (t) => {
  const { storage } = await open(t);
  const [payer, free] = [await funded(storage, 99n * USD), await funded(storage, 0n)];
  const polls = [];
  for (let i = 0; i < 25; i++) polls.push(await ended(storage, { accountId: payer }));
  for (const { resultId } of polls) {
    const opinion = { resultId, confidence: null, notes: null };
    await storeFeedback(storage, { ...opinion, accountId: free, outcomeCorrect: false });
    await storeFeedback(storage, { ...opinion, accountId: payer, outcomeCorrect: true });
  }
  t.same((await readReputation(storage, { simulated: true })).feedback, { total: 20, correct: 20, incorrect: 0 });
});
