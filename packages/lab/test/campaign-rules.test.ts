import t from 'tap';
import type { Fault, FaultKind } from '../src/faults/fault-kinds.ts';
import type { CampaignHistory, StoredPoll } from '../src/faults/history.ts';
import type { RecordedOperation } from '../src/faults/operations.ts';
import { PLANS } from '../src/faults/plans.ts';
import { sharedPolls, type UpgradeHistory } from '../src/faults/releases/upgrade-history.ts';
import { brokenText, reportOf } from '../src/faults/report.ts';
import { rowsOfBatches } from '../src/faults/rules/batch-rules.ts';
import { clusterRules } from '../src/faults/rules/cluster-rules.ts';
import { acceptedAgainMs, failoverRules, lossRules } from '../src/faults/rules/failover-rules.ts';
import { endsByWorkers, lostPolls } from '../src/faults/rules/poll-rules.ts';
import { poolerRules } from '../src/faults/rules/pooler-rules.ts';
import { releaseRules } from '../src/faults/rules/release-rules.ts';
import { rollingRules } from '../src/faults/rules/rolling-rules.ts';
import { tooManyLate } from '../src/faults/rules/rule.ts';
import { callsInTransit, votesSeen, votesTakenOver, workerRules } from '../src/faults/rules/worker-rules.ts';
import { RULES_OF_ALL } from '../src/faults/rules.ts';
import { type Election, electionFaults, optionDigest } from '../src/fixture/election.ts';
import {
  attemptOf as attempt,
  ELECTION,
  honestHistory as HONEST,
  operationOf as operation,
  pollOf as poll,
} from './honest-history.ts';

// The rules are tested with one correct history and at least one falsification for each rule.

const RULES = [...RULES_OF_ALL, ...workerRules];

const broken = (history: CampaignHistory): string[] =>
  RULES.filter((rule) => rule.broken(history).length > 0).map(({ name }) => name);

const [sync, stream] = HONEST.operations as [RecordedOperation, RecordedOperation, ...RecordedOperation[]];
const instead = (n: number, more: Partial<RecordedOperation>): Partial<CampaignHistory> => ({
  operations: HONEST.operations.map((one) => (one.n === n ? { ...one, ...more } : one)),
});
const [killedWorker] = HONEST.faults as [Fault, ...Fault[]];
/** The sync poll, which is completed. */
const answeredAtLast = (status: number, code: string, outcome: RecordedOperation['outcome']) =>
  instead(0, { outcome, attempts: [attempt({ status, code, retryAfterS: 1 })] });
/** The stream's last event is an error. */
const streamError = (status: number, code: string) => {
  const [cut, ...others] = stream.attempts;
  return instead(1, { attempts: [cut!, attempt({ asked: 305, opened: 306, status, code }), ...others] });
};
const pollsWith = (more: Partial<StoredPoll>): Partial<CampaignHistory> => ({
  polls: HONEST.polls.map((one) => (one.id === 'p1' ? { ...one, ...more } : one)),
});
/** While the gateway is killed that it is sent to. */
const SLOW = { isUpload: true, asked: 250, answered: 400, status: 408, code: 'request_timeout' };
/** Nothing is struck while the stream of p2 is cut; its poll's deadline is at 120 100. */
const cutLate = (answered: number, finishedAt: number): Partial<CampaignHistory> => ({
  ...instead(1, {
    attempts: [
      attempt({ asked: 119_000, opened: 119_010, answered, status: null, code: 'cut' }),
      ...stream.attempts.slice(1),
    ],
  }),
  polls: HONEST.polls.map((one) => (one.id === 'p2' ? { ...one, finishedAt } : one)),
});
/** The batch with a second row, and the polls that its results name, by the ids of its rows. */
const twoRows = (named: Record<string, string>): Partial<CampaignHistory> => {
  const answered = new Map(Object.keys(named).map((customId) => [customId, 1]));
  const row = HONEST.polls.find((poll) => poll.row !== null)!;
  return {
    ...instead(4, { rows: { sent: 2, answered, polls: new Map(Object.entries(named)) } }),
    polls: [...HONEST.polls, { ...row, id: 'p5', resultId: 'EP-p5', row: 'pb1 2' }],
    batches: [{ ...HONEST.batches[0]!, total: 2, ended: 2 }],
    journal: [...HONEST.journal, { pollId: 'p5', kind: 'ended', epoch: 0, worker: null, connection: 'of g1', at: 900 }],
  };
};

const STORED = 'every poll and batch that was named to a caller is stored';
const ENDS = 'every accepted poll ends, once';
const ONE_KEY = 'one key, one poll';
const SAME = 'the same answer for the same key, every time, and it is what is stored';
const FAILED = 'a caller hears that a poll failed or was canceled only where it did';
const REFUSED = 'no caller is refused but by what the campaign provokes';
const BELOW_500 = 'every other error below 500 is one that its request may get';
const FROM_500 = 'every error is of those that may be: nothing but 503 from 500 on';
const CUT = 'no stream ends without its last event while nothing is struck that it passes';
const STREAM = 'a stream ends with its last event, and numbers only rise';
const OWN_POLL = 'each row of a batch is answered by its own poll';
const BATCH_ENDS = 'every batch ends with all of its rows, costs what its polls did, and reserves nothing then';
const PRICED =
  'a vote is billed at most what the call cost that gave it, times the price factor of its poll, and nothing else is';
const PAID = 'an account has what was paid in, less what its polls were charged';
const CAPTURED = 'captured is the sum of billed votes, at most the hold, at most the most it may cost';
const BILLED = 'a model is billed at most once per poll, for a vote or what the free pool pays for a failure';
const STORED_VOTES = 'every vote is stored once, and billed when it is valid';
const GIVEN = 'every vote that is stored is for the option that its model answered, by the own record of the provider';
const ELECTED =
  'tally, winner, tie and status of every stored result follow from its votes, which are those that are stored';
