import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { type CheckedPart, PARTS, type PartName } from '@eloquentpoll/receipts';
import t from 'tap';
import type { Fault } from '../src/faults/fault-kinds.ts';
import { type Found, findInServer, markersIn, newMarker, stillFound } from '../src/faults/find-markers.ts';
import type { CampaignHistory } from '../src/faults/history.ts';
import type { Erasure, ListRead, RecordedOperation } from '../src/faults/operations.ts';
import type { PromisedHistory, PublishedKey, ReadReceipt } from '../src/faults/promised.ts';
import { broughtBack } from '../src/faults/rules/deletion-rules.ts';
import { limitRules } from '../src/faults/rules/limit-rules.ts';
import { listRules } from '../src/faults/rules/list-rules.ts';
import { promisedRules } from '../src/faults/rules/promised-rules.ts';
import { spendRules } from '../src/faults/rules/spend-rules.ts';
import type { ReceivedMessage } from '../src/faults/webhook-receiver.ts';
import { attemptOf, ELECTION, honestHistory, operationOf, pollOf } from './honest-history.ts';

// What webhooks, receipts, limits of keys, cancellations and deletions promise: one correct history, and lies for each rule.

const [MARKER, KEPT] = [newMarker('0123456789ab'), newMarker('ba9876543210')];
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const { x = '' } = publicKey.export({ format: 'jwk' });
const kid = createHash('sha256')
  .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
  .digest('base64url');
const published: PublishedKey = { kty: 'OKP', crv: 'Ed25519', x, kid };

function message(path: string, id: string, type: string, data: object, secret = SECRET): ReceivedMessage {
  const [timestamp, body] = ['1000', JSON.stringify({ type, data })];
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return { path, id, timestamp, signature, body, at: 1_000_500 };
}

const STATEMENT = {
  result_id: 'EP-p1',
  options: ['a', 'b'],
  panel: [{ model_id: 'm0' }, { model_id: 'm1' }],
  votes: [
    { seat: 0, option: 1 },
    { seat: 1, option: null },
  ],
  decision: { reason: 'roster_exhausted', status: 'partial', tally: [0, 1], winner: 1, tie: false, skipped: 0 },
};
const PROVEN: CheckedPart[] = PARTS.map((name) => ({
  name,
  state: name === 'price' || name === 'inclusion' ? 'unchecked' : 'holds',
  says: '',
}));

function receiptOf(statement: object, status = 200) {
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const [head, payload] = [encoded({ alg: 'EdDSA', kid }), encoded(statement)];
  const signature = sign(null, Buffer.from(`${head}.${payload}`), privateKey).toString('base64url');
  const body = JSON.stringify({ protected: head, payload, signature });
  return { pollId: 'p1', status, body, parts: PROVEN, election: ELECTION };
}

