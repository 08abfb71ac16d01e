import t from 'tap';
import { corpusOf } from '../src/fuzz/memory/corpus.ts';
import { escapedText, HOSTILE_TEXTS } from '../src/fuzz/memory/hostile-answers.ts';
import { learnFrom } from '../src/fuzz/memory/learn.ts';
import { learnFromLeft } from '../src/fuzz/memory/learn-left.ts';
import { OWN_LISTS, wrongList } from '../src/fuzz/memory/own-lists.ts';
import type { AccountHolder, People } from '../src/fuzz/memory/people.ts';
import type { Prepared } from '../src/fuzz/memory/prepare-request.ts';
import { Remembered, type ThingKind } from '../src/fuzz/memory/remembered.ts';
import { requestsByInterface } from '../src/fuzz/memory/requests-by-interface.ts';
import { brokenRule, wrongRepetition } from '../src/fuzz/memory/rules.ts';
import { shrinkSequence } from '../src/fuzz/memory/shrink-sequence.ts';
import { parseSteps, stepsText } from '../src/fuzz/memory/step.ts';
import type { FuzzAnswer } from '../src/fuzz/send-request.ts';

// Each rule of the sequences with an answer that breaks it, and with one that does not.

const person = (party: 'a' | 'b'): AccountHolder => ({
  party,
  accountId: `account of ${party}`,
  mark: `zq${party}1x`,
  keys: [{ value: `ep_k_key_of_${party}`, id: null, access: 'full', readOnly: false }],
  cookies: [],
  wallet: null,
  proofs: new Map(),
  isDeleted: false,
  creditedU: 5_000_000,
});
const unused = () => Promise.reject(new Error('not asked for'));
const people: People = { a: person('a'), b: person('b'), key: unused, cookie: unused, walletOf: unused };
const FOREIGN_BATCH = 'pb_0123456789abcdef0123456789abcdef';
const remembered = new Remembered();
remembered.note('batch', FOREIGN_BATCH, 'b');

function prepared(id: string, more: Partial<Prepared> = {}): Prepared {
  const operation = {
    id,
    name: id,
    method: 'GET',
    path: '/',
    parameters: [],
    bodies: {},
    ways: ['key'],
    answers: {},
  } as const;
  const sent = { method: 'GET', target: '/', headers: {}, body: null };
  const credentials = { headers: {}, access: 'full', way: 'key', held: people.a.keys[0]! } as const;
  return { operation, actor: 'a', manner: 'good', sent, names: [], credentials, ...more };
}
const answer = (
  status: number,
  text = '{}',
  headers: FuzzAnswer['headers'] = { 'content-type': 'application/json' },
) => ({
  ...{ status, text, headers, tookMs: 1 },
});
const batch = (named: 'own' | 'foreign' | 'ended' | 'bent') => ({
  names: [{ kind: 'batch', value: FOREIGN_BATCH, named, inPath: true } as const],
});
const ended = { headers: {}, access: 'ended', way: 'key', held: null } as const;

for (const [what, request, wrong, right] of [
  ["another account's id", prepared('getBatch', batch('foreign')), answer(200), answer(404)],
  ['an id that has ended', prepared('getBatch', batch('ended')), answer(409), answer(404)],
  ['an id of which a character was changed', prepared('getBatch', batch('bent')), answer(200), answer(400)],
  ['an own id', prepared('getBatch', batch('own')), answer(404), answer(200)],
  [
    'a text of the other account',
    prepared('listPolls'),
    answer(200, '{"team":"zqb1x"}'),
    answer(200, '{"team":"zqa1x"}'),
  ],
  ['an id of the other account', prepared('listBatches'), answer(200, `["${FOREIGN_BATCH}"]`), answer(200, '[]')],
  ['a key of the other account', prepared('listKeys'), answer(200, '"ep_k_key_of_b"'), answer(200, '"ep_k_key_of_a"')],
  ['a revoked key', prepared('listKeys', { credentials: ended }), answer(200), answer(401)],
  ['a good key', prepared('listKeys'), answer(401), answer(200)],
  [
    'a balance',
    prepared('getUsageBalance'),
    answer(200, '{"available_usd":5,"reserved_usd":0,"used_usd":0.000001}'),
    answer(200, '{"available_usd":4,"reserved_usd":0.5,"used_usd":0.5}'),
  ],
  [
    'a tag that is sent back',
    prepared('getResult', { sent: { method: 'GET', target: '/', headers: { 'if-none-match': '"1"' }, body: null } }),
    answer(200, '{}', { etag: '"1"' }),
    answer(200, '{}', { etag: '"2"' }),
  ],
] as const) {
  t.test(`the rules of sequences see what is wrong with ${what}`, (t) => {
    t.type(brokenRule(request, wrong, remembered, people), 'string');
    t.equal(brokenRule(request, right, remembered, people), null);
    t.end();
  });
}

