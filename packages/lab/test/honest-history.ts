import type { CampaignHistory, StoredPoll } from '../src/faults/history.ts';
import type { Attempt, Kind, RecordedOperation } from '../src/faults/operations.ts';
import { type Election, optionDigest } from '../src/fixture/election.ts';

// What tests of rules make histories from.

export const attemptOf = (more: Partial<Attempt> = {}): Attempt => ({
  gateway: 'g1',
  method: 'POST',
  path: '/api/polls',
  asked: 100,
  isUpload: false,
  opened: null,
  answered: 900,
  status: 200,
  code: null,
  retryAfterS: null,
  ...more,
});

export const operationOf = (n: number, kind: Kind, more: Partial<RecordedOperation>): RecordedOperation => ({
  n,
  kind,
  account: 'acc',
  key: `key ${n}`,
  attempts: [attemptOf()],
  named: new Set(),
  answers: new Map(),
  bodies: new Set(),
  events: [],
  cents: null,
  outcome: 'ok',
  ...more,
});

/** One vote for b, and a model that failed. */
export const ELECTION: Election = {
  status: 'partial',
  outcome: 'b',
  options: ['a', 'b'],
  winning_option: 'b',
  is_tie: false,
  tally: { a: 0, b: 1 },
  votes: [
    { model_id: 'm0', success: true, chosen_option: 'b' },
    { model_id: 'm1', success: false, chosen_option: null },
  ],
  early_terminated: false,
  models_skipped: 0,
  termination_reason: 'roster_exhausted',
};

/** Its deadline had passed before a model answered. */
const UNANSWERED: Election = {
  ...ELECTION,
  status: 'failed',
  outcome: 'no_votes',
  winning_option: null,
  tally: { a: 0, b: 0 },
  votes: [],
  early_terminated: true,
  models_skipped: 2,
  termination_reason: null,
};

export const pollOf = (id: string, more: Partial<StoredPoll> = {}): StoredPoll => ({
  id,
  resultId: `EP-${id}`,
  accountId: 'acc',
  isEmptied: false,
  payerId: 'acc',
  status: 'completed',
  entryPoint: 'poll',
  panel: 'broad',
  lane: 'standard',
  claims: 1,
  buried: false,
  createdAt: 100,
  spendAt: 100,
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
  resultStatus: 'partial',
  options: ['a', 'b'],
  election: ELECTION,
  confidence: 0.5,
  resultRow: { winner: 'b', isTie: false },
  digest: `body of ${id}`,
  row: null,
  ...more,
});

/** Before a worker had it. */
const CANCELED = {
  ...{ status: 'failed', resultStatus: null, election: null, resultRow: null, digest: null },
  ...{ posts: 0, voids: 1, postedU: 0n },
} as const;

/** The only row of its batch. */
const CANCELED_ROW = pollOf('p3', { ...CANCELED, row: 'pb1 1' });

const STREAM = { path: '/api/poll/stream' };

/**
 * A sync poll that was retried, a stream that was cut with its gateway and read again, a key that had reached its limit, a
 * poll whose worker died, one that failed, one that was canceled, a balance.
 */