const ENDED = { session_id: 'p1', status: 'partial', cost_usd: 0.0001 };
const PROMISED: PromisedHistory = {
  hooks: [
    { path: '/endpoint/0', accountId: 'acc', secret: SECRET, isEndpoint: true },
    { path: '/url/0', accountId: 'acc', secret: SECRET, isEndpoint: false },
  ],
  messages: [
    // Sent twice: the first answer was lost.
    message('/endpoint/0', 'msg_1', 'poll.completed', ENDED),
    message('/endpoint/0', 'msg_1', 'poll.completed', ENDED),
    message('/url/0', 'msg_2', 'poll.completed', ENDED),
    message('/endpoint/0', 'msg_3', 'batch.completed', { batch_id: 'pb1' }),
    message('/endpoint/0', 'msg_4', 'key.limit_reached', { key_id: 'k1' }),
    message(`/url/0?${MARKER}`, 'msg_5', 'poll.completed', { ...ENDED, session_id: 'p9' }),
  ],
  limitedKeys: [{ id: 'k1', limitU: 100n, spentU: 30n, heldU: 0n }],
  keyMoves: [
    { keyId: 'k1', pollId: 'p1', kind: 'hold', amountU: 60n, at: 100 },
    { keyId: 'k1', pollId: 'p1', kind: 'post', amountU: 30n, at: 200 },
    { keyId: 'k1', pollId: 'p2', kind: 'hold', amountU: 70n, at: 300 },
    { keyId: 'k1', pollId: 'p2', kind: 'void', amountU: 70n, at: 900 },
  ],
  receipts: [receiptOf(STATEMENT)],
  publishedKeys: [published],
  lagMs: 5_000,
  unservedKeys: 0,
  found: [{ marker: KEPT, place: 'Postgres, polls' }],
};
const READ = { path: '/api/batches/pb9', gateway: 'g1', at: 2_100, status: 404 };
const PUBLIC_READ = { ...READ, path: '/api/results/EP-p9' };
const SEEN = { before: [{ ...PUBLIC_READ, at: 1_900, status: 200 }], after: [PUBLIC_READ] };
const LIST_READ: ListRead = {
  ...{ path: '/api/polls?metadata[project]=m', gateway: 'g1', asked: 2_100, shows: false, isFromReplica: true },
};
const LISTED = { before: [{ ...LIST_READ, asked: 1_900, shows: true }], after: [LIST_READ] };
const OPERATIONS: RecordedOperation[] = [
  operationOf(0, 'async', { named: new Set(['p1']), hook: '/url/0' }),
  operationOf(1, 'batch', { named: new Set(['pb1']) }),
  operationOf(2, 'limited', {
    ...{ named: new Set(), outcome: 'refused', limitedKey: { id: 'k1', refused: true } },
    attempts: [attemptOf({ status: 402, code: 'key_budget_reached' })],
  }),
  operationOf(3, 'cancel', { named: new Set(['p3']), canceledAt: 600 }),
  operationOf(4, 'forget', {
    named: new Set(['p9']),
    attempts: [attemptOf(), attemptOf({ method: 'DELETE', path: '/api/results/p9' })],
    // The end of a run may be answered for a minute by who did not hear of the deletion.
    erasure: {
      what: 'poll',
      marker: MARKER,
      at: 2_000,
      isConfirmed: true,
      reads: [READ, { ...READ, path: '/api/polls/p9/status', status: 200 }],
      publicReads: SEEN,
      lists: LISTED,
    },
  }),
  operationOf(5, 'forget', {
    erasure: {
      what: 'poll',
      marker: KEPT,
      at: null,
      isConfirmed: false,
      reads: [],
      publicReads: { before: [], after: [] },
      lists: { before: [], after: [] },
    },
  }),
];
const HONEST: CampaignHistory = {
  ...honestHistory,
  operations: OPERATIONS,
  polls: [
    pollOf('p1', { postedU: 100n }),
    pollOf('p3', { row: 'pb1 1', status: 'failed', claims: 0, postedU: 0n, accountId: 'acc' }),
    pollOf('p9', { isEmptied: true, accountId: null, options: null, election: null, resultRow: null }),
  ],
  calls: [{ pollId: 'p1', seat: 0, attempt: 1, madeAt: 120, at: 120, costU: 100, optionDigest: null }],
  promised: PROMISED,
};

const NEEDLESS = 'a key refuses no poll that its limit would cover';
/** Takes many polls: its lies are below. */
const TRIED = 'keys took polls and refused others at their limit';
const SIGNED = 'every webhook is signed with the secret of its address, lately, and the same message is the same';
const SENT = 'every end of a poll or batch is sent to each address of its account under one id, and to no other';
const SAYS = 'an event of a poll says what is stored of it';
const RECEIPT = 'every poll that ended with a result has a receipt, signed by a published key';
const VOTES = 'the votes of a receipt are those that are stored, and add up to what it says';
const SAME =
  'options, winner, tie, tally and status of a receipt are those of the result, as it is stored and published';
const VERIFIED =
  'the published verifier holds every part of a receipt to be true that it can check with the public result';
