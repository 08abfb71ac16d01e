import t from 'tap';
import type { CampaignHistory, StoredPoll } from '../src/faults/history.ts';
import type { Attempt, Kind, RecordedOperation } from '../src/faults/operations.ts';
import { rollingRules } from '../src/faults/rules/rolling-rules.ts';
import { callsInTransit, workerRules } from '../src/faults/rules/worker-rules.ts';
import { RULES_OF_ALL } from '../src/faults/rules.ts';

// The rules are tested with one correct history and at least one falsification for each rule.

const attempt = (more: Partial<Attempt> = {}): Attempt => ({
  gateway: 'g1',
  asked: 100,
  answered: 900,
  status: 200,
  code: null,
  ...more,
});

const operation = (n: number, kind: Kind, more: Partial<RecordedOperation>): RecordedOperation => ({
  n,
  kind,
  account: 'acc',
  key: `key ${n}`,
  attempts: [attempt()],
  named: new Set(),
  bodies: new Set(),
  events: [],
  cents: null,
  outcome: 'ok',
  ...more,
});

const poll = (id: string, more: Partial<StoredPoll> = {}): StoredPoll => ({
  id,
  resultId: `EP-${id}`,
  status: 'completed',
  entryPoint: 'poll',
  claims: 1,
  buried: false,
  createdAt: 100,
  deadlineAt: 120_100,
  finishedAt: 900,
  maxCostU: 1_000n,
  holdU: 500n,
  holds: 1,
  posts: 1,
  voids: 0,
  postedU: 100n,
  unvotedU: 0n,
  modelIds: ['m0', 'm1'],
  resultStatus: 'success',
  digest: `body of ${id}`,
  row: null,
  ...more,
});

/** The only row of a batch that was canceled before a worker had it. */
const CANCELED = poll('p3', {
  row: 'pb1 1',
  status: 'failed',
  resultStatus: null,
  digest: null,
  posts: 0,
  voids: 1,
  postedU: 0n,
});

/** A sync poll that was retried, a stream that was cut once and read again, a poll whose worker died, a balance. */
const HONEST: CampaignHistory = {
  operations: [
    operation(0, 'sync', {
      attempts: [
        attempt({ status: null, code: 'ECONNRESET' }),
        attempt({ status: 503, code: 'service_unavailable' }),
        attempt(),
      ],
      named: new Set(['EP-p1']),
      bodies: new Set(['body of p1']),
    }),
    operation(1, 'stream', {
      named: new Set(['p2']),
      bodies: new Set(['body of p2']),
      events: [
        { attempt: 1, seq: 0, last: false },
        { attempt: 1, seq: 2, last: false },
        { attempt: 2, seq: 65, last: false },
        { attempt: 2, seq: 66, last: true },
        { attempt: 3, seq: 0, last: false },
        { attempt: 3, seq: 1, last: true },
      ],
    }),
    operation(2, 'async', { outcome: 'refused', attempts: [attempt({ status: 402, code: 'insufficient_balance' })] }),
    operation(3, 'balance', { key: null, cents: 95, attempts: [attempt({ asked: 120, answered: 130 })] }),
    operation(4, 'batch', { named: new Set(['pb1']), rows: { sent: 1, answered: new Map([['row 0', 1]]) } }),
  ],
  polls: [
    poll('p1'),
    poll('p2', { posts: 0, voids: 1, postedU: 0n, resultStatus: 'failed', status: 'failed' }),
    CANCELED,
  ],
  batches: [{ id: 'pb1', status: 'canceled', total: 1, ended: 1, costU: 0n, reservedU: 0n }],
  keys: [
    { key: 'key 0', pollId: 'p1' },
    { key: 'key 1', pollId: 'p2' },
  ],
  votes: [
    { pollId: 'p1', seat: 0, modelId: 'm0', voted: true, billedU: 100n, failedMaxU: 0n },
    { pollId: 'p1', seat: 1, modelId: 'm1', voted: false, billedU: 0n, failedMaxU: 0n },
  ],
  journal: [
    { pollId: 'p1', kind: 'claimed', epoch: 1, worker: 'w1', at: 110 },
    { pollId: 'p2', kind: 'claimed', epoch: 1, worker: 'w1', at: 110 },
    { pollId: 'p1', kind: 'claimed', epoch: 2, worker: 'w2', at: 500 },
    { pollId: 'p1', kind: 'ended', epoch: 2, worker: null, at: 900 },
    { pollId: 'p2', kind: 'ended', epoch: 1, worker: null, at: 900 },
    { pollId: 'p3', kind: 'ended', epoch: 0, worker: null, at: 900 },
  ],
  balances: [
    { account: 'acc', availableU: 1_000_000n, at: 0 },
    { account: 'acc', availableU: 950_000n, at: 100 },
    { account: 'acc', availableU: 900_000n, at: 200 },
    { account: 'acc', availableU: 850_000n, at: 600 },
  ],
  rewrites: [],
  ledger: [],
  calls: [
    { pollId: 'p1', seat: 0, attempt: 1, madeAt: 120, at: 120 },
    { pollId: 'p1', seat: 0, attempt: 1, madeAt: 520, at: 520 },
    { pollId: 'p1', seat: 1, attempt: 2, madeAt: 530, at: 530 },
  ],
  arrivals: [
    { pollId: 'p1', modelId: 'm0', at: 600 },
    { pollId: 'p1', modelId: 'm1', at: 540 },
  ],
  faults: [{ kind: 'kill worker', target: 'w', worker: 'w1', at: 290, until: 300 }],
  crashes: [],
};