const GIVEN_OUT = 'callers are answered the election that is stored, also in short and for rows of a batch';
/** Takes many polls: its lies are below. */
const SEEN = 'most votes are seen to arrive, and most ends are held against a worker';
const ASKED = 'a model is asked at most once per claim of its poll, and at most three times for that vote';

/** It was made before the vote, and came long after it. */
const IN_TRANSIT = HONEST.calls.map((call) => (call.madeAt === 520 ? { ...call, at: 9_000 } : call));

const LIES: [what: string, rules: string[], lie: Partial<CampaignHistory>][] = [
  ['a poll that was acknowledged and is gone', [STORED], instead(2, { named: new Set(['p9']) })],
  [
    'a poll that never ended',
    [ENDS],
    { journal: HONEST.journal.filter(({ pollId, kind }) => pollId !== 'p2' || kind !== 'ended') },
  ],
  ['a poll that still runs', [ENDS], pollsWith({ status: 'running' })],
  ['a poll that ended twice', [ENDS], { journal: [...HONEST.journal, HONEST.journal.at(-1)!] }],
  ['a poll that was given up', ['no poll is given up'], pollsWith({ buried: true })],
  [
    'a poll that ended long after its deadline',
    ['every poll ends within 60 s of its deadline', 'every poll ends within 15 s of its deadline'],
    pollsWith({ finishedAt: 200_000 }),
  ],
  [
    'a zombie that ended a poll whose row names the newer claim',
    ['a poll is ended by the worker that has claimed it'],
    {
      journal: HONEST.journal.map((event) =>
        event.pollId === 'p1' && event.kind === 'ended' ? { ...event, connection: 'of w1' } : event,
      ),
    },
  ],
  [
    'a poll that was emptied and that no caller had deleted',
    ['only what its caller deletes is emptied'],
    pollsWith({ isEmptied: true }),
  ],
  [
    'a vote that is billed for two calls',
    [PRICED],
    {
      ...pollsWith({ postedU: 200n }),
      votes: HONEST.votes.map((vote) => (vote.option === null ? vote : { ...vote, billedU: 200n })),
      balances: HONEST.balances.with(-1, { ...HONEST.balances.at(-1)!, availableU: 999_800n }),
    },
  ],
  [
    'an account that is charged for calls without a vote',
    [PRICED],
    {
      ...pollsWith({ postedU: 150n, unvotedU: 50n }),
      balances: HONEST.balances.with(-1, { ...HONEST.balances.at(-1)!, availableU: 999_850n }),
    },
  ],
  [
    'a charge that was taken from the balance twice',
    [PAID],
    { balances: HONEST.balances.with(-1, { ...HONEST.balances.at(-1)!, availableU: 999_800n }) },
  ],
  [
    'a result that was written again',
    ['nothing that was stored at an end changes afterwards, unless it is deleted'],
    { rewrites: [{ pollId: 'p1', what: 'UPDATE of results' }] },
  ],
  ['a process that fell over', ['no process ends by itself'], { crashes: ['g1 ended by itself (code 1)'] }],
  ['a caller without an answer', ['every caller that persists gets a definite answer'], instead(0, { outcome: null })],
  ['two polls named for one key', [ONE_KEY], instead(1, { named: new Set(['p2', 'p1']) })],
  [
    'another poll stored for a key than was named',
    [ONE_KEY],
    {
      keys: [
        { key: 'key 0', pollId: 'p2' },
        { key: 'key 1', pollId: 'p2' },
        { key: 'key 2', pollId: 'p1' },
        { key: 'key 6', pollId: 'p4' },
      ],
    },
  ],
  [
    'a poll that no key stands for',
    ['no key has more polls than one, asked for or not'],
    { keys: HONEST.keys.slice(0, 1) },
  ],
  ['two answers for one key', [SAME], instead(0, { bodies: new Set(['body of p1', 'another']) })],
  ['an answer that is not what is stored', [SAME], instead(0, { bodies: new Set(['another']) })],
  [
    'a session that was named and then unknown',
    ['no poll of a caller is answered as unknown'],
    instead(1, { attempts: [...stream.attempts, attempt({ status: 404, code: 'session_not_found' })] }),
  ],
  [
    'an internal error',
    [FROM_500],
    instead(0, { attempts: [...sync.attempts, attempt({ status: 500, code: 'internal_error' })] }),
  ],
  ['an internal error in a stream', [FROM_500], streamError(500, 'internal_error')],
  [
    'a good key that is refused at first',
    [BELOW_500],
    instead(0, { attempts: [attempt({ status: 401, code: 'invalid_api_key' }), ...sync.attempts] }),
  ],
  [
    'an upload that is called too slow while a worker and another gateway were struck',
    [BELOW_500],
    instead(4, { attempts: [attempt({ ...SLOW, gateway: 'g2' })] }),
  ],
  ['a good key that is refused', [BELOW_500, FAILED], answeredAtLast(401, 'invalid_api_key', 'failed')],
  ['a path that is unknown', [BELOW_500, FAILED], answeredAtLast(404, 'not_found', 'failed')],
  [
    'a refusal that does not say until when',
    [BELOW_500],
    instead(0, { attempts: [attempt({ status: 429, code: 'rate_limited' }), ...sync.attempts] }),
  ],
  ['a funded account that cannot pay', [REFUSED], answeredAtLast(402, 'insufficient_balance', 'refused')],
  ['a key without a limit that has reached it', [REFUSED], answeredAtLast(402, 'key_budget_reached', 'refused')],
  ['a ceiling that was not set', [REFUSED], answeredAtLast(503, 'provider_budget_reached', 'refused')],
  ['a refusal by nothing', [REFUSED], instead(0, { outcome: 'refused' })],
  ['a failure that is answered for a completed poll', [FAILED], answeredAtLast(422, 'poll_failed', 'failed')],
  [
    'the same in a stream',
    [FAILED],
    instead(0, {
      kind: 'stream',
      outcome: 'failed',
      attempts: [attempt({ opened: 110, status: 422, code: 'poll_failed' })],
    }),
  ],
  ['a cancellation that is answered for a completed poll', [FAILED], answeredAtLast(422, 'poll_canceled', 'failed')],
  ['a cancellation that was not asked for', [FAILED], instead(6, { kind: 'async' })],
  ['a failure of nothing', [FAILED], instead(0, { outcome: 'failed' })],
  ['a stream that was cut for nothing', [CUT], { faults: [killedWorker] }],
  [
    'a stream that was cut with another gateway, and by the link of a worker',
    [CUT],
    {
      faults: [
        killedWorker,
        { kind: 'kill gateway', target: 'g2', at: 280, until: 300 },
        { kind: 'reset link', target: 'g2-callers', at: 280, until: 300 },
        { kind: 'dead link', target: 'w1-postgres', at: 100, until: 900 },
      ],
    },
  ],
  [
    'a stream that was cut before its gateway was killed',
    [CUT],
    { faults: [killedWorker, { kind: 'kill gateway', target: 'g1', at: 360, until: 400 }] },
  ],
  ['a stream that was cut before its poll was overdue', [CUT], cutLate(128_000, 130_000)],
  ['a stream that was cut after its overdue poll had ended', [CUT], cutLate(128_300, 128_000)],
  ['a stream without its last event', [STREAM], instead(1, { outcome: 'ok', events: stream.events.slice(0, 3) })],
  [
    'a stream that goes back',
    [STREAM],
    instead(1, { events: [stream.events[1]!, stream.events[0]!, stream.events[3]!] }),
  ],
  [
    'an event after the last one',
    [STREAM],
    instead(1, { events: [stream.events[3]!, { attempt: 2, seq: 67, last: false }, stream.events[5]!] }),
  ],
  ['a poll with two posts', ['every poll has one hold, and one post or void'], pollsWith({ posts: 2 })],
  ['a poll without a hold', ['every poll has one hold, and one post or void'], pollsWith({ holds: 0 })],
  ['a capture that no vote explains', [CAPTURED, PAID], pollsWith({ postedU: 200n })],
  ['a capture beyond the hold', [CAPTURED], pollsWith({ holdU: 99n })],
  ['a hold beyond what the poll may cost', [CAPTURED], pollsWith({ maxCostU: 499n })],
  [
    'a model that is billed twice',
    [CAPTURED, BILLED, GIVEN, ELECTED],
    {
      votes: [...HONEST.votes, { pollId: 'p1', seat: 2, modelId: 'm0', option: 0, billedU: 1n, failedMaxU: 0n }],
      calls: [
        ...HONEST.calls,
        { pollId: 'p1', seat: 2, attempt: 1, madeAt: 530, at: 530, costU: 100, optionDigest: optionDigest('a') },
      ],
    },
  ],
  [
    'a failure that is billed',
    [CAPTURED, BILLED],
    { votes: HONEST.votes.map((vote) => (vote.option !== null ? vote : { ...vote, billedU: 1n })) },
  ],
  ['a row with two polls', ['a row of a batch is run once', BATCH_ENDS], pollsWith({ row: 'pb1 1' })],
  [
    'a row that is not in the results',
    ['a batch that is answered names each of its rows once'],
    instead(4, { rows: { sent: 1, answered: new Map(), polls: new Map() } }),
  ],
  ['two rows whose polls are exchanged', [OWN_POLL], twoRows({ 'row 1': 'p5', 'row 2': 'p3' })],
  ['two rows that are answered by one poll', [OWN_POLL], twoRows({ 'row 1': 'p3', 'row 2': 'p3' })],
  ['a row that is answered by a poll of its own', [OWN_POLL], twoRows({ 'row 1': 'p3', 'row 2': 'p2' })],
  ['a row that is answered by a poll that there is none of', [OWN_POLL], twoRows({ 'row 1': 'p3', 'row 2': 'p9' })],
  ['a row that was not sent', [OWN_POLL], twoRows({ 'row 1': 'p3', 'row 3': 'p5' })],
  ['a batch that costs more than its polls', [BATCH_ENDS], { batches: [{ ...HONEST.batches[0]!, costU: 5n }] }],
  [
    'drift',
    ['the ledger has no drift'],
    { ledger: [{ rule: 'posted', subject: 'acc', found: 'running 1, transfers 2' }] },
  ],
  [
    'a balance of a moment before',
    ['a balance in an answer was true between request and answer'],
    instead(3, { attempts: [attempt({ asked: 700, answered: 750 })] }),
  ],
  [
    'a balance of a moment after',
    ['a balance in an answer was true between request and answer'],
    instead(3, { cents: 85 }),
  ],
  [
    'a balance that never was',
    ['a balance in an answer was true between request and answer'],
    instead(3, { cents: 94 }),
  ],
  ['a model that was asked too often', [ASKED], { calls: [...HONEST.calls, HONEST.calls[0]!] }],
  [
    'a model that was asked without a claim',
    [ASKED],
    { calls: [...HONEST.calls, { ...HONEST.calls[0]!, pollId: 'p9' }] },
  ],
  [
    'a retry that is made more often than its poll was claimed',
    [ASKED],
    { calls: [...HONEST.calls, ...[1, 2].map(() => HONEST.calls.at(-1)!)] },
  ],
  [
    'a call that came after the vote, of a worker that ran all the time',
    ['a call that reaches its model after the vote was under way while a worker was stopped'],
    { calls: IN_TRANSIT },
  ],
  ['a vote with a fourth call', [ASKED], { calls: [...HONEST.calls, { ...HONEST.calls[0]!, attempt: 4 }] }],
  ['a vote that no model gave', [GIVEN], { calls: [] }],
  [
    'a poll that ended 20 s after its deadline',
    ['every poll ends within 15 s of its deadline'],
    pollsWith({ finishedAt: 140_100 }),
  ],
  [
    'a call for a vote that had arrived',
    ['a vote that has arrived is never asked for again'],
    { arrivals: [{ pollId: 'p1', modelId: 'm0', at: 519 }] },
  ],
  [
    'a valid vote that is not billed',
    [CAPTURED, STORED_VOTES],
    { votes: HONEST.votes.map((vote) => ({ ...vote, billedU: 0n })) },
  ],
  ['a vote that is stored twice', [STORED_VOTES, ELECTED], { votes: [...HONEST.votes, HONEST.votes[1]!] }],
  [
    'a poll that waited too long for its next worker',
    ['polls of a killed worker are claimed again, p99 within 15 s'],
    {
      journal: HONEST.journal.map((event) => (event.epoch === 2 ? { ...event, at: event.at + 16_000 } : event)),
    },
  ],
];

