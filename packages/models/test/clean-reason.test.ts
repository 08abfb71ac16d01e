import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { cleanReason } from '../src/clean-reason.ts';

t.test('a sentence stays as it is, on one line', async (t) => {
  t.equal(cleanReason('It is the  largest\nplanet by far.'), 'It is the largest planet by far.');
  t.equal(cleanReason('Größer als 90 %, und das ist 👩‍👩‍👧.'), 'Größer als 90 %, und das ist 👩‍👩‍👧.');
});

t.test('what is no text, or has nothing to read, is no reason', async (t) => {
  for (const text of [null, 7, {}, '', ' \n\t', '\u200b\u202e\u0000']) t.equal(cleanReason(text), null);
});

t.test('characters that control, hide or turn text are removed', async (t) => {
  t.equal(cleanReason('a\u202eb\u2066c\u0007d\u001b[31me\u200bf\u{e0041}g'), 'abcd[31mefg');
  t.equal(cleanReason('half \ud800 a pair'), 'half \ufffd a pair');
});

t.test('links are removed, in whatever form', async (t) => {
  for (const link of [
    'https://evil.example/x',
    'HTTP://EVIL.EXAMPLE',
    '[click](https://evil.example)',
    'www.evil.example',
    'javascript:alert(1)',
    'mailto:a@evil.example',
    '![](data:image/png;base64,xx)',
  ])
    t.equal(cleanReason(`See ${link} now`), 'See (link removed) now', link);
});

t.test('at most 40 words and 320 characters are kept, and a cut is shown', async (t) => {
  t.equal(cleanReason(Array(41).fill('w').join(' ')), `${Array(40).fill('w').join(' ')}…`);
  t.equal(cleanReason('x'.repeat(5_000))?.length, 320);
  t.equal(cleanReason('😀'.repeat(500))?.isWellFormed(), true);
});

t.test('whatever a model writes, the reason is one bounded line of visible text', async () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 2_000 }), fc.string({ maxLength: 2_000 })), (text) => {
      const reason = cleanReason(text);
      if (reason === null) return true;
      return (
        reason.length <= 340 &&
        reason === reason.trim() &&
        reason.isWellFormed() &&
        !/[\p{Cc}\u202a-\u202e]/u.test(reason)
      );
    }),
  );
});

t.test('a text of a megabyte takes no longer than its first part', async (t) => {
  t.ok((cleanReason(' https://'.repeat(120_000)) ?? '').length <= 340);
});
