import { parsed } from '../judge-answer.ts';
import type { FuzzAnswer } from '../send-request.ts';
import { CHANGES_KEY, ENDED_BY, ENDS_ALL, isDestructive } from './owned-operations.ts';
import type { Held, People } from './people.ts';
import type { Prepared } from './prepare-request.ts';
import { type Remembered, THING_KINDS, type ThingKind } from './remembered.ts';

// Learns from an answer what it created and what it ended. Everything that later steps name comes from here.

/** Patterns of ids in the answers of operations that create something. */
const IDS: readonly (readonly [ThingKind, RegExp])[] = [
  ['session', /\bps_[0-9a-z]{20,}\b/g],
  ['result', /\bEP-\d{4}-\d\d-\d\d-[0-9a-z]{16}\b/g],
  ['batch', /\bpb_[0-9a-f]{32}\b/g],
  ['endpoint', /\bwe_[0-9a-f]{32}\b/g],
  ['delivery', /\bwd_[0-9a-f]{32}\b/g],
];

const MAKES: Readonly<Record<string, readonly ThingKind[]>> = {
  createPoll: ['session', 'result'],
  createSession: ['session', 'result'],
  streamPoll: ['session', 'result'],
  quickPoll: ['session', 'result'],
  createChatCompletion: ['result'],
  speakMcp: ['session', 'result'],
  sendTask: ['session', 'result'],
  getSessionStatus: ['result'],
  createBatch: ['batch'],
  sendBatch: ['batch'],
  createWebhookEndpoint: ['endpoint'],
  sendNewEndpoint: ['endpoint'],
  testWebhookEndpoint: ['delivery'],
  listWebhookDeliveries: ['delivery'],
};

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

const KEY = /\bep_k_[0-9A-Za-z]{20,}\b/;

export function learnFrom(
  { operation, actor, sent, names, credentials }: Prepared,
  answer: FuzzAnswer,
  remembered: Remembered,
  people: People,
): void {
  const { id } = operation;
  const { status, headers, text } = answer;
  if (typeof headers.etag === 'string') remembered.tags.set(id, headers.etag);
  const isGood = status < 400;
  if (!isGood || actor === 'n') return;
  // A HEAD has the effects of its GET; one of them ends a login.
  if (sent.method !== operation.method && !(sent.method === 'HEAD' && operation.method === 'GET')) {
    if (!SAFE.has(sent.method)) forgetAll(remembered, people);
    return;
  }
  // For operations by wallet or code, the other credentials do not matter; a logout ends the cookie that was sent.
  if (credentials.access === 'odd' && (id === 'logout' || !operation.ways.every((way) => way === 'none'))) {
    if (isDestructive(id)) forgetAll(remembered, people);
    return;
  }
  if (id === 'redeemGrant') {
    learnGranted(names, text, remembered, people);
    return;
  }
  const person = people[actor];
  const asked = sent.target + (sent.body?.toString() ?? '');
  const shown = text + String(headers.location ?? '');
  for (const [kind, pattern] of IDS) {
    if (!MAKES[id]?.includes(kind)) continue;
    for (const [value] of shown.matchAll(pattern))
      if (!asked.includes(value) && !remembered.things.some((thing) => thing.value === value))
        remembered.note(kind, value, actor);
  }
  const json = parsed(text) as Readonly<Record<string, unknown>> | undefined;
  learnPair(remembered, id, json, names);
  for (const name of ['after', 'before', 'cursor'])
    if (typeof json?.[name] === 'string') remembered.note('cursor', json[name], actor);
  if (id === 'exportAccount')
    for (const [, cursor] of text.matchAll(/"cursor":"([^"]+)"/g)) remembered.note('cursor', cursor!, actor);
  if (id === 'savePanel' && typeof json?.name === 'string') remembered.note('panel', json.name, actor);
  if (id === 'createCheckout')
    for (const [value] of text.matchAll(/cs_test_\w+/g)) remembered.note('checkout', value, actor);
  if (id === 'sendGrant')
    for (const [, code] of shown.matchAll(/[?&]code=([\w-]+)/g)) remembered.note('grant', code!, actor);
  if (id === 'verifyWallet')
    for (const cookie of [headers['set-cookie'] ?? []].flat())
      if (cookie.startsWith('ep_session='))
        person.cookies.push({ value: cookie.split(';')[0]!, id: null, access: 'full', readOnly: false });
  learnKeys(id, json, text, person.keys, { remembered, actor, sentBody: sent.body?.toString() ?? '' });
  if (endsSoon(json, Date.now())) remembered.end('key-id', String(json?.id), actor, 'unsure');

  const ends = ENDED_BY[id];
  if (ends !== undefined) {
    for (const { kind, value, named } of names)
      if (kind === ends && named === 'own') remembered.end(kind, value, actor, endingOf(id));
    if (id === 'deleteResult' && typeof json?.session_id === 'string')
      remembered.end('session', json.session_id, actor);
  }
  if (CHANGES_KEY.has(id))
    for (const { kind, value } of names)
      if (kind === 'key-id') loseKey(person.keys, value, id.startsWith('revoke') || id === 'sendKeyRevocation');
  if (id === 'revokeKeyByWallet')
    for (const { kind, value } of names) if (kind === 'key-id') remembered.end(kind, value, actor, 'unsure');
  if (id === 'logout' && credentials.way === 'cookie' && credentials.held) credentials.held.access = 'ended';
  if (ENDS_ALL.has(id)) {
    if (id === 'revokeAllKeys' && credentials.access === 'restricted') {
      loseKey(person.keys, credentials.held?.id ?? '', true);
      return;
    }
    const newest = id === 'rotateKeysByWallet' ? person.keys.at(-1) : undefined;
    for (const held of [...person.keys, ...person.cookies]) if (held !== newest) held.access = 'ended';
    remembered.endAll(actor, ['key-id'], 'unsure');
    if (!id.startsWith('deleteAccount')) return;
    person.isDeleted = true;
    remembered.endAll(actor, THING_KINDS);
  }
}