t.test('a repeated request has the id of before, with another body it is refused', (t) => {
  const before = { prepared: prepared('createBatch'), answer: answer(202, '{"batch_id":"pb_1"}') };
  const again = (manner: 'again' | 'reused', given: FuzzAnswer) =>
    wrongRepetition(before, { prepared: prepared('createBatch', { manner }), answer: given }, remembered);
  t.equal(again('again', answer(202, '{"batch_id":"pb_1"}')), null);
  t.equal(again('reused', answer(422)), null);
  t.type(again('again', answer(202, '{"batch_id":"pb_2"}')), 'string');
  t.type(again('again', answer(422)), 'string');
  t.type(again('reused', answer(202, '{"batch_id":"pb_2"}')), 'string');
  remembered.note('panel', 'batch', 'a', 'ended');
  t.type(again('reused', answer(202, '{"batch_id":"pb_2"}')), 'string', 'a name in the answer is no id');
  remembered.note('batch', 'pb_1', 'a', 'ended');
  t.equal(again('reused', answer(202, '{"batch_id":"pb_2"}')), null, 'its deletion freed the key');
  t.end();
});

t.test('what was only looked at has not ended, whatever its operation does by another method', (t) => {
  const known = new Remembered();
  known.note('endpoint', 'we_1', 'a');
  const endpoint = { kind: 'endpoint', value: 'we_1', named: 'own', inPath: true } as const;
  const learned = (method: string) => {
    const { operation, sent } = prepared('removeWebhookEndpoint');
    const by = { operation: { ...operation, method: 'DELETE' }, sent: { ...sent, method }, names: [endpoint] };
    learnFrom(prepared('removeWebhookEndpoint', by), answer(200), known, people);
    return known.find('endpoint', 'we_1', 'a')?.standing;
  };
  t.equal(learned('GET'), 'live');
  t.equal(learned('DELETE'), 'ended');
  t.end();
});

t.test('a key that expires while its sequence is played may be there, and may not', (t) => {
  const key = { kind: 'key-id', value: 'k1', named: 'own', inPath: true } as const;
  const changed = (leftMs: number) => {
    const known = new Remembered();
    known.note('key-id', 'k1', 'a');
    const expiresAt = new Date(Date.now() + leftMs).toISOString();
    const text = JSON.stringify({ id: 'k1', expires_at: expiresAt });
    learnFrom(prepared('changeKey', { names: [key] }), answer(200, text), known, people);
    return known.find('key-id', 'k1', 'a')?.standing;
  };
  t.equal(changed(5_000), 'unsure');
  t.equal(changed(86_400_000), 'live');
  t.end();
});

t.test('a list lacks nothing that was made and has nothing that has ended', (t) => {
  const list = OWN_LISTS.find(({ kind }) => kind === 'key-id')!;
  const listed = JSON.stringify([
    { id: 'k1', revoked_at: null },
    { id: 'k2', revoked_at: '2026-01-01' },
  ]);
  t.equal(wrongList(list, listed, ['k1'], ['k2']), null);
  t.type(wrongList(list, listed, ['k3'], []), 'string');
  t.type(wrongList(list, listed, ['k1'], ['k1']), 'string');
  t.end();
});

