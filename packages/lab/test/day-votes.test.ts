import http from 'node:http';
import t, { type Test } from 'tap';
import { askModels, askSavedPanel, askSync } from '../src/day/activities/asking.ts';
import { spendKeyLimit } from '../src/day/activities/keys.ts';
import { giveFeedback, readReceipt } from '../src/day/activities/reading.ts';
import { caller } from '../src/day/call.ts';
import { beginDeletion, type DayUser, missingProblems } from '../src/day/day-user.ts';
import { Diary } from '../src/day/diary.ts';
import { type ChargedAnswer, judgeVotes, type ProviderCall } from '../src/day/judge-votes.ts';
import { openProviderRecord, type RecordedAnswer } from '../src/day/provider-record.ts';
import { openReceiver } from '../src/day/receiver.ts';
import { recordQuestions } from '../src/day/recorded-questions.ts';
import type { DayWorld } from '../src/day/world.ts';
import { optionDigest } from '../src/fixture/election.ts';
import { marginProblems, presetPanel, priceFactor } from '../src/fixture/voting-panel.ts';
import { chance } from '../src/terminal/chance.ts';

// What the day's judge makes of failed votes, prices and missing results: each lie is noticed.

const FACTOR = priceFactor('broad', 'standard');
const called = (model: string, option: string | null, more: Partial<ProviderCall> = {}): ProviderCall => ({
  model,
  outcome: option === null ? 'no_vote' : 'vote',
  option_digest: option === null ? null : optionDigest(option),
  cost_usd: 0.0001,
  ...more,
});
const COST = Math.ceil(100 * FACTOR) / 1e6;
const said = (model_id: string, chosen_option: string, estimated_cost = COST) => ({
  ...{ model_id, success: true, chosen_option, estimated_cost, error: null },
});
const failed = (model_id: string, error: string, estimated_cost = 0) => ({
  ...{ model_id, success: false, chosen_option: null, estimated_cost, error },
});
const answer = (votes: ChargedAnswer['votes'], more: Partial<ChargedAnswer> = {}): ChargedAnswer => ({
  votes,
  costs: { total_estimated_cost: votes.reduce((sum, { estimated_cost = 0 }) => sum + estimated_cost, 0) },
  factor: FACTOR,
  isCanceled: false,
  ...more,
});

t.test('what the provider says and charges passes', async (t) => {
  const right: [ChargedAnswer, ProviderCall[]][] = [
    [answer([said('m', 'A'), said('n', 'B')]), [called('m', 'A'), called('n', 'B')]],
    [answer([failed('m', 'refusal')]), [called('m', null, { outcome: 'refusal' })]],
    [answer([failed('m', 'provider_error')]), [called('m', null, { outcome: 'status', cost_usd: null })]],
    [answer([said('m', 'A')]), [called('m', null, { outcome: 'prose', cost_usd: 0.01 }), called('m', 'A')]],
    [answer([said('m', 'A')]), [called('m', 'A', { outcome: 'late' })]],
    [answer([failed('m', 'aborted')], { isCanceled: true }), [called('m', null, { outcome: 'gone' })]],
    [answer([said('m', 'A', 0)], { factor: null }), [called('m', 'A')]],
  ];
  for (const [one, calls] of right) t.same(judgeVotes(one, calls), { problems: [], unheard: [] });
});

