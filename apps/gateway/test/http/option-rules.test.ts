import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { comparisonKey, optionIssues, questionIssues } from '../../src/http/validation/option-rules.ts';

const INVISIBLE = [
  '\u200B',
  '\u200C',
  '\u200D',
  '\u2060',
  '\uFEFF',
  '\u00AD',
  '\u034F',
  '\u180E',
  '\uFE0F',
  '\u{E0100}',
];
const SPACES = [' ', '\u00A0', '\u2003', '\u3000', '\u202F'];

/** Ways to write a text that a reader takes for the same text. */
const decorations: ((text: string) => string)[] = [
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => text.normalize('NFD'),
  (text) => text.normalize('NFKC'),
  (text) => text.replaceAll(' ', SPACES.join('')),
  ...SPACES.map((space) => (text: string) => space + text + space),
  ...INVISIBLE.map((mark) => (text: string) => mark + [...text].join(mark) + mark),
  (text) => text.replace(/[!-~]/g, (char) => String.fromCodePoint(char.charCodeAt(0) + 0xfee0)),
];

const word = fc
  .string({ unit: fc.constantFrom(...'abcXYZ019éÜßñжЯÅ ﬁ㎏½'), minLength: 1, maxLength: 20 })
  .filter((text) => comparisonKey(text) !== '');

t.test(
  '[§A6-option-uniqueness-folded, §2.1-options-unique] a decorated twin is a duplicate, and both are named',
  (t) => {
    fc.assert(
      fc.property(word, fc.array(fc.constantFrom(...decorations), { minLength: 1, maxLength: 4 }), (text, ways) => {
        const twin = ways.reduce((decorated, way) => way(decorated), text);
        const [issue, ...more] = optionIssues([text, twin]);
        if (!issue || more.length > 0) return false;
        return (
          issue.pointer === '#/options/1' &&
          issue.detail.includes(JSON.stringify(text)) &&
          issue.detail.includes(JSON.stringify(twin))
        );
      }),
      { numRuns: 2_000 },
    );
    t.pass('every pair is one issue that quotes both texts');
    t.end();
  },
);

t.test('folding settles at once', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => comparisonKey(comparisonKey(text)) === comparisonKey(text)),
    { numRuns: 2_000 },
  );
  t.pass('folding twice gives what folding once gives');
  t.end();
});

t.test('characters of the basic plane that differ in case or form alone are equal', (t) => {
  const apart = Array.from({ length: 0xffff }, (_, code) => String.fromCharCode(code)).filter((char) => {
    const forms = [char.toUpperCase(), char.toLowerCase(), char.normalize('NFD'), char.normalize('NFKC')];
    return char.isWellFormed() && forms.some((form) => comparisonKey(form) !== comparisonKey(char));
  });
  t.same(apart, []);
  t.end();
});

t.test('different texts stay different', (t) => {
  const options = [
    'Paris',
    'Pari',
    '1',
    '10',
    '2',
    'naïve',
    'naive',
    'A B',
    'AB',
    '__proto__',
    'constructor',
    'toString',
    'tie',
    'no_votes',
    '東京',
    'مكة',
  ];
  t.same(optionIssues(options), []);
  t.end();
});

t.test('an option says something and hides nothing', (t) => {
  const bad = [
    '',
    ' ',
    '\u3000',
    '\u200B',
    'a\nb',
    'a\tb',
    'a\u0085b',
    'a\u202Eb',
    'a\u2066b',
    'a\u{E0041}b',
    'a\u001Bb',
  ];
  for (const text of bad) t.equal(optionIssues([text, 'other']).length, 1, JSON.stringify(text));
  t.end();
});

t.test('a question may have lines, but nothing hidden', (t) => {
  t.same(questionIssues('first line\n\tsecond line\r\n'), []);
  for (const text of [
    '          ',
    '\u200B'.repeat(10),
    'ring the \u0007 bell',
    `ignore${'\u{E0069}'.repeat(5)} this`,
  ]) {
    t.equal(questionIssues(text).length, 1, JSON.stringify(text));
  }
  t.end();
});