t.test('a text that became more than a text is seen', (t) => {
  const as = (type: string, text: string) =>
    escapedText(answer(200, text, { 'content-type': `${type}; charset=utf-8` }));
  const html = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
  for (const text of HOSTILE_TEXTS) t.equal(as('text/html', `<p title="${html(text)}">${html(text)}</p>`), null, text);
  for (const text of ['<p><xq7></p>', '<p title="" onxq7="1">', '<a href="javascript:xq7()">'])
    t.type(as('text/html', text), 'string');
  t.type(as('text/csv', 'a,b\r\n1,=xq7(1)\r\n'), 'string');
  t.equal(as('text/csv', "a,b\r\n1,'=xq7(1)\r\n"), null);
  t.type(as('text/markdown', '[xq7](javascript:xq7)'), 'string');
  t.type(as('text/event-stream', 'data: {}\nevent: xq7\n\n'), 'string');
  t.type(escapedText(answer(200, '', { 'x-xq7': '1' })), 'string');
  t.end();
});

const zero = {
  below: () => 0,
  of: <T>(list: readonly T[]) => list[0]!,
  oneIn: () => true,
  weighed: <T>(pairs: readonly (readonly [T, number])[]) => pairs[0]![0],
};

t.test('requests are counted by the interface through which they came', async (t) => {
  const operation = (id: string, method: string, path: string) => ({ id, method, path });
  const operations = [
    operation('speakMcp', 'POST', '/api/mcp'),
    operation('sendTask', 'POST', '/api/a2a/tasks/send'),
    operation('createChatCompletion', 'POST', '/v1/chat/completions'),
    operation('receiveStripeEvent', 'POST', '/api/webhooks/stripe'),
    operation('sendNewKey', 'POST', '/dashboard/keys'),
    operation('getDashboard', 'GET', '/dashboard'),
    operation('createPoll', 'POST', '/api/poll'),
  ];
  const counts = new Map([
    ['speakMcp 200', 5],
    ['speakMcp 400 invalid_request', 2],
    ['sendTask 200', 3],
    ['createChatCompletion 200', 4],
    ['receiveStripeEvent 200', 6],
    ['sendNewKey 303', 8],
    ['getDashboard 200', 1],
    ['createPoll 200', 9],
  ]);
  t.same(requestsByInterface(counts, operations), {
    'requests over MCP': 7,
    'requests over A2A': 3,
    'requests over chat completions': 4,
    'webhooks of payments that came in': 6,
    'forms that were sent': 8,
    'other requests': 10,
  });
});

t.test('a corpus keeps the shortest sequence to each answer, and reads what it wrote', (t) => {
  const corpus = corpusOf('');
  const long = parseSteps('createKey.a.good.1,listKeys.a.good.2,getBatch.b.foreign.3');
  t.ok(corpus.take(long, new Map([['getBatch 404 batch_not_found', 2]])));
  t.notOk(corpus.take(long.slice(2), new Map([['getBatch 404 batch_not_found', 0]])), 'shorter, and nothing new');
  t.equal(stepsText(corpus.draw(zero)!), 'getBatch.b.foreign.3');
  t.equal(corpusOf('getBatch 404 x\tgetBatch.b.foreign.3\n').size, 1);
  t.throws(() => parseSteps('getBatch.c.foreign.3'), { message: /is no step/ });
  t.end();
});
t.test('a sequence shrinks to the steps that its fault takes', async (t) => {
  const steps = parseSteps(Array.from({ length: 30 }, (_, i) => `op${i}.a.good.${i.toString(36)}`).join());
  const fault = {
    at: 25,
    operation: 'op25',
    problem: 'wrong',
    sent: { method: 'GET', target: '/', headers: {}, body: null },
  };
  const play = async (part: readonly { operation: string }[]) => {
    const has = (name: string) => part.some(({ operation }) => operation === name);
    return has('op3') && has('op25') ? fault : null;
  };
  const shrunk = await shrinkSequence(steps, fault, play);
  t.same(
    shrunk.steps.map(({ operation }) => operation),
    ['op3', 'op25'],
  );
});

