import { randomUUID } from 'node:crypto';
import { routeOf } from '@eloquentpoll/polls';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { apiKeyPrefix, drawOfForm, hashApiKey, looksLikeApiKey, newApiKey } from '../../src/accounts/keys/api-key.ts';

t.test('[§A6-api-key-form, §5-bearer-prefix] a new key has the documented form and a valid checksum', (t) => {
  const keys = Array.from({ length: 1_000 }, newApiKey);
  t.ok(keys.every((key) => /^ep_k_[0-9A-Za-z]{38}$/.test(key)));
  t.ok(keys.every(looksLikeApiKey));
  t.ok(keys.every((key) => apiKeyPrefix(key) === key.slice(0, 10)));
  t.equal(new Set(keys).size, keys.length);
  t.end();
});

t.test('every base62 character is equally likely in the secret part of keys', (t) => {
  const counts = new Map<string, number>();
  const KEYS = 7_000;
  for (let i = 0; i < KEYS; i++) {
    const key = newApiKey();
    for (const character of key.slice(5, 10) + key.slice(19, -6))
      counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const mean = (KEYS * 23) / 62;
  t.equal(counts.size, 62);
  // 15 % is more than seven standard deviations; a byte that is not thrown away adds a quarter to its character.
  for (const [character, count] of counts)
    if (Math.abs(count - mean) > 0.15 * mean) t.fail(`${character} ${count} times, ${Math.round(mean)} expected`);
  t.end();
});

t.test('a key says the cell and the account that a router needs to know, and no more of either', (t) => {
  const accountId = randomUUID();
  const routes = Array.from({ length: 100 }, () => newApiKey({ cell: 'b', accountId }).slice(10, 19));
  t.same(new Set(routes), new Set([routeOf('b', accountId)]));
  t.match(routes[0], /^b[0-9A-Za-z]{8}$/);
  t.not(routeOf('b', accountId), routeOf('b', randomUUID()));
  t.equal(newApiKey().at(10), '0', 'the first cell, where there is one');
  t.throws(() => newApiKey({ cell: 'u', accountId }), RangeError);
  t.end();
});

t.test('a form that is sent twice draws the same bytes, in every release', (t) => {
  const form = { accountId: 'an account', formId: 'a form' };
  const drawn = (pepper: string, of: typeof form) => {
    const draw = drawOfForm(pepper, of);
    return [draw(5), draw(18)].map((bytes) => bytes.toString('hex'));
  };
  t.same(drawn('a pepper', form), ['4114e27a36', '1579eb67eee444ed44df06ff47560a27a50a']);
  const others = [
    drawn('another pepper', form),
    drawn('a pepper', { ...form, accountId: 'another' }),
    drawn('a pepper', { ...form, formId: 'another' }),
  ];
  t.equal(new Set([drawn('a pepper', form), ...others].flat()).size, 8);
  t.end();
});

t.test('a key with any one character changed fails its checksum', (t) => {
  const character = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-. ');
  fc.assert(
    fc.property(fc.nat(42), character, (at, other) => {
      const key = newApiKey();
      fc.pre(key[at] !== other);
      return !looksLikeApiKey(key.slice(0, at) + other + key.slice(at + 1));
    }),
    { numRuns: 2_000 },
  );
  t.pass('no key with a changed character is accepted');
  t.end();
});

t.test('[§A6-api-key-hash] the stored hash is an HMAC that depends on the pepper', (t) => {
  const key = newApiKey();
  t.equal(hashApiKey('a', key).length, 32);
  t.same(hashApiKey('a', key), hashApiKey('a', key));
  t.notSame(hashApiKey('a', key), hashApiKey('b', key));
  t.end();
});
