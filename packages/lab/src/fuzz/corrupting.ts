import { isJsonObject } from '@eloquentpoll/contracts';
import fc, { type Arbitrary } from 'fast-check';

// Turns a good body into a bad one: first its value, then its text, where two members can have the same name and a
// number can exceed every number type.

type Corruption = (value: unknown) => unknown;

export const hostileText: Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    'x\udfff',
    '\u202e',
    '\u200b\u200b\u200b',
    '\u{e0041}',
    '\r\nX-Injected: 1',
    '__proto__',
    'constructor',
    '{{7*7}}',
    '$' + '{7*7}',
    "' OR 1=1 --",
    '"; DROP TABLE polls; --',
    '<script>alert(1)</script>',
    '../../../../etc/passwd',
    '%00',
    '%s%n',
    'null',
    'NaN',
    '1e999',
    'ep_k_',
    'ps_aaaaaaaaaaaaaaaaaaaaaaaa',
    'x'.repeat(199),
    'x'.repeat(201),
    '😀'.repeat(1_001),
    'é'.repeat(4_001),
    '['.repeat(500),
    'a'.repeat(20_000),
  ),
);

const hostileValue: Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -0,
    -1,
    1,
    1.5,
    1e-7,
    1.005,
    25.000001,
    2 ** 53,
    -(2 ** 31),
    1e308,
    [],
    {},
  ),
  fc.constantFrom<unknown>({ length: 2 }, [[]], [null], { toString: 1 }, { $ref: '#' }, ['a', 'a'], [1, 2]),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Names of internal columns that no request may set. */
const OURS = ['account_id', 'user_id', 'userId', 'cost', 'balance_cents', 'posted_u', 'held_u', 'hold_u', 'status'];
const MORE = ['lease_epoch', 'seed', 'seats', 'result_id', 'id', 'hash', 'key_hash', 'revoked_at', 'is_admin', 'panel'];
const REACHING = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'toJSON', '', 'a\0', '\ud800'];

const corruption: Arbitrary<Corruption> = fc.oneof(
  fc.nat(30).map(
    (at): Corruption =>
      (value) =>
        without(value, at),
  ),
  fc.tuple(fc.nat(30), hostileValue).map(
    ([at, other]): Corruption =>
      (value) =>
        atPlace(value, at, () => other),
  ),
  fc.tuple(fc.constantFrom(...OURS, ...MORE, ...REACHING), hostileValue).map(
    ([name, other]): Corruption =>
      (value) =>
        withMember(value, name, other),
  ),
  fc.tuple(fc.nat(30), hostileText).map(
    ([at, text]): Corruption =>
      (value) =>
        atPlace(value, at, (old) => mixed(old, text)),
  ),
  fc.tuple(fc.nat(30), fc.constantFrom(-1, 1, 0.01, -0.01, 1e6, -1e9)).map(
    ([at, step]): Corruption =>
      (value) =>
        atPlace(value, at, (old) => shifted(old, step)),
  ),
  fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 40 })).map(
    ([at, depth]): Corruption =>
      (value) =>
        atPlace(value, at, (old) => nested(old, depth)),
  ),
  hostileValue.map(
    (other): Corruption =>
      () =>
        other,
  ),
);

/** A good value with up to three faults, as valid JSON text. */
export const corruptedJson = (good: Arbitrary<unknown>): Arbitrary<string> =>
  fc
    .tuple(good, fc.array(corruption, { minLength: 1, maxLength: 3 }))
    .map(([value, corruptions]) => JSON.stringify(corruptions.reduce((made, apply) => apply(made), value)) ?? '');

/** A JSON text that is malformed, most of the time. */
export const corruptedBytes = (text: Arbitrary<string>): Arbitrary<Buffer> =>
  fc.tuple(text, fc.constantFrom(...Object.values(BYTES)), fc.nat(400)).map(([json, change, at]) => change(json, at));