t.test('what was asked by a caller who hung up is not known: neither that it happened nor that it did not', (t) => {
  const known = new Remembered();
  const holder = person('a');
  const parties: People = { ...people, a: holder };
  const left = (id: string, more: Partial<Prepared> = {}) => learnFromLeft(prepared(id, more), known, parties);
  const named = (kind: ThingKind, value: string) => ({ names: [{ kind, value, named: 'own', inPath: true } as const] });
  const standing = (kind: ThingKind, value: string) => known.find(kind, value, 'a')?.standing;

  known.note('panel', 'p-1', 'a', 'ended');
  known.note('panel', 'p-2', 'a');
  left('savePanel');
  t.same([standing('panel', 'p-1'), standing('panel', 'p-2')], ['unsure', 'live'], 'saved again, or over itself');
  const saving = { method: 'PUT', target: '/api/panels/p-3', headers: {}, body: null };
  left('savePanel', { sent: saving });
  t.equal(standing('panel', 'p-3'), 'unsure', 'a name that was not known');
  left('removePanel', named('panel', 'p-2'));
  t.equal(standing('panel', 'p-2'), 'unsure');

  known.note('session', 'ps_1', 'a');
  known.note('result', 'EP-1', 'a');
  known.resultOf.set('ps_1', 'EP-1');
  left('deleteResult', { ...named('result', 'EP-1'), credentials: ended });
  t.equal(standing('result', 'EP-1'), 'live', 'a key that has ended deletes nothing');
  left('deleteResult', named('result', 'EP-1'));
  t.same([standing('session', 'ps_1'), standing('result', 'EP-1')], ['unsure', 'unsure']);

  known.note('key-id', 'k1', 'a');
  holder.keys.push({ value: 'ep_k_other', id: 'k1', access: 'full', readOnly: false });
  left('revokeKey', named('key-id', 'k1'));
  t.equal(standing('key-id', 'k1'), 'unsure');
  t.same(
    holder.keys.map(({ access }) => access),
    ['full', 'restricted'],
  );
  left('deleteAccount');
  t.ok(holder.isDeleted);
  t.same(
    holder.keys.map(({ access }) => access),
    ['restricted', 'restricted'],
  );
  t.equal(
    brokenRule(prepared('listKeys', { credentials: { ...ended, access: 'restricted' } }), answer(401), known, parties),
    null,
  );
  t.end();
});

t.test(
  'after a request with two credentials no key or cookie is known to be good, those of repeated requests neither',
  (t) => {
    const holder = person('a');
    const [before] = holder.keys;
    const odd = { headers: {}, access: 'odd', way: 'none', held: null } as const;
    const sent = { method: 'POST', target: '/', headers: {}, body: null };
    const logout = prepared('logout', { credentials: odd, sent });
    const asPost = { ...logout, operation: { ...logout.operation, method: 'POST' } };
    learnFrom(asPost, answer(303), new Remembered(), { ...people, a: holder, b: person('b') });
    t.same([holder.keys, before?.access], [[], 'restricted']);

    const cookie = { value: 'ep_session=x', id: null, access: 'full' as const, readOnly: false };
    holder.cookies.push(cookie);
    const head = { ...logout, sent: { ...sent, method: 'HEAD' } };
    learnFrom(head, answer(302, ''), new Remembered(), { ...people, a: holder, b: person('b') });
    t.same([holder.cookies, cookie.access], [[], 'restricted'], 'a HEAD ends a login as its GET does');
    t.end();
  },
);

t.test('another method of a path is another operation, which may take other credentials', (t) => {
  const sent = { method: 'POST', target: '/', headers: {}, body: null };
  t.type(brokenRule(prepared('listPolls'), answer(401), remembered, people), 'string');
  t.equal(brokenRule(prepared('listPolls', { sent }), answer(401), remembered, people), null);
  t.end();
});