const LIMIT = 'what is spent and held by a key is at every moment within its limit, worked out from the transfers';
const COUNTED = 'what the service counts for a key is what its polls were charged, and nothing is held at the end';
const CANCELED = 'no model is asked for a poll after its caller heard that its cancellation is over';
const UNTAKEN = 'a poll that no worker had when it was canceled asks no model and costs nothing';
const LEFT = 'no text of a deleted poll or account is left in a table, in Redis, in a log or in an export';
const ANSWERED =
  'what was deleted is answered by no gateway to its key: what is stored at once, ends of runs within a minute';
const OPEN = 'a result that was deleted is not answered any more, by no gateway';
const SHOWN = 'a result is answered to everybody until it is deleted, and deletions are of results that were';

const LISTS = listRules[0]!.name;
const SHOWN_IN_LISTS = listRules[1]!.name;

const but = (more: Partial<PromisedHistory>): Partial<CampaignHistory> => ({ promised: { ...PROMISED, ...more } });
const heard = (...messages: ReceivedMessage[]) => but({ messages: [...PROMISED.messages, ...messages] });
const without = (id: string) => but({ messages: PROMISED.messages.filter((one) => one.id !== id) });
const checked = (name: PartName, state: CheckedPart['state']): CheckedPart[] =>
  PROVEN.map((part) => (part.name === name ? { ...part, state } : part));
const read = (more: Partial<ReadReceipt>) => but({ receipts: [{ ...receiptOf(STATEMENT), ...more }] });
const decided = (more: object) => receipt({ decision: { ...STATEMENT.decision, ...more } });
const receipt = (more: object) => but({ receipts: [receiptOf({ ...STATEMENT, ...more })] });
const erased = (...reads: (typeof READ)[]): Partial<CampaignHistory> => ({
  operations: OPERATIONS.map((one) => (one.n === 4 ? { ...one, erasure: { ...one.erasure!, reads } } : one)),
});
const publicly = (seen: Partial<typeof SEEN>): Partial<CampaignHistory> => ({
  operations: OPERATIONS.map((one) =>
    one.n === 4 ? { ...one, erasure: { ...one.erasure!, publicReads: { ...SEEN, ...seen } } } : one,
  ),
});
const listed = (lists: Partial<Erasure['lists']>): Partial<CampaignHistory> => ({
  operations: OPERATIONS.map((one) =>
    one.n === 4 ? { ...one, erasure: { ...one.erasure!, lists: { ...LISTED, ...lists } } } : one,
  ),
});
const FAILOVER: Fault = { kind: 'isolate master', at: 0, until: 1, target: 'redis-master-1' };
const [first] = PROMISED.messages as [ReceivedMessage, ...ReceivedMessage[]];
const OTHER = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;

