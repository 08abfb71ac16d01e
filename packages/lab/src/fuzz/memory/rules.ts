import { parsed } from '../judge-answer.ts';
import type { FuzzAnswer } from '../send-request.ts';
import { escapedText } from './hostile-answers.ts';
import { OWN_THINGS, PUBLIC_THINGS, REPEATED, SPENDS } from './owned-operations.ts';
import type { People } from './people.ts';
import type { Prepared } from './prepare-request.ts';
import { type Named, otherThan, type Remembered } from './remembered.ts';

// Rules for an answer beyond its shape, from what the sequence knows. Each returns what is wrong, or null.

/** A successful request with a key for its repetition. */
export interface AnsweredRequest {
  readonly prepared: Prepared;
  readonly answer: FuzzAnswer;
}

export function brokenRule(
  prepared: Prepared,
  answer: FuzzAnswer,
  remembered: Remembered,
  people: People,
): string | null {
  return (
    escapedText(answer) ??
    shownToOthers(prepared, answer, remembered, people) ??
    wrongOwner(prepared, answer) ??
    wrongCredential(prepared, answer) ??
    wrongTag(prepared, answer) ??
    wrongBalance(prepared, answer, people)
  );
}

const PRIVATE_KINDS = new Set(['session', 'batch', 'key-id', 'endpoint', 'delivery', 'cursor', 'grant']);

/** Data of one account may be in an answer to another only if the request contained it. */
function shownToOthers(
  { actor, sent, credentials }: Prepared,
  { text, headers }: FuzzAnswer,
  { things }: Remembered,
  people: People,
): string | null {
  if (credentials.access === 'odd') return null;
  const asked = `${sent.target} ${JSON.stringify(sent.headers)} ${sent.body?.toString() ?? ''}`;
  const shown = `${text} ${String(headers.location ?? '')}`;
  const leaked = (value: string) =>
    shown.includes(value) && !asked.includes(value) && !asked.includes(encodeURIComponent(value));
  for (const party of actor === 'n' ? (['a', 'b'] as const) : [otherThan(actor)]) {
    const { mark, keys, cookies } = people[party];
    if (leaked(mark)) return `a text of the other account is shown (${mark})`;
    if ([...keys, ...cookies].some(({ value }) => leaked(value))) return 'a credential of the other account is shown';
    const thing = things.find(
      ({ owner, kind, value }) => owner === party && PRIVATE_KINDS.has(kind) && value.length > 12 && leaked(value),
    );
    if (thing) return `the other account's ${thing.kind} ${thing.value} is shown`;
  }
  return null;
}

/** An account finds its own things; others' things, ended ones and unknown ones are 404. */
function wrongOwner(
  { operation: { id }, manner, names, credentials }: Prepared,
  { status }: FuzzAnswer,
): string | null {
  const own = OWN_THINGS[id];
  const kind = own ?? PUBLIC_THINGS[id];
  if (kind === undefined || manner === 'twice' || manner === 'wild') return null;
  if (own !== undefined && credentials.access !== 'full') return null;
  const named = names.filter(({ inPath }) => inPath);
  const worst = named.find((thing) => thing.named !== 'own')?.named ?? named[0]?.named;
  if (worst === undefined || worst === 'unsure') return null;
  const isThere = worst === 'own' || (own === undefined && worst === 'foreign');
  if (isThere) return status === 404 && named.length === 1 && !LATER.has(id) ? `an own ${kind} is not found` : null;
  return status === 404 || status === 400 ? null : `${describe(worst)} ${kind} is answered ${status}`;
}

/** A 404 is also right for a poll that has not ended, a batch without gold, or the wrong endpoint. */
const LATER = new Set([
  'getResult',
  'getMermaid',
  'getResultPage',
  'deleteResult',
  'getBatchReport',
  'resendWebhookDelivery',
  'sendResend',
]);

const describe = (named: Named): string =>
  named === 'foreign' ? "another account's" : named === 'ended' ? 'an ended' : 'an unknown';

function wrongCredential(
  { operation: { id, method, ways }, credentials: { access, way, held }, sent }: Prepared,
  { status }: FuzzAnswer,
): string | null {
  // Another method may be another operation, with other credentials.
  if (sent.method !== method) return null;
  const isRead = way !== 'none' && ways.includes(way);
  if (access === 'ended' && isRead && (way === 'key' || !ways.includes('none')) && status < 400)
    return `a ${way} that has ended is answered ${status}`;
  if (held?.readOnly && SPENDS.has(id) && status < 300 && !/dry_run/.test(sent.body?.toString() ?? ''))
    return `a key that only reads is answered ${status}`;
  if (access === 'full' && isRead && status === 401) return `a good ${way} is answered 401`;
  return null;
}

function wrongTag({ sent }: Prepared, { status, headers }: FuzzAnswer): string | null {
  const asked = sent.headers['if-none-match'];
  if (asked === undefined || asked === '*') return null;
  return status === 200 && headers.etag === asked ? 'a copy that is still good was sent again' : null;
}

const toU = (usd: unknown): number => Math.round(Number(usd) * 1e6);

/** A balance never exceeds what was paid in. */
function wrongBalance(
  { operation: { id }, actor, credentials }: Prepared,
  { status, text }: FuzzAnswer,
  people: People,
): string | null {
  if (id !== 'getUsageBalance' || status !== 200 || actor === 'n' || credentials.access === 'odd') return null;
  const { available_usd, reserved_usd, used_usd } = (parsed(text) ?? {}) as Record<string, unknown>;
  const { creditedU } = people[actor];
  const all = toU(available_usd) + toU(reserved_usd) + toU(used_usd);
  return all > creditedU ? `a balance of ${all} micro-USD, of which ${creditedU} were paid in` : null;
}

/**
 * A repetition with the same Idempotency-Key has the same answer; with another body it is refused. A deletion frees the
 * key.
 */
export function wrongRepetition(
  before: AnsweredRequest,
  { prepared, answer }: AnsweredRequest,
  remembered: Remembered,
): string | null {
  const { id } = before.prepared.operation;
  const pattern = REPEATED[id];
  const isGone = remembered.things.some(
    ({ kind, value, standing }) => kind !== 'panel' && standing !== 'live' && before.answer.text.includes(value),
  );
  if (isGone) return null;
  if (pattern === undefined || answer.status >= 400) {
    const mayFail = prepared.manner === 'reused' || pattern === undefined || prepared.credentials.access !== 'full';
    return mayFail || [402, 429, 409].includes(answer.status)
      ? null
      : `a repeated request is answered ${answer.status}`;
  }
  const [first] = pattern.exec(before.answer.text) ?? [];
  const [second] = pattern.exec(answer.text) ?? [];
  if (first === undefined || second === undefined || first === second) return null;
  return prepared.manner === 'reused'
    ? `a used Idempotency-Key made ${second} beside ${first}`
    : `a repeated request made ${second} beside ${first}`;
}