const RULES = [...RULES_OF_ALL, ...workerRules];

const broken = (history: CampaignHistory): string[] =>
  RULES.filter((rule) => rule.broken(history).length > 0).map(({ name }) => name);

const [sync, stream] = HONEST.operations as [RecordedOperation, RecordedOperation, ...RecordedOperation[]];
const instead = (n: number, more: Partial<RecordedOperation>): Partial<CampaignHistory> => ({
  operations: HONEST.operations.map((one) => (one.n === n ? { ...one, ...more } : one)),
});
const pollsWith = (more: Partial<StoredPoll>): Partial<CampaignHistory> => ({
  polls: HONEST.polls.map((one) => (one.id === 'p1' ? { ...one, ...more } : one)),
});

const STORED = 'every poll and batch that was named to a caller is stored';
const ENDS = 'every accepted poll ends, once';
const ONE_KEY = 'one key, one poll';
const SAME = 'the same answer for the same key, every time, and it is what is stored';
const STREAM = 'a stream ends with its last event, and numbers only rise';
const BATCH_ENDS = 'every batch ends with all of its rows, costs what its polls did, and reserves nothing then';
const CAPTURED = 'captured is the sum of billed votes, at most the hold, at most the most it may cost';
const BILLED = 'a model is billed at most once per poll, for a vote or what the free pool pays for a failure';
const STORED_VOTES = 'every vote is stored once, and billed when it is valid';
const ASKED = 'a model is asked at most once per claim of its poll, and at most three times for that vote';

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
    'a zombie that ended a poll',
    ['only the newest claim of a poll ends it'],
    {
      journal: HONEST.journal.map((event) =>
        event.pollId === 'p1' && event.kind === 'ended' ? { ...event, epoch: 1 } : event,
      ),
    },
  ],
  [
    'a result that was written again',
    ['nothing that was stored at an end changes afterwards'],
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
    ['every error is of those that may be: nothing but 503 from 500 on'],
    instead(0, { attempts: [...sync.attempts, attempt({ status: 500, code: 'internal_error' })] }),
  ],
  ['a stream without its last event', [STREAM], instead(1, { events: stream.events.slice(0, 3) })],
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
  ['a capture that no vote explains', [CAPTURED], pollsWith({ postedU: 200n })],
  ['a capture beyond the hold', [CAPTURED], pollsWith({ holdU: 99n })],
  ['a hold beyond what the poll may cost', [CAPTURED], pollsWith({ maxCostU: 499n })],
  [
    'a model that is billed twice',
    [CAPTURED, BILLED],
    {
      votes: [...HONEST.votes, { pollId: 'p1', seat: 2, modelId: 'm0', voted: true, billedU: 1n, failedMaxU: 0n }],
      calls: [...HONEST.calls, { pollId: 'p1', seat: 2, attempt: 1, madeAt: 530, at: 530 }],
    },
  ],
  [
    'a failure that is billed',
    [CAPTURED, BILLED],
    { votes: HONEST.votes.map((vote) => (vote.voted ? vote : { ...vote, billedU: 1n })) },
  ],
  ['a row with two polls', ['a row of a batch is run once', BATCH_ENDS], pollsWith({ row: 'pb1 1' })],
  [
    'a row that is not in the results',
    ['a batch that is answered names each of its rows once'],
    instead(4, { rows: { sent: 1, answered: new Map() } }),
  ],
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
  ['a vote with a fourth call', [ASKED], { calls: [...HONEST.calls, { ...HONEST.calls[0]!, attempt: 4 }] }],
  ['a vote that no model gave', ['every vote that is stored was given by a model'], { calls: [] }],
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
  ['a vote that is stored twice', [STORED_VOTES], { votes: [...HONEST.votes, HONEST.votes[1]!] }],
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
});