export const honestHistory: CampaignHistory = {
  operations: [
    operationOf(0, 'sync', {
      attempts: [
        attemptOf({ status: null, code: 'ECONNRESET' }),
        attemptOf({ status: 503, code: 'service_unavailable' }),
        attemptOf(),
      ],
      named: new Set(['EP-p1']),
      bodies: new Set(['body of p1']),
    }),
    operationOf(1, 'stream', {
      attempts: [
        attemptOf({ ...STREAM, asked: 100, opened: 110, answered: 300, status: null, code: 'UND_ERR_SOCKET' }),
        attemptOf({ ...STREAM, asked: 310, opened: 320, status: 422, code: 'poll_failed' }),
        attemptOf({ ...STREAM, asked: 910, opened: 920, answered: 930, status: 422, code: 'poll_failed' }),
      ],
      outcome: 'failed',
      named: new Set(['p2']),
      events: [
        { attempt: 1, seq: 0, last: false },
        { attempt: 1, seq: 2, last: false },
        { attempt: 2, seq: 65, last: false },
        { attempt: 2, seq: 66, last: true },
        { attempt: 3, seq: 0, last: false },
        { attempt: 3, seq: 1, last: true },
      ],
    }),
    operationOf(2, 'limited', {
      outcome: 'refused',
      limitedKey: { id: 'k1', refused: true },
      attempts: [attemptOf({ status: 402, code: 'key_budget_reached' })],
    }),
    operationOf(3, 'balance', { key: null, cents: 95, attempts: [attemptOf({ asked: 120, answered: 130 })] }),
    operationOf(4, 'batch', {
      named: new Set(['pb1']),
      rows: { sent: 1, answered: new Map([['row 1', 1]]), polls: new Map([['row 1', 'p3']]) },
    }),
    operationOf(5, 'quick', {
      ...{ key: null, named: new Set(['EP-p1']), bodies: new Set(['short answer']) },
      answers: new Map([['EP-p1', { status: 'partial', options: ['a', 'b'], winner: 'b' }]]),
    }),
    operationOf(6, 'cancel', {
      outcome: 'failed',
      attempts: [
        attemptOf({ status: 429, code: 'too_many_running', retryAfterS: 2 }),
        attemptOf({ status: 202 }),
        attemptOf({ path: '/api/polls/p4/cancel' }),
        attemptOf({ method: 'GET', path: '/api/polls/p4/result', status: 422, code: 'poll_canceled' }),
      ],
      named: new Set(['p4']),
    }),
  ],
  polls: [
    pollOf('p1'),
    pollOf('p2', {
      ...{ posts: 0, voids: 1, postedU: 0n, resultStatus: 'failed', status: 'failed' },
      ...{ election: UNANSWERED, resultRow: { winner: null, isTie: false } },
    }),
    CANCELED_ROW,
    pollOf('p4', { ...CANCELED, claims: 0 }),
  ],
  batches: [{ id: 'pb1', status: 'canceled', total: 1, ended: 1, costU: 0n, reservedU: 0n }],
  keys: [
    { key: 'key 0', pollId: 'p1' },
    { key: 'key 1', pollId: 'p2' },
    { key: 'key 6', pollId: 'p4' },
  ],
  votes: [
    { pollId: 'p1', seat: 0, modelId: 'm0', option: 1, billedU: 100n, failedMaxU: 0n },
    { pollId: 'p1', seat: 1, modelId: 'm1', option: null, billedU: 0n, failedMaxU: 0n },
  ],
  journal: [
    { pollId: 'p1', kind: 'claimed', epoch: 1, worker: 'w1', connection: 'of w1', at: 110 },
    { pollId: 'p2', kind: 'claimed', epoch: 1, worker: 'w1', connection: 'of w1', at: 110 },
    { pollId: 'p1', kind: 'claimed', epoch: 2, worker: 'w2', connection: 'of w2', at: 500 },
    { pollId: 'p1', kind: 'ended', epoch: 2, worker: null, connection: 'of w2', at: 900 },
    { pollId: 'p2', kind: 'ended', epoch: 1, worker: null, connection: 'of w1', at: 900 },
    { pollId: 'p3', kind: 'ended', epoch: 0, worker: null, connection: 'of g1', at: 900 },
    { pollId: 'p4', kind: 'ended', epoch: 0, worker: null, connection: 'of g1', at: 900 },
  ],
  balances: [
    { account: 'acc', availableU: 1_000_000n, at: 0 },
    { account: 'acc', availableU: 950_000n, at: 100 },
    { account: 'acc', availableU: 900_000n, at: 200 },
    { account: 'acc', availableU: 850_000n, at: 600 },
    { account: 'acc', availableU: 999_900n, at: 900 },
  ],
  rewrites: [],
  ledger: [],
  countedSpendU: 0n,
  calls: [
    { pollId: 'p1', seat: 0, attempt: 1, madeAt: 120, at: 120, costU: 100, optionDigest: null },
    { pollId: 'p1', seat: 0, attempt: 1, madeAt: 520, at: 520, costU: 100, optionDigest: optionDigest('b') },
    { pollId: 'p1', seat: 1, attempt: 2, madeAt: 530, at: 530, costU: 100, optionDigest: null },
  ],
  arrivals: [
    { pollId: 'p1', modelId: 'm0', at: 600 },
    { pollId: 'p1', modelId: 'm1', at: 540 },
  ],
  faults: [
    { kind: 'kill worker', target: 'w', worker: 'w1', at: 290, until: 300 },
    { kind: 'kill gateway', target: 'g1', at: 280, until: 300 },
  ],
  mayRefuse: ['key_budget_reached'],
  crashes: [],
  pooled: null,
  upgrade: null,
  promised: null,
  audits: null,
  neighbours: null,
};