t.test('each lie about votes and prices is noticed', async (t) => {
  const dear = 0.1;
  const wrong: [string, ChargedAnswer, ProviderCall[], RegExp][] = [
    ['an answer that is dropped', answer([failed('m', 'malformed')]), [called('m', 'E')], /m failed \(malformed\)/],
    ['after a repair', answer([failed('m', 'malformed')]), [called('m', null), called('m', 'E')], /m failed/],
    ['canceled by no caller', answer([failed('m', 'aborted')]), [called('m', 'E')], /m failed \(aborted\)/],
    ['in a canceled poll', answer([failed('m', 'refusal')], { isCanceled: true }), [called('m', 'E')], /m failed/],
    ['another option', answer([said('m', 'A')]), [called('m', 'B')], /m voted A/],
    ['who was not asked', answer([said('m', 'A')]), [], /m voted A, its provider says nothing/],
    ['a dear vote', answer([said('m', 'A', dear)]), [called('m', 'A')], /the vote of m costs 0.1/],
    ['a cheap vote', answer([said('m', 'A', 0.0001)]), [called('m', 'A')], /the vote of m costs 0.0001/],
    ['a free vote that is paid', answer([said('m', 'A')], { factor: null }), [called('m', 'A')], /the vote of m costs/],
    ['a failed vote that is paid', answer([failed('m', 'refusal', COST)]), [called('m', null)], /the vote of m costs/],
    ['a failed vote that is paid twice over', failedFor(0.01), [called('m', null)], /failed calls cost 10000/],
    [
      'a sum',
      answer([said('m', 'A')], { costs: { total_estimated_cost: dear } }),
      [called('m', 'A')],
      /it costs 0.1 USD/,
    ],
    ['a sum alone', withoutCosts(dear), [called('m', 'A')], /it costs 0.1 USD, by/],
    ['nothing', withoutCosts(0), [called('m', 'A')], /it costs 0 USD, by/],
  ];
  for (const [what, one, calls, problem] of wrong) t.match(judgeVotes(one, calls).problems.join('\n'), problem, what);
  t.same(judgeVotes(failedFor(0.0001), [called('m', null)]).problems, [], 'what failed calls cost may be charged');
});

function failedFor(costUsd: number): ChargedAnswer {
  const costs = { total_estimated_cost: costUsd, failed_calls_cost: costUsd };
  return answer([failed('m', 'refusal', costUsd)], { costs });
}

function withoutCosts(saidUsd: number): ChargedAnswer {
  const { estimated_cost: _, ...vote } = said('m', 'A');
  return { ...answer([vote]), costs: undefined, saidUsd };
}

t.test('votes for which there was no time, or that no model was asked for, are counted', async (t) => {
  const late: [ChargedAnswer, ProviderCall[]][] = [
    [answer([failed('m', 'timeout')]), [called('m', 'A')]],
    [answer([failed('m', 'timeout')]), [called('m', null, { outcome: 'gone' })]],
    [answer([failed('m', 'provider_error')]), []],
  ];
  for (const [one, calls] of late) {
    const { problems, unheard } = judgeVotes(one, calls);
    t.same(problems, []);
    t.equal(unheard.length, 1);
  }
});

t.test('factors are those of the settings, and a page that says others is wrong', async (t) => {
  const { models, factor } = presetPanel('broad');
  t.equal(models.length, 9);
  t.equal(factor?.toFixed(6), '1.362435', '1 / (0.78 * 0.941)');
  t.equal(priceFactor('strong', 'flex').toFixed(6), '1.062699', 'never less than the provider and the fee');
  const page = (broad: number) =>
    [
      `${broad}% in <code>broad</code> polls, 46% in <code>fast</code> polls, 16% in <code>strong</code> polls, 21% in polls`,
    ]
      .concat('with <code>models</code>; 16% in <code>broad</code> polls, 24% in <code>fast</code> polls,')
      .concat('6% in <code>strong</code> polls, 6% in polls with <code>models</code>')
      .join(' ');
  t.same(marginProblems(page(36)), []);
  t.match(marginProblems(page(37)), [/broad 37, .* not broad 36/]);
  t.match(marginProblems(''), [/its margins are/]);
});

t.test('a result is missing only after its deletion', async (t) => {
  const result = { resultId: 'EP-1', sessionId: null, question: '?' };
  const person: DayUser = {
    ...{ name: 'p', accountId: 'a', key: 'k', cookie: 'c', wallet: null, creditedU: 0, chargedU: 0 },
    ...{ results: [result], deletions: new Map() },
  };
  t.match(missingProblems(person, 'EP-1', 404), [/EP-1 is missing/]);
  t.same(missingProblems(person, 'EP-1', 200), []);
  beginDeletion(person, ['EP-1']);
  t.same(person.results, []);
  t.same(missingProblems(person, 'EP-1', 404), []);
  t.match(missingProblems(person, 'EP-1', 404, 1), [/EP-1/], 'the deletion itself finds it');
  beginDeletion(person, ['EP-1']);
  t.same(missingProblems(person, 'EP-1', 404, 1), []);
});

