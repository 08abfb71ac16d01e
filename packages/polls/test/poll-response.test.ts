import type { PollSpec, TerminationReason, Vote } from '@eloquentpoll/contracts';
import t from 'tap';
import { finalSnapshot, type Moment, pollResponse, pollState, runningSnapshot, withVote } from '../src/index.ts';
import { SPEC, vote } from './make-spec.ts';

const RESULT_ID = 'EP-2026-11-20-0123456789abcdef';

const TIMES = { gatherMs: 99.6, totalMs: 120.4, arrivals: [] };

function responseTo(votes: readonly Vote[], reason: TerminationReason | null = 'roster_exhausted') {
  const times = { gatherMs: 99.6, totalMs: 120.4, arrivals: [] };
  return pollResponse({ resultId: RESULT_ID, spec: SPEC, state: pollState(SPEC, votes), reason, votes, ...times });
}

t.test('a response says who won, with how many votes, and what they cost', async (t) => {
  const response = responseTo([vote(0, 0), vote(1, null), vote(2, 0), vote(3, 0)]);
  t.match(response, {
    poll_id: RESULT_ID,
    status: 'success',
    outcome: '__proto__',
    winning_option: '__proto__',
    is_tie: false,
    termination_reason: 'roster_exhausted',
    early_terminated: false,
    models_skipped: 0,
    max_cost_usd: 1,
    timing: { gather_ms: 100, total_ms: 120 },
    costs: { total_estimated_cost: 0.0003 },
    confidence: 1,
    preset: 'broad',
    simulated: true,
  });
  t.notOk('arrivals' in response.timing, 'no arrivals where some votes came to an earlier worker');
  t.same(Object.entries(response.tally), [
    ['__proto__', 3],
    ['tie', 0],
    ['C', 0],
  ]);
  t.match(response.votes[0], { model_id: 'a/1', success: true, chosen_option: '__proto__', estimated_cost: 0.0001 });
  t.match(response.votes[1], { model_id: 'b/1', success: false, chosen_option: null, error: 'timeout' });
});

t.test('the odds of a partial result count failed models as still to vote, in its last snapshot too', async (t) => {
  const votes = [vote(0, 0), vote(1, null), vote(2, null), vote(3, null)];
  const response = responseTo(votes);
  t.match(response, { status: 'partial', outcome: '__proto__', termination_reason: 'roster_exhausted' });
  t.ok(response.confidence! > 0.5 && response.confidence! < 0.9, `${response.confidence}`);
  const state = pollState(SPEC, votes);
  const moment = { pollId: 'ps_1', epoch: 1, spec: SPEC, state, received: 4, vote: null, elapsedMs: 1 };
  t.match(runningSnapshot(moment), { confidence: 1 }, 'no model is left to ask');
  const { confidence, chances } = response;
  t.match(finalSnapshot(moment, response), { confidence, chances, result: { confidence, chances } });
  t.match(finalSnapshot(moment, null), { status: 'failed', confidence: 1 });
});

t.test('what stopping early saved is said to who pays alone', (t) => {
  const votes = [vote(0, 0), vote(1, 0), vote(2, 0)];
  const textOf = (more: { spec?: PollSpec; isPaidByPool?: boolean }) => {
    const known = { resultId: RESULT_ID, spec: SPEC, reason: 'mathematical_lock' as const, votes, ...TIMES, ...more };
    return pollResponse({ ...known, state: pollState(known.spec, votes) }).verdict?.text;
  };
  t.match(textOf({}), /about \$0\.0001 saved/);
  t.notMatch(textOf({ isPaidByPool: true }), /saved/);
  t.notMatch(textOf({ spec: { ...SPEC, panel_name: 'free' } }), /saved/);
  t.end();
});