const LIES: [what: string, rules: string[], lie: Partial<CampaignHistory>][] = [
  [
    'a message of a stranger',
    [SIGNED],
    heard(message('/endpoint/0', 'msg_4', 'key.limit_reached', { key_id: 'k1' }, OTHER)),
  ],
  ['a signature of last week', [SIGNED], heard({ ...first, at: 1_000_000_000 })],
  [
    'one id with two texts',
    [SIGNED],
    heard(message('/endpoint/0', 'msg_1', 'poll.completed', { ...ENDED, metadata: {} })),
  ],
  ['an end that was never sent', [SENT], without('msg_2')],
  ['a batch whose end was never sent', [SENT], without('msg_3')],
  ['a limit that was reached in silence', [SENT], without('msg_4')],
  ['an end under two ids', [SENT], heard(message('/endpoint/0', 'msg_9', 'poll.completed', ENDED))],
  [
    'an end sent to another account',
    [SENT],
    {
      ...but({ hooks: [...PROMISED.hooks, { path: '/endpoint/1', accountId: 'b', secret: SECRET, isEndpoint: true }] }),
      ...heardAt('/endpoint/1'),
    },
  ],
  ['another price than was charged', [SAYS], replaced('msg_1', { ...ENDED, cost_usd: 0.0002 })],
  ['a poll without a receipt', [RECEIPT], but({ receipts: [receiptOf({}, 404)] })],
  [
    'a receipt of another key',
    [RECEIPT],
    but({ publishedKeys: [{ ...published, x: published.x.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')) }] }),
  ],
  ['a vote more in the receipt', [VOTES, SAME], receipt({ votes: [...STATEMENT.votes, { seat: 2, option: null }] })],
  ['a tally that its votes do not have', [VOTES, SAME], decided({ tally: [1, 1] })],
  ['a winner that its votes do not elect', [VOTES, SAME], decided({ winner: 0 })],
  ['a receipt that says no winner at 1:0', [VOTES, SAME], decided({ winner: null })],
  ['a receipt that says a tie at 1:0', [VOTES, SAME], decided({ tie: true })],
  ['a receipt of another status', [SAME], decided({ status: 'success' })],
  ['a receipt of another end', [SAME], decided({ reason: 'confidence' })],
  ['a receipt with models that were not heard', [SAME], decided({ skipped: 1 })],
  ['a receipt with its options exchanged', [SAME], receipt({ options: ['b', 'a'] })],
  [
    'a receipt with all votes for the other option',
    [VOTES, SAME],
    receipt({
      votes: [{ seat: 0, option: 0 }, STATEMENT.votes[1]],
      decision: { ...STATEMENT.decision, tally: [1, 0], winner: 0 },
    }),
  ],
  ['a result that is published with another winner', [SAME], read({ election: { ...ELECTION, winning_option: 'a' } })],
  ['a result that is not published', [SAME], read({ election: null })],
  ['a receipt of another result', [VOTES], receipt({ result_id: 'EP-p3' })],
  ['a receipt that the verifier refuses', [VERIFIED], read({ parts: checked('odds', 'fails') })],
  ['a result that was not checked', [VERIFIED], read({ parts: checked('result', 'unchecked') })],
  ['a tally that was not checked', [VERIFIED], read({ parts: checked('tally', 'unchecked') })],
  ['a decision that was not checked', [VERIFIED], read({ parts: checked('decision', 'unchecked') })],
  ['a part that is missing', [VERIFIED], read({ parts: PROVEN.slice(1) })],
  [
    'a hold beyond the limit',
    [LIMIT],
    but({
      keyMoves: PROMISED.keyMoves.map((move) => ({ ...move, amountU: move.amountU * 2n })),
      limitedKeys: [{ ...PROMISED.limitedKeys[0]!, spentU: 60n }],
    }),
  ],
  [
    'a key that refuses a poll though its limit would cover it',
    [NEEDLESS],
    but({ limitedKeys: [{ ...PROMISED.limitedKeys[0]!, limitU: 300_100n }] }),
  ],
  ['a charge that is not counted', [COUNTED], but({ limitedKeys: [{ ...PROMISED.limitedKeys[0]!, spentU: 29n }] })],
  ['money that is held for ever', [COUNTED], but({ limitedKeys: [{ ...PROMISED.limitedKeys[0]!, heldU: 1n }] })],
  [
    'a model that is asked after a cancellation',
    [CANCELED],
    {
      polls: HONEST.polls.map((one) => (one.id === 'p3' ? { ...one, claims: 1 } : one)),
      calls: [...HONEST.calls, { ...HONEST.calls[0]!, pollId: 'p3', madeAt: 700, at: 700 }],
    },
  ],
  [
    'a model that is asked for a poll that no worker took',
    [UNTAKEN],
    { calls: [...HONEST.calls, { ...HONEST.calls[0]!, pollId: 'p3', madeAt: 500, at: 500 }] },
  ],
  ['a row that a deletion forgot', [LEFT], but({ found: [{ marker: MARKER, place: 'Postgres, polls' }] })],
  ['a text in a log', [LEFT], but({ found: [{ marker: KEPT, place: 'log of g1' }] })],
  ['a batch that is still answered', [ANSWERED], erased({ ...READ, status: 200 })],
  [
    'the same beside a failover: its key was not revoked',
    [ANSWERED],
    { ...erased({ ...READ, status: 200 }), faults: [FAILOVER] },
  ],
  ['a result that anybody still reads', [OPEN], publicly({ after: [{ ...PUBLIC_READ, status: 200 }] })],
  ['a deleted result that asks for a key', [OPEN], publicly({ after: [{ ...PUBLIC_READ, status: 401 }] })],
  ['a result that cannot be read', [SHOWN], publicly({ before: [{ ...PUBLIC_READ, status: 404 }] })],
  [
    'ten deletions of results that had not been read',
    [SHOWN],
    {
      operations: OPERATIONS.flatMap((one) =>
        one.n === 4
          ? Array.from({ length: 10 }, (_, i) => ({
              ...one,
              ...(i > 0 && { n: 40 + i, key: `key 4${i}` }),
              erasure: { ...one.erasure!, publicReads: { ...SEEN, before: [] } },
            }))
          : one,
      ),
    },
  ],
  ['a list that shows a poll where it was deleted', [LISTS], listed({ after: [{ ...LIST_READ, shows: true }] })],
  [
    'a list that shows a deleted poll elsewhere after the lag',
    [LISTS],
    listed({ after: [{ ...LIST_READ, gateway: 'g2', asked: 7_000, shows: true }] }),
  ],
  [
    'a list that never shows a poll',
    [SHOWN_IN_LISTS],
    listed({ before: [{ ...LIST_READ, isFromReplica: false, shows: false }] }),
  ],
  [
    'fifty deletions and no list from a replica',
    [SHOWN_IN_LISTS],
    {
      operations: OPERATIONS.flatMap((one) =>
        one.n === 4
          ? Array.from({ length: 50 }, (_, i) => ({
              ...one,
              ...(i > 0 && { n: 40 + i, key: `key 4${i}` }),
              erasure: { ...one.erasure!, lists: { ...LISTED, after: [] } },
            }))
          : one,
      ),
    },
  ],
  [
    'a run that is answered after two minutes',
    [ANSWERED],
    erased({ ...READ, path: '/api/polls/p9/status', at: 130_000, status: 200 }),
  ],
];

function heardAt(path: string): Partial<CampaignHistory> {
  const hooks = [...PROMISED.hooks, { path, accountId: 'b', secret: SECRET, isEndpoint: true }];
  return but({ hooks, messages: [...PROMISED.messages, message(path, 'msg_1', 'poll.completed', ENDED)] });
}

function replaced(id: string, data: object): Partial<CampaignHistory> {
  return but({
    messages: PROMISED.messages.map((one) => (one.id === id ? message(one.path, id, 'poll.completed', data) : one)),
  });
}

const broken = (history: CampaignHistory): string[] =>
  promisedRules.filter((rule) => rule.broken(history).length > 0).map(({ name }) => name);

t.test('a correct history breaks no rule, nor does one that promises nothing', async (t) => {
  t.same(broken(HONEST), []);
  t.same(broken(honestHistory), []);
});

t.test('each lie breaks the rule that it is about, and no other', async (t) => {
  for (const [what, rules, lie] of LIES) t.same(broken({ ...HONEST, ...lie }), rules, what);
});

t.test('a receipt need not prove what its own words put out of reach', async (t) => {
  const budget = { ...STATEMENT, decision: { ...STATEMENT.decision, reason: 'budget' } };
  const spent = { ...ELECTION, termination_reason: 'budget' as const };
  const polls = HONEST.polls.map((poll) => (poll.id === 'p1' ? { ...poll, election: spent } : poll));
  const unpriced = { ...receiptOf(budget), parts: checked('decision', 'unchecked'), election: spent };
  t.same(broken({ ...HONEST, polls, ...but({ receipts: [unpriced] }) }), []);
});

t.test('what a failover of Redis brought back is counted, and breaks the rule where it would stay', async (t) => {
  const inRedis = { marker: MARKER, place: 'Redis, {p9}:run' };
  const after = (found: Found, ...faults: Fault[]): CampaignHistory => ({
    ...HONEST,
    ...but({ found: [found] }),
    faults,
  });
  const expiring = { ...inRedis, goesInMs: 500_000 };
  t.same(broken(after(expiring, FAILOVER)), []);
  t.equal(broughtBack(after(expiring, FAILOVER)), 1);
  t.same(broken(after(expiring)), [LEFT], 'without a failover');
  t.same(broken(after(inRedis, FAILOVER)), [LEFT], 'without an end');
  t.same(broken(after({ ...inRedis, goesInMs: 601_000 }, FAILOVER)), [LEFT], 'too late');
});

t.test(
  "a retry that finds its account deleted does not show that caches have forgotten the account's key",
  async (t) => {
    const after = (read: typeof READ, more: Partial<Erasure> = {}): CampaignHistory => ({
      ...HONEST,
      operations: OPERATIONS.map((one) =>
        one.n === 4 ? { ...one, erasure: { ...one.erasure!, what: 'account' as const, reads: [read], ...more } } : one,
      ),
    });
    const keys = { ...READ, path: '/api/keys', status: 200 };
    const unconfirmed = { isConfirmed: false };
    t.same(broken(after(keys, unconfirmed)), []);
    t.same(broken(after(keys)), [ANSWERED], 'the deletion was answered');
    t.same(broken(after({ ...keys, at: 12_001 }, unconfirmed)), [ANSWERED], 'too late');
    t.same(broken(after(keys, { ...unconfirmed, what: 'batch' })), [ANSWERED], 'no key ended with a batch');
  },
);

t.test("a failover may bring a deleted account's key back for ten seconds, and none of its results", async (t) => {
  const keys = { ...READ, path: '/api/keys', status: 200 };
  const after = (read: typeof READ, ...faults: Fault[]): CampaignHistory => ({
    ...HONEST,
    operations: OPERATIONS.map((one) =>
      one.n === 4 ? { ...one, erasure: { ...one.erasure!, what: 'account' as const, reads: [read] } } : one,
    ),
    faults,
  });
  t.same(broken(after(keys, FAILOVER)), []);
  t.same(broken(after({ ...READ, status: 200 }, FAILOVER)), [], 'its batches go with it');
  t.same(broken(after(keys)), [ANSWERED], 'without a failover');
  t.same(broken(after({ ...keys, at: 12_001 }, FAILOVER)), [ANSWERED], 'too late');
  const results = { ...HONEST, ...publicly({ after: [{ ...PUBLIC_READ, status: 200 }] }), faults: [FAILOVER] };
  t.same(broken(results), [OPEN], 'a result');
});

t.test(
  'elsewhere a list may be as old as a replica, also where the gateway that deleted has ended since',
  async (t) => {
    const read = { ...LIST_READ, asked: 6_900, shows: true };
    const killed: Fault = { kind: 'kill gateway', at: 3_000, until: 4_000, target: 'g1' };
    t.same(broken({ ...HONEST, ...listed({ after: [{ ...read, gateway: 'g2' }] }) }), []);
    t.same(broken({ ...HONEST, ...listed({ after: [read] }), faults: [killed] }), []);
    t.same(broken({ ...HONEST, ...listed({ after: [read] }), faults: [{ ...killed, target: 'g2' }] }), [LISTS]);
    t.same(broken({ ...HONEST, ...listed({ after: [read] }), faults: [{ ...killed, at: 100, until: 200 }] }), [LISTS]);
    const withoutReplica = { ...HONEST, ...listed({ after: [{ ...read, gateway: 'g2' }] }) };
    t.same(broken({ ...withoutReplica, ...but({ lagMs: 0 }) }), [LISTS], 'there is no replica');
  },
);

t.test('every rule has a lie that breaks it', async (t) => {
  const falsified = new Set(LIES.flatMap(([, rules]) => rules));
  for (const { name } of promisedRules) t.ok(falsified.has(name) || name === TRIED, name);
});

t.test(
  'what providers count is held against the ceiling of its hour, and nothing shows it where no caller was refused',
  async (t) => {
    const [ceiling, inAll, counted, reached] = spendRules(150);
    t.same(ceiling!.broken(HONEST), []);
    const twice = { ...HONEST, calls: [...HONEST.calls, { ...HONEST.calls[0]!, pollId: 'p3' }] };
    t.match(ceiling!.broken(twice), [/^1970-01-01T00:00:00\.000Z: 200 of 150$/]);
    const later = HONEST.polls.map((poll) => (poll.id === 'p3' ? { ...poll, spendAt: 4_000_000 } : poll));
    t.same(ceiling!.broken({ ...twice, polls: later }), [], 'each hour has its own');
    t.same(inAll!.broken(HONEST), []);
    t.same(inAll!.broken({ ...twice, polls: later }), ['200 in 1 hours of 150'], 'an hour without a request');
    const next = { ...twice, calls: twice.calls.map((call, i) => ({ ...call, at: call.at + i * 3_600_000 })) };
    t.same(inAll!.broken(next), [], 'the campaign lasted into the next hour');
    t.same(counted!.broken({ ...HONEST, countedSpendU: 150n }), []);
    t.same(counted!.broken({ ...HONEST, countedSpendU: 151n }), ['151 of 150']);
    t.equal(reached!.broken(HONEST).length, 1);
    const attempts = [attemptOf({ status: 503, code: 'provider_budget_reached' })];
    t.same(reached!.broken({ ...HONEST, operations: [operationOf(0, 'async', { attempts })] }), []);
  },
);

t.test('limits that are never reached, or never cover a poll, show nothing', async (t) => {
  const { broken: untried } = limitRules.find(({ name }) => name === TRIED)!;
  const asked = (refused: boolean, id = 'k1') =>
    Array.from({ length: 60 }, (_, n) => operationOf(n, 'limited', { limitedKey: { id, refused } }));
  t.same(untried({ ...HONEST, operations: asked(true) }), []);
  t.same(untried({ ...HONEST, operations: asked(true, 'k2') }), ['2 taken, 60 refused, by no key both']);
  const holds = Array.from({ length: 60 }, () => PROMISED.keyMoves[0]!);
  t.same(untried({ ...HONEST, operations: asked(false), promised: { ...PROMISED, keyMoves: holds } }), [
    '60 taken, 0 refused, by no key both',
  ]);
  t.same(untried({ ...HONEST, operations: asked(false) }), [], 'too few to say');
});

t.test('a text that a server kept is found on it, if it is still there a moment later', async (t) => {
  const values = new Map([
    ['lab1:{p9}:run', MARKER],
    [`lab1:${KEPT}`, 'nothing'],
    ['lab1:other', 'nothing'],
  ]);
  const server = {
    scan: async () => ['0', [...values.keys()]] as [string, string[]],
    pttl: async (key: string) => (key.includes('run') ? 500 : -1),
    type: async () => 'string',
    get: async (key: string) => values.get(key) ?? null,
    hgetall: async () => ({}),
    lrange: async () => [],
    smembers: async () => [],
    zrange: async () => [],
  };
  const found = await findInServer(server, 'lab1', { where: 'Redis server 4' });
  t.same(found, [
    { marker: MARKER, place: 'Redis server 4, lab1:{p9}:run', goesInMs: 500 },
    { marker: KEPT, place: `Redis server 4, lab1:${KEPT}` },
  ]);
  values.delete('lab1:{p9}:run');
  t.same(stillFound(found, await findInServer(server, 'lab1', { where: 'Redis server 4' })), found.slice(1));
  t.same(stillFound([], found), [], 'what came later is of no deletion');
  const lost = { ...server, pttl: () => Promise.reject(new Error('MOVED 2064 127.0.0.1:7001')) };
  const unserved: string[] = [];
  t.same(await findInServer(lost, 'lab1', { where: 'Redis server 4', unserved }), []);
  t.same(unserved, [`Redis server 4, lab1:${KEPT}`, 'Redis server 4, lab1:other'], 'what it cannot read is counted');
  await t.rejects(findInServer(lost, 'lab1'), /MOVED/);
});

t.test('a marker is found as it is and as bytes', async (t) => {
  const hex = Buffer.from(`before ${MARKER} after`).toString('hex');
  t.same(markersIn(`{"a":"${MARKER}","b":"\\\\x${hex}"} ${KEPT}`), [MARKER, KEPT]);
  t.same(markersIn(`\\\\x${hex}`), [MARKER]);
  t.same(markersIn('nothing'), []);
});