t.test('a correct history breaks no rule', async (t) => {
  t.same(broken(HONEST), []);
  t.same(broken({ ...HONEST, ...twoRows({ 'row 1': 'p3', 'row 2': 'p5' }) }), []);
});

/** p1 with another stored election. */
const elected = (more: Partial<Election>): Partial<CampaignHistory> =>
  pollsWith({ election: { ...ELECTION, ...more } });
const votedBy = (option: number | null): CampaignHistory['votes'] =>
  HONEST.votes.map((vote) => (vote.seat === 0 ? { ...vote, option } : vote));
/** Everything that is stored of p1 elects a. */
const EXCHANGED = pollsWith({
  election: {
    ...ELECTION,
    ...{ outcome: 'a', winning_option: 'a', tally: { a: 1, b: 0 } },
    votes: [{ ...ELECTION.votes[0]!, chosen_option: 'a' }, ELECTION.votes[1]!],
  },
  resultRow: { winner: 'a', isTie: false },
});
const SHORT = { status: 'partial', options: ['a', 'b'], winner: 'b' };
const answered = (id: string, said: object): Partial<CampaignHistory> =>
  instead(5, { answers: new Map([[id, { ...SHORT, ...said }]]) });

LIES.push(
  [
    'a worker that takes over and restores a vote for another option, so that another one wins, is billed and answered',
    [GIVEN],
    {
      ...EXCHANGED,
      votes: votedBy(0),
      operations: answered('EP-p1', { winner: 'a' }).operations!,
    },
  ],
  ['a vote for an option that there is none of', [GIVEN, ELECTED], { votes: votedBy(2) }],
  ['a partial result that is certain', [ELECTED], pollsWith({ confidence: 1 })],
  ['a vote of a model that gave none', [GIVEN], { calls: HONEST.calls.filter(({ madeAt }) => madeAt !== 520) }],
  ['a vote of a model that was not asked', [GIVEN], { calls: HONEST.calls.filter(({ seat }) => seat !== 0) }],
  [
    'a vote in the seat of another model',
    [GIVEN, ELECTED],
    { votes: HONEST.votes.map((vote) => (vote.seat === 0 ? { ...vote, modelId: 'm2' } : vote)) },
  ],
  ['an answer that the result does not have', [ELECTED], { votes: HONEST.votes.slice(0, 1) }],
  ['a result that its stored votes do not elect', [ELECTED, GIVEN_OUT], EXCHANGED],
  ['a tally that its votes do not have', [ELECTED], elected({ tally: { a: 1, b: 1 } })],
  ['a tally without an option', [ELECTED], elected({ tally: { b: 1 } })],
  ['a winner that has no vote', [ELECTED, GIVEN_OUT], elected({ winning_option: 'a' })],
  ['no winner at 1:0', [ELECTED, GIVEN_OUT], elected({ winning_option: null })],
  ['an outcome that is not the winner', [ELECTED], elected({ outcome: 'a' })],
  ['a tie that is none', [ELECTED], elected({ is_tie: true })],
  [
    'a success beside a failed model that could have made it a tie',
    [ELECTED, GIVEN_OUT],
    elected({ status: 'success' }),
  ],
  ['a model that is counted as not asked', [ELECTED], elected({ models_skipped: 1 })],
  ['an early end that was none', [ELECTED], elected({ early_terminated: true })],
  ['other options than were stored', [ELECTED], pollsWith({ options: ['b', 'b'] })],
  ['a result that is listed with another winner', [ELECTED], pollsWith({ resultRow: { winner: 'a', isTie: false } })],
  ['a result without an election', [ELECTED, GIVEN_OUT], pollsWith({ election: null })],
  ['a short answer with another winner', [GIVEN_OUT], answered('EP-p1', { winner: 'a' })],
  ['a short answer without a winner', [GIVEN_OUT], answered('EP-p1', { winner: null })],
  [
    'a row that is answered with another election',
    [GIVEN_OUT],
    instead(4, {
      answers: new Map([['p1', { ...ELECTION, winning_option: 'a' }]]),
    }),
  ],
);