const SOON_MS = 600_000;

/** Whether a key may expire during its sequence, so that it is valid at first and later is not. */
function endsSoon(json: Readonly<Record<string, unknown>> | undefined, now: number): boolean {
  return typeof json?.expires_at === 'string' && Date.parse(json.expires_at) < now + SOON_MS;
}

/** After a request with two credentials, it is unknown what it did, and to which account. */
export function forgetAll(remembered: Remembered, people: People): void {
  for (const party of ['a', 'b'] as const) {
    remembered.endAll(party, THING_KINDS, 'unsure');
    // A request that is repeated later still has the old credential.
    for (const held of [...people[party].keys, ...people[party].cookies]) doubt(held);
    people[party].keys.length = 0;
    people[party].cookies.length = 0;
  }
}

/** A key belongs to the account that granted it, not to the one that fetched it. */
function learnGranted(names: Prepared['names'], text: string, remembered: Remembered, people: People): void {
  const json = parsed(text) as Readonly<Record<string, unknown>> | undefined;
  const code = names.find(({ kind }) => kind === 'grant')?.value;
  const owner = remembered.things.find(({ kind, value }) => kind === 'grant' && value === code)?.owner;
  if (code === undefined || owner === undefined || owner === 'n') return;
  remembered.end('grant', code, owner);
  learnKeys('redeemGrant', json, text, people[owner].keys, { remembered, actor: owner, sentBody: '' });
}

/** A form answers 303 whether or not it found anything. */
const endingOf = (id: string) => (id.startsWith('send') ? ('unsure' as const) : ('ended' as const));

function learnPair(
  remembered: Remembered,
  id: string,
  json: Readonly<Record<string, unknown>> | undefined,
  names: Prepared['names'],
): void {
  const session = json?.session_id ?? names.find(({ kind }) => kind === 'session')?.value;
  const result = json?.result_id ?? (id === 'getSessionResult' || id === 'streamPoll' ? json?.poll_id : undefined);
  if (typeof session === 'string' && typeof result === 'string') remembered.resultOf.set(session, result);
}

function learnKeys(
  id: string,
  json: Readonly<Record<string, unknown>> | undefined,
  text: string,
  keys: Held[],
  { remembered, actor, sentBody }: { remembered: Remembered; actor: 'a' | 'b'; sentBody: string },
): void {
  const value = KEY.exec(text)?.[0];
  if (value === undefined || keys.some((held) => held.value === value)) return;
  const keyId = typeof json?.id === 'string' ? json.id : typeof json?.key_id === 'string' ? json.key_id : null;
  const isPlain =
    id === 'createKey'
      ? !/"(?:expires_at|read_only|limit_usd)"/.test(sentBody)
      : id !== 'sendNewKey' && id !== 'sendKeyRotation';
  keys.push({ value, id: keyId, access: isPlain ? 'full' : 'restricted', readOnly: json?.read_only === true });
  if (keyId !== null) remembered.note('key-id', keyId, actor);
}

export function loseKey(keys: Held[], keyId: string, isRevoked: boolean): void {
  const found = keys.find(({ id }) => id === keyId);
  if (found && found.access !== 'ended') {
    found.access = isRevoked ? 'ended' : 'restricted';
    found.readOnly = false;
  }
}

/** It may or may not have ended. */
export function doubt(held: Held): void {
  if (held.access !== 'ended') Object.assign(held, { access: 'restricted', readOnly: false });
}