t.test('a poll that is canceled while no model is asked says so, with votes and without', (t) => {
  const textOf = (votes: readonly Vote[], reason: TerminationReason | null = null) => {
    const known = { resultId: RESULT_ID, spec: SPEC, state: pollState(SPEC, votes), reason, votes, isCanceled: true };
    return pollResponse({ ...known, ...TIMES }).verdict!.text;
  };
  const none = textOf([]);
  t.match(none, /No answer: the poll was canceled/);
  t.match(none, /The poll was canceled: 4 of 4 models were not asked/);
  t.match(textOf([vote(0, 0), vote(1, 1)]), /The poll was canceled: 2 of 4 models were not asked/);
  t.notMatch(textOf([], 'budget'), /canceled/, 'its limit had ended it before');
  t.end();
});

t.test('tokens are added up, and left out where those of one vote are not known', async (t) => {
  const counted = (seat: number) => ({ ...vote(seat, 0), tokens: { prompt: 100 + seat, completion: 5 } });
  const usage = { prompt_tokens: 201, completion_tokens: 10, total_tokens: 211 };
  t.same(responseTo([counted(0), counted(1)]).usage, usage);
  t.notOk('usage' in responseTo([counted(0), vote(1, 0)]));
  t.notOk('usage' in responseTo([]));
});

t.test('a response says how the panel stood: who was heard, who is missing and why', async (t) => {
  const votes = [vote(0, 0), vote(1, null), vote(2, 0), vote(3, 0)];
  t.same(responseTo(votes).panel, {
    asked: 4,
    heard: 3,
    missing: [{ model_id: 'b/1', error: 'timeout' }],
    vendors_heard: 3,
    effective_votes: null,
    slowest_heard_ms: 40,
  });
  t.match(responseTo([vote(0, null)], null).panel, { asked: 1, heard: 0, vendors_heard: 0, slowest_heard_ms: null });
  const times = { gatherMs: 1, totalMs: 1, arrivals: [] };
  const spec = { ...SPEC, seats: SPEC.seats.map((each) => ({ ...each, family: 'one' })) };
  const known = { resultId: RESULT_ID, spec, state: pollState(spec, votes), votes, ...times, effectiveVotes: 2.349 };
  t.match(pollResponse({ ...known, reason: null }).panel, { vendors_heard: 1, effective_votes: 2.3 });
});

t.test('a reading stands beside the winner and changes nothing else', async (t) => {
  const votes = [vote(0, 0), vote(1, 1)];
  const plain = responseTo(votes);
  t.notOk('reading' in plain);
  const outcome = { resultId: RESULT_ID, spec: SPEC, state: pollState(SPEC, votes), votes, reason: null };
  const times = { gatherMs: 99.6, totalMs: 120.4, arrivals: [] };
  const leaning = { winner: 1, likelihood: 0.7654, differs: true, version: 'v' };
  const read = pollResponse({ ...outcome, ...times, reason: 'roster_exhausted', reading: leaning });
  const { reading, ...rest } = read;
  t.same(reading, { winner: 'tie', differs: true, likelihood: 0.765, version: 'v' });
  const sure = { winner: 0, likelihood: 0.99996, differs: false, version: 'v' };
  t.match(pollResponse({ ...outcome, ...times, reading: sure }).reading, { likelihood: 0.999 }, 'never certain');
  t.same(rest, plain);
  const level = { winner: null, likelihood: null, differs: false, version: 'v' };
  t.match(pollResponse({ ...outcome, ...times, reading: level }).reading, { winner: null, likelihood: null });
});

t.test('an option named "tie" that wins is no tie', async (t) => {
  t.match(responseTo([vote(0, 1), vote(1, 1), vote(2, 1), vote(3, 0)]), {
    outcome: 'tie',
    winning_option: 'tie',
    is_tie: false,
  });
  t.match(responseTo([vote(0, 1), vote(1, 0)]), { outcome: 'tie', winning_option: null, is_tie: true });
});

t.test('without a valid vote a poll has failed', async (t) => {
  t.match(responseTo([vote(0, null)], null), {
    status: 'failed',
    outcome: 'no_votes',
    winning_option: null,
    is_tie: false,
    confidence: null,
    termination_reason: null,
    models_skipped: 3,
  });
});