t.test('each lie breaks the rule that it is about, and no other', async (t) => {
  for (const [what, rules, lie] of LIES) {
    t.same(broken({ ...HONEST, ...lie }).toSorted(), rules.toSorted(), what);
  }
});

t.test('every rule has a lie that breaks it', async (t) => {
  const falsified = new Set(LIES.flatMap(([, rules]) => rules));
  for (const { name } of RULES) t.ok(falsified.has(name) || name === SEEN, name);
});

t.test('a poll that was given up frees its key: the next one is no second poll', async (t) => {
  const history = {
    ...HONEST,
    polls: [...HONEST.polls, poll('p0', { buried: true, resultStatus: null, election: null, resultRow: null })],
    journal: [
      { pollId: 'p0', kind: 'claimed' as const, epoch: 6, worker: 'w1', connection: 'of w1', at: 100 },
      { pollId: 'p0', kind: 'ended' as const, epoch: 6, worker: null, connection: 'of w1', at: 100 },
      ...HONEST.journal,
    ],
    votes: [...HONEST.votes, { pollId: 'p0', seat: 0, modelId: 'm0', option: 1, billedU: 100n, failedMaxU: 0n }],
    calls: [...HONEST.calls, { ...HONEST.calls[1]!, pollId: 'p0', madeAt: 100, at: 100 }],
    balances: HONEST.balances.with(-1, { ...HONEST.balances.at(-1)!, availableU: 999_800n }),
    ...instead(0, { named: new Set(['p0', 'EP-p1']) }),
  };
  t.same(broken(history), ['no poll is given up']);
});

