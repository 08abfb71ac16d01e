import t from 'tap';
import { canonicalJson, fromBase64url, toBase64url } from '../src/index.ts';

t.test('the example of RFC 8785, section 3.2.2', (t) => {
  const value = {
    numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
    literals: [null, true, false],
  };
  t.equal(
    canonicalJson(value),
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
  t.end();
});

t.test('members are in the order of their UTF-16 code units, as in RFC 8785, section 3.2.3', (t) => {
  const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 };
  t.equal(canonicalJson(value), '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}');
  t.end();
});

t.test('what JSON cannot hold is refused', (t) => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, { deep: [Number.NaN] }])
    t.throws(() => canonicalJson(value));
  t.end();
});

t.test('base64url: one value has one text', (t) => {
  for (let length = 0; length < 70; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 89 + length) % 256);
    const text = toBase64url(bytes);
    t.equal(text, Buffer.from(bytes).toString('base64url'));
    t.same(fromBase64url(text), bytes);
  }
  for (const text of ['A', 'AB==', 'A+/B', 'AB', 'AAB', 'A B C D', 'é']) t.equal(fromBase64url(text), null, text);
  t.end();
});