t.test('each lie breaks the rule that it is about, and no other', async (t) => {
  for (const [what, rules, lie] of LIES) {
    t.same(broken({ ...HONEST, ...lie }).toSorted(), rules.toSorted(), what);
  }
});

t.test('every rule has a lie that breaks it', async (t) => {
  const falsified = new Set(LIES.flatMap(([, rules]) => rules));
  for (const { name } of RULES) t.ok(falsified.has(name), name);
});

t.test('a poll that was given up frees its key: the next one is no second poll', async (t) => {
  const history = {
    ...HONEST,
    polls: [...HONEST.polls, poll('p0', { buried: true })],
    journal: [
      { pollId: 'p0', kind: 'claimed' as const, epoch: 6, worker: 'w1', at: 100 },
      { pollId: 'p0', kind: 'ended' as const, epoch: 6, worker: null, at: 100 },
      ...HONEST.journal,
    ],
    votes: [...HONEST.votes, { pollId: 'p0', seat: 0, modelId: 'm0', voted: true, billedU: 100n, failedMaxU: 0n }],
    calls: [...HONEST.calls, { pollId: 'p0', seat: 0, attempt: 1, madeAt: 100, at: 100 }],
    ...instead(0, { named: new Set(['p0', 'EP-p1']) }),
  };
  t.same(broken(history), ['no poll is given up']);
});

t.test('a call in transit while its worker was stopped is counted, and breaks no rule', async (t) => {
  const calls = HONEST.calls.map((call) => (call.madeAt === 520 ? { ...call, at: 9_000 } : call));
  t.same(broken({ ...HONEST, calls }), []);
  t.equal(callsInTransit({ ...HONEST, calls }), 1);
  t.equal(callsInTransit(HONEST), 0);
});

t.test('each rule of rolling restarts finds what contradicts it', async (t) => {
  const restart = { kind: 'term worker', target: 'w1', at: 0, until: 9, exit: 0 } as const;
  const unnoticed = { ...HONEST, operations: [stream], polls: [poll('p1')], faults: [restart] };
  const found = (history: CampaignHistory) => rollingRules.map((rule) => rule.broken(history).length);
  t.same(found(unnoticed), [0, 0, 0]);
  t.same(found({ ...unnoticed, operations: [sync] }), [1, 0, 0], 'an answer 503');
  t.same(found({ ...unnoticed, polls: [poll('p1', { status: 'failed' })] }), [0, 1, 0], 'a failed poll');
  t.same(found({ ...unnoticed, faults: [{ ...restart, exit: 1 }] }), [0, 0, 1], 'an exit code');
});