t.test('the file of runs says what was broken', async (t) => {
  const rules = [
    { rule: ENDS, violations: 0, examples: [] },
    { rule: ONE_KEY, violations: 2, examples: ['key k: p1, p2', 'key l: p3, p4'] },
  ];
  t.equal(brokenText({ rules }), `2 x ${ONE_KEY}: key k: p1, p2`);
  t.equal(brokenText({ rules: [] }), '');
});

t.test('a call in transit while its worker was stopped is counted, and breaks no rule', async (t) => {
  const calls = IN_TRANSIT;
  const stopped = { kind: 'stop worker', target: 'w2', at: 530, until: 8_990 } as const;
  t.same(broken({ ...HONEST, calls, faults: [...HONEST.faults, stopped] }), []);
  t.equal(callsInTransit({ ...HONEST, calls }), 1);
  t.equal(callsInTransit(HONEST), 0);
});

t.test('a stream that its gateway gives up eight seconds after the deadline of its poll breaks no rule', async (t) => {
  t.same(broken({ ...HONEST, ...cutLate(128_300, 130_000) }), []);
});

t.test('what a lost answer, a slow upload or a full queue explains breaks no rule', async (t) => {
  const gone = { method: 'DELETE', path: '/api/results/p1' };
  const none = { before: [], after: [] };
  const unread = { reads: [], publicReads: none, lists: none };
  const erasure = { what: 'poll' as const, marker: 'm', at: 900, isConfirmed: false, ...unread };
  const lost = attempt({ ...gone, asked: 100, status: null, code: 'ECONNRESET' });
  const repeated = attempt({ ...gone, asked: 200, status: 404, code: 'result_not_found' });
  const deletes = (...attempts: RecordedOperation['attempts']) => instead(0, { kind: 'forget', erasure, attempts });
  const slow = attempt(SLOW);
  const full = attempt({ status: 429, code: 'too_many_batches', retryAfterS: 3 });
  for (const known of [deletes(lost, repeated), instead(4, { attempts: [slow, full, attempt({ status: 202 })] })])
    t.same(broken({ ...HONEST, ...known }), []);
  t.same(broken({ ...HONEST, ...deletes(repeated) }), [BELOW_500], 'nothing was lost before');
  t.same(broken({ ...HONEST, ...deletes({ ...lost, status: 200, code: null }, repeated) }), [BELOW_500]);
  const later = { ...slow, asked: 700, answered: 800 };
  t.same(broken({ ...HONEST, ...instead(4, { attempts: [later] }) }), [BELOW_500], 'nothing was slow');
  const late = { ...HONEST, ...instead(4, { attempts: [slow] }) };
  t.same(broken({ ...late, faults: [killedWorker] }), [BELOW_500, CUT], 'only a worker was struck');
  const slowLink: Fault = { kind: 'slow link', target: 'g1-postgres', at: 200, until: 500 };
  t.same(broken({ ...late, faults: [killedWorker, slowLink] }), [], 'a link of the gateway was');
});

t.test('a campaign that provokes a refusal takes it, and no other', async (t) => {
  const spent = { ...HONEST, ...answeredAtLast(503, 'provider_budget_reached', 'refused') };
  t.same(broken({ ...spent, mayRefuse: ['provider_budget_reached', 'key_budget_reached'] }), []);
  t.same(broken({ ...HONEST, mayRefuse: [] }), [REFUSED]);
});

t.test('polls are lost that have no end, or were named and are gone, whatever their callers heard', async (t) => {
  const lost = (more: Partial<CampaignHistory>) => lostPolls({ ...HONEST, ...more });
  t.equal(lost({}), 0);
  t.equal(lost(instead(0, { outcome: null })), 0, 'its caller heard nothing');
  t.equal(lost(instead(0, { named: new Set(['p9']), outcome: 'failed' })), 1, 'its caller heard 404');
  t.equal(lost(pollsWith({ status: 'running' })), 1);
  t.equal(lost({ journal: HONEST.journal.filter(({ kind }) => kind !== 'ended') }), 4);
});

t.test('rows of batches are counted, and those that have no outcome, two polls or two charges', async (t) => {
  const counted = (more: Partial<CampaignHistory>) => rowsOfBatches({ ...HONEST, ...more });
  const row = HONEST.polls.find((poll) => poll.row !== null)!;
  t.same(counted({}), { accepted: 1, wrong: 0 });
  t.same(counted({ batches: [] }), { accepted: 1, wrong: 1 }, 'it is gone');
  t.same(counted({ batches: [{ ...HONEST.batches[0]!, ended: 0 }] }), { accepted: 1, wrong: 1 });
  t.same(counted(instead(4, { rows: { sent: 1, answered: new Map(), polls: new Map() } })), { accepted: 1, wrong: 1 });
  t.same(counted({ polls: [...HONEST.polls, { ...row, id: 'p5' }] }), { accepted: 1, wrong: 1 });
  t.same(counted({ polls: [{ ...row, posts: 2 }] }), { accepted: 1, wrong: 1 });
  t.same(counted(instead(4, { named: new Set(), outcome: 'failed' })), { accepted: 0, wrong: 0 }, 'it was refused');
});