const BYTES: Record<string, (json: string, at: number) => Buffer> = {
  cut: (json, at) => Buffer.from(json.slice(0, at % (json.length + 1))),
  twice: (json) => Buffer.from(json + json),
  sameName: (json) => Buffer.from(json.replace('{', '{"question":1,"options":{},"method":"x",')),
  flipped(json, at) {
    const bytes = Buffer.from(json);
    if (bytes.length > 0) bytes[at % bytes.length]! ^= 1 << (at % 8);
    return bytes;
  },
  marked: (json) => Buffer.from(`\ufeff${json}`),
  wide: (json) => Buffer.from(json, 'utf16le'),
  latin: (json) => Buffer.from(`${json.slice(0, -1)}\u00e9`, 'latin1'),
  padded: (json) => Buffer.from(json + ' '.repeat(70_000)),
  almostTooLarge: (json) => Buffer.from(json + ' '.repeat(Math.max(0, 65_536 - Buffer.byteLength(json)))),
  deep: (_json, at) => Buffer.from('['.repeat(at * 50)),
  deepAndEnded: (_json, at) => Buffer.from(`${'{"a":'.repeat(at)}1${'}'.repeat(at)}`),
  hugeNumber: (json) => Buffer.from(json.replace(/(?<=:)\d+(\.\d+)?/, '1e400')),
  oddNumber: (json) => Buffer.from(json.replace(/(?<=:)\d+(\.\d+)?/, '0x10')),
  comment: (json) => Buffer.from(`/* */ ${json}`),
  manyMembers: (_json, at) => Buffer.from(`{${Array.from({ length: at * 10 + 1 }, (_, i) => `"m${i}":${i}`).join()}}`),
  nothing: () => Buffer.alloc(0),
};

/** All paths in a value, starting with the value itself; only the start of a long list is included. */
function places(value: unknown): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [[]];
  const members = Array.isArray(value) ? [...value.keys()].slice(0, 5) : Object.keys(value);
  const child = (name: string | number): unknown => (value as Record<string | number, unknown>)[name];
  return [[], ...members.flatMap((name) => places(child(name)).map((rest) => [name, ...rest]))];
}

function atPlace(value: unknown, at: number, change: (old: unknown) => unknown): unknown {
  const all = places(value);
  return changed(value, all[at % all.length]!, change);
}

function changed(
  value: unknown,
  [first, ...rest]: readonly (string | number)[],
  change: (old: unknown) => unknown,
): unknown {
  if (first === undefined) return change(value);
  const copy = copyOf(value) as Record<string | number, unknown>;
  copy[first] = changed(copy[first], rest, change);
  return copy;
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value);

const copyOf = (value: unknown): object => (isList(value) ? [...value] : { ...(value as object) });

function without(value: unknown, at: number): unknown {
  if (Array.isArray(value)) return value.toSpliced(at % Math.max(1, value.length), 1);
  if (typeof value !== 'object' || value === null) return undefined;
  const names = Object.keys(value);
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== names[at % Math.max(1, names.length)]));
}

/** Also works for `__proto__`, which an assignment would not create. */
const withMember = (value: unknown, name: string, member: unknown): unknown =>
  isJsonObject(value)
    ? Object.defineProperty({ ...value }, name, { value: member, enumerable: true, configurable: true, writable: true })
    : { value, [name]: member };

const mixed = (old: unknown, text: string): unknown => (typeof old === 'string' ? old + text : [old, text]);

const shifted = (old: unknown, step: number): unknown => {
  if (typeof old === 'number') return old + step;
  if (typeof old === 'string')
    return step < 0 ? old.slice(0, step) : old.padEnd(old.length + Math.min(300, Math.ceil(step)), 'é');
  return isList(old) ? [...old, ...old.slice(0, 1), `${step}`] : old;
};

function nested(old: unknown, depth: number): unknown {
  let made = old;
  for (let i = 0; i < depth; i++) made = i % 2 === 0 ? [made] : { a: made };
  return made;
}