t.test('receipts that are always missing, votes of others, and keys that may spend nothing are wrong', async (t) => {
  const diary = new Diary();
  await using receiver = await openReceiver(diary);
  const results = [{ resultId: 'EP-1', sessionId: null, question: '?' }];
  const person: DayUser = {
    ...{ name: 'p', accountId: 'a', key: 'k', cookie: 'c', wallet: null, creditedU: 0, chargedU: 0 },
    ...{ results, deletions: new Map() },
  };
  let reply = { status: 404, body: {} };
  const server = http.createServer((request, response) => {
    request.resume();
    const isPoll = request.url === '/api/poll' || request.url?.endsWith('/receipt') || request.url === '/api/feedback';
    response.statusCode = isPoll ? reply.status : request.url === '/api/keys' ? 201 : 200;
    response.end(JSON.stringify(isPoll ? reply.body : { id: 'k', key: 'k' }));
  });
  const url = await listening(t, server);
  const compared: RecordedAnswer[] = [];
  const world: DayWorld = {
    ...{ call: caller([url], diary), diary, receiver, people: [person], baseUrl: url },
    ...{ questions: recordQuestions('test', 50), chance: chance('test'), signal: new AbortController().signal },
    record: { compare: (one) => void compared.push(one), read: async () => {}, settle: async () => {} },
  };
  await readReceipt(world);
  await giveFeedback(world);
  t.match(diary.wrong.splice(0), [/receipt: EP-1 is missing/, /feedback: EP-1 is missing/]);

  reply = { status: 402, body: {} };
  await spendKeyLimit(world);
  t.match(diary.wrong.splice(0)[0], /key limit: POST .* was answered 402/);

  const votes = ['sim/stranger'].map((model) => said(model, 'A'));
  const body = {
    ...{ poll_id: 'EP-2', status: 'success', question: '?', options: ['A', 'B'], tally: { A: 1, B: 0 }, votes },
    ...{ winning_option: 'A', is_tie: false, early_terminated: false, models_skipped: 0, confidence: 1 },
    ...{ termination_reason: 'roster_exhausted', confidence_threshold: 0.95, max_cost_usd: 1 },
    costs: { total_estimated_cost: COST },
  };
  reply = { status: 200, body };
  for (const [activity, seats] of [
    [askModels, /[3-6]/],
    [askSavedPanel, /5/],
    [askSync, /[579]/],
  ] as const) {
    await activity(world);
    const wrong = diary.wrong.splice(0).join('\n');
    t.match(wrong, /sim\/stranger voted, asked were sim\//);
    t.match(wrong, new RegExp(`skips 0 of ${seats.source} with 1 votes`));
  }
  t.same(
    compared.map(({ resultId }) => resultId),
    ['EP-2', 'EP-2', 'EP-2'],
    'each is compared with the record of the provider',
  );
});

async function listening(t: Test, server: http.Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

t.test('an answer is compared when the calls before it have ended, page by page', async (t) => {
  const log = [call(0, 'ps_1', 'vote', 'A'), call(1, 'ps_2', 'pending', null)];
  const server = http.createServer(({ url }, response) => {
    const after = Number(new URL(url!, 'http://localhost').searchParams.get('after') ?? -1);
    const calls = log.filter(({ n }) => n > after);
    response.end(JSON.stringify({ total: log.length, kept: log.length, calls }));
  });
  const simulatorUrl = await listening(t, server);
  const diary = new Diary();
  const record = openProviderRecord({
    simulatorUrl,
    diary,
    pollIdsOf: async (ids) => new Map(ids.map((id) => [id, id.replace('EP-', 'ps_')])),
  });
  record.compare({ ...answer([said('m', 'B')]), way: 'a poll', resultId: 'EP-1' });
  await record.read();
  t.equal(diary.votes, 0, 'a call of before may still be its own');
  log[1] = call(1, 'ps_2', 'vote', 'A');
  await record.settle(1_000);
  t.equal(diary.votes, 1);
  t.match(diary.wrong, [/^a poll: EP-1: m voted B/]);
  log.push(call(2, 'ps_3', 'pending', null));
  record.compare({ ...answer([failed('m', 'timeout')]), way: 'a poll', resultId: 'EP-2' });
  await record.settle(0);
  t.match(diary.wrong[1], /1 answers cannot be compared/);
});

const call = (n: number, poll: string, outcome: string, option: string | null) => ({
  ...called('m', option, { outcome }),
  ...{ n, poll },
});
