import t from 'tap';
import type { History } from '../src/faults/history.ts';
import { callsOnTheirWay, handsChangedUnstruck, RULES, repeatedCalls, resumes } from '../src/faults/judge-history.ts';

// The judge of the chaos harness, judged: one honest history, and one lie for each rule.

/** Two polls; a worker is killed while it holds the first, after the vote of seat 0 had arrived. */
const HONEST: History = {
  accepted: [
    { pollId: 'p1', at: 0, deadlineAt: 120_000 },
    { pollId: 'p2', at: 0, deadlineAt: 120_000 },
  ],
  journal: [
    { pollId: 'p1', kind: 'claimed', epoch: 1, worker: 'w1', at: 10 },
    { pollId: 'p2', kind: 'claimed', epoch: 1, worker: 'w2', at: 10 },
    { pollId: 'p2', kind: 'ended', epoch: 1, worker: null, at: 900 },
    { pollId: 'p1', kind: 'claimed', epoch: 2, worker: 'w2', at: 9_500 },
    { pollId: 'p1', kind: 'ended', epoch: 2, worker: null, at: 11_000 },
  ],
  strikes: [{ kind: 'kill', worker: 'w1', at: 500, until: 500, held: [{ pollId: 'p1', epoch: 1, arrived: [0] }] }],
  arrivals: [
    { pollId: 'p1', seat: 0, at: 400 },
    { pollId: 'p1', seat: 1, at: 10_500 },
    { pollId: 'p2', seat: 0, at: 800 },
  ],
  calls: [
    { pollId: 'p1', seat: 0, attempt: 1, madeAt: 20, at: 20 },
    { pollId: 'p1', seat: 1, attempt: 1, madeAt: 20, at: 20 },
    { pollId: 'p1', seat: 1, attempt: 1, madeAt: 9_510, at: 9_510 },
    { pollId: 'p1', seat: 1, attempt: 2, madeAt: 9_900, at: 9_900 },
    { pollId: 'p2', seat: 0, attempt: 1, madeAt: 20, at: 20 },
  ],
  votes: [
    { pollId: 'p1', seat: 0, voted: true, billedU: 100n },
    { pollId: 'p1', seat: 1, voted: false, billedU: 0n },
    { pollId: 'p2', seat: 0, voted: false, billedU: 0n },
  ],
  settlements: [
    { pollId: 'p1', posts: 1, voids: 0, postedU: 100n },
    { pollId: 'p2', posts: 0, voids: 1, postedU: 0n },
  ],
  ledger: [],
};

const broken = (history: History): string[] =>
  RULES.filter((rule) => rule.broken(history).length > 0).map((rule) => rule.name);

t.test('an honest history breaks no rule', async (t) => {
  t.same(broken(HONEST), []);
  t.same(resumes(HONEST, 'kill'), [9_000]);
  t.same(resumes(HONEST, 'stop'), []);
  t.equal(repeatedCalls(HONEST), 1);
  t.equal(handsChangedUnstruck(HONEST), 0);
  t.equal(handsChangedUnstruck({ ...HONEST, strikes: [] }), 1);
});

const LIES: [string, string, Partial<History>][] = [
  [
    'a poll that never ended',
    'every accepted poll ends exactly once',
    { journal: HONEST.journal.filter((event) => event.pollId !== 'p1' || event.kind !== 'ended') },
  ],
  [
    'a poll that ended twice',
    'every accepted poll ends exactly once',
    { journal: [...HONEST.journal, { pollId: 'p2', kind: 'ended', epoch: 2, worker: null, at: 950 }] },
  ],
  [
    'a poll that ended long after its deadline',
    'every poll ends by its deadline',
    { accepted: HONEST.accepted.map((poll) => ({ ...poll, deadlineAt: -10_000 })) },
  ],
  [
    'a call for a vote that stood in the log',
    'a vote that has arrived is never asked for again',
    { calls: HONEST.calls.map((call) => (call.pollId === 'p2' ? { ...call, madeAt: 850, at: 850 } : call)) },
  ],
  [
    'a call for a vote that only the victim knew',
    'a vote that has arrived is never asked for again',
    { arrivals: [], calls: [...HONEST.calls, { pollId: 'p1', seat: 0, attempt: 1, madeAt: 9_510, at: 9_510 }] },
  ],
  [
    'two calls under one claim',
    'a seat is asked once for each claim of its poll',
    { arrivals: [], calls: [...HONEST.calls, { pollId: 'p2', seat: 0, attempt: 1, madeAt: 30, at: 30 }] },
  ],
  [
    'a vote that nobody gave',
    'every vote that is stored was given by a model',
    { calls: HONEST.calls.filter((call) => call.pollId !== 'p1' || call.seat !== 0) },
  ],
  [
    'a hold that was never resolved',
    'every poll has exactly one post or void',
    { settlements: HONEST.settlements.slice(0, 1) },
  ],
  [
    'a hold that was resolved twice',
    'every poll has exactly one post or void',
    { settlements: [HONEST.settlements[0]!, { pollId: 'p2', posts: 0, voids: 2, postedU: 0n }] },
  ],
  [
    'a failed vote that is billed',
    'votes are billed once each, failed votes never, and the post is their sum',
    { votes: HONEST.votes.map((vote) => ({ ...vote, billedU: 100n })) },
  ],
  [
    'a post of another sum',
    'votes are billed once each, failed votes never, and the post is their sum',
    { settlements: [{ pollId: 'p1', posts: 1, voids: 0, postedU: 200n }, HONEST.settlements[1]!] },
  ],
  [
    'a vote that is stored twice',
    'votes are billed once each, failed votes never, and the post is their sum',
    { votes: [...HONEST.votes, HONEST.votes[1]!] },
  ],
  [
    'a finding of the auditor',
    'the ledger has no drift',
    { ledger: [{ rule: 'posted', subject: 'a', found: 'running 1, transfers 2' }] },
  ],
  [
    'a poll that waited too long for its next worker',
    'polls of a killed worker are claimed again, p99 within 15 s',
    {
      journal: HONEST.journal.map((event) => (event.epoch === 2 ? { ...event, at: event.at + 7_000 } : event)),
    },
  ],
];

for (const [lie, rule, change] of LIES)
  t.test(`the judge finds ${lie}`, async (t) => {
    t.same(broken({ ...HONEST, ...change }), [rule]);
  });

t.test('a call that was on its way when its worker was stopped is counted, and no lie', async (t) => {
  const history = {
    ...HONEST,
    calls: HONEST.calls.map((call) => (call.pollId === 'p2' ? { ...call, at: 9_000 } : call)),
  };
  t.same(broken(history), []);
  t.equal(callsOnTheirWay(history), 1);
  t.equal(callsOnTheirWay(HONEST), 0);
});

t.test('a poll that stayed with a stopped worker is not one that was resumed', async (t) => {
  const strikes = HONEST.strikes.map((strike) => ({ ...strike, kind: 'stop' as const, until: 9_000 }));
  t.same(resumes({ ...HONEST, strikes }, 'stop'), []);
  t.same(resumes({ ...HONEST, strikes: strikes.map((strike) => ({ ...strike, until: 10_000 })) }, 'stop'), [9_000]);
});