const moment = (votes: readonly Vote[], epoch = 1): Moment => ({
  pollId: 'ps_0123456789abcdefghjkmnpq',
  epoch,
  spec: SPEC,
  state: pollState(SPEC, votes),
  received: votes.length,
  vote: votes.at(-1) ?? null,
  elapsedMs: 12.4,
});

t.test('a running snapshot shows the poll after its newest vote', async (t) => {
  t.match(runningSnapshot(moment([])), { seq: 0, status: 'running', tally: [0, 0, 0], leader: null, vote: null });
  t.match(runningSnapshot(moment([vote(0, 2), vote(1, null)])), {
    seq: 2,
    progress: { received: 2, succeeded: 1, failed: 1, total: 4 },
    tally: [0, 0, 1],
    leader: 2,
    vote: { model_id: 'b/1', success: false },
    result_id: null,
    result: null,
    elapsed_ms: 12,
  });
});

t.test('the final snapshot carries the result, or none for a poll that was given up', async (t) => {
  const votes = [vote(0, 2), vote(1, 2)];
  const result = responseTo(votes);
  t.match(finalSnapshot(moment(votes), result), {
    seq: 3,
    status: 'completed',
    vote: null,
    result_id: RESULT_ID,
    result,
  });
  t.equal(finalSnapshot(moment([vote(0, null)]), responseTo([vote(0, null)])).status, 'failed');
  t.match(finalSnapshot(moment([]), null), { seq: 1, status: 'failed', vote: null, result_id: null, result: null });
});

t.test("a later worker's first snapshot is newer than the last of an earlier one", async (t) => {
  const all = [vote(0, 2), vote(1, 2), vote(2, 2), vote(3, 2)];
  t.ok(runningSnapshot(moment([], 2)).seq > finalSnapshot(moment(all), null).seq);
});

t.test('a repeated vote counts once, in whatever order the votes come', async (t) => {
  const votes = [vote(0, 2), vote(1, null), vote(2, 1)];
  const state = pollState(SPEC, votes);
  t.same(withVote(state, vote(0, 2)), state);
  t.same(pollState(SPEC, votes.toReversed()), state);
});

t.test(
  'each snapshot and the response carry the odds of every option and of a tie, which agree with the confidence',
  async (t) => {
    const votes = [vote(0, 0), vote(1, 0), vote(2, 1), vote(3, 0)];
    for (const received of [0, 1, 2, 3, 4]) {
      const { chances = [], leader, confidence } = runningSnapshot(moment(votes.slice(0, received)));
      t.equal(chances.length, SPEC.options.length + 1);
      t.ok(Math.abs(chances.reduce((sum, chance) => sum + chance, 0) - 1) < 1e-12);
      if (leader !== null) t.ok(Math.abs(chances[leader]! - confidence!) < 1e-12);
    }
    t.same(responseTo(votes).chances, [1, 0, 0, 0]);
  },
);

t.test('a response says its verdict, with what was saved; a split vote is never called certain', async (t) => {
  t.match(responseTo([vote(0, 0), vote(1, 0), vote(2, 0)], 'confidence').verdict, {
    kind: 'final',
    agreement: 'unanimous',
    likely_to_stay: null,
    text: /1 not needed, about \$0\.0001 saved/,
  });
  const split = responseTo([vote(0, 0), vote(1, 0), vote(2, 1), vote(3, 2)]).verdict!;
  t.match(split, { kind: 'final', headline: '__proto__, narrowly: 2 of 4', agreement: 'split', likely_to_stay: null });
  t.notMatch(split.text, /100/);
});

t.test('a limit that pays for no vote is named, with the smallest that does', async (t) => {
  const response = responseTo([], 'budget');
  t.match(response, { status: 'failed', code: 'budget_too_small', min_cost_usd: 0.001 });
  t.match(response.verdict, { kind: 'unanswered', text: /the cheapest may cost \$0\.001/ });
  t.notOk('code' in responseTo([vote(0, null)], 'budget'));
});