t.test('an end is held against the worker that claims over its connection, where that is known', async (t) => {
  const ends = (more: Partial<CampaignHistory>) => endsByWorkers({ ...HONEST, ...more });
  t.same(ends({}), [
    { pollId: 'p1', by: 'w2', claimant: 'w2' },
    { pollId: 'p2', by: 'w1', claimant: 'w1' },
  ]);
  const unknown = HONEST.journal.map((event) => (event.kind === 'ended' ? { ...event, connection: 'new' } : event));
  t.same(ends({ journal: unknown }), [], 'a connection that never claimed');
  t.same(ends({ pooled: { clients: 9, servers: 2, size: 4 } }), [], 'a connection of several workers');
});

t.test('a judge of workers that sees nothing any more finds that', async (t) => {
  const { broken: unseen } = workerRules.find(({ name }) => name === SEEN)!;
  const ids = Array.from({ length: 100 }, (_, i) => `p${i}`);
  const event = { epoch: 1, worker: 'w1', connection: 'of w1', at: 100 };
  const history: CampaignHistory = {
    ...HONEST,
    polls: ids.map((id) => poll(id)),
    votes: ids.map((pollId) => ({ ...HONEST.votes[0]!, pollId })),
    arrivals: ids.map((pollId) => ({ pollId, modelId: 'm0', at: 600 })),
    journal: ids.flatMap((pollId) => [
      { ...event, pollId, kind: 'claimed' as const },
      { ...event, pollId, kind: 'ended' as const, worker: null, at: 900 },
    ]),
  };
  t.same(unseen(history), []);
  t.same(unseen({ ...history, arrivals: history.arrivals.slice(0, 49) }), ['49 of 100 votes were seen to arrive']);
  const journal = history.journal.map((each, i) => (each.kind === 'ended' ? { ...each, connection: `c${i}` } : each));
  t.same(unseen({ ...history, journal }), ['0 of 100 ends were held against a worker']);
  t.same(unseen({ ...HONEST, arrivals: [] }), [], 'too few to say');
});

t.test('what could have been asked for again is counted', async (t) => {
  t.equal(votesSeen(HONEST), 1);
  t.equal(votesTakenOver(HONEST), 0, 'both votes arrived after the second claim');
  const early = HONEST.arrivals.map((arrival) => ({ ...arrival, at: arrival.at - 200 }));
  t.equal(votesTakenOver({ ...HONEST, arrivals: early }), 2);
});

t.test('polls of one killed worker wait together: its kill is counted once', async (t) => {
  const ids = ['p1', 'p2', 'p3'];
  const claim = { kind: 'claimed', epoch: 1, connection: 'of w', worker: 'w1', at: 100 } as const;
  const journal = ids.flatMap((pollId) => [
    { ...claim, pollId },
    { ...claim, pollId, epoch: 2, worker: 'w2', at: pollId === 'p3' ? 1_000 : 20_000 },
  ]);
  const plan = PLANS.workers({ minutes: 1, kills: 1, stops: 0, polls: 1, workers: 2 });
  const campaign = {
    ...{ history: { ...HONEST, journal }, skipped: new Map(), tookMs: 1 },
    fleet: { warnings: new Map(), startsMs: [] },
  };
  const { counts } = reportOf(campaign, { plan, seed: 's', kills: 1, record: null });
  t.match(counts, {
    'polls taken over from killed workers': 3,
    'claimed again after more than 15 s': 2,
    'kills of workers that had polls': 1,
    'kills after which a poll was claimed later than after 15 s': 1,
    'votes that had arrived when their poll was claimed again': 2,
  });
});

t.test('each rule of rolling restarts finds what contradicts it', async (t) => {
  const restart = { kind: 'term worker', target: 'w1', at: 0, until: 9, exit: 0 } as const;
  const unnoticed = { ...HONEST, operations: [stream], polls: [poll('p1')], faults: [restart] };
  const found = (history: CampaignHistory) => rollingRules.map((rule) => rule.broken(history).length);
  t.same(found(unnoticed), [0, 0, 0, 0]);
  const late = { ...unnoticed, operations: [operation(0, 'sync', { attempts: [attempt({ status: 503 })] })] };
  t.same(found(late), [1, 0, 0, 0], 'an answer 503');
  t.same(found({ ...unnoticed, polls: [poll('p1', { status: 'failed' })] }), [0, 1, 0, 0], 'a failed poll');
  t.same(found({ ...unnoticed, faults: [{ ...restart, exit: 1 }] }), [0, 0, 1, 0], 'an exit code');
  const lost = (asked: number, gateway = 'g1', after: Partial<Fault> = { replacedAt: 9_000 }) =>
    found({
      ...unnoticed,
      operations: [operation(0, 'sync', { attempts: [attempt({ gateway, asked, status: null, code: 'ECONNRESET' })] })],
      faults: [
        { ...restart, at: 500, until: 900 },
        { ...restart, kind: 'term gateway', target: 'g1', at: 5_000, until: 6_000, ...after },
      ],
    });
  t.same([lost(5_500), lost(8_000), lost(4_500)], Array(3).fill([0, 0, 0, 0]), 'sent while its gateway was away');
  t.same(lost(3_000), [0, 0, 0, 1], 'under way when its gateway was asked to end');
  t.same([lost(12_000), lost(5_500, 'g2')], Array(2).fill([0, 0, 0, 1]), 'its gateway was there');
  t.same(lost(12_000, 'g1', {}), [0, 0, 0, 0], 'its gateway was never replaced: the campaign was over');
});

