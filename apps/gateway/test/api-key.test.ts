import fc from 'fast-check';
import t from 'tap';
import { apiKeyPrefix, hashApiKey, looksLikeApiKey, newApiKey } from '../src/accounts/api-key.ts';

t.test('[§A6-api-key-form, §5-bearer-prefix] a key has the documented form and carries its own checksum', (t) => {
  const keys = Array.from({ length: 1_000 }, newApiKey);
  t.ok(keys.every((key) => /^ep_k_[0-9A-Za-z]{38}$/.test(key)));
  t.ok(keys.every(looksLikeApiKey));
  t.ok(keys.every((key) => apiKeyPrefix(key) === key.slice(0, 10)));
  t.equal(new Set(keys).size, keys.length);
  t.end();
});

t.test('no typo of a key passes for a key', (t) => {
  const character = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-. ');
  fc.assert(
    fc.property(fc.nat(42), character, (at, other) => {
      const key = newApiKey();
      fc.pre(key[at] !== other);
      return !looksLikeApiKey(key.slice(0, at) + other + key.slice(at + 1));
    }),
    { numRuns: 2_000 },
  );
  t.pass();
  t.end();
});

t.test('[§A6-api-key-hash] what is stored is an HMAC that depends on the pepper', (t) => {
  const key = newApiKey();
  t.equal(hashApiKey('a', key).length, 32);
  t.same(hashApiKey('a', key), hashApiKey('a', key));
  t.notSame(hashApiKey('a', key), hashApiKey('b', key));
  t.end();
});