t.test('each rule of an upgrade finds what contradicts it', async (t) => {
  const replaced = { kind: 'term worker', target: 'w1', at: 0, until: 9, exit: 0 } as const;
  const upgrade: UpgradeHistory = {
    from: 'old',
    started: [],
    answersJudged: 1,
    wrongAnswers: [],
    clientCalls: { old: 1, this: 1 },
    clientFailures: [],
    schema: [],
  };
  const unnoticed = { ...HONEST, upgrade, operations: [stream], polls: [poll('p1')], faults: [replaced] };
  const found = (more: Partial<CampaignHistory>) =>
    releaseRules.map((rule) => rule.broken({ ...unnoticed, ...more }).length);
  t.same(found({}), [0, 0, 0, 0, 0]);
  t.same(found({ faults: [{ ...replaced, exit: 1 }] }), [1, 0, 0, 0, 0], 'an exit code');
  const failed = [poll('p1', { status: 'failed' })];
  t.same(found({ polls: failed }), [0, 1, 0, 0, 0], 'a failed poll');
  t.same(found({ polls: failed, operations: [operation(0, 'cancel', { named: new Set(['p1']) })] }), [0, 0, 0, 0, 0]);
  t.same(found({ upgrade: { ...upgrade, wrongAnswers: ['x'] } }), [0, 0, 1, 0, 0]);
  t.same(found({ upgrade: { ...upgrade, answersJudged: 0 } }), [0, 0, 1, 0, 0], 'no answer was judged');
  t.same(found({ upgrade: { ...upgrade, clientFailures: ['x'] } }), [0, 0, 0, 1, 0]);
  t.same(found({ upgrade: { ...upgrade, schema: ['x'] } }), [0, 0, 0, 0, 1]);
});

t.test('polls that two releases had a part in are counted by who accepted and who ran them', async (t) => {
  const start = (slot: string, release: string, worker: string | null, at: number) => ({ slot, release, worker, at });
  const claimed = (pollId: string, worker: string) =>
    ({ pollId, kind: 'claimed', epoch: 1, worker, connection: `of ${worker}`, at: 600 }) as const;
  const history: CampaignHistory = {
    ...HONEST,
    polls: ['p1', 'p2', 'p3', 'p4'].map((id) => poll(id)),
    operations: [
      operation(0, 'async', { named: new Set(['p1']), attempts: [attempt({ asked: 100 })] }),
      operation(1, 'sync', { named: new Set(['EP-p2']), attempts: [attempt({ asked: 500 })] }),
      operation(2, 'async', { named: new Set(['p3']), attempts: [attempt({ asked: 100 })] }),
      operation(3, 'async', { named: new Set(['p4']), attempts: [attempt({ status: null }), attempt()] }),
    ],
    journal: [claimed('p1', 'new w'), claimed('p2', 'old w'), claimed('p3', 'old w'), claimed('p3', 'new w')],
    upgrade: {
      from: 'old',
      started: [
        start('g1', 'old', null, 0),
        start('g1', 'new', null, 400),
        start('w1', 'old', 'old w', 0),
        start('w2', 'new', 'new w', 300),
      ],
      ...{ answersJudged: 0, wrongAnswers: [], clientCalls: {}, clientFailures: [], schema: [] },
    },
  };
  t.same(sharedPolls(history), { acceptedByOldRunByNew: 2, acceptedByNewRunByOld: 1, takenOver: 1 });
  t.same(sharedPolls(HONEST), { acceptedByOldRunByNew: 0, acceptedByNewRunByOld: 0, takenOver: 0 });
});

t.test('a share of late waits is too high when chance does not explain it', async (t) => {
  const found = (late: number, all: number) =>
    tooManyLate(
      Array.from({ length: all }, (_, i) => (i < late ? 16_000 : 1_000)),
      15_000,
    ).length;
  t.same([found(0, 0), found(0, 1), found(1, 1), found(1, 10), found(2, 10)], [0, 0, 1, 0, 1]);
  t.same([found(10, 1_000), found(20, 1_000)], [0, 1]);
});

t.test('a pooler that makes more connections than it may, or shares none, is found', async (t) => {
  const [rule] = poolerRules;
  const found = (pooled: CampaignHistory['pooled']) => rule!.broken({ ...HONEST, pooled }).length;
  const size = 20;
  t.equal(found({ clients: 60, servers: 20, size }), 0);
  for (const use of [null, { clients: 60, servers: 21, size }, { clients: 20, servers: 9, size }])
    t.equal(found(use), 1, JSON.stringify(use));
});
t.test(
  'a wait beside a failover may last longer than one for a worker alone, and other faults excuse their own time',
  async (t) => {
    const killed = { kind: 'kill worker', target: 'w1', at: 900, until: 1_000, worker: 'w1' } as const;
    const struck = (kind: FaultKind, target: string) => ({ kind, target, at: 1_500, until: 4_000 });
    const brokenAfter = (ms: number, ...faults: Fault[]) =>
      clusterRules.flatMap((rule) =>
        rule.broken({
          ...HONEST,
          faults: [killed, ...faults],
          journal: [
            { pollId: 'p1', kind: 'claimed', epoch: 1, worker: 'w1', connection: 'of w1', at: 100 },
            { pollId: 'p1', kind: 'claimed', epoch: 2, worker: 'w2', connection: 'of w2', at: 1_000 + ms },
          ],
        }),
      );
    const master = struck('kill master', 'redis-master-1');
    t.same(brokenAfter(15_000), []);
    t.same(brokenAfter(15_001), ['worker: 1 of 1 were later, the slowest after 15001 ms']);
    t.same(brokenAfter(15_001, struck('move slots', '3'), struck('dead link', 'w2-models')), [
      'worker: 1 of 1 were later, the slowest after 15001 ms',
    ]);
    t.same(brokenAfter(30_000, master), []);
    t.same(brokenAfter(30_001, master), ['master: 1 of 1 were later, the slowest after 30001 ms']);
    const postgres = struck('kill postgres', 'postgres');
    t.same(brokenAfter(17_500, postgres), [], 'Postgres was away for 2.5 s of it');
    t.same(brokenAfter(17_501, postgres), ['worker: 1 of 1 were later, the slowest after 15001 ms']);
    t.same(brokenAfter(60_000, master, postgres), ['master: 1 of 1 were later, the slowest after 57500 ms']);
    const twice = { ...postgres, kind: 'dead link', target: 'w2-postgres' } as const;
    t.same(brokenAfter(17_501, postgres, twice).length, 1, 'two faults at once explain no more than one');
    const late = { ...master, at: 16_001, until: 20_000 };
    t.same(brokenAfter(20_000, late), ['worker: 1 of 1 were later, the slowest after 20000 ms'], 'it was late before');
    t.same(brokenAfter(20_000, { ...late, at: 15_999 }), []);
    t.same(brokenAfter(16_000, { ...postgres, at: 0, until: 1_000 }).length, 1, 'what was over before');
    t.same(brokenAfter(20_000, { ...late, at: 18_499 }, postgres), [], 'struck in 15 s without those of Postgres');
    t.same(
      brokenAfter(20_000, { ...late, at: 18_500 }, postgres),
      ['worker: 1 of 1 were later, the slowest after 17500 ms'],
      'it was late before, without them',
    );
  },
);

t.test(
  'a failover after which no poll is accepted in time is found, and so is a loss that nothing shows',
  async (t) => {
    const lost = { kind: 'fail over', target: 'postgres', at: 50, until: 90 } as const;
    const found = (more: Partial<CampaignHistory>) =>
      failoverRules.map((rule) => rule.broken({ ...HONEST, faults: [lost], ...more }).length);
    t.same(found({}), [0]);
    t.same(found({ faults: [] }), [1], 'no failover');
    const only = (one: Partial<RecordedOperation>) => found({ operations: [operation(0, 'async', one)] });
    const accepted = attempt({ status: 202 });
    t.same(only({ attempts: [accepted] }), [0]);
    t.same(only({ attempts: [attempt({ path: '/api/poll' })] }), [0]);
    t.same(only({ attempts: [attempt({ status: 503 })] }), [1], 'no poll afterwards');
    t.same(only({ attempts: [attempt({ status: 202, answered: 40_000 })] }), [1], 'too late');
    t.same(only({ attempts: [attempt({ asked: 40 }), accepted] }), [1], 'its key may stand for a poll of before');
    t.same(only({ key: null, attempts: [accepted] }), [1], 'no key');
    const read = attempt({ method: 'GET', path: '/api/polls/p1/status' });
    t.same(only({ attempts: [attempt({ status: null }), read] }), [1], 'a status from Redis');
    t.same(only({ attempts: [attempt({ path: '/api/polls/p1/cancel' })] }), [1], 'a cancellation');
    const later = attempt({ status: 202, answered: 40_000 });
    t.equal(acceptedAgainMs({ faults: [lost], operations: [operation(0, 'async', { attempts: [later] })] }), 39_950);
    const again = operation(1, 'async', { attempts: [attempt({ status: 202, answered: 1_350 })] });
    t.equal(acceptedAgainMs({ faults: [lost], operations: [operation(0, 'async', {}), again] }), 850, 'the first');
    const [isFound] = lossRules.slice(-1);
    t.equal(isFound!.broken(HONEST).length, 1);
    t.equal(isFound!.broken({ ...HONEST, ...instead(2, { named: new Set(['p9']) }) }).length, 0);
  },
);

t.test('an election says what its votes make, by the rules under which it ended', async (t) => {
  const voted = (...options: (string | null)[]) =>
    options.map((option, i) => ({ model_id: `m${i}`, success: option !== null, chosen_option: option }));
  const faults = (more: Partial<Election>, seats: number, hasOlderRules = false) =>
    electionFaults({ ...ELECTION, ...more }, { seats, hasOlderRules });
  const tie: Partial<Election> = {
    ...{ status: 'success', outcome: 'tie', winning_option: null, is_tie: true },
    ...{ tally: { a: 1, b: 1 }, votes: voted('a', 'b') },
  };
  t.same(faults(tie, 2), []);
  t.match(faults({ ...tie, is_tie: false }, 2), [/no tie with 1,1/]);
  t.match(faults({ ...tie, winning_option: 'a', outcome: 'a' }, 2), [/elects a/, /calls 1,1 a/]);
  const locked: Partial<Election> = {
    ...{ status: 'success', tally: { a: 0, b: 3 }, votes: voted('b', 'b', 'b') },
    ...{ models_skipped: 2, early_terminated: true, termination_reason: 'mathematical_lock' },
  };
  t.same(faults(locked, 5), []);
  t.match(faults({ ...locked, models_skipped: 3 }, 6), [/is locked/]);
  const beside = { ...locked, votes: voted('b', 'b', 'b', null) };
  t.match(faults(beside, 6), [/success with 0,3, 1 failed, 2 not heard/]);
  t.same(faults({ ...beside, status: 'partial' }, 6), []);
  t.same(faults(beside, 6, true), [], 'a release before had other rules');
  t.same(faults({ ...locked, status: 'partial', termination_reason: 'budget', models_skipped: 3 }, 6), []);
  t.match(faults({ ...locked, status: 'success', termination_reason: 'budget', models_skipped: 3 }, 6), [
    /after budget/,
  ]);
  t.same(faults({ ...locked, status: 'partial', termination_reason: null, models_skipped: 3 }, 6), []);
  t.same(faults({ ...locked, termination_reason: 'confidence', models_skipped: 3 }, 6), []);
  t.match(faults({ ...locked, termination_reason: 'roster_exhausted' }, 5), [/heard everybody but 2/]);
});
